//! Functions that did not return to callers which count on it.
//!
//! What follows a call in its node counts as executed when the compiler knows that the call comes back: by the definition that it sees, or by the
//! standard's promises of a library function. Another function of that name may be linked or loaded in its place.

use crate::calls::{CallTable, Key, functions, key};
use crate::{FunctionView, Profile};
use bbprof_format::manifest::{Callee, Edge, EdgeKind, Module, Node};
use std::collections::HashMap;

/// A function that did not return from some calls, and a caller that was compiled as if it always did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Astray<'p> {
    pub(crate) symbol: &'p str,
    pub(crate) name: &'p str,
    /// How many of its activations left in another way.
    pub(crate) vanished: i128,
    pub(crate) caller: &'p str,
}

/// Such functions, each with its first such caller, in the order of the callers.
pub(crate) fn astray(profile: &Profile) -> Vec<Astray<'_>> {
    let mut vanished: HashMap<Key<'_>, (FunctionView<'_>, i128)> = HashMap::new();
    for (image, function) in functions(profile) {
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
            vanished.entry(key(image, &function)).or_insert((function, 0)).1 += sum;
        }
    }
    let mut found = Vec::new();
    if vanished.is_empty() {
        return found;
    }
    let table = CallTable::of(profile);
    for (image, function) in functions(profile).filter(|(_, function)| function.is_executed()) {
        let mut is_cut = vec![false; function.manifest.nodes.len()];
        for edge in &function.manifest.edges {
            if let (Some(from), EdgeKind::Vanish | EdgeKind::Invoke | EdgeKind::Unwind) = (edge.from, edge.kind) {
                is_cut[from as usize] = true;
            }
        }
        let nodes = function.manifest.nodes.iter().zip(&function.counts.nodes).zip(is_cut);
        let calling = nodes.filter(|((node, count), _)| **count > 0 && !node.calls.is_empty());
        for ((node, _), is_cut) in calling {
            // Behind its last call there may be nothing that it counts.
            let has_last = !is_cut && has_code_behind_its_call(function.module, node);
            let trusted = if has_last { node.calls.len() } else { node.calls.len().saturating_sub(1) };
            for call in &node.calls[..trusted] {
                let Callee::Symbol(symbol) = call.callee else { continue };
                let callee = table.callee(image, function.counts.module, function.module.string(symbol));
                if !vanished.contains_key(&callee) || !table.reaches(image, &callee) {
                    continue;
                }
                if let Some((callee, vanished)) = vanished.remove(&callee) {
                    found.push(Astray { symbol: callee.symbol(), name: callee.name(), vanished, caller: function.name() });
                }
            }
        }
    }
    found
}

/// Whether a node makes one call, and then does something else than leave: a tail call has nothing behind it.
fn has_code_behind_its_call(module: &Module, node: &Node) -> bool {
    const LEAVING: [&str; 4] = ["br", "ret", "unreachable", "resume"];
    let opcodes: Vec<_> = node.opcodes.iter().map(|(opcode, number)| (module.string(*opcode), *number)).collect();
    // They stand in the order of first appearance.
    let behind = opcodes.iter().skip_while(|(opcode, _)| *opcode != "call").skip(1);
    opcodes.contains(&("call", 1)) && behind.filter(|(opcode, _)| !LEAVING.contains(opcode)).count() > 0
}
