//! How many paths there are, and which edges to cut when these are too many.
//!
//! Real functions have more than 2^64 paths. Numbers are counted in 128 bits, and what does not fit is as good as
//! infinite. Which edges are cut, [`CheapCuts`] chooses. Where that finds no way, the coldest are: as few of them,
//! by bisection, as the limit allows. With all edges cut there is one path for each edge that leaves a node, and
//! one more for those of the entry: the least there can be.

use super::cheap_cuts::CheapCuts;
use super::dag::Acyclic;
use crate::cfg::{Cfg, EdgeId, Endpoint};
use crate::costs::Weights;

/// Which edges are cut, by edge: those in `cut` and as many others that at most `limit` paths are left, or as few as there can be.
pub(super) fn cut_to_limit(cfg: &Cfg, acyclic: &Acyclic, weights: &Weights, cut: Vec<bool>, limit: u64) -> Vec<bool> {
    let fits = |is_cut: &[bool]| num_paths(cfg, acyclic, is_cut).is_some_and(|paths| paths <= u128::from(limit));
    if fits(&cut) {
        return cut;
    }
    let mut candidates = candidates(cfg, acyclic, &cut);
    candidates.sort_by_key(|edge| (weights.edges[edge.index()], *edge));
    let cut_coldest = |fits: &dyn Fn(&[bool]) -> bool| {
        let with_coldest = |number: usize| {
            let mut is_cut = cut.clone();
            candidates[..number].iter().for_each(|edge| is_cut[edge.index()] = true);
            is_cut
        };
        // `too_few` cuts do not suffice; `enough` do, or are all there are.
        let (mut too_few, mut enough) = (0, candidates.len());
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            if fits(&with_coldest(middle)) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        with_coldest(enough)
    };
    let few_enough = |is_cut: &[bool]| num_paths(cfg, acyclic, is_cut).is_some();
    let countable = if few_enough(&cut) { cut.clone() } else { cut_coldest(&few_enough) };
    let cheap = CheapCuts::new(cfg, acyclic, weights, countable).choose(limit);
    if fits(&cheap) { cheap } else { cut_coldest(&fits) }
}

/// The edges that may be cut and are not.
pub(super) fn candidates(cfg: &Cfg, acyclic: &Acyclic, is_cut: &[bool]) -> Vec<EdgeId> {
    let is_candidate = |edge: &EdgeId| {
        let ends = (cfg.edge(*edge).from, cfg.edge(*edge).to);
        matches!(ends, (Endpoint::Node(from), Endpoint::Node(_)) if acyclic.is_reachable[from.index()]) && !is_cut[edge.index()]
    };
    cfg.edge_ids().filter(is_candidate).collect()
}

/// How many paths there are when these edges are cut; `None` beyond 128 bits.
pub(super) fn num_paths(cfg: &Cfg, acyclic: &Acyclic, is_cut: &[bool]) -> Option<u128> {
    let from_node = paths_from(cfg, acyclic, is_cut)?;
    let mut is_head = vec![false; cfg.num_nodes()];
    let mut total = 0_u128;
    for entry in &acyclic.entries {
        total = total.checked_add(cfg.edge(*entry).to.node().map_or(1, |node| from_node[node.index()]))?;
    }
    for edge in cfg.edge_ids().filter(|edge| is_cut[edge.index()]) {
        if let (Some(from), Some(to)) = (cfg.edge(edge).from.node(), cfg.edge(edge).to.node())
            && acyclic.is_reachable[from.index()]
            && !std::mem::replace(&mut is_head[to.index()], true)
        {
            total = total.checked_add(from_node[to.index()])?;
        }
    }
    Some(total)
}

/// How many paths lead from each node to EXIT; `None` beyond 128 bits.
pub(super) fn paths_from(cfg: &Cfg, acyclic: &Acyclic, is_cut: &[bool]) -> Option<Vec<u128>> {
    let mut from_node = vec![0_u128; cfg.num_nodes()];
    for node in &acyclic.postorder {
        let mut sum = 0_u128;
        for edge in &acyclic.outgoing[node.index()] {
            let behind = match cfg.edge(*edge).to {
                Endpoint::Node(to) if !is_cut[edge.index()] => from_node[to.index()],
                _ => 1,
            };
            sum = sum.checked_add(behind)?;
        }
        from_node[node.index()] = sum;
    }
    Some(from_node)
}
