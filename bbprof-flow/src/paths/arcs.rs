//! The vertices and arcs of the DAG whose paths are numbered.

use super::dag::Acyclic;
use crate::cfg::{Cfg, EdgeId, Endpoint, NodeId};
use crate::costs::Weights;

/// ROOT, a node or EXIT: 0, 1 + node, 1 + number of nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Vertex(pub(super) u32);

pub(super) const ROOT: Vertex = Vertex(0);

impl Vertex {
    pub(super) fn of(node: NodeId) -> Self {
        Self(node.index() as u32 + 1)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }

    /// The node; of neither ROOT nor EXIT.
    pub(super) fn node(self) -> NodeId {
        NodeId::new(self.0 - 1)
    }
}

/// An edge of the DAG.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    pub(super) from: Vertex,
    pub(super) to: Vertex,
    pub(super) what: ArcKind,
    pub(super) weight: u128,
    pub(super) value: u64,
}

/// What an arc stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ArcKind {
    /// An edge of the graph that is not cut.
    Edge(EdgeId),
    /// The end of a path on a cut edge.
    End(EdgeId),
    /// The beginning of a path at a head, behind any cut edge to it.
    Start(NodeId),
}

impl ArcKind {
    /// The edge that a path takes with it.
    pub(super) fn edge(self) -> Option<EdgeId> {
        match self {
            Self::Edge(edge) | Self::End(edge) => Some(edge),
            Self::Start(_) => None,
        }
    }
}

/// The arcs of the DAG, in the order of the edges, those to heads behind them.
pub(super) fn unnumbered_arcs(cfg: &Cfg, weights: &Weights, acyclic: &Acyclic, is_cut: &[bool], exit: Vertex) -> Vec<Arc> {
    let mut arcs = Vec::with_capacity(cfg.num_edges());
    let mut into_head = vec![None; cfg.num_nodes()];
    for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
        let weight = u128::from(weights.edges[id.index()]);
        let mut arc = |from, to, what| arcs.push(Arc { from, to, what, weight, value: 0 });
        match (edge.from, edge.to) {
            (Endpoint::Node(from), _) if !acyclic.is_reachable[from.index()] => {}
            (Endpoint::X, Endpoint::Node(to)) => arc(ROOT, Vertex::of(to), ArcKind::Edge(id)),
            (Endpoint::Node(from), Endpoint::X) => arc(Vertex::of(from), exit, ArcKind::Edge(id)),
            (Endpoint::Node(from), Endpoint::Node(to)) if is_cut[id.index()] => {
                arc(Vertex::of(from), exit, ArcKind::End(id));
                *into_head[to.index()].get_or_insert(0_u128) += weight;
            }
            (Endpoint::Node(from), Endpoint::Node(to)) => arc(Vertex::of(from), Vertex::of(to), ArcKind::Edge(id)),
            (Endpoint::X, Endpoint::X) => unreachable!("Cfg has no edge from X to X"),
        }
    }
    for (head, weight) in cfg.node_ids().zip(into_head) {
        if let Some(weight) = weight {
            arcs.push(Arc { from: ROOT, to: Vertex::of(head), what: ArcKind::Start(head), weight, value: 0 });
        }
    }
    arcs
}
