//! Functions that did not return to callers which count on it.
//!
//! What follows a call in its node counts as executed when the compiler knows that the call comes back: by the definition that it
//! sees, or by the standard's promises of a library function. Another function of that name may be linked or loaded in its place.

use crate::calls::CallTable;
use crate::{FunctionView, Profile};
use bbprof_format::manifest::{CallSite, Callee, Edge, EdgeKind, StringId};
use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

/// A function that did not return from some calls, and a caller that was compiled as if it always did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Astray<'p> {
    pub(crate) symbol: &'p str,
    pub(crate) name: &'p str,
    /// How many of its activations left in another way.
    pub(crate) vanished: i128,
    pub(crate) caller: &'p str,
}

/// Such functions, each with its first such caller, in the order of the callers; a function that ends with a
/// call of one has not returned either, and comes behind it.
pub(crate) fn astray<'p>(profile: &'p Profile, table: &CallTable<'p>) -> Vec<Astray<'p>> {
    let mut vanished = vanished(profile, table);
    let mut found = Vec::new();
    if vanished.is_empty() {
        return found;
    }
    let mut told = HashSet::new();
    loop {
        let mut followers = Vec::new();
        for (number, image, function) in table.functions(profile).filter(|(_, _, function)| function.is_executed()) {
            let known =
                |symbol| table.target(image, function.module_position, symbol).filter(|callee| vanished.contains_key(callee));
            for (callee, is_counted_behind) in trusted_calls(function, known) {
                let (view, activations) = vanished[&callee];
                if !is_counted_behind {
                    followers.push((number, (function, activations)));
                } else if told.insert(callee) {
                    let (symbol, name) = (view.symbol(), view.name());
                    found.push(Astray { symbol, name, vanished: activations, caller: function.name() });
                }
            }
        }
        let known = vanished.len();
        for (number, follower) in followers {
            vanished.entry(number).or_insert(follower);
        }
        if vanished.len() == known {
            return found;
        }
    }
}

/// The functions some of whose activations left otherwise than by returning, by number, and how many did.
fn vanished<'p>(profile: &'p Profile, table: &CallTable<'p>) -> HashMap<usize, (FunctionView<'p>, i128)> {
    let mut vanished: HashMap<usize, (FunctionView<'_>, i128)> = HashMap::new();
    // Where nothing was executed nothing left, either.
    for (number, _, function) in table.functions(profile).filter(|(_, _, function)| function.is_executed()) {
        let leaves = |edge: &Edge| {
            let ends = |opcode: &str| ["unreachable", "resume"].contains(&opcode);
            let opcodes = || edge.from.into_iter().flat_map(|node| &function.manifest.nodes[node as usize].opcodes);
            edge.kind == EdgeKind::Vanish
                || edge.kind == EdgeKind::Exit && opcodes().any(|(opcode, _)| ends(function.module.string(*opcode)))
        };
        let edges = function.manifest.edges.iter().zip(&function.counts.edges);
        let taken = edges.filter_map(|(edge, count)| Some((edge, count.filter(|count| *count != 0)?)));
        let sum: i128 = taken.filter(|(edge, _)| leaves(edge)).map(|(_, count)| count).sum();
        if sum > 0 {
            vanished.entry(number).or_insert((function, 0)).1 += sum;
        }
    }
    vanished
}

/// The executed calls of a function that end no node, as far as `known` knows the number of
/// the callee; and whether something is counted behind them.
fn trusted_calls(function: FunctionView<'_>, known: impl Fn(StringId) -> Option<usize>) -> Vec<(usize, bool)> {
    let nodes = &function.manifest.nodes;
    let reached = |call: &CallSite| match call.callee {
        Callee::Symbol(symbol) => known(symbol),
        Callee::Indirect | Callee::Asm => None,
    };
    let is_cut = LazyCell::new(|| ends_in_a_call(function));
    let mut trusted = Vec::new();
    for (position, node) in nodes.iter().enumerate().filter(|(position, _)| function.counts.nodes[*position] > 0) {
        let calls =
            node.calls.iter().enumerate().filter_map(|(order, call)| Some((order + 1 == node.calls.len(), call, reached(call)?)));
        for (is_last_of_node, call, callee) in calls {
            if !is_last_of_node || !is_cut[position] {
                trusted.push((callee, !call.is_last));
            }
        }
    }
    trusted
}

/// Which nodes of a function end in a call that may not come back.
fn ends_in_a_call(function: FunctionView<'_>) -> Vec<bool> {
    let mut is_cut = vec![false; function.manifest.nodes.len()];
    let cutting =
        function.manifest.edges.iter().filter(|edge| matches!(edge.kind, EdgeKind::Vanish | EdgeKind::Invoke | EdgeKind::Unwind));
    for from in cutting.filter_map(|edge| edge.from) {
        is_cut[from as usize] = true;
    }
    is_cut
}
