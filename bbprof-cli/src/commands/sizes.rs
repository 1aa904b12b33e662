//! Sizes of functions in bytes, out of the symbol tables of the images; where an image is gone or was linked again, they are not known.

use bbprof_format::BuildId;
use object::{Object, ObjectSection, ObjectSymbol};
use std::cell::RefCell;
use std::collections::HashMap;

/// The build ids of the images that a profile was made with, by path, and what was read of their symbol tables.
pub(super) struct Sizes {
    build_ids: HashMap<String, BuildId>,
    read: RefCell<HashMap<String, HashMap<String, u64>>>,
}

impl Sizes {
    pub(super) fn new(profile: &bbprof_profile::Profile) -> Self {
        let build_ids = profile.functions().map(|function| (function.image_path().to_owned(), function.build_id()));
        Self { build_ids: build_ids.collect(), read: RefCell::default() }
    }

    /// The size of this function of this image.
    pub(super) fn of(&self, image: &str, symbol: &str) -> Option<u64> {
        if let Some(sizes) = self.read.borrow().get(image) {
            return sizes.get(symbol).copied();
        }
        let sizes = self.build_ids.get(image).and_then(|build_id| read(image, *build_id)).unwrap_or_default();
        let size = sizes.get(symbol).copied();
        self.read.borrow_mut().insert(image.to_owned(), sizes);
        size
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
