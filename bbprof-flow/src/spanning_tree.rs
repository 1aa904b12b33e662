//! A maximum spanning forest of the doubled graph (Kruskal): the arcs left out of it, its chords, are what must be counted.
//!
//! Four ranks, one after the other, so that what is hard to count never competes with what is easy:
//!
//! 1. Vanish edges, which nothing can count. They always fit: `Cfg` allows one a node, so they form a star around X.
//! 2. Edges that share a landing with others, where only a phi can count them. One that closes a cycle here closes it among edges
//!    alone, so no other choice of counters would spare it: it becomes a chord, the heaviest staying in the tree.
//! 3. Non-critical edges, but those that are counted in front of a loop. They always fit too: an edge that is the only one
//!    out of u meets nothing but u's own arc in u's out-vertex (or, the only one into v, v's own arc in v's in-vertex), and
//!    no node's arc is in the forest yet, so that vertex is still alone. Nothing is lost by it, since every cycle through
//!    such an edge passes that node, which counts the same.
//! 4. Nodes, critical edges and those counted in front of loops, dearest first.
//!
//! Departure from Ball and Larus 1994, who count on edges only and note (section 3.2) that their cost metric leaves out the jumps
//! of split edges: with jumps counted, a node can be cheaper than the edges around it, so nodes take part. Their edge EXIT ->
//! root is X -> entry here, and the entry may carry a counter.
//!
//! Where paths tell the counts of some nodes and of all their edges but those that come from other nodes,
//! such nodes count as parts of X: what enters and leaves them is known, or enters and leaves X. An edge that
//! is the only one into such a node is then no rank-3 edge.

use crate::cfg::{EdgeRole, Endpoint, Splitting};
use crate::costs::{Costs, Weights};
use crate::counted_loops::BeforeLoops;
use crate::degrees::Degrees;
use crate::doubled::{Arc, Doubled};
use crate::union_find::UnionFind;
use std::cmp::Reverse;

/// For each arc, whether it is left out of the forest and must be counted. `by_paths`: by node,
/// whether paths tell its counts; then no arc of it is counted.
pub(crate) fn chords(
    doubled: Doubled<'_>,
    weights: &Weights,
    costs: &Costs,
    before_loops: &BeforeLoops,
    by_paths: &[bool],
) -> Vec<bool> {
    let Candidates { vanishing, mut phi_only, non_critical, mut others } =
        Candidates::sort_out(doubled, weights, costs, before_loops, by_paths);
    // Equal costs: the higher arc first. Edges come after nodes in the order of arcs, so they are the ones spared.
    phi_only.sort_unstable_by_key(|candidate| Reverse((candidate.cost, candidate.arc)));
    others.sort_unstable_by_key(|candidate| Reverse((candidate.cost, candidate.arc)));

    let mut sets = UnionFind::new(doubled.num_vertices());
    for vertex in doubled.vertices() {
        if doubled.endpoint(vertex).node().is_some_and(|node| by_paths[node.index()]) {
            sets.union(vertex.position(), doubled.outside().position());
        }
    }
    let mut is_chord = vec![false; doubled.num_arcs()];
    let mut offer = |arc: Arc| {
        let (tail, head) = doubled.ends(arc);
        let fits = sets.union(tail.position(), head.position());
        is_chord[arc.index()] = !fits;
        fits
    };
    for arc in vanishing {
        let fits = offer(arc);
        debug_assert!(fits, "vanishing edges form a star around X");
    }
    for candidate in phi_only {
        offer(candidate.arc);
    }
    for arc in non_critical {
        let fits = offer(arc);
        debug_assert!(fits, "one end of a non-critical edge is alone until its node's arc comes");
    }
    for candidate in others {
        offer(candidate.arc);
    }
    is_chord
}

/// An arc and what a counter on it would cost.
struct Candidate {
    cost: u128,
    arc: Arc,
}

/// The arcs by rank.
#[derive(Default)]
struct Candidates {
    vanishing: Vec<Arc>,
    phi_only: Vec<Candidate>,
    non_critical: Vec<Arc>,
    others: Vec<Candidate>,
}

impl Candidates {
    fn sort_out(doubled: Doubled<'_>, weights: &Weights, costs: &Costs, before_loops: &BeforeLoops, by_paths: &[bool]) -> Self {
        let is_by_paths = |end: Endpoint| end.node().is_some_and(|node| by_paths[node.index()]);
        let cfg = doubled.cfg();
        let degrees = Degrees::of(cfg);
        let mut ranks = Self::default();
        for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
            let arc = doubled.edge_arc(id);
            let weight = weights.edges[id.index()];
            if is_by_paths(edge.from) || edge.from == Endpoint::X && is_by_paths(edge.to) {
                continue;
            }
            if edge.role == EdgeRole::Vanish {
                ranks.vanishing.push(arc);
            } else if edge.splitting == Splitting::PhiOnly {
                ranks.phi_only.push(Candidate { cost: costs.node(weight), arc });
            } else if let Some(cost) = before_loops.cost(id) {
                ranks.others.push(Candidate { cost, arc });
            } else if degrees.is_critical(edge.from, edge.to) {
                ranks.others.push(Candidate { cost: costs.critical_edge(weights, id), arc });
            } else if is_by_paths(edge.to) && !degrees.is_only_one_out_of(edge.from) {
                ranks.others.push(Candidate { cost: costs.node(weight), arc });
            } else {
                ranks.non_critical.push(arc);
            }
        }
        for node in cfg.node_ids().filter(|node| !by_paths[node.index()]) {
            let cost = costs.node(weights.nodes[node.index()]);
            ranks.others.push(Candidate { cost, arc: doubled.node_arc(node) });
        }
        ranks
    }
}
