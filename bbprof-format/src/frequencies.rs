//! Frequencies: how often the nodes and edges of functions ran, for the next build to place its counters by.
//!
//! A cut of a profile that the plugin reads: it needs no build map and no solver. Functions are known by linker symbol and
//! shape, so a function whose graph has changed since is noticed. The hashes in symbols change with the version and settings of
//! a crate of Rust, and with all of a module that ThinLTO took the function from: what is not found by its symbol is looked for
//! without them. Magic "BBPROFFQ"; framed as merged profiles are.

use crate::demangle::without_llvm_suffix;
use crate::kind::Kind;
use crate::{Digest, FormatError, envelope};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The first bytes.
pub const MAGIC: &[u8; 8] = b"BBPROFFQ";

const KIND: Kind = Kind { name: "frequencies", magic: MAGIC, version: 2 };

/// Frequencies of the functions that ran.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Frequencies {
    /// By linker symbol: one entry for each shape that was seen under it.
    pub functions: BTreeMap<String, Vec<FunctionFrequencies>>,
    /// Of functions that did not run: digests of their symbols, and of their symbols without hashes with their shapes.
    idle: BTreeSet<Digest>,
    /// By symbols without hashes; those that have the same one and the same shape are summed.
    #[serde(skip)]
    unhashed: OnceLock<BTreeMap<String, Vec<FunctionFrequencies>>>,
}

/// How often the parts of one function ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FunctionFrequencies {
    /// The shape that nodes and edges belong to.
    pub shape: Digest,
    /// Executions, by node.
    pub nodes: Vec<u64>,
    /// Executions, by edge; 0 for a vanishing edge that setjmp made negative.
    pub edges: Vec<u64>,
}

/// What is known of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known<'f> {
    /// It did not run, or is new.
    Nothing,
    /// One of its name ran, but its graph has changed.
    Stale,
    /// How often its parts ran.
    Measured(&'f FunctionFrequencies),
}

impl Frequencies {
    /// What is known of the function of this symbol and shape, which has so many nodes and edges.
    #[must_use]
    pub fn of(&self, symbol: &str, shape: Digest, num_nodes: usize, num_edges: usize) -> Known<'_> {
        let fits =
            |known: &&FunctionFrequencies| known.shape == shape && known.nodes.len() == num_nodes && known.edges.len() == num_edges;
        if let Some(shapes) = self.functions.get(symbol) {
            return shapes.iter().find(fits).map_or(Known::Stale, Known::Measured);
        }
        if self.idle.contains(&idle_symbol(symbol)) {
            return Known::Nothing;
        }
        let plain = without_hashes(symbol);
        let Some(shapes) = self.unhashed().get(&plain) else { return Known::Nothing };
        match shapes.iter().find(fits) {
            Some(known) => Known::Measured(known),
            None if self.idle.contains(&idle_shape(&plain, shape)) => Known::Nothing,
            None => Known::Stale,
        }
    }

    /// Adds a function that did not run.
    pub fn add_idle(&mut self, symbol: &str, shape: Digest) {
        self.idle.extend([idle_symbol(symbol), idle_shape(&without_hashes(symbol), shape)]);
    }

    /// Adds the frequencies of a function; those of the same symbol and shape are summed.
    pub fn add(&mut self, symbol: &str, function: FunctionFrequencies) {
        self.unhashed = OnceLock::new();
        add(&mut self.functions, symbol, function);
    }

    fn unhashed(&self) -> &BTreeMap<String, Vec<FunctionFrequencies>> {
        self.unhashed.get_or_init(|| {
            let mut functions = BTreeMap::new();
            for (symbol, shapes) in &self.functions {
                let plain = without_hashes(symbol);
                shapes.iter().for_each(|function| add(&mut functions, &plain, function.clone()));
            }
            functions
        })
    }

    /// The bytes of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        envelope::seal(&KIND, self)
    }

    /// Reads them.
    ///
    /// # Errors
    /// Foreign, truncated, damaged or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        envelope::open(&KIND, bytes)
    }
}

fn add(functions: &mut BTreeMap<String, Vec<FunctionFrequencies>>, symbol: &str, function: FunctionFrequencies) {
    let shapes = match functions.get_mut(symbol) {
        Some(shapes) => shapes,
        None => functions.entry(symbol.to_owned()).or_default(),
    };
    let Some(known) = shapes.iter_mut().find(|known| known.shape == function.shape) else {
        shapes.push(function);
        return;
    };
    for (sum, count) in known.nodes.iter_mut().zip(&function.nodes).chain(known.edges.iter_mut().zip(&function.edges)) {
        // Weights only: 2^64 executions are as many as 2^64 - 1.
        *sum = sum.saturating_add(*count);
    }
}

fn idle_symbol(symbol: &str) -> Digest {
    Digest::of_parts([symbol.as_bytes()])
}

fn idle_shape(plain: &str, shape: Digest) -> Digest {
    Digest::of_parts([plain.as_bytes(), &shape.0])
}

