//! The balanced control-flow graph of one function: its nodes, the node X outside it, and directed edges as a multigraph.
//!
//! X closes the flow: one edge X -> entry, one edge to X from every node that leaves the function. With X, flow is
//! conserved at every vertex: in(v) = out(v) (Ball and Larus 1994, section 2, with X in place of EXIT -> root).

use crate::index::index;
use std::fmt;

index! {
    /// A node: a basic block, or a part of one that ends at a call which may not return.
    /// Dense, `0..cfg.num_nodes()`; 0 is the entry.
    NodeId, "n"
}

index! {
    /// An edge, dense, `0..cfg.num_edges()`, in the order of the manifest.
    EdgeId, "e"
}

/// One end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Endpoint {
    /// A node of the function.
    Node(NodeId),
    /// X: whatever is outside the function.
    X,
}

impl Endpoint {
    /// The node, or `None` for X.
    #[must_use]
    pub const fn node(self) -> Option<NodeId> {
        match self {
            Self::Node(node) => Some(node),
            Self::X => None,
        }
    }
}

/// What an edge stands for in the flow equations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EdgeRole {
    /// Control really passes here: its count is never negative.
    Flow,
    /// Node -> X, for activations that vanish in the call which ends the node (exit, throw through, longjmp, still live at the
    /// dump), less those that setjmp's second return brings back: no code can count it, and it may be negative.
    Vanish,
}

/// How a counter could be placed on an edge itself, should it be wanted there.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Splitting {
    /// A new block can be put on the edge (or, where the edge is not critical, one end can be used).
    Possible,
    /// No block can be put on it (`indirectbr`, `callbr`), but its target can be parted:
    /// it alone leads to a landing, all others to the rest.
    Landing,
    /// The same, but other such edges lead to that landing, too ([`Cfg::new`] finds them): only a phi-increment there can count it.
    PhiOnly,
    /// Nothing can count it (edges that leave the function by vanishing).
    Impossible,
}

/// An edge of the balanced graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowEdge {
    /// Where control comes from.
    pub from: Endpoint,
    /// Where control goes.
    pub to: Endpoint,
    /// Its part in the flow equations.
    pub role: EdgeRole,
    /// Whether a counter can sit on it.
    pub splitting: Splitting,
}

impl FlowEdge {
    /// Whether activations vanish along it, rather than control passing.
    #[must_use]
    pub fn vanishes(&self) -> bool {
        self.role == EdgeRole::Vanish
    }
}

/// The graph of one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cfg {
    num_nodes: u32,
    edges: Vec<FlowEdge>,
}

/// Why a graph is not a balanced control-flow graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CfgError {
    /// An edge names a node that is not there.
    NoSuchNode {
        /// The edge.
        edge: EdgeId,
        /// The node it names.
        node: NodeId,
        /// How many nodes there are.
        num_nodes: u32,
    },
    /// An edge runs from X to X.
    OutsideOnly {
        /// The edge.
        edge: EdgeId,
    },
    /// A vanishing edge that does not run from a node to X, or says that a counter can sit on it.
    BadVanish {
        /// The edge.
        edge: EdgeId,
    },
    /// A second vanishing edge out of one node: nothing could tell the two apart.
    TwoVanish {
        /// The second one.
        edge: EdgeId,
        /// The node.
        node: NodeId,
    },
    /// An edge that control passes but that nothing can count.
    UncountableFlow {
        /// The edge.
        edge: EdgeId,
    },
    /// More nodes or edges than 32 bits can number, two vertices a node.
    TooLarge,
}

