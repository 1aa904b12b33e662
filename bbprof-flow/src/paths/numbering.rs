//! The numbers of paths: Ball and Larus 1996, figure 5.
//!
//! In reverse topological order, each vertex gives its outgoing arcs the numbers of paths of the arcs before them
//! as values, and has as many paths as its arcs together. Siblings may stand in any order; the hottest comes first,
//! so that its value is 0. At ROOT, those to parts with obvious paths come last ([`super::parts`]): so the paths
//! that need counters of their own have the lowest numbers.

use super::arcs::{Arc, ArcKind, ROOT, Vertex, unnumbered_arcs};
use super::dag::Acyclic;
use super::limit::{cut_to_limit, paths_from};
use super::parts::Parts;
use crate::cfg::{Cfg, EdgeId, NodeId};
use crate::costs::Weights;
use std::cmp::Reverse;
use std::fmt;

/// The numbered DAG of one graph.
#[derive(Clone, Debug)]
pub struct PathNumbering {
    pub(super) num_vertices: usize,
    /// By arc, those of one source side by side, by rising value; vertices in topological order of their arcs.
    pub(super) arcs: Vec<Arc>,
    /// By vertex: where its outgoing arcs begin; and behind the last vertex, where they end.
    first: Vec<u32>,
    /// By arc: all that finding a path needs, small, because that is bound by memory.
    steps: Vec<Step>,
    /// By vertex: the value of its vanishing edge.
    pub(super) vanish: Vec<Option<u64>>,
    num_paths: u64,
    num_counted: u64,
    cuts: Vec<EdgeId>,
    pub(super) num_edges: usize,
    /// By node.
    is_obvious: Vec<bool>,
}

/// An arc as a path takes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) value: u64,
    pub(super) to: Vertex,
    /// `None` for a beginning at a head.
    pub(super) edge: Option<EdgeId>,
    /// It is on one path only.
    pub(super) defines: bool,
}

/// Where a path begins.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathStart {
    /// With the function: on this edge from X, which is the path's first.
    Entry(EdgeId),
    /// Behind a cut edge to this node.
    Head(NodeId),
}

/// One path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Path {
    /// Where it begins.
    pub start: PathStart,
    /// Its edges in the order they are taken. The last one leads to X, is vanishing, or is cut.
    pub edges: Vec<EdgeId>,
}

/// Why something is no numbering of a graph, or no path of a numbering.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PathError {
    /// Cut edges that are not all there, not in rising order, or not from node to node.
    BadCut {
        /// Position in the list of cuts.
        position: usize,
    },
    /// The edges that are left have a cycle.
    Cycle {
        /// An edge that closes it.
        edge: EdgeId,
    },
    /// More than 2^63 paths.
    TooManyPaths,
    /// A number that no path has.
    NoSuchPath {
        /// The number.
        number: u64,
        /// How many paths there are.
        num_paths: u64,
    },
}

impl fmt::Display for PathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadCut { position } => write!(f, "cut {position} is no edge between nodes behind the cut before it"),
            Self::Cycle { edge } => write!(f, "edge {edge:?} closes a cycle but is not cut"),
            Self::TooManyPaths => f.write_str("more than 2^63 paths"),
            Self::NoSuchPath { number, num_paths } => write!(f, "there is no path {number}: they are numbered 0..{num_paths}"),
        }
    }
}

impl std::error::Error for PathError {}

impl PathNumbering {
    /// The most paths that one graph can have: numbers and sums of values stay below 2^64.
    pub const MOST_PATHS: u64 = 1 << 63;

    /// Numbers the paths of a graph. The edges in `cuts` are cut; where paths are more than `limit`, edges are cut
    /// where that costs least until they are not, or until all are cut, which leaves one path an edge and those of
    /// the entry twice. The same input gives the same numbers.
    ///
    /// # Panics
    /// When `weights` does not have one weight for each edge of `cfg`, or a cut is no edge between nodes.
    #[must_use]
    pub fn new(cfg: &Cfg, weights: &Weights, cuts: &[EdgeId], limit: u64) -> Self {
        assert_eq!(weights.edges.len(), cfg.num_edges(), "one weight for each edge");
        let acyclic = Acyclic::of(cfg);
        let mut is_cut = acyclic.closes_cycle.clone();
        for cut in cuts {
            let edge = cfg.edge(*cut);
            assert!(edge.from.node().is_some() && edge.to.node().is_some(), "cuts are edges between nodes");
            is_cut[cut.index()] = true;
        }
        let is_cut = cut_to_limit(cfg, &acyclic, weights, is_cut, limit.min(Self::MOST_PATHS));
        Self::number(cfg, weights, &acyclic, &is_cut).expect("with all edges cut there are as many paths as edges, below 2^32")
    }

