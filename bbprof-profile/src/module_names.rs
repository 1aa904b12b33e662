//! What modules are called: the source file as the compiler names it, with its folder
//! where modules in other folders are called the same.

use crate::Image;
use crate::profile::ProfiledImage;
use crate::source::absolute;
use bbprof_format::manifest::{Module, StringId};
use std::collections::{BTreeSet, HashMap};

/// By position of the module in its image and by compilation unit: names that are longer than the compiler's.
pub(crate) type ModuleNames = HashMap<(u32, Option<StringId>), String>;

/// The source file of a compilation unit, or of the module where it does not tell units apart.
pub(crate) fn source(module: &Module, unit: Option<StringId>) -> &str {
    unit.map_or(&module.source, |unit| module.string(unit))
}

/// Names the modules of all images of a profile.
pub(crate) fn name_modules(images: &mut [ProfiledImage]) {
    let mut folders: HashMap<&str, BTreeSet<&str>> = HashMap::new();
    for (_, module, unit) in images.iter().flat_map(|image| units(&image.image)) {
        folders.entry(source(module, unit)).or_default().insert(&module.directory);
    }
    let is_shared = |(_, module, unit): &(u32, &Module, Option<StringId>)| folders[source(module, *unit)].len() > 1;
    let named = |image: &ProfiledImage| {
        let name =
            |(position, module, unit): (u32, &Module, _)| ((position, unit), absolute(&module.directory, source(module, unit)));
        units(&image.image).filter(is_shared).map(name).collect()
    };
    let names: Vec<ModuleNames> = images.iter().map(named).collect();
    for (image, names) in images.iter_mut().zip(names) {
        image.module_names = names;
    }
}

/// All compilation units of an image, each with its module and that one's position.
fn units(image: &Image) -> impl Iterator<Item = (u32, &Module, Option<StringId>)> {
    (0..).zip(&image.modules).flat_map(|(position, linked)| linked.units.iter().map(move |unit| (position, &linked.module, *unit)))
}
