//! Modules for tests.

use bbprof_format::manifest::{CounterMode, Module};

/// A module without functions; its id follows from the source's name.
pub(crate) fn empty(source: &str) -> Module {
    Module {
        producer: "test".to_owned(),
        source: source.to_owned(),
        directory: String::new(),
        mode: CounterMode::Edges,
        strings: Vec::new(),
        locations: Vec::new(),
        checksums: Vec::new(),
        functions: Vec::new(),
        skipped: Vec::new(),
        aliases: Vec::new(),
    }
}
