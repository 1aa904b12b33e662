//! An independent check of a solution: it shares no code with placement and solver, and works on the graph as it is, from the
//! definition of a flow.

use crate::cfg::{Cfg, EdgeId, Endpoint, NodeId};
use crate::determined::{Determined, determined};
use crate::plan::{CounterId, CounterPlan, CounterSite};
use crate::solve::Solution;
use std::fmt;

/// What is wrong with a solution.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CheckError {
    /// A list does not have one element for each node, edge or counter.
    WrongLength {
        /// Which list.
        list: &'static str,
        /// How long it should be.
        expected: usize,
        /// How long it is.
        found: usize,
    },
    /// The plan puts a counter where the graph has no place for one.
    NoSuchSite {
        /// The counter.
        counter: CounterId,
        /// Where it should sit.
        site: CounterSite,
    },
    /// The solution differs from what a counter counted.
    NotAsCounted {
        /// The counter.
        counter: CounterId,
        /// Where it sits.
        site: CounterSite,
        /// Its value.
        counted: u64,
        /// The solution's value.
        solved: Option<i128>,
    },
    /// Edges that enter a node (or leave X), or those that leave it, do not add up to its count (to what enters X).
    NotConserved {
        /// The node or X.
        at: Endpoint,
        /// What is on the known edges.
        on_edges: i128,
        /// What should be.
        expected: i128,
    },
    /// Control passed an edge a negative number of times.
    NegativeEdge {
        /// The edge.
        edge: EdgeId,
        /// Its value.
        value: i128,
    },
    /// The plan does not determine a node, so the solution's value for it is a guess.
    NodeOpen {
        /// The node.
        node: NodeId,
    },
    /// The solution has a value for an edge that the plan leaves open, or none for one that it determines.
    EdgeKnowledge {
        /// The edge.
        edge: EdgeId,
        /// Whether the plan determines it.
        determined: bool,
    },
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WrongLength { list, expected, found } => write!(f, "{found} {list} where there should be {expected}"),
            Self::NoSuchSite { counter, site } => {
                write!(f, "counter {} sits on {site}, where the graph has no place for it", counter.index())
            }
            Self::NotAsCounted { counter, site, counted, solved: Some(solved) } => {
                write!(f, "counter {} on {site} counted {counted}, the solution says {solved}", counter.index())
            }
            Self::NotAsCounted { counter, site, counted, solved: None } => {
                write!(f, "counter {} on {site} counted {counted}, the solution says nothing", counter.index())
            }
            Self::NotConserved { at: Endpoint::Node(node), on_edges, expected } => {
                write!(f, "flow is not conserved at node {node:?}: {on_edges} on its edges for a count of {expected}")
            }
            Self::NotConserved { at: Endpoint::X, on_edges, expected } => {
                write!(f, "flow is not conserved outside the function: {on_edges} entries for {expected} exits")
            }
            Self::NegativeEdge { edge, value } => write!(f, "edge {edge:?} has the count {value}"),
            Self::NodeOpen { node } => write!(f, "the plan does not determine node {node:?}"),
            Self::EdgeKnowledge { edge, determined: true } => {
                write!(f, "the plan determines edge {edge:?}, but the solution has no value for it")
            }
            Self::EdgeKnowledge { edge, determined: false } => {
                write!(f, "the plan leaves edge {edge:?} open, but the solution has a value for it")
            }
        }
    }
}

impl std::error::Error for CheckError {}

/// Proves that `solution` is a flow on `cfg`, that it is the one that was counted, and
/// that no other flow has these counts: linear time.
///
/// # Errors
/// The first thing that is wrong.
pub fn check(cfg: &Cfg, plan: &CounterPlan, counts: &[u64], solution: &Solution) -> Result<(), CheckError> {
    have_lengths(cfg, plan, counts, solution)?;
    check_determined(cfg, plan, counts, solution, &determined(cfg, plan)?)
}

/// The same where it is known what `plan` determines on `cfg`: that is half of the work, and no count changes it.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_determined(
    cfg: &Cfg,
    plan: &CounterPlan,
    counts: &[u64],
    solution: &Solution,
    determined: &Determined,
) -> Result<(), CheckError> {
    have_lengths(cfg, plan, counts, solution)?;
    is_only_solution(cfg, solution, determined)?;
    agrees_with_counters(plan, counts, solution)?;
    is_flow(cfg, solution)
}

