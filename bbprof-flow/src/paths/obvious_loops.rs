//! Loops that are cut off from what is around them, so that their paths become obvious:
//! the disconnection of Joshi, Bond and Zilles 2004.
//!
//! With the edges into an innermost loop and out of it cut like those back to its head, each turn is a path of its own. Where these
//! are obvious, the loop is counted as without paths; what is lost is with which turn a way in or a way out went together.

use super::dag::Acyclic;
use super::parts::Parts;
use crate::cfg::{Cfg, EdgeId, Endpoint, NodeId};
use crate::costs::Weights;
use std::collections::BTreeMap;

/// Loops with fewer turns for each time that they are entered stay whole with what is around them.
const LEAST_TURNS: u64 = 2;

/// An innermost loop with one way in.
struct Loop {
    head: NodeId,
    /// Its edges back, in and out.
    cuts: Vec<EdgeId>,
}

/// The edges around all innermost loops that turn often enough and have obvious paths when they are cut.
#[must_use]
pub fn obvious_loops(cfg: &Cfg, weights: &Weights) -> Vec<EdgeId> {
    let acyclic = Acyclic::of(cfg);
    let loops = innermost_loops(cfg, weights, &acyclic);
    let mut is_cut = acyclic.closes_cycle.clone();
    for cut in loops.iter().flat_map(|found| &found.cuts) {
        is_cut[cut.index()] = true;
    }
    let parts = Parts::of(cfg, &acyclic, &is_cut);
    let mut cuts: Vec<EdgeId> =
        loops.into_iter().filter(|found| parts.is_obvious(found.head)).flat_map(|found| found.cuts).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

fn innermost_loops(cfg: &Cfg, weights: &Weights, acyclic: &Acyclic) -> Vec<Loop> {
    let mut incoming = vec![Vec::new(); cfg.num_nodes()];
    let tails = acyclic.tails(cfg);
    for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
        if let Endpoint::Node(to) = edge.to {
            incoming[to.index()].push(id);
        }
    }
    tails.iter().filter_map(|(head, tails_of)| innermost_loop(cfg, weights, acyclic, *head, tails_of, &incoming, &tails)).collect()
}

/// The loop of this head, if it has no other in it and nothing jumps into its middle.
fn innermost_loop(
    cfg: &Cfg,
    weights: &Weights,
    acyclic: &Acyclic,
    head: NodeId,
    tails: &[NodeId],
    incoming: &[Vec<EdgeId>],
    heads: &BTreeMap<NodeId, Vec<NodeId>>,
) -> Option<Loop> {
    let mut members = std::collections::BTreeSet::from([head]);
    let mut waiting: Vec<NodeId> = tails.to_vec();
    while let Some(node) = waiting.pop() {
        if members.contains(&node) {
            continue;
        }
        if heads.contains_key(&node) || !acyclic.is_reachable[node.index()] {
            return None;
        }
        members.insert(node);
        for edge in &incoming[node.index()] {
            waiting.push(cfg.edge(*edge).from.node()?);
        }
    }
    let is_inside = |end: Endpoint| end.node().is_some_and(|node| members.contains(&node));
    let weight = |edge: &EdgeId| weights.edges[edge.index()];
    let (back, into): (Vec<EdgeId>, Vec<EdgeId>) = incoming[head.index()].iter().partition(|edge| is_inside(cfg.edge(**edge).from));
    let sum = |edges: &[EdgeId]| edges.iter().map(weight).fold(0, u64::saturating_add);
    if sum(&back) < sum(&into).saturating_mul(LEAST_TURNS) {
        return None;
    }
    let leaves = |edge: &EdgeId| cfg.edge(*edge).to.node().is_some_and(|to| !members.contains(&to));
    let out: Vec<EdgeId> = members.iter().flat_map(|node| &acyclic.outgoing[node.index()]).copied().filter(leaves).collect();
    if out.len() > 1 {
        return None;
    }
    let between_nodes = |edge: &EdgeId| cfg.edge(*edge).from.node().is_some();
    Some(Loop { head, cuts: back.into_iter().chain(into.into_iter().filter(between_nodes)).chain(out).collect() })
}
