//! Endless loops: nodes from which control cannot leave the function. Who executes them can only be cut off there, by the end of
//! the process or of the thread, or by a signal handler that jumps away.
//!
//! Conservation alone would say that such a loop is never entered: nothing flows out of it. So one node of each loop gets a
//! `Vanish` edge, on which activations leave that are still running when the counts are read.

use crate::view;
use bbprof_format::manifest::{Edge, EdgeKind};

/// Gives X an edge from each endless loop.
pub(super) fn let_endless_loops_vanish(num_nodes: usize, edges: &mut Vec<Edge>) {
    let mut ways = Ways::new(num_nodes, edges.iter().map(|edge| (edge.from, edge.to)));
    let mut endless = Vec::new();
    // The last node that cannot leave is in a loop, or leads to one before it; with a way from there, fewer cannot.
    for node in (0..num_nodes as u32).rev() {
        if !ways.leaves[node as usize] {
            endless.push(node);
            ways.let_leave(node);
        }
    }
    let vanish = |node| Edge { from: Some(node), to: None, kind: EdgeKind::Vanish, successor: 0, multiplicity: 1, weight: 0 };
    edges.extend(endless.into_iter().map(vanish));
    // Stable: each stands behind the node's other edges.
    edges.sort_by_key(|edge| edge.from);
}

/// Whether a function has an endless loop.
pub(super) fn has_endless_loop(function: &view::Function<'_>) -> bool {
    let ways = function.blocks.iter().enumerate().flat_map(|(from, block)| {
        let successors = function.block_successors(block);
        let exit = successors.is_empty().then_some((Some(from as u32), None));
        exit.into_iter().chain(successors.iter().map(move |successor| (Some(from as u32), Some(successor.block))))
    });
    Ways::new(function.blocks.len(), ways).leaves.contains(&false)
}

/// Ways between vertices.
struct Ways {
    /// For each vertex, whether a way leads from it to X.
    leaves: Vec<bool>,
    /// For each vertex, those from which a way leads to it.
    before: Vec<Vec<u32>>,
}

impl Ways {
    /// From and to these, where `None` is X.
    fn new(num_vertices: usize, ways: impl Iterator<Item = (Option<u32>, Option<u32>)>) -> Self {
        let mut found = Self { leaves: vec![false; num_vertices], before: vec![Vec::new(); num_vertices] };
        let mut to_outside = Vec::new();
        for (from, to) in ways {
            match (from, to) {
                (Some(from), None) => to_outside.push(from),
                (Some(from), Some(to)) => found.before[to as usize].push(from),
                (None, _) => {}
            }
        }
        to_outside.into_iter().for_each(|vertex| found.let_leave(vertex));
        found
    }

    /// A way leads from this vertex to X, and so from all before it.
    fn let_leave(&mut self, vertex: u32) {
        let mut reached = vec![vertex];
        while let Some(vertex) = reached.pop() {
            if !std::mem::replace(&mut self.leaves[vertex as usize], true) {
                reached.extend_from_slice(&self.before[vertex as usize]);
            }
        }
    }
}
