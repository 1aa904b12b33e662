//! The copies of one function: which modules of an image have it, which share counters, and which of them the linker dropped.

use crate::{FunctionCounts, Image, SolvedImage};
use bbprof_format::manifest::{Edge, Function, Linkage};
use std::collections::HashMap;

/// A function to solve: the first of its copies.
pub(crate) struct Candidate {
    pub(crate) module: u32,
    pub(crate) function: u32,
    pub(crate) copies: u32,
    /// A copy that shares the counters but not the graph, by its module's origin.
    pub(crate) conflict: Option<String>,
}

impl Image {
    /// The functions of the modules that are in the image, copies of one function joined.
    pub(crate) fn candidates(&self, presence: &[bool]) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut seen = HashMap::new();
        for (module, linked) in self.linked_modules(presence) {
            for (position, function) in linked.module.functions.iter().enumerate() {
                let candidate = Candidate { module, function: position as u32, copies: 1, conflict: None };
                if function.num_counters() == 0 {
                    candidates.push(candidate);
                    continue;
                }
                let first = *seen.entry(linked.counters_key(function)).or_insert(candidates.len());
                match candidates.get_mut(first) {
                    None => candidates.push(candidate),
                    Some(kept) => {
                        kept.copies += 1;
                        if !same_graph(&self.modules[kept.module as usize].module.functions[kept.function as usize], function) {
                            kept.conflict = Some(linked.origin.clone());
                        }
                    }
                }
            }
        }
        candidates
    }

    /// Copies of a COMDAT function that differ in shape have counters of their own, but the linker keeps one copy. Those that
    /// did not run while another one did are the ones it dropped; when none ran, the first one stands for all.
    pub(crate) fn drop_unlinked_copies(&self, solved: &mut SolvedImage) {
        let mut variants: HashMap<&str, (usize, bool)> = HashMap::new();
        let manifest = |counts: &FunctionCounts| {
            let module = &self.modules[counts.module as usize].module;
            let function = &module.functions[counts.function as usize];
            (function.linkage == Linkage::Comdat).then(|| module.string(function.symbol))
        };
        for (position, counts) in solved.functions.iter().enumerate() {
            if let Some(symbol) = manifest(counts) {
                let variant = variants.entry(symbol).or_insert((position, false));
                variant.1 |= counts.is_executed;
            }
        }
        let mut position = 0;
        solved.functions.retain(|counts| {
            let keep = match manifest(counts).and_then(|symbol| variants.get(symbol)) {
                None => true,
                Some((_, true)) => counts.is_executed,
                Some((first, false)) => *first == position,
            };
            position += 1;
            keep
        });
    }
}

/// Copies that share counters must share the graph and the places of the counters; what stands in the blocks may differ.
fn same_graph(a: &Function, b: &Function) -> bool {
    let key = |edge: &Edge| (edge.from, edge.to, edge.kind, edge.successor, edge.multiplicity);
    a.shape == b.shape
        && a.sites == b.sites
        && a.paths == b.paths
        && a.check_sites == b.check_sites
        && a.nodes.len() == b.nodes.len()
        && a.edges.len() == b.edges.len()
        && a.edges.iter().map(key).eq(b.edges.iter().map(key))
}