fn have_lengths(cfg: &Cfg, plan: &CounterPlan, counts: &[u64], solution: &Solution) -> Result<(), CheckError> {
    same_length("node counts", cfg.num_nodes(), solution.nodes.len())?;
    same_length("edge counts", cfg.num_edges(), solution.edges.len())?;
    same_length("counter values", plan.num_counters(), counts.len())
}

fn same_length(list: &'static str, expected: usize, found: usize) -> Result<(), CheckError> {
    if expected == found { Ok(()) } else { Err(CheckError::WrongLength { list, expected, found }) }
}

/// What the solution claims to know is what the plan determines. (That every counter has its place was proven with it.)
fn is_only_solution(cfg: &Cfg, solution: &Solution, determined: &Determined) -> Result<(), CheckError> {
    if let Some(node) = cfg.node_ids().find(|node| !determined.nodes[node.index()]) {
        return Err(CheckError::NodeOpen { node });
    }
    let differs = |edge: &EdgeId| determined.edges[edge.index()] != solution.edges[edge.index()].is_some();
    match cfg.edge_ids().find(differs) {
        Some(edge) => Err(CheckError::EdgeKnowledge { edge, determined: determined.edges[edge.index()] }),
        None => Ok(()),
    }
}

fn agrees_with_counters(plan: &CounterPlan, counts: &[u64], solution: &Solution) -> Result<(), CheckError> {
    for (position, (site, counted)) in plan.sites.iter().zip(counts).enumerate() {
        let solved = match site {
            CounterSite::Node(node) => Some(i128::from(solution.nodes[node.index()])),
            CounterSite::Edge(edge) | CounterSite::PhiEdge(edge) | CounterSite::BeforeLoop(edge) => solution.edges[edge.index()],
        };
        if solved != Some(i128::from(*counted)) {
            let counter = CounterId::new(position as u32);
            return Err(CheckError::NotAsCounted { counter, site: *site, counted: *counted, solved });
        }
    }
    Ok(())
}

/// What is known of the edges on one side of a node or of X.
#[derive(Clone, Copy, Default)]
struct Side {
    /// The sum over the known edges.
    known: i128,
    /// An edge that control passes is open: it may add, but not take away.
    may_grow: bool,
    /// A vanishing edge is open: it may add or take away.
    may_shrink: bool,
}

impl Side {
    fn add(&mut self, value: Option<i128>, vanishes: bool) {
        match value {
            Some(value) => self.known += value,
            None if vanishes => self.may_shrink = true,
            None => self.may_grow = true,
        }
    }

    fn can_be(self, sum: i128) -> bool {
        self.may_shrink || self.known == sum || (self.may_grow && self.known < sum)
    }
}

/// What enters a node is its count, what leaves it too; as much enters X as leaves it; nothing but vanishing edges is negative.
fn is_flow(cfg: &Cfg, solution: &Solution) -> Result<(), CheckError> {
    let outside = cfg.num_nodes();
    let mut inflow = vec![Side::default(); outside + 1];
    let mut outflow = vec![Side::default(); outside + 1];
    for (edge, value) in cfg.edges().iter().zip(&solution.edges) {
        outflow[edge.from.node().map_or(outside, NodeId::index)].add(*value, edge.vanishes());
        inflow[edge.to.node().map_or(outside, NodeId::index)].add(*value, edge.vanishes());
    }
    for node in cfg.node_ids() {
        let expected = i128::from(solution.nodes[node.index()]);
        for side in [inflow[node.index()], outflow[node.index()]] {
            if !side.can_be(expected) {
                return Err(CheckError::NotConserved { at: Endpoint::Node(node), on_edges: side.known, expected });
            }
        }
    }
    let (entries, exits) = (outflow[outside], inflow[outside]);
    let can_be_equal = match (entries.may_grow || entries.may_shrink, exits.may_grow || exits.may_shrink) {
        (false, _) => exits.can_be(entries.known),
        (true, false) => entries.can_be(exits.known),
        (true, true) => true,
    };
    if !can_be_equal {
        return Err(CheckError::NotConserved { at: Endpoint::X, on_edges: entries.known, expected: exits.known });
    }
    for (edge, shape) in cfg.edge_ids().zip(cfg.edges()) {
        match solution.edges[edge.index()] {
            Some(value) if value < 0 && !shape.vanishes() => return Err(CheckError::NegativeEdge { edge, value }),
            _ => {}
        }
    }
    Ok(())
}
