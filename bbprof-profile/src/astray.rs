//! Functions that did not return to callers which count on it.
//!
//! What follows a call in its node counts as executed when the compiler knows that the call comes back: by the definition that it sees, or by the
//! standard's promises of a library function. Another function of that name may be linked or loaded in its place.

use crate::calls::{CallTable, Key, functions, key};
use crate::{FunctionView, Profile};
use bbprof_format::manifest::{Callee, Edge, EdgeKind, Module, Node};
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

/// Such functions, each with its first such caller, in the order of the callers; a function that ends with a call of one has not returned either, and
/// comes behind it.
pub(crate) fn astray(profile: &Profile) -> Vec<Astray<'_>> {
    let mut vanished = vanished(profile);
    let mut found = Vec::new();
    if vanished.is_empty() {
        return found;
    }
    let table = CallTable::of(profile);
    let mut told = HashSet::new();
    loop {
        let mut followers = Vec::new();
        for (image, function) in functions(profile).filter(|(_, function)| function.is_executed()) {
            for trusted in trusted_calls(function) {
                let callee = table.callee(image, function.counts.module, trusted.symbol);
                let Some((view, number)) = vanished.get(&callee).filter(|_| table.reaches(image, &callee)) else { continue };
                if !trusted.has_code_behind {
                    followers.push((key(image, &function), (function, *number)));
                } else if told.insert(callee) {
                    let (symbol, name) = (view.symbol(), view.name());
                    found.push(Astray { symbol, name, vanished: *number, caller: function.name() });
                }
            }
        }
        let known = vanished.len();
        for (key, follower) in followers {
            vanished.entry(key).or_insert(follower);
        }
        if vanished.len() == known {
            return found;
        }
    }
}

/// The functions some of whose activations left otherwise than by returning, and how many did.
fn vanished(profile: &Profile) -> HashMap<Key<'_>, (FunctionView<'_>, i128)> {
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
    vanished
}

/// An executed call by name that ends no node.
struct TrustedCall<'p> {
    symbol: &'p str,
    /// Whether its node counts something behind it.
    has_code_behind: bool,
}

fn trusted_calls(function: FunctionView<'_>) -> impl Iterator<Item = TrustedCall<'_>> {
    let nodes = &function.manifest.nodes;
    let mut is_cut = vec![false; nodes.len()];
    let mut leads_to_code = vec![false; nodes.len()];
    for edge in &function.manifest.edges {
        let Some(from) = edge.from else { continue };
        is_cut[from as usize] |= matches!(edge.kind, EdgeKind::Vanish | EdgeKind::Invoke | EdgeKind::Unwind);
        leads_to_code[from as usize] |= edge.to.is_some_and(|to| !only_returns(function.module, &nodes[to as usize]));
    }
    let calling = (0..nodes.len()).filter(move |node| function.counts.nodes[*node] > 0 && !nodes[*node].calls.is_empty());
    calling.flat_map(move |position| {
        let (node, is_cut, leads_to_code) = (&nodes[position], is_cut[position], leads_to_code[position]);
        let last = node.calls.len() - 1;
        let trusted = if is_cut { last } else { last + 1 };
        node.calls[..trusted].iter().enumerate().filter_map(move |(position, call)| {
            let Callee::Symbol(symbol) = call.callee else { return None };
            let has_code_behind = position < last || leads_to_code || has_code_behind_its_call(function.module, node);
            Some(TrustedCall { symbol: function.module.string(symbol), has_code_behind })
        })
    })
}

/// Whether a node does nothing but return: what is counted there of a tail call in front of it is counted before the call.
fn only_returns(module: &Module, node: &Node) -> bool {
    node.opcodes.iter().all(|(opcode, _)| ["phi", "ret"].contains(&module.string(*opcode)))
}

/// Whether a node makes one call, and then does something else than leave: a tail call has nothing behind it.
fn has_code_behind_its_call(module: &Module, node: &Node) -> bool {
    const LEAVING: [&str; 4] = ["br", "ret", "unreachable", "resume"];
    let opcodes: Vec<_> = node.opcodes.iter().map(|(opcode, number)| (module.string(*opcode), *number)).collect();
    // They stand in the order of first appearance.
    let behind = opcodes.iter().skip_while(|(opcode, _)| *opcode != "call").skip(1);
    opcodes.contains(&("call", 1)) && behind.filter(|(opcode, _)| !LEAVING.contains(opcode)).count() > 0
}
