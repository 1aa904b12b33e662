//! From the blocks of a function to the nodes and edges of its balanced graph.
//!
//! A call that may not return ends its node: the rest of the block is a node of its own, entered by a `Return` edge, and a
//! `Vanish` edge leads to X. So the counts stay exact when the callee exits, throws through, or jumps out with longjmp
//! (Ball and Larus 1994, figure 4, solved by construction instead of by the activation stack).
//!
//! An endless loop has a `Vanish` edge, too ([`endless`]).
//!
//! Two calls do not end a node but the function: one that never returns, and a tail call before `ret`, whose activation is
//! gone when the callee runs. A counter behind a tail call would keep the frame alive and turn bounded stacks into unbounded ones.
//! Nor does a tail call in front of a jump to a return that others share: what is counted behind it is counted in front of it.

pub(crate) mod branch_weights;
mod counted_loops;
mod endless;
pub(crate) mod register_loops;
mod tight_loop;
pub(crate) mod unrolled_loops;

use crate::view;
use bbprof_flow::{Split, Weights, is_giant};
use bbprof_format::manifest::{CounterMode, Edge, EdgeKind};
use counted_loops::CountedLoop;

/// A node: a stretch of the instructions of one block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NodeSpan {
    /// Its block.
    pub block: u32,
    /// Position of its first instruction in the block.
    pub begin: u32,
    /// Position behind its last instruction in the block.
    pub end: u32,
    /// Its last call ends the function: exits are counted at the node's start, not at its end.
    pub ends_in_call: bool,
}

/// Nodes and edges of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Graph {
    pub nodes: Vec<NodeSpan>,
    pub edges: Vec<Edge>,
    /// Estimated frequency of each node.
    pub weights: Vec<u64>,
    /// The weights are those of an earlier run, not estimates.
    pub are_measured: bool,
    /// Loops whose turns are known in front of them.
    pub counted_loops: Vec<CountedLoop>,
    /// By edge, what code on it would bring with it.
    splits: Vec<Split>,
    /// By node, how many edges leave it.
    pub num_outgoing: Vec<u32>,
    /// By node, how many edges enter it.
    pub num_incoming: Vec<u32>,
}

/// Estimates order what the earlier run says nothing between: parts that never ran, or ran as often. In measured executions
/// they weigh less than one.
const ESTIMATES_PER_EXECUTION: u64 = 16;

impl Graph {
    /// The frequencies, as placement wants them.
    pub(crate) fn frequencies(&self) -> Weights {
        Weights {
            nodes: self.weights.clone(),
            edges: self.edges.iter().map(|edge| edge.weight).collect(),
            counted_loops: self.counted_loops.iter().map(|counted| counted.priced(&self.edges, self.are_measured)).collect(),
            splits: self.splits.clone(),
        }
    }

    /// Takes measured frequencies for weights, by node and by edge.
    pub(crate) fn measure_weights(&mut self, nodes: &[u64], edges: &[u64]) {
        let greatest = self.weights.iter().copied().chain(self.edges.iter().map(|edge| edge.weight)).max().unwrap_or(0).max(1);
        let weight = |measured: u64, estimated: u64| {
            let rest = u128::from(estimated) * u128::from(ESTIMATES_PER_EXECUTION - 1) / u128::from(greatest);
            measured.saturating_mul(ESTIMATES_PER_EXECUTION).saturating_add(rest as u64)
        };
        self.are_measured = true;
        for (own, measured) in self.weights.iter_mut().zip(nodes) {
            *own = weight(*measured, *own);
        }
        for (edge, measured) in self.edges.iter_mut().zip(edges) {
            edge.weight = weight(*measured, edge.weight);
        }
    }

    /// Shuffles the weights of the nodes, and those of the edges (Fisher and Yates, with the generator of Marsaglia 2003).
    pub(crate) fn permute_weights(&mut self, seed: u64) {
        let mut state = seed.wrapping_mul(2).wrapping_add(1);
        let mut below = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % bound as u64) as usize
        };
        for last in (1..self.weights.len()).rev() {
            self.weights.swap(last, below(last + 1));
        }
        for last in (1..self.edges.len()).rev() {
            let other = below(last + 1);
            let weight = self.edges[other].weight;
            self.edges[other].weight = std::mem::replace(&mut self.edges[last].weight, weight);
        }
    }
}

