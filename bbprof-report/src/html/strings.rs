//! The texts that a piece refers to by position, each once.

use bbprof_profile::demangle;
use std::collections::HashMap;

/// Every text once.
#[derive(Default)]
pub(super) struct Strings {
    texts: Vec<String>,
    known: HashMap<String, usize>,
    demangled: HashMap<String, usize>,
}

impl Strings {
    pub(super) fn add(&mut self, text: &str) -> usize {
        if let Some(position) = self.known.get(text) {
            return *position;
        }
        self.texts.push(text.to_owned());
        self.known.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() - 1
    }

    pub(super) fn add_symbol(&mut self, symbol: &str) -> usize {
        if let Some(position) = self.demangled.get(symbol) {
            return *position;
        }
        let position = self.add(&demangle(symbol));
        self.demangled.insert(symbol.to_owned(), position);
        position
    }

    /// By position.
    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}