impl fmt::Display for CfgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchNode { edge, node, num_nodes } => {
                write!(f, "edge {edge:?} names node {node:?}, but the graph has {num_nodes} nodes")
            }
            Self::OutsideOnly { edge } => write!(f, "edge {edge:?} runs from outside the function to outside it"),
            Self::BadVanish { edge } => {
                write!(f, "edge {edge:?} is marked as vanishing but is not an uncountable edge from a node to X")
            }
            Self::TwoVanish { edge, node } => write!(f, "edge {edge:?} is a second vanishing edge out of node {node:?}"),
            Self::UncountableFlow { edge } => {
                write!(f, "edge {edge:?} is a flow of control but is marked as uncountable")
            }
            Self::TooLarge => f.write_str("more nodes or edges than 32 bits can number"),
        }
    }
}

impl std::error::Error for CfgError {}

impl Cfg {
    /// A graph of `num_nodes` nodes and these edges.
    ///
    /// # Errors
    /// When an edge is malformed; see [`CfgError`].
    pub fn new(num_nodes: u32, edges: Vec<FlowEdge>) -> Result<Self, CfgError> {
        let arcs = u32::try_from(edges.len()).ok().and_then(|num_edges| num_edges.checked_add(num_nodes));
        if num_nodes > (u32::MAX - 1) / 2 || arcs.is_none() {
            return Err(CfgError::TooLarge);
        }
        let mut has_vanish = vec![false; if edges.iter().any(FlowEdge::vanishes) { num_nodes as usize } else { 0 }];
        for (position, edge) in edges.iter().enumerate() {
            let id = EdgeId(position as u32);
            for end in [edge.from, edge.to] {
                if let Endpoint::Node(node) = end
                    && node.0 >= num_nodes
                {
                    return Err(CfgError::NoSuchNode { edge: id, node, num_nodes });
                }
            }
            if edge.from == Endpoint::X && edge.to == Endpoint::X {
                return Err(CfgError::OutsideOnly { edge: id });
            }
            match (edge.vanishes(), edge.from, edge.to, edge.splitting) {
                (true, Endpoint::Node(node), Endpoint::X, Splitting::Impossible) => {
                    if std::mem::replace(&mut has_vanish[node.index()], true) {
                        return Err(CfgError::TwoVanish { edge: id, node });
                    }
                }
                (true, ..) => return Err(CfgError::BadVanish { edge: id }),
                (false, .., Splitting::Impossible) => return Err(CfgError::UncountableFlow { edge: id }),
                (false, ..) => {}
            }
        }
        let mut cfg = Self { num_nodes, edges };
        cfg.find_shared_landings();
        Ok(cfg)
    }

    fn find_shared_landings(&mut self) {
        let lands = |edge: &FlowEdge| matches!(edge.splitting, Splitting::Landing | Splitting::PhiOnly);
        let mut landing = vec![0_u32; if self.edges.iter().any(lands) { self.num_nodes() } else { 0 }];
        for node in self.edges.iter().filter(|edge| lands(edge)).filter_map(|edge| edge.to.node()) {
            landing[node.index()] += 1;
        }
        for edge in self.edges.iter_mut().filter(|edge| lands(edge)) {
            let is_shared = edge.to.node().is_some_and(|node| landing[node.index()] > 1);
            edge.splitting = if is_shared { Splitting::PhiOnly } else { Splitting::Landing };
        }
    }

    /// How many nodes, without X.
    #[must_use]
    pub fn num_nodes(&self) -> usize {
        self.num_nodes as usize
    }

    /// How many edges, with those from and to X.
    #[must_use]
    pub fn num_edges(&self) -> usize {
        self.edges.len()
    }

    /// The edges, by [`EdgeId`].
    #[must_use]
    pub fn edges(&self) -> &[FlowEdge] {
        &self.edges
    }

    /// One edge.
    #[must_use]
    pub fn edge(&self, edge: EdgeId) -> &FlowEdge {
        &self.edges[edge.index()]
    }

    /// All node ids, in order.
    pub fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.num_nodes).map(NodeId)
    }

    /// All edge ids, in order.
    pub fn edge_ids(&self) -> impl Iterator<Item = EdgeId> + Clone + use<> {
        (0..self.edges.len() as u32).map(EdgeId)
    }
}
