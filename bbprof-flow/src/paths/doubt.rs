//! Estimated frequencies, doubted: compilers guess 31 turns of a loop of which they know nothing, and many loops have two.

use super::dag::Acyclic;
use crate::cfg::{Cfg, EdgeId, Endpoint};
use crate::costs::Weights;

/// Loops times nodes beyond which depths are not worked out.
const MOST_WORK: usize = 10_000_000;

impl Weights {
    /// With this many times fewer turns of each loop: what is in several counts so much less for each of them.
    /// `None` where there is no loop, or too many to look at.
    #[must_use]
    pub fn with_fewer_turns(&self, cfg: &Cfg, times: u64) -> Option<Self> {
        let acyclic = Acyclic::of(cfg);
        let tails = acyclic.tails(cfg);
        let mut incoming = vec![Vec::new(); cfg.num_nodes()];
        for edge in cfg.edges() {
            if let (Endpoint::Node(from), Endpoint::Node(to)) = (edge.from, edge.to) {
                incoming[to.index()].push(from);
            }
        }
        if tails.is_empty() || tails.len().saturating_mul(cfg.num_nodes()) > MOST_WORK {
            return None;
        }
        // By node, the loops around it.
        let mut depth = vec![0_u32; cfg.num_nodes()];
        let mut seen_by = vec![None; cfg.num_nodes()];
        for (head, tails) in &tails {
            let mut waiting = tails.clone();
            waiting.push(*head);
            while let Some(node) = waiting.pop() {
                if seen_by[node.index()].replace(*head) == Some(*head) {
                    continue;
                }
                depth[node.index()] += 1;
                if node != *head {
                    waiting.extend_from_slice(&incoming[node.index()]);
                }
            }
        }
        let fewer = |weight: u64, depth: u32| weight / times.saturating_pow(depth).max(1);
        let of_edge = |id: EdgeId| {
            let depth_of = |end: Endpoint| end.node().map_or(0, |node| depth[node.index()]);
            fewer(self.edges[id.index()], depth_of(cfg.edge(id).from).min(depth_of(cfg.edge(id).to)))
        };
        Some(Self {
            nodes: self.nodes.iter().zip(&depth).map(|(weight, depth)| fewer(*weight, *depth)).collect(),
            edges: cfg.edge_ids().map(of_edge).collect(),
            ..self.clone()
        })
    }
}
