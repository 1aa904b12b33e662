//! The paths that a function took: their blocks, how they end, and what they executed.

use crate::{FileId, FunctionView};
use bbprof_flow::{EdgeId, PathNumbering, PathStart};
use bbprof_format::manifest::EdgeKind;
use std::collections::BTreeMap;

/// How a path ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathEnd {
    /// The activation leaves the function.
    Leaves,
    /// It vanishes in the call at which the path's last block is left: exit, throw through, longjmp past, still live.
    Vanishes,
    /// Control goes on to this block, where another path begins.
    GoesOn(u32),
}

/// One path that was taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathView {
    /// Its number in its function.
    pub number: u64,
    /// How often it was taken. Negative where a second return of setjmp brought back more activations than vanished, or a fork's
    /// child went on in the middle of calls it did not make.
    pub count: i128,
    /// Whether it begins with the function; else behind a cut edge.
    pub from_entry: bool,
    /// How it ends.
    pub end: PathEnd,
    /// Its blocks in order. A block may be left, or entered, in its middle, at a call.
    pub blocks: Vec<u32>,
    /// Instructions of one execution.
    pub instructions: u64,
    /// Its nodes in order.
    nodes: Vec<u32>,
}

/// An edge of the DAG by which paths are numbered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DagArc {
    /// The node it leaves; `None` = ROOT.
    pub from: Option<u32>,
    /// The node it enters; `None` = EXIT.
    pub to: Option<u32>,
    /// What it adds to the number of a path.
    pub value: u64,
    /// How a path ends on it, when it does.
    pub end: Option<PathEnd>,
}

impl<'p> FunctionView<'p> {
    /// How many paths it has; `None` where paths were not counted.
    #[must_use]
    pub fn num_paths(self) -> Option<u64> {
        self.manifest.paths.as_ref().map(|paths| paths.num_paths)
    }

    /// The block of each node.
    pub fn node_blocks(self) -> impl Iterator<Item = u32> + use<'p> {
        self.manifest.nodes.iter().map(|node| node.block)
    }

    /// The numbered DAG: the edges in their order, then those from ROOT to heads; `None` where paths were not counted.
    #[must_use]
    pub fn path_dag(self) -> Option<Vec<DagArc>> {
        let numbering = self.manifest.path_numbering()?.ok()?;
        let mut arcs = Vec::new();
        let mut heads = BTreeMap::new();
        for (edge, (value, at_head)) in self.manifest.edges.iter().zip(numbering.values(&self.manifest.cfg().ok()?)) {
            let end = match (edge.to, at_head) {
                (None, _) if edge.kind == EdgeKind::Vanish => Some(PathEnd::Vanishes),
                (None, _) => Some(PathEnd::Leaves),
                (Some(to), Some(begins)) => {
                    heads.insert(to, begins);
                    Some(PathEnd::GoesOn(self.manifest.nodes[to as usize].block))
                }
                (Some(_), None) => None,
            };
            let to = edge.to.filter(|_| end.is_none());
            arcs.extend(value.map(|value| DagArc { from: edge.from, to, value, end }));
        }
        arcs.extend(heads.into_iter().map(|(head, value)| DagArc { from: None, to: Some(head), value, end: None }));
        Some(arcs)
    }

    /// The paths that were taken, by number; none where paths were not counted.
    #[must_use]
    pub fn paths(self) -> Vec<PathView> {
        let (Some(counts), Some(Ok(numbering))) = (&self.counts.paths, self.manifest.path_numbering()) else { return Vec::new() };
        counts.iter().filter_map(|(number, count)| self.path(&numbering, *number, *count)).collect()
    }

    fn path(self, numbering: &PathNumbering, number: u64, count: i128) -> Option<PathView> {
        // Counts were settled with the same numbering, so it has all their numbers.
        let path = numbering.path(number).ok()?;
        let edge = |id: EdgeId| &self.manifest.edges[id.index()];
        let mut nodes: Vec<u32> = Vec::with_capacity(path.edges.len() + 1);
        if let PathStart::Head(head) = path.start {
            nodes.push(head.index() as u32);
        }
        let (last, inner) = path.edges.split_last()?;
        nodes.extend(inner.iter().filter_map(|id| edge(*id).to));
        let block_of = |node: u32| self.manifest.nodes[node as usize].block;
        let end = match edge(*last) {
            last if last.kind == EdgeKind::Vanish => PathEnd::Vanishes,
            last => last.to.map_or(PathEnd::Leaves, |to| PathEnd::GoesOn(block_of(to))),
        };
        let mut blocks: Vec<u32> = nodes.iter().map(|node| block_of(*node)).collect();
        blocks.dedup();
        let instructions = nodes.iter().map(|node| self.manifest.nodes[*node as usize].num_instructions()).sum();
        Some(PathView { number, count, from_entry: matches!(path.start, PathStart::Entry(_)), end, blocks, instructions, nodes })
    }

    /// The source lines of a path of this function, in order, each once where it stands repeatedly in a row.
    #[must_use]
    pub fn path_lines(self, path: &PathView) -> Vec<(FileId, u32)> {
        let locations = path.nodes.iter().flat_map(|node| &self.manifest.nodes[*node as usize].locations);
        let mut lines: Vec<(FileId, u32)> = locations.filter_map(|(id, _)| self.file_and_line(*id)).collect();
        lines.dedup();
        lines
    }
}

impl PathView {
    /// The block from which and to which it leads, when it is one turn of a loop.
    #[must_use]
    pub fn loop_head(&self) -> Option<u32> {
        self.blocks.first().copied().filter(|head| !self.from_entry && self.end == PathEnd::GoesOn(*head))
    }

    /// Instructions executed on it.
    #[must_use]
    pub fn executed(&self) -> i128 {
        self.count * i128::from(self.instructions)
    }
}
