//! Graphs and plans written down in a line.

use bbprof_flow::{
    Cfg, CounterPlan, CounterSite, Determined, EdgeId, EdgeRole, Endpoint, FlowEdge, NodeId, Solution, Splitting, determined,
};

/// The vertex outside the function, in the notation below.
pub(crate) const X: u32 = u32::MAX;

fn end(vertex: u32) -> Endpoint {
    if vertex == X { Endpoint::X } else { Endpoint::Node(NodeId::new(vertex)) }
}

/// An edge that control passes and that can be split.
pub(crate) fn edge(from: u32, to: u32) -> FlowEdge {
    FlowEdge { from: end(from), to: end(to), role: EdgeRole::Flow, splitting: Splitting::Possible }
}

/// An edge that cannot be split: it has a landing in its target, which it may share with others.
pub(crate) fn indirect(from: u32, to: u32) -> FlowEdge {
    FlowEdge { splitting: Splitting::Landing, ..edge(from, to) }
}

/// The edge of activations that vanish.
pub(crate) fn vanish(from: u32) -> FlowEdge {
    FlowEdge { role: EdgeRole::Vanish, splitting: Splitting::Impossible, ..edge(from, X) }
}

/// The graph of these edges.
pub(crate) fn graph(num_nodes: u32, edges: Vec<FlowEdge>) -> Cfg {
    Cfg::new(num_nodes, edges).expect("a well-formed graph")
}

/// Counters on these nodes.
pub(crate) fn on_nodes(nodes: &[u32]) -> CounterPlan {
    CounterPlan { sites: nodes.iter().map(|node| CounterSite::Node(NodeId::new(*node))).collect() }
}

/// Counters on these edges.
pub(crate) fn on_edges(edges: &[u32]) -> CounterPlan {
    CounterPlan { sites: edges.iter().map(|edge| CounterSite::Edge(EdgeId::new(*edge))).collect() }
}

/// What a plan that fits its graph determines.
pub(crate) fn known_by(cfg: &Cfg, plan: &CounterPlan) -> Determined {
    determined(cfg, plan).expect("every site is on the graph")
}

/// A solution of which every edge is known.
pub(crate) fn solution(nodes: &[u64], edges: &[i128]) -> Solution {
    Solution { nodes: nodes.to_vec(), edges: edges.iter().copied().map(Some).collect() }
}
