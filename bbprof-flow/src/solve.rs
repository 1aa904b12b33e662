//! From the counters of a function to the count of every node and edge.

use crate::cfg::{Cfg, EdgeId, Endpoint, NodeId};
use crate::cuts::{free_arcs, open_arcs};
use crate::doubled::{Arc, Doubled};
use crate::peel::{Imbalance, peel};
use crate::plan::{CounterId, CounterPlan, CounterSite};
use std::fmt;

/// The counts of one function.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Solution {
    /// Executions, by `NodeId`.
    pub nodes: Vec<u64>,
    /// Executions, by `EdgeId`; `None` where the plan leaves the edge open (never with `Placement::Tree`). Only a
    /// vanishing edge can be negative: setjmp brought back more activations than vanished there. The others fit 64 bits.
    pub edges: Vec<Option<i128>>,
}

/// Why counters have no solution. All but [`SolveError::WrongNumberOfCounters`], [`SolveError::NoSuchSite`] and
/// [`SolveError::NodeUndetermined`], which are about the plan, say that the counters are not those of whole executions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SolveError {
    /// Not as many counts as the plan has counters.
    WrongNumberOfCounters {
        /// Counters of the plan.
        expected: usize,
        /// Counts given.
        found: usize,
    },
    /// The plan puts a counter on a node or edge that is not there, or that nothing can count.
    NoSuchSite {
        /// The counter.
        counter: CounterId,
        /// Where it should sit.
        site: CounterSite,
    },
    /// Two counters of one node or edge differ.
    CountersDiffer {
        /// The later of the two.
        counter: CounterId,
        /// What both count.
        site: CounterSite,
        /// The earlier one's value.
        expected: u64,
        /// The later one's value.
        found: u64,
    },
    /// The counters do not determine how often a node was executed.
    NodeUndetermined {
        /// The node.
        node: NodeId,
    },
    /// The counters contradict each other: flow is not conserved.
    NotConserved {
        /// Where (one node of the part that does not add up, or X).
        at: Endpoint,
        /// What enters beyond what leaves.
        surplus: i128,
    },
    /// A node would have been executed a negative number of times, or more often than 64 bits count.
    NodeOutOfRange {
        /// The node.
        node: NodeId,
        /// Its count.
        value: i128,
    },
    /// An edge that control passes would have been taken a negative number of times, or more often than 64 bits count.
    EdgeOutOfRange {
        /// The edge.
        edge: EdgeId,
        /// Its count.
        value: i128,
    },
}

impl fmt::Display for SolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongNumberOfCounters { expected, found } => {
                write!(f, "{found} counter values for a plan of {expected} counters")
            }
            Self::NoSuchSite { counter, site } => {
                write!(f, "counter {} sits on {site}, which the graph does not have or nothing can count", counter.index())
            }
            Self::CountersDiffer { counter, site, expected, found } => {
                write!(f, "two counters on {site} differ: {expected} and, in counter {}, {found}", counter.index())
            }
            Self::NodeUndetermined { node } => write!(f, "the counters do not determine the count of node {node:?}"),
            Self::NotConserved { at: Endpoint::Node(node), surplus } => {
                write!(f, "flow is not conserved at node {node:?}: inflow exceeds outflow by {surplus}")
            }
            Self::NotConserved { at: Endpoint::X, surplus } => {
                write!(f, "flow is not conserved outside the function: exits exceed entries by {surplus}")
            }
            Self::NodeOutOfRange { node, value } => write!(f, "node {node:?} would have the count {value}"),
            Self::EdgeOutOfRange { edge, value } => write!(f, "edge {edge:?} would have the count {value}"),
        }
    }
}

impl std::error::Error for SolveError {}

/// Derives every count that the counters determine: in linear time for a plan on a spanning tree.
///
/// `counts`: executions, by [`CounterId`] of `plan`.
///
/// A plan that leaves edges open is not asked whether natural numbers would fit on those;
/// [`check`](crate::check()) asks at each node.
///
/// # Errors
/// When plan, graph and counts do not fit, when a node is left open, and when the counts are no flow; see [`SolveError`].
pub fn solve(cfg: &Cfg, plan: &CounterPlan, counts: &[u64]) -> Result<Solution, SolveError> {
    let doubled = Doubled::new(cfg);
    let mut flows = counted_flows(doubled, plan, counts)?;
    let is_free = free_arcs(doubled, &flows);
    let forest = peel(doubled, &flows, &is_free)
        .map_err(|Imbalance { vertex, surplus }| SolveError::NotConserved { at: doubled.endpoint(vertex), surplus })?;
    let is_open = open_arcs(doubled, &is_free, &forest);
    for peeled in forest.iter().filter(|peeled| !is_open[peeled.arc.index()]) {
        flows[peeled.arc.index()] = Some(peeled.value);
    }
    in_range(cfg, doubled, &flows)
}

/// The flow on each arc, where a counter sits on it.
pub(crate) fn counted_flows(doubled: Doubled<'_>, plan: &CounterPlan, counts: &[u64]) -> Result<Vec<Option<i128>>, SolveError> {
    if counts.len() != plan.num_counters() {
        return Err(SolveError::WrongNumberOfCounters { expected: plan.num_counters(), found: counts.len() });
    }
    let mut flows: Vec<Option<i128>> = vec![None; doubled.num_arcs()];
    for (position, (site, count)) in plan.sites.iter().zip(counts).enumerate() {
        let counter = CounterId::new(position as u32);
        let arc = counted_arc(doubled, *site).ok_or(SolveError::NoSuchSite { counter, site: *site })?;
        match flows[arc.index()].replace(i128::from(*count)) {
            Some(earlier) if earlier != i128::from(*count) => {
                // Every flow so far is a 64-bit count.
                return Err(SolveError::CountersDiffer { counter, site: *site, expected: earlier as u64, found: *count });
            }
            _ => {}
        }
    }
    Ok(flows)
}

fn counted_arc(doubled: Doubled<'_>, site: CounterSite) -> Option<Arc> {
    let cfg = doubled.cfg();
    match site {
        CounterSite::Node(node) => (node.index() < cfg.num_nodes()).then(|| doubled.node_arc(node)),
        CounterSite::Edge(edge) | CounterSite::PhiEdge(edge) | CounterSite::BeforeLoop(edge) => {
            (edge.index() < cfg.num_edges() && !cfg.edge(edge).vanishes()).then(|| doubled.edge_arc(edge))
        }
    }
}

pub(crate) fn in_range(cfg: &Cfg, doubled: Doubled<'_>, flows: &[Option<i128>]) -> Result<Solution, SolveError> {
    let mut solution = Solution { nodes: Vec::with_capacity(cfg.num_nodes()), edges: Vec::with_capacity(cfg.num_edges()) };
    for node in cfg.node_ids() {
        let value = flows[doubled.node_arc(node).index()].ok_or(SolveError::NodeUndetermined { node })?;
        solution.nodes.push(u64::try_from(value).map_err(|_| SolveError::NodeOutOfRange { node, value })?);
    }
    for (edge, shape) in cfg.edge_ids().zip(cfg.edges()) {
        let value = flows[doubled.edge_arc(edge).index()];
        match value {
            Some(value) if !shape.vanishes() && u64::try_from(value).is_err() => {
                return Err(SolveError::EdgeOutOfRange { edge, value });
            }
            _ => solution.edges.push(value),
        }
    }
    Ok(solution)
}
