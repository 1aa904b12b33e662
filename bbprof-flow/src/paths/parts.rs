//! Parts of the DAG that need no path counters, because the counts of edges tell those of their paths.
//!
//! A path is *obvious* when one of its arcs is on no other path: that arc *defines* it, and its count is the path's
//! (Joshi, Bond and Zilles 2004, "Targeted path profiling"). Nodes that uncut edges connect are a part; every path
//! lies in one. Where all paths of a part are obvious, its edges are counted as they are without paths, on the
//! chords of a spanning tree, which costs less than a register.

use super::dag::Acyclic;
use crate::cfg::{Cfg, EdgeId, Endpoint, NodeId};
use crate::union_find::UnionFind;

/// How many ways there are: none, one, or more, which is all that matters here.
type Ways = u8;

const MANY: Ways = 2;

fn sum(ways: impl Iterator<Item = Ways>) -> Ways {
    ways.fold(0, |sum, ways| (sum + ways).min(MANY))
}

/// The parts of a DAG with these edges cut.
pub(super) struct Parts {
    /// By node, one that stands for its part.
    part: Vec<u32>,
    /// By such a node.
    is_obvious: Vec<bool>,
    /// By node, ways from the beginnings of paths.
    arrive: Vec<Ways>,
    /// By node, ways to the ends of paths.
    leave: Vec<Ways>,
}

impl Parts {
    pub(super) fn of(cfg: &Cfg, acyclic: &Acyclic, is_cut: &[bool]) -> Self {
        let num_nodes = cfg.num_nodes();
        let goes_on = |edge: EdgeId| cfg.edge(edge).to.node().filter(|_| !is_cut[edge.index()]);
        let mut sets = UnionFind::new(num_nodes as u32);
        let mut begins: Vec<Ways> = vec![0; num_nodes];
        let mut begin =
            |end: Endpoint| end.node().into_iter().for_each(|node| begins[node.index()] = (begins[node.index()] + 1).min(MANY));
        acyclic.entries.iter().for_each(|entry| begin(cfg.edge(*entry).to));
        let mut is_head = vec![false; num_nodes];
        for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
            let Endpoint::Node(from) = edge.from else { continue };
            if let Some(to) = goes_on(id) {
                sets.union(from.index() as u32, to.index() as u32);
            } else if let Endpoint::Node(to) = edge.to
                && acyclic.is_reachable[from.index()]
                && !std::mem::replace(&mut is_head[to.index()], true)
            {
                begin(edge.to);
            }
        }
        let mut parts = Self {
            part: (0..num_nodes as u32).map(|node| sets.find(node)).collect(),
            is_obvious: vec![true; num_nodes],
            arrive: begins,
            leave: vec![0; num_nodes],
        };
        let outgoing = |node: &NodeId| acyclic.outgoing[node.index()].iter().copied();
        for node in acyclic.postorder.iter().rev() {
            for to in outgoing(node).filter_map(goes_on) {
                parts.arrive[to.index()] = sum([parts.arrive[to.index()], parts.arrive[node.index()]].into_iter());
            }
        }
        // Whether a way to an end passes no arc that defines a path.
        let mut escapes = vec![false; num_nodes];
        for node in &acyclic.postorder {
            let leave = |edge| goes_on(edge).map_or(1, |to| parts.leave[to.index()]);
            parts.leave[node.index()] = sum(outgoing(node).map(leave));
            let escape = |edge| {
                goes_on(edge)
                    .map_or(parts.arrive[node.index()] > 1, |to| escapes[to.index()] && !parts.defines(Some(*node), Some(to)))
            };
            escapes[node.index()] = outgoing(node).any(escape);
        }
        let entries = acyclic.entries.iter().filter_map(|entry| cfg.edge(*entry).to.node());
        let heads = cfg.node_ids().filter(|node| is_head[node.index()]);
        for begin in entries.chain(heads) {
            if escapes[begin.index()] && !parts.defines(None, Some(begin)) {
                parts.is_obvious[parts.part[begin.index()] as usize] = false;
            }
        }
        parts
    }

    /// Whether all paths of the node's part are obvious.
    pub(super) fn is_obvious(&self, node: NodeId) -> bool {
        self.is_obvious[self.part[node.index()] as usize]
    }

    /// Whether an arc is on one path only; `None` is ROOT, or EXIT.
    pub(super) fn defines(&self, from: Option<NodeId>, to: Option<NodeId>) -> bool {
        from.is_none_or(|from| self.arrive[from.index()] == 1) && to.is_none_or(|to| self.leave[to.index()] == 1)
    }
}
