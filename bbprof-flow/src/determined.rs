//! Whether a plan determines the counts, seen from the definition.
//!
//! The quantities are the counts of nodes and edges. The equations are: all that enters a node is its count; all that leaves it is
//! its count; as much enters X as leaves it. Each quantity stands in exactly two equations, once with each sign, so the uncounted
//! quantities are the edges of an undirected graph whose vertices are the equations. A quantity is open exactly when it lies on a
//! cycle of that graph, so it is determined exactly when it is counted or a bridge. Bridges come from one depth-first search
//! (Tarjan 1974), which neither the placement nor the solver uses.

use crate::cfg::{Cfg, Endpoint};
use crate::check::CheckError;
use crate::lists::Lists;
use crate::plan::{CounterId, CounterPlan, CounterSite};

/// What a plan determines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Determined {
    /// By `NodeId`: whether the node's count follows from the counters.
    pub nodes: Vec<bool>,
    /// By `EdgeId`: whether the edge's count follows from the counters.
    pub edges: Vec<bool>,
}

impl Determined {
    /// Every node: the plan can be solved.
    #[must_use]
    pub fn all_nodes(&self) -> bool {
        !self.nodes.contains(&false)
    }

    /// Every node and edge, as plans on a spanning tree do.
    #[must_use]
    pub fn everything(&self) -> bool {
        self.all_nodes() && !self.edges.contains(&false)
    }
}

/// What the counters of `plan` determine on `cfg`, in linear time.
///
/// # Errors
/// When a counter of the plan has no place on the graph.
pub fn determined(cfg: &Cfg, plan: &CounterPlan) -> Result<Determined, CheckError> {
    let (num_nodes, num_edges) = (cfg.num_nodes(), cfg.num_edges());
    let mut counted = vec![false; num_nodes + num_edges];
    for (position, site) in plan.sites.iter().enumerate() {
        let quantity = match site {
            CounterSite::Node(node) => Some(node.index()).filter(|node| *node < num_nodes),
            CounterSite::Edge(edge) | CounterSite::PhiEdge(edge) | CounterSite::BeforeLoop(edge) => {
                Some(edge.index()).filter(|edge| *edge < num_edges && !cfg.edges()[*edge].vanishes()).map(|edge| num_nodes + edge)
            }
        };
        let counter = CounterId::new(position as u32);
        counted[quantity.ok_or(CheckError::NoSuchSite { counter, site: *site })?] = true;
    }

    // Equations: inflow of node v = v, outflow of node v = num_nodes + v, X = 2 * num_nodes.
    let equation = |end: Endpoint, side: usize| end.node().map_or(2 * num_nodes, |node| side * num_nodes + node.index());
    let nodes = (0..num_nodes).map(|node| (node, num_nodes + node));
    let edges = cfg.edges().iter().map(|edge| (equation(edge.from, 1), equation(edge.to, 0)));
    let uncounted = nodes.chain(edges).enumerate().filter(|(quantity, _)| !counted[*quantity]);
    let mut is_determined = counted.clone();
    for bridge in bridges(2 * num_nodes + 1, uncounted.collect()) {
        is_determined[bridge] = true;
    }
    let edges = is_determined.split_off(num_nodes);
    Ok(Determined { nodes: is_determined, edges })
}

/// The bridges of an undirected multigraph, each edge with a name and its two ends.
fn bridges(num_vertices: usize, edges: Vec<(usize, (usize, usize))>) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let ends = |(edge, &(_, (one, other))): (usize, &(usize, (usize, usize)))| [(one, edge), (other, edge)];
    let incident = Lists::of(num_vertices, edges.iter().enumerate().flat_map(ends));
    // Order of discovery, and the earliest vertex that a vertex or those below it reach by an edge not of the search tree.
    let mut found = vec![UNSEEN; num_vertices];
    let mut reach = vec![UNSEEN; num_vertices];
    // How many of a vertex's edges were gone along, or tried.
    let mut tried = vec![0; num_vertices];
    let mut clock = 0;
    let mut bridges = Vec::new();
    // The path from the root: vertices, each with the edge it was reached by.
    let mut path: Vec<(usize, Option<usize>)> = Vec::new();
    for root in 0..num_vertices {
        if found[root] != UNSEEN {
            continue;
        }
        path.push((root, None));
        (found[root], reach[root], clock) = (clock, clock, clock + 1);
        while let Some(&(vertex, via)) = path.last() {
            let Some(&edge) = incident.of_key(vertex).get(tried[vertex]) else {
                path.pop();
                if let (Some(via), Some(&(parent, _))) = (via, path.last()) {
                    reach[parent] = reach[parent].min(reach[vertex]);
                    if reach[vertex] == found[vertex] {
                        bridges.push(edges[via].0);
                    }
                }
                continue;
            };
            tried[vertex] += 1;
            let (one, other) = edges[edge].1;
            let target = if one == vertex { other } else { one };
            if Some(edge) == via {
                continue;
            }
            if found[target] == UNSEEN {
                (found[target], reach[target], clock) = (clock, clock, clock + 1);
                path.push((target, Some(edge)));
            } else {
                reach[vertex] = reach[vertex].min(found[target]);
            }
        }
    }
    bridges
}
