//! What the known flows leave open: unknown arcs that lie on a cycle of unknown arcs.
//!
//! Any flow can be sent round such a cycle without touching what is known. Every other unknown arc is the
//! only one over a cut of the graph, so conservation determines it. A plan on a spanning tree leaves
//! nothing open; counters on nodes alone may leave edges open.

use crate::doubled::{Doubled, Vertex};
use crate::peel::Peeled;
use crate::union_find::UnionFind;

/// For each arc, whether it is free: unknown, and closing a cycle with unknown arcs before it.
/// The other unknown arcs are a spanning forest of them all.
pub(crate) fn free_arcs(doubled: Doubled<'_>, known: &[Option<i128>]) -> Vec<bool> {
    let mut sets = UnionFind::new(doubled.num_vertices());
    let is_free = doubled.arcs().map(|arc| {
        let (tail, head) = doubled.ends(arc);
        known[arc.index()].is_none() && !sets.union(tail.position(), head.position())
    });
    is_free.collect()
}

/// For each arc, whether it is open: free, or on the path in the forest between the ends of a free arc.
///
/// Both ends of a free arc climb towards the root until they meet. A stretch once climbed is all open and is skipped from then on.
pub(crate) fn open_arcs(doubled: Doubled<'_>, is_free: &[bool], forest: &[Peeled]) -> Vec<bool> {
    let mut is_open = is_free.to_vec();
    if !is_free.contains(&true) {
        return is_open;
    }
    let mut climb = Climb::over(doubled, forest);
    for arc in doubled.arcs().filter(|arc| is_free[arc.index()]) {
        let (tail, head) = doubled.ends(arc);
        let (mut low, mut high) = (climb.top(tail), climb.top(head));
        while low != high {
            if climb.depth[low.index()] < climb.depth[high.index()] {
                std::mem::swap(&mut low, &mut high);
            }
            let step = climb.step[low.index()].expect("vertices of one tree meet before its root is passed");
            is_open[step.arc.index()] = true;
            climb.skip_to[low.index()] = step.above;
            low = climb.top(step.above);
        }
    }
    is_open
}

/// The forest as steps towards its roots.
struct Climb {
    /// The arc above each vertex; `None` for roots.
    step: Vec<Option<Peeled>>,
    /// Arcs between a vertex and its root.
    depth: Vec<u32>,
    /// Nearest vertex above (or the vertex itself) that may have an arc above it which is not known to be open.
    skip_to: Vec<Vertex>,
}

impl Climb {
    fn over(doubled: Doubled<'_>, forest: &[Peeled]) -> Self {
        let mut step = vec![None; doubled.num_vertices() as usize];
        let mut depth = vec![0; step.len()];
        for peeled in forest.iter().rev() {
            step[peeled.below.index()] = Some(*peeled);
            depth[peeled.below.index()] = depth[peeled.above.index()] + 1;
        }
        Self { step, depth, skip_to: doubled.vertices().collect() }
    }

    /// Where a climb from this vertex next meets an arc not known to be open (path halving).
    fn top(&mut self, mut vertex: Vertex) -> Vertex {
        while self.skip_to[vertex.index()] != vertex {
            let above = self.skip_to[vertex.index()];
            self.skip_to[vertex.index()] = self.skip_to[above.index()];
            vertex = self.skip_to[vertex.index()];
        }
        vertex
    }
}
