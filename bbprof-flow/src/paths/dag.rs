//! From a graph to an order without cycles: depth-first from X; edges to a node that is still open close a cycle.

use crate::cfg::{Cfg, EdgeId, Endpoint, NodeId};
use std::collections::BTreeMap;

/// The nodes that can be reached, and the edges that keep them from an order.
pub(super) struct Acyclic {
    /// Reachable nodes, each behind all its successors along edges that close no cycle.
    pub(super) postorder: Vec<NodeId>,
    /// By edge: whether it closes a cycle.
    pub(super) closes_cycle: Vec<bool>,
    /// By node.
    pub(super) is_reachable: Vec<bool>,
    /// The edges out of each node, in edge order.
    pub(super) outgoing: Vec<Vec<EdgeId>>,
    /// Edges from X.
    pub(super) entries: Vec<EdgeId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

impl Acyclic {
    pub(super) fn of(cfg: &Cfg) -> Self {
        let mut outgoing = vec![Vec::new(); cfg.num_nodes()];
        let mut entries = Vec::new();
        for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
            match edge.from {
                Endpoint::X => entries.push(id),
                Endpoint::Node(node) => outgoing[node.index()].push(id),
            }
        }
        let mut acyclic = Self {
            postorder: Vec::with_capacity(cfg.num_nodes()),
            closes_cycle: vec![false; cfg.num_edges()],
            is_reachable: vec![false; cfg.num_nodes()],
            outgoing,
            entries,
        };
        acyclic.search(cfg);
        acyclic
    }

    /// Where edges that close a cycle come from, by the node that they lead to.
    pub(super) fn tails(&self, cfg: &Cfg) -> BTreeMap<NodeId, Vec<NodeId>> {
        let mut tails: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        for (edge, closes) in cfg.edges().iter().zip(&self.closes_cycle) {
            if let (true, Endpoint::Node(from), Endpoint::Node(to)) = (closes, edge.from, edge.to) {
                tails.entry(to).or_default().push(from);
            }
        }
        tails
    }

    fn search(&mut self, cfg: &Cfg) {
        let mut states = vec![State::New; cfg.num_nodes()];
        // A node, and how many of its edges were followed.
        let mut stack: Vec<(NodeId, usize)> = Vec::new();
        for entry in &self.entries {
            let Some(root) = cfg.edge(*entry).to.node().filter(|node| states[node.index()] == State::New) else { continue };
            states[root.index()] = State::Open;
            stack.push((root, 0));
            while let Some((node, followed)) = stack.last_mut() {
                let Some(edge) = self.outgoing[node.index()].get(*followed) else {
                    states[node.index()] = State::Done;
                    self.is_reachable[node.index()] = true;
                    self.postorder.push(*node);
                    stack.pop();
                    continue;
                };
                *followed += 1;
                let Some(to) = cfg.edge(*edge).to.node() else { continue };
                match states[to.index()] {
                    State::New => {
                        states[to.index()] = State::Open;
                        stack.push((to, 0));
                    }
                    State::Open => self.closes_cycle[edge.index()] = true,
                    State::Done => {}
                }
            }
        }
    }
}
