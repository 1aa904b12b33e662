//! The doubled graph: every node v becomes an arc from v's in-vertex to its out-vertex, every edge u -> v an arc from u's
//! out-vertex to v's in-vertex; X stays one vertex.
//!
//! So a node's count and an edge's count are both flow on an arc, and flow is conserved at every vertex. Counters on nodes and
//! on edges compete in one spanning tree (the reduction of Knuth and Stevenson 1973, kept for edges as well). No arc is a loop:
//! a self-loop of the graph runs from its node's out-vertex to its in-vertex, and no edge runs from X to X.

use crate::cfg::{Cfg, EdgeId, Endpoint, NodeId};

/// A vertex of the doubled graph, dense: in- and out-vertex of each node in turn, then X.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Vertex(u32);

/// An arc of the doubled graph, dense: the nodes, then the edges.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Arc(u32);

/// What an arc stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flow {
    /// Executions of a node.
    Node(NodeId),
    /// Executions of an edge.
    Edge(EdgeId),
}

/// The doubled view of a graph; nothing is copied.
#[derive(Clone, Copy)]
pub(crate) struct Doubled<'a> {
    cfg: &'a Cfg,
}

impl Vertex {
    /// Its position, for indexing.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
    /// Its position, for the union-find.
    pub(crate) const fn position(self) -> u32 {
        self.0
    }
}

impl Arc {
    /// The arc at this position.
    pub(crate) const fn new(position: u32) -> Self {
        Self(position)
    }
    /// Its position, for indexing.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
    /// Its position, for the exclusive-or of arcs.
    pub(crate) const fn position(self) -> u32 {
        self.0
    }
}

impl<'a> Doubled<'a> {
    /// Doubles a graph. `Cfg::new` has made sure that 32 bits number its vertices and arcs.
    pub(crate) fn new(cfg: &'a Cfg) -> Self {
        Self { cfg }
    }

    /// The graph itself.
    pub(crate) fn cfg(&self) -> &'a Cfg {
        self.cfg
    }

    /// Two vertices a node, and X.
    pub(crate) fn num_vertices(&self) -> u32 {
        2 * self.cfg.num_nodes() as u32 + 1
    }

    /// One arc a node, one an edge.
    pub(crate) fn num_arcs(&self) -> usize {
        self.cfg.num_nodes() + self.cfg.num_edges()
    }

    /// All vertices, in order.
    pub(crate) fn vertices(&self) -> impl Iterator<Item = Vertex> + use<> {
        (0..self.num_vertices()).map(Vertex)
    }

    /// All arcs, in order.
    pub(crate) fn arcs(&self) -> impl Iterator<Item = Arc> + use<> {
        (0..self.num_arcs() as u32).map(Arc)
    }

    /// The arc of a node.
    pub(crate) fn node_arc(&self, node: NodeId) -> Arc {
        Arc(node.index() as u32)
    }

    /// The arc of an edge.
    pub(crate) fn edge_arc(&self, edge: EdgeId) -> Arc {
        Arc((self.cfg.num_nodes() + edge.index()) as u32)
    }

    /// What an arc stands for.
    pub(crate) fn flow(&self, arc: Arc) -> Flow {
        match arc.0.checked_sub(self.cfg.num_nodes() as u32) {
            None => Flow::Node(NodeId::new(arc.0)),
            Some(edge) => Flow::Edge(EdgeId::new(edge)),
        }
    }

    /// Tail and head of an arc.
    pub(crate) fn ends(&self, arc: Arc) -> (Vertex, Vertex) {
        match self.flow(arc) {
            Flow::Node(node) => (self.in_vertex(Endpoint::Node(node)), self.out_vertex(Endpoint::Node(node))),
            Flow::Edge(edge) => {
                let edge = self.cfg.edge(edge);
                (self.out_vertex(edge.from), self.in_vertex(edge.to))
            }
        }
    }

    /// The node that a vertex belongs to, or X.
    pub(crate) fn endpoint(&self, vertex: Vertex) -> Endpoint {
        if vertex == self.outside() { Endpoint::X } else { Endpoint::Node(NodeId::new(vertex.0 / 2)) }
    }

    /// Whether the vertex is where control leaves a node.
    pub(crate) fn is_out_vertex(&self, vertex: Vertex) -> bool {
        vertex != self.outside() && vertex.0 % 2 == 1
    }

    /// X.
    pub(crate) fn outside(&self) -> Vertex {
        Vertex(self.num_vertices() - 1)
    }

    fn in_vertex(&self, end: Endpoint) -> Vertex {
        end.node().map_or(self.outside(), |node| Vertex(2 * node.index() as u32))
    }

    fn out_vertex(&self, end: Endpoint) -> Vertex {
        end.node().map_or(self.outside(), |node| Vertex(2 * node.index() as u32 + 1))
    }
}