    /// Numbers the paths of a graph in which exactly these edges are cut, in rising order.
    ///
    /// # Errors
    /// When they leave a cycle, are no edges between nodes, or leave more than 2^63 paths.
    ///
    /// # Panics
    /// When `weights` does not have one weight for each edge of `cfg`.
    pub fn with_cuts(cfg: &Cfg, weights: &Weights, cuts: &[EdgeId]) -> Result<Self, PathError> {
        assert_eq!(weights.edges.len(), cfg.num_edges(), "one weight for each edge");
        let mut is_cut = vec![false; cfg.num_edges()];
        for (position, cut) in cuts.iter().enumerate() {
            let is_behind = position == 0 || cuts[position - 1] < *cut;
            let is_inner = |edge: &crate::FlowEdge| edge.from.node().is_some() && edge.to.node().is_some();
            if !is_behind || !cfg.edges().get(cut.index()).is_some_and(is_inner) {
                return Err(PathError::BadCut { position });
            }
            is_cut[cut.index()] = true;
        }
        let acyclic = Acyclic::of(cfg);
        if let Some(edge) = cfg.edge_ids().find(|edge| acyclic.closes_cycle[edge.index()] && !is_cut[edge.index()]) {
            return Err(PathError::Cycle { edge });
        }
        Self::number(cfg, weights, &acyclic, &is_cut).ok_or(PathError::TooManyPaths)
    }

    fn number(cfg: &Cfg, weights: &Weights, acyclic: &Acyclic, is_cut: &[bool]) -> Option<Self> {
        let exit = Vertex(cfg.num_nodes() as u32 + 1);
        let num_vertices = cfg.num_nodes() + 2;
        let mut paths = vec![0_u128; num_vertices];
        paths[exit.index()] = 1;
        for (node, number) in cfg.node_ids().zip(paths_from(cfg, acyclic, is_cut)?) {
            paths[Vertex::of(node).index()] = number;
        }
        let parts = Parts::of(cfg, acyclic, is_cut);
        let is_obvious: Vec<bool> = cfg.node_ids().map(|node| parts.is_obvious(node)).collect();
        let node_of = |vertex: Vertex| (vertex != ROOT && vertex != exit).then(|| vertex.node());
        let mut arcs = unnumbered_arcs(cfg, weights, acyclic, is_cut, exit);
        // What leads to no end is on no path.
        arcs.retain(|arc| paths[arc.to.index()] > 0);
        let begins_obvious = |arc: &Arc| arc.from == ROOT && node_of(arc.to).is_some_and(|node| is_obvious[node.index()]);
        // Where weights are equal, the order of the edges decides, which `sort` keeps.
        arcs.sort_by_key(|arc| (arc.from, begins_obvious(arc), Reverse(arc.weight)));
        give_values(&mut arcs, &paths)?;
        let mut from_root = arcs.iter().filter(|arc| arc.from == ROOT).map(|arc| paths[arc.to.index()]);
        let num_paths = from_root.try_fold(0_u128, u128::checked_add)?;
        let num_paths = u64::try_from(num_paths).ok().filter(|number| *number <= Self::MOST_PATHS)?;
        let num_counted = arcs.iter().find(|arc| begins_obvious(arc)).map_or(num_paths, |arc| arc.value);
        let cuts = cfg.edge_ids().filter(|edge| is_cut[edge.index()]).collect();
        let step = |arc: &Arc| {
            let defines = parts.defines(node_of(arc.from), node_of(arc.to));
            Step { value: arc.value, to: arc.to, edge: arc.what.edge(), defines }
        };
        let steps = arcs.iter().map(step).collect();
        let mut vanish = vec![None; num_vertices];
        for arc in &arcs {
            if matches!(arc.what, ArcKind::Edge(edge) if cfg.edge(edge).vanishes()) {
                vanish[arc.from.index()] = Some(arc.value);
            }
        }
        let first = first_arcs(&arcs, num_vertices);
        let num_edges = cfg.num_edges();
        Some(Self { num_vertices, arcs, first, steps, vanish, num_paths, num_counted, cuts, num_edges, is_obvious })
    }

