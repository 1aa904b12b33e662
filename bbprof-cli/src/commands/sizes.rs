//! Sizes of functions in bytes, out of the symbol tables of the images; where an image is
//! gone or was linked again, they are not known.

use bbprof_format::BuildId;
use bbprof_profile::FunctionView;
use object::{Object, ObjectSection, ObjectSymbol};
use std::cell::RefCell;
use std::collections::HashMap;

/// What was read of the symbol tables of images, by build: where one was built again, its path has another now.
#[derive(Default)]
pub(super) struct Sizes {
    read: RefCell<HashMap<BuildId, HashMap<String, u64>>>,
}

impl Sizes {
    /// The size of this function.
    pub(super) fn of(&self, function: &FunctionView<'_>) -> Option<u64> {
        let mut images = self.read.borrow_mut();
        let build_id = function.build_id();
        let sizes = images.entry(build_id).or_insert_with(|| read(function.image_path(), build_id).unwrap_or_default());
        sizes.get(function.symbol()).copied()
    }
}

/// Whether an image is of this build, by its note.
pub(super) fn is_build(image: &object::File<'_>, build_id: BuildId) -> bool {
    let note = image.section_by_name(bbprof_format::names::NOTE_SECTION).and_then(|note| note.data().ok());
    note.is_some_and(|note| note.windows(build_id.0.len()).any(|part| part == build_id.0))
}

fn read(image: &str, build_id: BuildId) -> Option<HashMap<String, u64>> {
    let bytes = std::fs::read(image).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    if !is_build(&file, build_id) {
        return None;
    }
    let symbols = file.symbols().filter(|symbol| symbol.size() > 0);
    Some(symbols.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.size()))).collect())
}
