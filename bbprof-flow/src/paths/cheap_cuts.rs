//! Which edges to cut so that few paths are left and few executions end a path.
//!
//! Greedily, the cut that takes most away from the number of paths, in halvings, for each execution that it costs:
//! of one edge, or of all edges into one node. With a paths that come to a node and b that leave it, there are a +
//! b when they end there, and were a * b: so an interpreter's handlers, each with its own paths to one common
//! tail, are parted from the tail rather than cut to pieces.
//!
//! Numbers of paths are estimates in floating point here: they only order the cuts.

use super::dag::Acyclic;
use super::limit::{candidates, num_paths};
use crate::cfg::{Cfg, EdgeId};
use crate::costs::Weights;

/// Edges that are looked at before time is saved by several cuts at once: a tenth of a second.
const MOST_LOOKS: usize = 20_000_000;

/// A graph whose edges are being cut.
pub(super) struct CheapCuts<'a> {
    cfg: &'a Cfg,
    acyclic: &'a Acyclic,
    weights: &'a Weights,
    is_cut: Vec<bool>,
    is_head: Vec<bool>,
}

/// One way to cut.
struct Choice {
    /// Halvings of the number of paths for each execution that ends one more.
    gain: f64,
    edges: Vec<EdgeId>,
}

impl<'a> CheapCuts<'a> {
    /// With these edges cut already.
    pub(super) fn new(cfg: &'a Cfg, acyclic: &'a Acyclic, weights: &'a Weights, is_cut: Vec<bool>) -> Self {
        let mut is_head = vec![false; cfg.num_nodes()];
        for edge in cfg.edge_ids().filter(|edge| is_cut[edge.index()]) {
            let from = cfg.edge(edge).from.node().filter(|from| acyclic.is_reachable[from.index()]);
            if let (Some(_), Some(to)) = (from, cfg.edge(edge).to.node()) {
                is_head[to.index()] = true;
            }
        }
        Self { cfg, acyclic, weights, is_cut, is_head }
    }

    /// The edges that are cut when at most `limit` paths are left, or when no further cut helps.
    pub(super) fn choose(mut self, limit: u64) -> Vec<bool> {
        let mut open = candidates(self.cfg, self.acyclic, &self.is_cut);
        let rounds = MOST_LOOKS / (self.cfg.num_edges() + self.cfg.num_nodes());
        let at_once = open.len() / rounds.max(1) + 1;
        while num_paths(self.cfg, self.acyclic, &self.is_cut).is_none_or(|paths| paths > u128::from(limit)) {
            let mut choices = self.choices(&open, limit);
            // Where gains are equal, the order of the edges decides, which `sort` keeps.
            choices.sort_by(|a, b| b.gain.total_cmp(&a.gain));
            if choices.is_empty() {
                break;
            }
            for edge in choices.into_iter().take(at_once).flat_map(|choice| choice.edges) {
                self.is_cut[edge.index()] = true;
                self.is_head[self.cfg.edge(edge).to.node().expect("candidates lead to nodes").index()] = true;
            }
            open.retain(|edge| !self.is_cut[edge.index()]);
        }
        self.is_cut
    }

    /// All cuts that leave fewer paths.
    fn choices(&self, open: &[EdgeId], limit: u64) -> Vec<Choice> {
        let (cfg, cuts_of_node) = (self.cfg, self.open_by_node(open));
        let leave = self.leave();
        let arrive = self.arrive();
        let heads = (0..cfg.num_nodes()).filter(|node| self.is_head[*node]).map(|head| leave[head]);
        let entries = self.acyclic.entries.iter().map(|entry| cfg.edge(*entry).to.node().map_or(1.0, |node| leave[node.index()]));
        let total: f64 = heads.chain(entries).sum();
        let mut choices = Vec::new();
        for (node, edges) in cuts_of_node.into_iter().enumerate().filter(|(_, edges)| !edges.is_empty()) {
            let begin = if self.is_head[node] { 0.0 } else { leave[node] };
            let mut offer = |edges: &[EdgeId]| {
                let of_edge = |edge: &EdgeId| arrive[cfg.edge(*edge).from.node().expect("candidates leave nodes").index()];
                let come: f64 = edges.iter().map(of_edge).sum();
                let cost: f64 = edges.iter().map(|edge| self.weights.edges[edge.index()] as f64 + 1.0).sum();
                let left = (total - come * leave[node] + come + begin).max(come + begin);
                if left < total {
                    choices.push(Choice { gain: halvings(total) - halvings(left.max(limit as f64)), edges: edges.to_vec() });
                    choices.last_mut().expect("just pushed").gain /= cost;
                }
            };
            edges.iter().for_each(|edge| offer(std::slice::from_ref(edge)));
            if edges.len() > 1 {
                offer(&edges);
            }
        }
        choices
    }

    fn open_by_node(&self, open: &[EdgeId]) -> Vec<Vec<EdgeId>> {
        let mut by_node = vec![Vec::new(); self.cfg.num_nodes()];
        for edge in open {
            by_node[self.cfg.edge(*edge).to.node().expect("candidates lead to nodes").index()].push(*edge);
        }
        by_node
    }

    /// How many ways lead from each node to an end of its path.
    fn leave(&self) -> Vec<f64> {
        let mut leave = vec![0.0; self.cfg.num_nodes()];
        for node in &self.acyclic.postorder {
            let ways = self.acyclic.outgoing[node.index()].iter().map(|edge| match self.cfg.edge(*edge).to.node() {
                Some(to) if !self.is_cut[edge.index()] => leave[to.index()],
                _ => 1.0,
            });
            leave[node.index()] = ways.sum();
        }
        leave
    }

    /// How many ways lead to each node from a beginning of a path.
    fn arrive(&self) -> Vec<f64> {
        let mut arrive: Vec<f64> = self.is_head.iter().map(|is_head| if *is_head { 1.0 } else { 0.0 }).collect();
        for entry in &self.acyclic.entries {
            if let Some(node) = self.cfg.edge(*entry).to.node() {
                arrive[node.index()] += 1.0;
            }
        }
        for node in self.acyclic.postorder.iter().rev() {
            for edge in self.acyclic.outgoing[node.index()].iter().filter(|edge| !self.is_cut[edge.index()]) {
                if let Some(to) = self.cfg.edge(*edge).to.node() {
                    arrive[to.index()] += arrive[node.index()];
                }
            }
        }
        arrive
    }
}

/// About the binary logarithm of a number from 1: linear between powers of two, the same on every machine.
fn halvings(number: f64) -> f64 {
    const MANTISSA_BITS: i32 = 52;
    number.to_bits() as f64 / f64::powi(2.0, MANTISSA_BITS)
}
