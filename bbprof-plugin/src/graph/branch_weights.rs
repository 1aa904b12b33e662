//! What code generation is told of measured frequencies, if that is asked for: it keeps values in registers, and lays
//! blocks out, for where it believes that most executions are.
//!
//! Its own estimates can be wrong by orders of magnitude, and then a counter somewhere else is enough for it to keep other
//! variables of the hottest loop in memory. The loop of miniz_oxide that looks for matches turns 1.7 million times in nine calls,
//! where three turns are estimated (`deflate` of the bench): of the three tries of a turn, each read between no and four variables
//! from memory, according to where counters stood, and each read one in the plain build; told of its branches, none.

use super::Graph;
use crate::view;
use bbprof_format::manifest::EdgeKind;
use rustc_hash::FxHashMap;

/// By slot of the view's terminators, in its order, the executions that went there, in a unit of the block's own that
/// makes 32 bits hold them: what went there is never 0. The slots that share a target share its executions evenly. A block
/// whose slots are all 0 never ran: nothing is known of it.
pub(crate) fn of(function: &view::Function<'_>, graph: &Graph, measured: &[u64]) -> Vec<u32> {
    let block_of = |node: u32| graph.nodes[node as usize].block;
    let leaving = graph.edges.iter().zip(measured).filter_map(|(edge, executions)| match (edge.from, edge.to, edge.kind) {
        (_, _, EdgeKind::Return) => None,
        (Some(from), Some(to), _) => Some(((block_of(from), block_of(to)), executions.div_ceil(u64::from(edge.multiplicity)))),
        _ => None,
    });
    let executions: FxHashMap<(u32, u32), u64> = leaving.collect();
    let mut shares = Vec::new();
    for (position, block) in function.blocks.iter().enumerate() {
        let slots = function.block_successors(block).iter();
        let of_slots: Vec<u64> = slots.map(|slot| executions.get(&(position as u32, slot.block)).copied().unwrap_or(0)).collect();
        let most = of_slots.iter().copied().max().unwrap_or(0);
        let unit = most / u64::from(u32::MAX) + 1;
        shares.extend(of_slots.iter().map(|executions| executions.div_ceil(unit) as u32));
    }
    shares
}
