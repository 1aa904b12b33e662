//! Frequencies: how often the nodes and edges of functions ran, for the next build to place its counters by.
//!
//! A cut of a profile that the plugin reads: it needs no build map and no solver. Functions are known by linker symbol and
//! shape, so a function whose graph has changed since is noticed. Magic "BBPROFFQ"; framed as merged profiles are.

use crate::envelope::Envelope;
use crate::{Digest, FormatError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const ENVELOPE: Envelope = Envelope { kind: "frequencies", magic: b"BBPROFFQ", version: 1 };

/// Frequencies of the functions that ran.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Frequencies {
    /// By linker symbol: one entry for each shape that was seen under it.
    pub functions: BTreeMap<String, Vec<FunctionFrequencies>>,
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
        let Some(shapes) = self.functions.get(symbol) else { return Known::Nothing };
        let fits =
            |known: &&FunctionFrequencies| known.shape == shape && known.nodes.len() == num_nodes && known.edges.len() == num_edges;
        shapes.iter().find(fits).map_or(Known::Stale, Known::Measured)
    }

    /// Adds the frequencies of a function; those of the same symbol and shape are summed.
    pub fn add(&mut self, symbol: &str, function: FunctionFrequencies) {
        let shapes = match self.functions.get_mut(symbol) {
            Some(shapes) => shapes,
            None => self.functions.entry(symbol.to_owned()).or_default(),
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

    /// The bytes of the file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        ENVELOPE.seal(self)
    }

    /// Reads them.
    ///
    /// # Errors
    /// Foreign, truncated, damaged or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        ENVELOPE.open(bytes)
    }
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
}
