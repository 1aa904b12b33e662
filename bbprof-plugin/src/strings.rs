//! The string table of a manifest.

use bbprof_format::manifest::StringId;
use rustc_hash::FxHashMap;

/// The view's strings, and what the plan adds.
pub(crate) struct Strings {
    list: Vec<String>,
    positions: FxHashMap<String, StringId>,
}

impl Strings {
    pub(crate) fn new(list: Vec<String>) -> Self {
        Self { list, positions: FxHashMap::default() }
    }

    /// The place of a text, which is added if it was not before.
    pub(crate) fn intern(&mut self, text: &str) -> StringId {
        if let Some(id) = self.positions.get(text) {
            return *id;
        }
        let id = StringId(self.list.len() as u32);
        self.list.push(text.to_owned());
        self.positions.insert(text.to_owned(), id);
        id
    }

    /// The source file of a compilation unit, by the unit's name.
    pub(crate) fn unit(&mut self, unit: u32) -> StringId {
        let name = self.list[unit as usize].clone();
        let file = source_name(&name);
        if file.len() == name.len() { StringId(unit) } else { self.intern(file) }
    }

    pub(crate) fn into_list(self) -> Vec<String> {
        self.list
    }
}

/// rustc names a codegen unit `src/main.rs/@/name.hash-cgu.0`.
pub(crate) fn source_name(source: &str) -> &str {
    source.split_once("/@/").map_or(source, |(file, _)| file)
}
