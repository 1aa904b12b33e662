//! What counting a function costs, by estimated frequencies: the sum over all that code does.

use super::plan::PathPlan;
use crate::cfg::{Cfg, EdgeId, Endpoint};
use crate::costs::{Costs, Weights};
use crate::degrees::Degrees;
use crate::plan::CounterSite;

/// The price of these counters, in the unit of `costs` times that of `weights`.
///
/// # Panics
/// When a site is none of this graph and these weights.
#[must_use]
pub fn price_of_counters(cfg: &Cfg, weights: &Weights, costs: &Costs, sites: &[CounterSite]) -> u128 {
    let degrees = Degrees::of(cfg);
    let one = |site: &CounterSite| match *site {
        CounterSite::Node(node) => costs.node(weights.nodes[node.index()]),
        CounterSite::PhiEdge(edge) => costs.node(weights.edges[edge.index()]),
        CounterSite::Edge(edge) => on_edge(cfg, weights, costs, &degrees, edge),
        CounterSite::BeforeLoop(edge) => {
            let counted = weights.counted_loops.iter().find(|counted| counted.back_edge == edge).expect("a counted loop");
            costs.counted_loop(counted)
        }
    };
    sites.iter().map(one).fold(0, u128::saturating_add)
}

/// The price of what code does to count paths: each step is an instruction like an increment.
#[must_use]
pub fn price_of_paths(cfg: &Cfg, weights: &Weights, costs: &Costs, plan: &PathPlan) -> u128 {
    let degrees = Degrees::of(cfg);
    let steps = plan.steps.iter().zip(cfg.edge_ids()).filter(|(steps, _)| !steps.is_empty());
    let one = |(steps, id): (&Vec<_>, EdgeId)| match (cfg.edge(id).from, cfg.edge(id).vanishes()) {
        // It stands before the call.
        (Endpoint::Node(from), true) => costs.node(weights.nodes[from.index()]).saturating_mul(steps.len() as u128),
        _ => {
            let first = on_edge(cfg, weights, costs, &degrees, id);
            first.saturating_add(costs.node(weights.edges[id.index()]).saturating_mul(steps.len() as u128 - 1))
        }
    };
    steps.map(one).fold(0, u128::saturating_add)
}

fn on_edge(cfg: &Cfg, weights: &Weights, costs: &Costs, degrees: &Degrees, id: EdgeId) -> u128 {
    let edge = cfg.edge(id);
    if degrees.is_critical(edge.from, edge.to) { costs.critical_edge(weights, id) } else { costs.node(weights.edges[id.index()]) }
}
