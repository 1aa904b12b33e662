//! Branches: every node with several ways out, and how often each way was taken.

use crate::arrivals::Flow;
use crate::line_parts::jump;
use crate::view::FunctionView;
use crate::{BlockEdge, FileId};
use bbprof_format::manifest::{EdgeKind, LocationId};

/// A conditional branch, a switch or an indirect jump.
#[derive(Clone, Debug)]
pub struct Branch<'p> {
    /// The function that holds it.
    pub function: FunctionView<'p>,
    /// The node that ends in it.
    pub node: u32,
    /// The block that ends in it.
    pub block: u32,
    /// File and line of what decides, where they are known.
    pub place: Option<(FileId, u32)>,
    /// Location of what decides.
    pub(crate) location: Option<LocationId>,
    /// Its ways, in the order of the terminator; those to landing pads are marked by their kind.
    pub ways: Vec<BlockEdge>,
}

impl Branch<'_> {
    /// How often each way was taken, landing pads left out; `None` where the counter placement leaves one open.
    #[must_use]
    pub fn counts(&self) -> Option<Vec<u64>> {
        self.ways.iter().filter(|way| way.kind != EdgeKind::Unwind).map(|way| way.count).collect()
    }

    /// Whether it is a switch.
    #[must_use]
    pub fn is_switch(&self) -> bool {
        self.ways.iter().any(|way| way.kind == EdgeKind::Switch)
    }
}

impl<'p> FunctionView<'p> {
    /// The ways out of each of its nodes that has more than one and decides between them; calls that may throw do not.
    #[must_use]
    pub fn decisions(self) -> Vec<Vec<BlockEdge>> {
        let edges: Vec<BlockEdge> = self.edges().collect();
        let decides = |way: &BlockEdge| matches!(way.kind, EdgeKind::Branch | EdgeKind::Switch | EdgeKind::Indirect);
        let of_nodes = edges.chunk_by(|a, b| a.from_node == b.from_node);
        of_nodes.filter(|ways| ways.len() > 1 && ways.iter().any(decides)).map(<[BlockEdge]>::to_vec).collect()
    }

    /// Its branches, by node.
    #[must_use]
    pub fn branches(self) -> Vec<Branch<'p>> {
        branches_of(self, &Flow::of(self))
    }
}

/// Its decisions, with where they are.
pub(crate) fn branches_of<'p>(function: FunctionView<'p>, flow: &Flow) -> Vec<Branch<'p>> {
    let branch = |ways: Vec<BlockEdge>| {
        let (node, block) = (ways[0].from_node, ways[0].from);
        let location = location_of_branch(function, flow, node);
        let place = location.and_then(|location| function.file_and_line(location));
        Branch { function, node, block, place, location, ways }
    };
    function.decisions().into_iter().map(branch).collect()
}

/// Where a branch is: where its jump is, unless the node has only the jump there, and has decided right before; then where that is.
fn location_of_branch(function: FunctionView<'_>, flow: &Flow, node: u32) -> Option<LocationId> {
    let description = &function.manifest.nodes[node as usize];
    let nodes = &function.manifest.nodes;
    let code_before = |jump| {
        let of_block = flow.block_up_to(node).rev().flat_map(|node| nodes[node as usize].locations.iter().rev());
        of_block.map(|(location, _)| *location).find(|location| *location != jump)
    };
    match jump(function, flow, node) {
        Some((jump, _)) => code_before(jump).or(Some(jump)),
        None => description.last_location.or_else(|| description.locations.last().map(|(location, _)| *location)),
    }
}