/// Builds the graph. `comes_back[f]` says whether every call of the module's function `f` returns.
pub(crate) fn build(function: &view::Function<'_>, comes_back: &[bool]) -> Graph {
    let mut nodes = Vec::with_capacity(function.blocks.len());
    let mut weights = Vec::with_capacity(function.blocks.len());
    let mut first_node = Vec::with_capacity(function.blocks.len());
    for (block_id, block) in function.blocks.iter().enumerate() {
        first_node.push(nodes.len() as u32);
        let num_instructions = block.instructions_end - block.instructions_begin;
        let mut begin = 0;
        let mut ends_in_call = false;
        for call in function.block_calls(block) {
            if call.flags & view::CALL_ENDS_FUNCTION != 0 {
                ends_in_call = true;
                break;
            }
            let end = call.position + 1;
            // A terminator that calls (invoke, callbr) has no rest of the block behind it.
            if may_vanish(call, comes_back) && end < num_instructions {
                nodes.push(NodeSpan { block: block_id as u32, begin, end, ends_in_call: false });
                weights.push(block.weight);
                begin = end;
            }
        }
        nodes.push(NodeSpan { block: block_id as u32, begin, end: num_instructions, ends_in_call });
        weights.push(block.weight);
    }

    let mut edges = vec![Edge {
        from: None,
        to: Some(0),
        kind: EdgeKind::Entry,
        successor: 0,
        multiplicity: 1,
        weight: function.blocks.first().map_or(0, |entry| entry.weight),
    }];
    for (position, node) in nodes.iter().enumerate() {
        let from = position as u32;
        let block = &function.blocks[node.block as usize];
        let edge = |to, kind, weight| Edge { from: Some(from), to, kind, successor: 0, multiplicity: 1, weight };
        if !is_last_of_block(&nodes, position) {
            edges.push(edge(Some(from + 1), EdgeKind::Return, block.weight));
            edges.push(edge(None, EdgeKind::Vanish, 0));
        } else if node.ends_in_call || function.block_successors(block).is_empty() {
            edges.push(edge(None, EdgeKind::Exit, block.weight));
        } else {
            push_successors(function, block, from, &first_node, &mut edges);
            if terminator_may_vanish(function, block, comes_back) {
                edges.push(edge(None, EdgeKind::Vanish, 0));
            }
        }
    }
    endless::let_endless_loops_vanish(nodes.len(), &mut edges);
    let counted_loops = counted_loops::find(function, &nodes, &edges);
    let splits = edges.iter().map(|edge| split_of(function, &nodes, edge)).collect();
    let num_outgoing = tally(nodes.len(), edges.iter().filter_map(|edge| edge.from));
    let num_incoming = tally(nodes.len(), edges.iter().filter_map(|edge| edge.to));
    Graph { nodes, edges, weights, are_measured: false, counted_loops, splits, num_outgoing, num_incoming }
}

/// By node, how often it is among these.
fn tally(num_nodes: usize, nodes: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut tally = vec![0; num_nodes];
    nodes.for_each(|node| tally[node as usize] += 1);
    tally
}

/// Whether a node is the end of its block: others end in a call, with the rest of the block behind them.
pub(crate) fn is_last_of_block(nodes: &[NodeSpan], position: usize) -> bool {
    nodes.get(position + 1).is_none_or(|next| next.block != nodes[position].block)
}

/// Of more phis than this, most are not copied.
const MOST_COPIES: u32 = 2;

/// Of instructions besides phis: a test and a branch on it. Behind what jumps to such a header, code generation repeats it
/// instead of the jump (LLVM's `-tail-dup-placement-threshold`).
const SHORT_HEADER: u32 = 2;