/// A symbol without what ThinLTO gave a local function's (`.llvm.<hash>`), and without what tells crates and instantiations of Rust
/// apart: `17h<16 hex digits>E` at its end (legacy), or the disambiguators of crates, `Cs<base 62>_` (v0; RFC 2603).
fn without_hashes(symbol: &str) -> String {
    let symbol = without_llvm_suffix(symbol);
    if symbol.starts_with("_R") {
        let mut plain = String::with_capacity(symbol.len());
        let mut rest = symbol;
        while let Some(at) = rest.find("Cs") {
            let behind = &rest[at + 2..];
            let length = behind.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let is_disambiguator = behind.as_bytes().get(length) == Some(&b'_');
            plain.push_str(&rest[..at + if is_disambiguator { 1 } else { 2 }]);
            rest = &behind[if is_disambiguator { length + 1 } else { 0 }..];
        }
        return plain + rest;
    }
    let is_hash = |hash: &str| hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    let parts = symbol.strip_suffix('E').filter(|symbol| symbol.starts_with("_ZN")).and_then(|symbol| symbol.rsplit_once("17h"));
    parts.filter(|(_, hash)| is_hash(hash)).map_or(symbol, |(plain, _)| plain).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_symbol_and_shape() {
        let mut frequencies = Frequencies::default();
        let function = |shape: &[u8]| FunctionFrequencies { shape: Digest::of(shape), nodes: vec![1, 2], edges: vec![3] };
        frequencies.add("f", function(b"a"));
        frequencies.add("f", function(b"b"));
        frequencies.add("f", function(b"a"));
        let frequencies = Frequencies::decode(&frequencies.encode()).unwrap();
        let Known::Measured(known) = frequencies.of("f", Digest::of(b"a"), 2, 1) else { panic!("f was added") };
        assert_eq!((&known.nodes[..], &known.edges[..]), (&[2, 4][..], &[6][..]));
        assert_eq!(frequencies.of("f", Digest::of(b"c"), 2, 1), Known::Stale);
        assert_eq!(frequencies.of("f", Digest::of(b"a"), 3, 1), Known::Stale);
        assert_eq!(frequencies.of("g", Digest::of(b"a"), 2, 1), Known::Nothing);
    }

    #[test]
    fn hashes_of_rust_may_change() {
        let mut frequencies = Frequencies::default();
        let function = |count| FunctionFrequencies { shape: Digest::of(b"a"), nodes: vec![count], edges: vec![] };
        frequencies.add("_ZN4core3ptr4drop17h0123456789abcdefE", function(1));
        frequencies.add("_ZN4core3ptr4drop17hfedcba9876543210E", function(2));
        frequencies.add("_RNvCs1234_7mycrate3foo", function(5));
        frequencies.add("plain", function(7));
        let count = |symbol: &str| match frequencies.of(symbol, Digest::of(b"a"), 1, 0) {
            Known::Measured(known) => Some(known.nodes[0]),
            Known::Stale | Known::Nothing => None,
        };
        assert_eq!(count("_ZN4core3ptr4drop17h0123456789abcdefE"), Some(1), "its own");
        assert_eq!(count("_ZN4core3ptr4drop17h1111111111111111E"), Some(3), "of all instantiations");
        assert_eq!(count("_RNvCsabZ9_7mycrate3foo"), Some(5));
        assert_eq!(count("_RNvCsabZ9_7mycrate3bar"), None);
        assert_eq!((count("plain.llvm.0123"), count("other.llvm.0123")), (Some(7), None));
        frequencies.add("local.llvm.0123", function(9));
        let count = |symbol: &str| match frequencies.of(symbol, Digest::of(b"a"), 1, 0) {
            Known::Measured(known) => Some(known.nodes[0]),
            Known::Stale | Known::Nothing => None,
        };
        assert_eq!((count("local.llvm.4567"), count("local")), (Some(9), Some(9)));
        assert_eq!(frequencies.of("_ZN4core3ptr4drop17h1111111111111111E", Digest::of(b"b"), 1, 0), Known::Stale);
    }

    /// Another instantiation did.
    #[test]
    fn a_function_that_did_not_run_has_not_changed() {
        let mut frequencies = Frequencies::default();
        let ran = FunctionFrequencies { shape: Digest::of(b"a"), nodes: vec![1], edges: vec![] };
        frequencies.add("_ZN1a4keep17h0123456789abcdefE", ran);
        frequencies.add_idle("_ZN1a4keep17hfedcba9876543210E", Digest::of(b"b"));
        let frequencies = Frequencies::decode(&frequencies.encode()).unwrap();
        let known = |symbol: &str, shape: &[u8]| frequencies.of(symbol, Digest::of(shape), 1, 0);
        assert_eq!(known("_ZN1a4keep17hfedcba9876543210E", b"b"), Known::Nothing, "its own symbol");
        assert_eq!(known("_ZN1a4keep17h1111111111111111E", b"b"), Known::Nothing, "its shape");
        assert_eq!(known("_ZN1a4keep17h1111111111111111E", b"c"), Known::Stale);
    }
}
