//! Which nodes control comes to, and from which it comes back.

use crate::view::FunctionView;
use bbprof_flow::Lists;
use bbprof_format::manifest::{Edge, EdgeKind, Function};

/// By node, whether control reaches it through landing pads only, or not at all: it is
/// not reached from the function's entry in any other way.
pub(crate) fn behind_landing_pads(manifest: &Function) -> Vec<bool> {
    let usual = |edge: &&Edge| edge.kind != EdgeKind::Unwind;
    reached(manifest, usual).into_iter().map(|is_reached| !is_reached).collect()
}

/// By node, whether control reaches it from the function's entry by these edges.
pub(crate) fn reached(manifest: &Function, by: impl Fn(&&Edge) -> bool) -> Vec<bool> {
    let edges = || manifest.edges.iter().filter(&by);
    let ways = Lists::of(manifest.nodes.len(), edges().filter_map(|edge| Some((edge.from? as usize, edge.to?))));
    let mut open: Vec<u32> = edges().filter(|edge| edge.from.is_none()).filter_map(|edge| edge.to).collect();
    let mut is_reached = vec![false; manifest.nodes.len()];
    while let Some(node) = open.pop() {
        if !std::mem::replace(&mut is_reached[node as usize], true) {
            open.extend(ways.of_key(node as usize));
        }
    }
    is_reached
}

/// By node, whether all that control does from there ends in a call that does not return, but for exceptions.
pub(crate) fn lost(function: FunctionView<'_>) -> Vec<bool> {
    let (nodes, edges) = (&function.manifest.nodes, &function.manifest.edges);
    let ways = edges.iter().filter(|edge| edge.kind != EdgeKind::Unwind).filter_map(|edge| Some((edge.to? as usize, edge.from?)));
    let mut ways_left = vec![0_u32; nodes.len()];
    for (_, from) in ways.clone() {
        ways_left[from as usize] += 1;
    }
    let sources = Lists::of(nodes.len(), ways);
    let mut is_lost = vec![false; nodes.len()];
    let mut open: Vec<u32> =
        (0..nodes.len() as u32).filter(|node| ways_left[*node as usize] == 0 && !returns(function, *node)).collect();
    while let Some(node) = open.pop() {
        is_lost[node as usize] = true;
        for from in sources.of_key(node as usize) {
            ways_left[*from as usize] -= 1;
            if ways_left[*from as usize] == 0 {
                open.push(*from);
            }
        }
    }
    is_lost
}

/// Whether a node ends with the function's return.
pub(crate) fn returns(function: FunctionView<'_>, node: u32) -> bool {
    function.manifest.nodes[node as usize].opcodes.iter().any(|(opcode, _)| function.module.string(*opcode) == "ret")
}
