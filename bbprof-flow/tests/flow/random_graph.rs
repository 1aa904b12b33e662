//! Random graphs: irreducible, with self-loops, parallel edges, unreachable nodes, no
//! exit, indirect jumps and calls that may not return.

use crate::notation::{X, edge, indirect, vanish};
use bbprof_flow::{Cfg, CountedLoop, EdgeId, Endpoint, FlowEdge, Split, Splitting, Weights};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A reproducible source of choices (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    /// The sequence of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound`, or 0.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        (self.bits() % u64::from(bound.max(1))) as u32
    }

    /// One of the items.
    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> Option<T> {
        items.get(self.below(items.len() as u32) as usize).copied()
    }

    /// Any weights, with all magnitudes.
    pub(crate) fn weights(&mut self, cfg: &Cfg) -> Weights {
        let mut weight = || self.bits() >> self.below(64);
        let nodes = (0..cfg.num_nodes()).map(|_| weight()).collect();
        let edges = (0..cfg.num_edges()).map(|_| weight()).collect();
        // A node that an indirect edge leaves ends in a call, of which counted loops have none.
        let is_indirect = |from: Endpoint| {
            cfg.edges().iter().any(|edge| edge.from == from && matches!(edge.splitting, Splitting::Landing | Splitting::PhiOnly))
        };
        let may_go_back = |edge: &EdgeId| !cfg.edge(*edge).vanishes() && !is_indirect(cfg.edge(*edge).from);
        let counted_loops = cfg.edge_ids().filter(may_go_back).filter_map(|edge| self.counted_loop(edge)).collect();
        let splits = (0..cfg.num_edges()).map(|_| Split { jumps: self.below(2) == 1, copies: self.below(3) }).collect();
        Weights { nodes, edges, counted_loops, splits }
    }

    /// Sometimes, that this edge closes a counted loop. What a loop is does not matter to the placement.
    fn counted_loop(&mut self, back_edge: EdgeId) -> Option<CountedLoop> {
        let entries = self.bits() >> self.below(64);
        (self.below(4) == 0).then(|| CountedLoop { back_edge, entries, instructions: self.below(4), splits: self.below(2) == 0 })
    }
}

/// How a node ends; targets are taken modulo the number of nodes.
#[derive(Clone, Debug)]
struct NodeEnd {
    /// Leaves the function.
    exits: bool,
    /// In a call that may not return.
    may_vanish: bool,
    /// Jumps, switches, the return of a call, unwinding; parallel edges allowed.
    jumps: Vec<u32>,
    /// `indirectbr` or `callbr`: parallel edges are one.
    indirect: Vec<u32>,
}

fn node_end() -> impl Strategy<Value = NodeEnd> {
    let jumps = prop_oneof![
        4 => prop::collection::vec(any::<u32>(), 1..=1),
        4 => prop::collection::vec(any::<u32>(), 2..=2),
        1 => prop::collection::vec(any::<u32>(), 3..7),
    ];
    let plain = jumps.clone().prop_map(|jumps| NodeEnd { exits: false, may_vanish: false, jumps, indirect: vec![] });
    let call = jumps.prop_map(|jumps| NodeEnd { exits: false, may_vanish: true, jumps, indirect: vec![] });
    let leave = any::<bool>().prop_map(|may_vanish| NodeEnd { exits: true, may_vanish, jumps: vec![], indirect: vec![] });
    let fan_out = (any::<bool>(), prop::collection::vec(any::<u32>(), 0..2), prop::collection::vec(any::<u32>(), 1..5))
        .prop_map(|(may_vanish, jumps, indirect)| NodeEnd { exits: false, may_vanish, jumps, indirect });
    let anything =
        (any::<bool>(), any::<bool>(), prop::collection::vec(any::<u32>(), 0..3), prop::collection::vec(any::<u32>(), 0..3))
            .prop_map(|(exits, may_vanish, jumps, indirect)| NodeEnd { exits, may_vanish, jumps, indirect });
    prop_oneof![6 => plain, 3 => call, 2 => leave, 1 => fan_out, 1 => anything]
}

/// Graphs of 1 to `max_nodes` nodes, entered at node 0 (and sometimes once more elsewhere).
pub(crate) fn random_graph(max_nodes: usize) -> impl Strategy<Value = Cfg> {
    let nodes = prop::collection::vec(node_end(), 1..=max_nodes);
    (nodes, prop::option::weighted(0.1, any::<u32>())).prop_map(|(nodes, second_entry)| {
        let num_nodes = nodes.len() as u32;
        let mut edges: Vec<FlowEdge> = vec![edge(X, 0)];
        edges.extend(second_entry.map(|node| edge(X, node % num_nodes)));
        for (from, end) in (0..num_nodes).zip(&nodes) {
            edges.extend(end.jumps.iter().map(|to| edge(from, to % num_nodes)));
            let targets: BTreeSet<u32> = end.indirect.iter().map(|to| to % num_nodes).collect();
            edges.extend(targets.into_iter().map(|to| indirect(from, to)));
            edges.extend(end.exits.then(|| edge(from, X)));
            edges.extend(end.may_vanish.then(|| vanish(from)));
        }
        Cfg::new(num_nodes, edges).expect("a well-formed graph")
    })
}
