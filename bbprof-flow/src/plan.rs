//! A counter plan: which counter is incremented where.

use crate::cfg::{Cfg, EdgeId, NodeId, Splitting};
use crate::costs::{Costs, Weights};
use crate::counted_loops::BeforeLoops;
use crate::doubled::{Doubled, Flow};
use crate::index::index;
use crate::paths::PathNumbering;
use crate::patterns::inferable_nodes;
use crate::spanning_tree::chords;
use std::fmt;

index! {
    /// A counter of one function, dense, `0..plan.num_counters()`: its position in the function's stretch of the counter array.
    CounterId, "c"
}

/// Where one counter is incremented. Each counter has exactly one site, each site one increment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CounterSite {
    /// At the start of the node: counts how often it is entered.
    Node(NodeId),
    /// On the edge: in a block put on it, or at that end of it which no other edge shares.
    Edge(EdgeId),
    /// In the edge's target, by a phi that is 1 when control came along this edge and 0 otherwise.
    PhiEdge(EdgeId),
    /// In front of the loop that the edge closes, by the number of times that the loop will take it.
    BeforeLoop(EdgeId),
}

impl fmt::Display for CounterSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => write!(f, "node {node:?}"),
            Self::Edge(edge) => write!(f, "edge {edge:?}"),
            Self::PhiEdge(edge) => write!(f, "edge {edge:?} (phi)"),
            Self::BeforeLoop(edge) => write!(f, "edge {edge:?} (in front of its loop)"),
        }
    }
}

/// The counters of one function, by [`CounterId`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CounterPlan {
    /// `sites[c]` is where counter `c` is incremented.
    pub sites: Vec<CounterSite>,
}

impl CounterPlan {
    /// How many counters the function needs.
    #[must_use]
    pub fn num_counters(&self) -> usize {
        self.sites.len()
    }
}

/// Which counters a function gets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Placement {
    /// On the chords of a maximum spanning tree: the fewest that determine every node and edge, and the cheapest of those.
    #[default]
    Tree,
    /// In every node: determines the nodes, and of the edges only those that follow.
    Blocks,
    /// In every node that none of Hucovic's four patterns infers (2024, section 5.6): as [`Placement::Blocks`], for comparison.
    Patterns,
}

/// Chooses the counters of a function: those on nodes by node, then those on edges by edge. The same input gives the same plan.
///
/// # Panics
/// When `weights` does not have one weight for each node and edge of `cfg`.
#[must_use]
pub fn plan_counters(cfg: &Cfg, weights: &Weights, placement: Placement, costs: &Costs) -> CounterPlan {
    assert_eq!(weights.nodes.len(), cfg.num_nodes(), "one weight for each node");
    assert_eq!(weights.edges.len(), cfg.num_edges(), "one weight for each edge");
    let sites = match placement {
        Placement::Tree => tree_sites(cfg, weights, costs, &vec![false; cfg.num_nodes()]),
        Placement::Blocks => cfg.node_ids().map(CounterSite::Node).collect(),
        Placement::Patterns => {
            let inferable = inferable_nodes(cfg);
            cfg.node_ids().filter(|node| !inferable[node.index()]).map(CounterSite::Node).collect()
        }
    };
    CounterPlan { sites }
}

/// Chooses counters for the edges that paths do not tell: those that leave a node whose
/// paths are obvious, and enter one of these from outside.
///
/// # Panics
/// As [`plan_counters`].
#[must_use]
pub fn plan_counters_beside(cfg: &Cfg, weights: &Weights, costs: &Costs, numbering: &PathNumbering) -> CounterPlan {
    assert_eq!(weights.nodes.len(), cfg.num_nodes(), "one weight for each node");
    assert_eq!(weights.edges.len(), cfg.num_edges(), "one weight for each edge");
    let by_paths: Vec<bool> = cfg.node_ids().map(|node| !numbering.is_obvious(node)).collect();
    CounterPlan { sites: tree_sites(cfg, weights, costs, &by_paths) }
}

/// The chords of the tree, given the counts of these nodes, by node, and of the edges that paths through them tell.
fn tree_sites(cfg: &Cfg, weights: &Weights, costs: &Costs, by_paths: &[bool]) -> Vec<CounterSite> {
    let doubled = Doubled::new(cfg);
    let before_loops = BeforeLoops::of(cfg, weights, costs);
    let is_chord = chords(doubled, weights, costs, &before_loops, by_paths);
    let chords = doubled.arcs().filter(|arc| is_chord[arc.index()]);
    chords.filter_map(|arc| chord_site(cfg, &before_loops, doubled.flow(arc))).collect()
}

/// A site for every edge that code can count, in edge order: the oracle that check mode puts beside the plan.
#[must_use]
pub fn check_sites(cfg: &Cfg) -> Vec<CounterSite> {
    cfg.edge_ids().filter_map(|edge| edge_site(cfg, edge)).collect()
}

fn chord_site(cfg: &Cfg, before_loops: &BeforeLoops, chord: Flow) -> Option<CounterSite> {
    match chord {
        Flow::Node(node) => Some(CounterSite::Node(node)),
        Flow::Edge(edge) if before_loops.cost(edge).is_some() => Some(CounterSite::BeforeLoop(edge)),
        Flow::Edge(edge) => {
            let site = edge_site(cfg, edge);
            debug_assert!(site.is_some(), "vanishing edges are in the tree");
            site
        }
    }
}

/// Where a counter on this edge is incremented; `None` when nothing can count it.
fn edge_site(cfg: &Cfg, edge: EdgeId) -> Option<CounterSite> {
    match cfg.edge(edge).splitting {
        Splitting::Possible | Splitting::Landing => Some(CounterSite::Edge(edge)),
        Splitting::PhiOnly => Some(CounterSite::PhiEdge(edge)),
        Splitting::Impossible => None,
    }
}