/// What code on an edge brings with it. On the way back to an earlier block, or to its own, variables have to be copied; but where
/// the header is repeated behind that code, it is the loop's own end, and turns without a jump.
fn split_of(function: &view::Function<'_>, nodes: &[NodeSpan], edge: &Edge) -> Split {
    match (edge.from, edge.to) {
        (Some(from), Some(to)) if to <= from => {
            let header = &function.blocks[nodes[to as usize].block as usize];
            let length = header.instructions_end - header.instructions_begin - header.phis;
            let is_repeated = header.terminator == view::TERMINATOR_BRANCH && length <= SHORT_HEADER;
            if is_repeated && !is_giant(nodes.len()) {
                Split { jumps: false, copies: 0 }
            } else {
                Split { jumps: true, copies: header.phis.min(MOST_COPIES) }
            }
        }
        _ => Split::default(),
    }
}

fn may_vanish(call: &view::Call, comes_back: &[bool]) -> bool {
    let known = call.callee_function.checked_sub(1).is_some_and(|callee| comes_back[callee as usize]);
    call.flags & view::CALL_MAY_VANISH != 0 && call.flags & view::CALL_RETURNS_BY_OTHER == 0 && !known
}

fn terminator_may_vanish(function: &view::Function<'_>, block: &view::Block, comes_back: &[bool]) -> bool {
    let last = block.instructions_end - block.instructions_begin - 1;
    matches!(block.terminator, view::TERMINATOR_INVOKE | view::TERMINATOR_CALLBR)
        && function.block_calls(block).last().is_some_and(|call| call.position == last && may_vanish(call, comes_back))
}

/// One edge per successor block: slots with the same target (cases of a switch) are one edge of that multiplicity.
fn push_successors(function: &view::Function<'_>, block: &view::Block, from: u32, first_node: &[u32], edges: &mut Vec<Edge>) {
    let own = edges.len();
    let mut seen = rustc_hash::FxHashMap::default();
    for (slot, successor) in function.block_successors(block).iter().enumerate() {
        if let Some(position) = seen.get(&successor.block) {
            let edge: &mut Edge = &mut edges[*position];
            edge.multiplicity += 1;
            edge.weight = edge.weight.saturating_add(successor.weight);
            continue;
        }
        seen.insert(successor.block, edges.len());
        let kind = match (block.terminator, slot) {
            (view::TERMINATOR_JUMP, _) => EdgeKind::Fallthrough,
            (view::TERMINATOR_BRANCH, _) => EdgeKind::Branch,
            (view::TERMINATOR_SWITCH, _) => EdgeKind::Switch,
            (view::TERMINATOR_INVOKE | view::TERMINATOR_CALLBR, 0) => EdgeKind::Invoke,
            (view::TERMINATOR_INVOKE, _) => EdgeKind::Unwind,
            _ => EdgeKind::Indirect,
        };
        let to = Some(first_node[successor.block as usize]);
        edges.push(Edge { from: Some(from), to, kind, successor: slot as u32, multiplicity: 1, weight: successor.weight });
    }
    // A callbr whose fallthrough is also one of its indirect targets cannot be split there.
    for edge in &mut edges[own..] {
        if block.terminator == view::TERMINATOR_CALLBR && edge.multiplicity > 1 {
            edge.kind = EdgeKind::Indirect;
        }
    }
}

/// Which functions always come back to their caller, by position in the module. A path is counted at its end,
/// so an activation that waits in a recursion when the stack overflows must have ended one before the call:
/// for paths, recursive functions do not count as coming back.
pub(crate) fn comes_back(module: &view::Module<'_>, mode: CounterMode) -> Vec<bool> {
    let summaries: Vec<bbprof_flow::CallSummary> = module
        .functions
        .iter()
        .map(|function| {
            let vanishing = || function.calls.iter().filter(|call| call.flags & view::CALL_MAY_VANISH != 0);
            let throws = function.blocks.iter().any(|block| block.terminator == view::TERMINATOR_RESUME);
            bbprof_flow::CallSummary {
                is_exact: function.exact,
                may_vanish: throws || endless::has_endless_loop(function) || vanishing().any(|call| call.callee_function == 0),
                callees: vanishing()
                    .filter_map(|call| call.callee_function.checked_sub(1).map(bbprof_flow::FunctionId::new))
                    .collect(),
            }
        })
        .collect();
    match mode {
        CounterMode::Paths => bbprof_flow::comes_back_from_bounded_depth(&summaries),
        _ => bbprof_flow::comes_back(&summaries),
    }
}

#[cfg(test)]
mod tests;