    /// How many paths there are.
    #[must_use]
    pub fn num_paths(&self) -> u64 {
        self.num_paths
    }

    /// How many of them need counters: the first ones. The others are obvious, see [`Self::obvious_counts`].
    #[must_use]
    pub fn num_counted(&self) -> u64 {
        self.num_counted
    }

    /// Whether the paths that this node is on are obvious, so that counts of edges tell theirs.
    /// The edges of other nodes are known from their paths.
    #[must_use]
    pub fn is_obvious(&self, node: NodeId) -> bool {
        self.is_obvious[node.index()]
    }

    /// The edges on which paths end though control goes on, in rising order.
    #[must_use]
    pub fn cuts(&self) -> &[EdgeId] {
        &self.cuts
    }

    pub(super) fn exit(&self) -> Vertex {
        Vertex(self.num_vertices as u32 - 1)
    }

    pub(super) fn outgoing(&self, vertex: Vertex) -> std::ops::Range<usize> {
        self.first[vertex.index()] as usize..self.first[vertex.index() + 1] as usize
    }

    /// The path with this number, in time proportional to its length.
    ///
    /// # Errors
    /// When there is none.
    pub fn path(&self, number: u64) -> Result<Path, PathError> {
        let mut edges = Vec::with_capacity(16);
        let mut start = None;
        self.walk(number, |step, _| {
            if start.is_none() {
                start = Some(step.edge.map_or_else(|| PathStart::Head(step.to.node()), PathStart::Entry));
            }
            edges.extend(step.edge);
        })?;
        Ok(Path { start: start.expect("every path has a first arc"), edges })
    }

    /// The arcs of a path in order, each with the sum of the values up to it.
    pub(super) fn walk(&self, number: u64, mut visit: impl FnMut(Step, u64)) -> Result<(), PathError> {
        if number >= self.num_paths {
            return Err(PathError::NoSuchPath { number, num_paths: self.num_paths });
        }
        let (mut at, mut rest) = (ROOT, number);
        while at != self.exit() {
            let siblings = &self.steps[self.outgoing(at)];
            // Most vertices have two arcs, ROOT may have thousands.
            let behind = if siblings.len() < 8 {
                siblings.iter().position(|step| step.value > rest).unwrap_or(siblings.len())
            } else {
                siblings.partition_point(|step| step.value <= rest)
            };
            let taken = siblings[behind - 1];
            rest -= taken.value;
            visit(taken, number - rest);
            at = taken.to;
        }
        Ok(())
    }

    /// The value of each edge: `(on it, at the beginning behind it)`. A path's number is the sum of the
    /// values on its edges, and of the one at its beginning where it begins behind a cut edge. `None` for an
    /// edge on no path, and where no path begins behind an edge.
    #[must_use]
    pub fn values(&self, cfg: &Cfg) -> Vec<(Option<u64>, Option<u64>)> {
        let mut values = vec![(None, None); cfg.num_edges()];
        let mut at_head = vec![None; cfg.num_nodes()];
        for arc in &self.arcs {
            match arc.what {
                ArcKind::Edge(edge) | ArcKind::End(edge) => values[edge.index()].0 = Some(arc.value),
                ArcKind::Start(head) => at_head[head.index()] = Some(arc.value),
            }
        }
        for cut in &self.cuts {
            values[cut.index()].1 = cfg.edge(*cut).to.node().and_then(|head| at_head[head.index()]);
        }
        values
    }
}

/// Gives each of these sorted arcs the number of paths of its siblings before it, when `paths` lead
/// from each vertex to EXIT. `None`: a value exceeds 64 bits.
fn give_values(arcs: &mut [Arc], paths: &[u128]) -> Option<()> {
    for siblings in arcs.chunk_by_mut(|a, b| a.from == b.from) {
        let mut sum = 0_u128;
        for arc in siblings {
            // Each vertex has an arc from ROOT or from a vertex before it, so no value exceeds the number of paths.
            arc.value = u64::try_from(sum).ok()?;
            sum = sum.checked_add(paths[arc.to.index()])?;
        }
    }
    Some(())
}

/// By vertex, where its arcs begin among these sorted ones; and behind the last vertex, where they end.
fn first_arcs(arcs: &[Arc], num_vertices: usize) -> Vec<u32> {
    let mut first = vec![0_u32; num_vertices + 1];
    for arc in arcs {
        first[arc.from.index() + 1] += 1;
    }
    for vertex in 0..num_vertices {
        first[vertex + 1] += first[vertex];
    }
    first
}
