//! Endless loops: nodes from which control cannot leave the function. Who executes them can only be cut off there, by the end of the
//! process or of the thread, or by a signal handler that jumps away.
//!
//! Conservation alone would say that such a loop is never entered: nothing flows out of it. So one node of each loop gets a `Vanish` edge,
//! on which activations leave that are still running when the counts are read.

use crate::view;
use bbprof_format::manifest::{Edge, EdgeKind};

/// Gives X an edge from each endless loop.
pub(super) fn let_endless_loops_vanish(num_nodes: usize, edges: &mut Vec<Edge>) {
    loop {
        let ways = edges.iter().map(|edge| (edge.from, edge.to));
        // The last node that cannot leave is in a loop, or leads to one before it: then there is another turn.
        let Some(endless) = leaves(num_nodes, ways).iter().rposition(|leaves| !leaves) else { return };
        let end = edges.partition_point(|edge| edge.from <= Some(endless as u32));
        let from = Some(endless as u32);
        edges.insert(end, Edge { from, to: None, kind: EdgeKind::Vanish, successor: 0, multiplicity: 1, weight: 0 });
    }
}

/// Whether a function has an endless loop.
pub(super) fn has_endless_loop(function: &view::Function<'_>) -> bool {
    let ways = function.blocks.iter().enumerate().flat_map(|(from, block)| {
        let successors = function.block_successors(block);
        let exit = successors.is_empty().then_some((Some(from as u32), None));
        exit.into_iter().chain(successors.iter().map(move |successor| (Some(from as u32), Some(successor.block))))
    });
    leaves(function.blocks.len(), ways).contains(&false)
}

/// For each vertex, whether a way leads from it to X, which is `None`.
fn leaves(num_vertices: usize, ways: impl Iterator<Item = (Option<u32>, Option<u32>)>) -> Vec<bool> {
    let mut leaves = vec![false; num_vertices];
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); num_vertices];
    let mut reached = Vec::new();
    for (from, to) in ways {
        match (from, to) {
            (Some(from), None) => reached.push(from),
            (Some(from), Some(to)) => before[to as usize].push(from),
            (None, _) => {}
        }
    }
    while let Some(vertex) = reached.pop() {
        if !std::mem::replace(&mut leaves[vertex as usize], true) {
            reached.extend_from_slice(&before[vertex as usize]);
        }
    }
    leaves
}
