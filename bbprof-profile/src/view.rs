//! What a report sees of one function: its manifest and its counts side by side, block by block.

use crate::module_names::source;
use crate::profile::ProfiledImage;
use crate::{FileId, FunctionCounts};
use bbprof_format::BuildId;
use bbprof_format::manifest::{Callee, CounterMode, EdgeKind, Function, Linkage, LocationId, Module, Node, WeightSource};
use std::collections::HashSet;
use std::ops::Range;

/// One function of a profile.
#[derive(Clone, Copy, Debug)]
pub struct FunctionView<'p> {
    /// Its counts; of another build, where it is looked at with them, which has its own positions.
    pub counts: &'p FunctionCounts,
    pub(crate) image: &'p ProfiledImage,
    /// Position of its module in its image.
    pub(crate) module_position: u32,
    /// Its position in its module.
    function_position: u32,
    pub(crate) module: &'p Module,
    pub(crate) manifest: &'p Function,
}

/// One basic block.
#[derive(Clone, Debug)]
pub struct BlockView<'p> {
    function: FunctionView<'p>,
    id: u32,
    nodes: Range<usize>,
}

/// An edge from block to block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockEdge {
    /// Source block.
    pub from: u32,
    /// Target block.
    pub to: u32,
    /// Executions; `None` where the counter placement does not determine them.
    pub count: Option<u64>,
    /// Kind of transfer.
    pub kind: EdgeKind,
    /// Position of the (first) successor in the terminator.
    pub successor: u32,
    /// Position of the node it leaves, in the function.
    pub from_node: u32,
}

impl<'p> FunctionView<'p> {
    pub(crate) fn new(image: &'p ProfiledImage, counts: &'p FunctionCounts) -> Self {
        let module = &image.image.modules[counts.module as usize].module;
        let (module_position, function_position) = (counts.module, counts.function);
        let manifest = &module.functions[function_position as usize];
        Self { counts, image, module_position, function_position, module, manifest }
    }

    /// Its image, module and position there: what tells it from all others of one build.
    pub(crate) fn place_in_build(&self) -> (BuildId, u32, u32) {
        (self.image.image.build_id, self.module_position, self.function_position)
    }

    /// Whether the other, of whatever profile, has the same graph: nodes and edges of the same number are the same.
    pub(crate) fn has_graph_of(&self, other: &FunctionView<'_>) -> bool {
        let (own, other) = (self.manifest, other.manifest);
        own.shape == other.shape && own.nodes.len() == other.nodes.len() && own.edges.len() == other.edges.len()
    }

    /// This function with the counts of the other, where that has the same code: graph and opcodes, wherever its lines are.
    pub(crate) fn with_counts_of(self, other: FunctionView<'p>) -> Option<Self> {
        let has_same_code = self.has_graph_of(&other) && self.manifest.content == other.manifest.content;
        has_same_code.then_some(Self { counts: other.counts, ..self })
    }

    /// Its linker symbol.
    #[must_use]
    pub fn symbol(&self) -> &'p str {
        self.module.string(self.manifest.symbol)
    }

    /// Its demangled name.
    #[must_use]
    pub fn name(&self) -> &'p str {
        &self.counts.name
    }

    /// The source file of its compilation unit, as the compiler names it.
    pub(crate) fn module_source(&self) -> &'p str {
        source(self.module, self.manifest.unit)
    }

    /// The source file of its compilation unit; with its folder where the profile has a file of this name in several.
    #[must_use]
    pub fn module_name(&self) -> &'p str {
        self.image.module_name(self.module_position, self.manifest.unit)
    }

    /// Path of the image it is in.
    #[must_use]
    pub fn image_path(&self) -> &'p str {
        &self.image.path
    }

    /// Where it is defined.
    #[must_use]
    pub fn file(&self) -> Option<FileId> {
        self.manifest.file.and_then(|file| self.file_of(file))
    }

    /// The line of its definition; 0 = unknown.
    #[must_use]
    pub fn line(&self) -> u32 {
        self.manifest.line
    }

    /// Who else may hold a copy.
    #[must_use]
    pub fn linkage(&self) -> Linkage {
        self.manifest.linkage
    }

    /// How its counters were placed.
    #[must_use]
    pub fn mode(&self) -> CounterMode {
        self.module.mode
    }

    /// What decided the places of its counters.
    #[must_use]
    pub fn weights(&self) -> WeightSource {
        self.manifest.weights
    }

    /// Whether any of it ran.
    #[must_use]
    pub fn is_executed(&self) -> bool {
        self.counts.is_executed
    }

    /// Number of its blocks.
    #[must_use]
    pub fn num_blocks(&self) -> u32 {
        self.manifest.num_blocks
    }

    /// Its blocks, by id.
    pub fn blocks(self) -> impl Iterator<Item = BlockView<'p>> {
        let nodes = &self.manifest.nodes;
        let mut next = 0;
        (0..self.manifest.num_blocks).map(move |id| {
            let begin = next;
            while nodes.get(next).is_some_and(|node| node.block == id) {
                next += 1;
            }
            BlockView { function: self, id, nodes: begin..next }
        })
    }

    /// Its edges from block to block, in the order of the manifest: without those from
    /// and to the outside, and those inside a block.
    pub fn edges(self) -> impl Iterator<Item = BlockEdge> {
        let block_of = |node: u32| self.manifest.nodes[node as usize].block;
        self.manifest.edges.iter().zip(&self.counts.edges).filter_map(move |(edge, count)| match (edge.from, edge.to) {
            (Some(from), Some(to)) if edge.kind != EdgeKind::Return => Some(BlockEdge {
                from: block_of(from),
                to: block_of(to),
                count: count.and_then(|count| u64::try_from(count).ok()),
                kind: edge.kind,
                successor: edge.successor,
                from_node: from,
            }),
            _ => None,
        })
    }

    /// Activations that vanished in it, by block: exit, throw through, longjmp past,
    /// still live; negative when setjmp returned again.
    #[must_use]
    pub fn vanished(&self) -> Vec<(u32, i128)> {
        let mut vanished: Vec<(u32, i128)> = Vec::new();
        for (edge, count) in self.manifest.edges.iter().zip(&self.counts.edges) {
            let (EdgeKind::Vanish, Some(from), Some(count)) = (edge.kind, edge.from, *count) else { continue };
            let block = self.manifest.nodes[from as usize].block;
            match vanished.last_mut() {
                Some((last, sum)) if *last == block => *sum += count,
                _ => vanished.push((block, count)),
            }
        }
        vanished.retain(|(_, count)| *count != 0);
        vanished
    }

    pub(crate) fn file_of(&self, id: bbprof_format::manifest::StringId) -> Option<FileId> {
        self.image.files[self.module_position as usize][id.0 as usize]
    }

    /// Executions of a node of this function.
    #[must_use]
    pub fn node_count(self, node: u32) -> u64 {
        self.counts.nodes[node as usize]
    }

    /// Names the link of its image.
    #[must_use]
    pub fn build_id(self) -> bbprof_format::BuildId {
        self.image.image.build_id
    }

    /// The location of the instruction that ends a node of this function (position in [`crate::BlockEdge::from_node`]).
    #[must_use]
    pub fn end_of_node(self, node: u32) -> Option<LocationId> {
        self.manifest.nodes[node as usize].last_location
    }
}

impl<'p> BlockView<'p> {
    /// The function it is in.
    #[must_use]
    pub fn function(&self) -> FunctionView<'p> {
        self.function
    }

    /// Its position in the function as generated; the entry is 0.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// How often it was entered.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.function.counts.nodes[self.nodes.start]
    }

    /// Its nodes with their counts: a call that did not return ends the counting of what stands before it.
    pub fn nodes(&self) -> impl Iterator<Item = (&'p Node, u64)> + use<'p> {
        let (function, nodes) = (self.function, self.nodes.clone());
        function.manifest.nodes[nodes.clone()].iter().zip(function.counts.nodes[nodes].iter().copied())
    }

    /// Executed instructions.
    #[must_use]
    pub fn instructions(&self) -> u128 {
        self.nodes().map(|(node, count)| u128::from(node.num_instructions()) * u128::from(count)).sum()
    }

    /// Number of LLVM IR instructions that stand in it.
    #[must_use]
    pub fn num_instructions(&self) -> u64 {
        self.nodes().map(|(node, _)| node.num_instructions()).sum()
    }

    /// Executed instructions that have a source line.
    #[must_use]
    pub fn instructions_with_line(&self) -> u128 {
        self.nodes().map(|(node, count)| u128::from(node.num_located()) * u128::from(count)).sum()
    }

    /// Opcodes and how many of each stand in the block, in the order of first appearance.
    #[must_use]
    pub fn opcodes(&self) -> Vec<(&'p str, u64)> {
        let mut opcodes: Vec<(&str, u64)> = Vec::new();
        for (node, _) in self.nodes() {
            for (id, count) in &node.opcodes {
                let opcode = self.function.module.string(*id);
                match opcodes.iter_mut().find(|(known, _)| *known == opcode) {
                    Some((_, sum)) => *sum += u64::from(*count),
                    None => opcodes.push((opcode, u64::from(*count))),
                }
            }
        }
        opcodes
    }

    /// Source positions (file, line, column) of its instructions, each once, in the order of first appearance.
    #[must_use]
    pub fn positions(&self) -> Vec<(FileId, u32, u32)> {
        let mut positions = Vec::new();
        let mut seen = HashSet::new();
        for (node, _) in self.nodes() {
            for (id, _) in &node.locations {
                let location = self.function.module.location(*id);
                if let Some(file) = self.function.file_of(location.file) {
                    let position = (file, location.line, location.column);
                    if seen.insert(position) {
                        positions.push(position);
                    }
                }
            }
        }
        positions
    }

    /// Linker symbols of the functions it calls, in order; calls through pointers and inline assembly left out.
    pub fn callees(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        let module = self.function.module;
        self.nodes().flat_map(move |(node, _)| {
            node.calls.iter().filter_map(move |call| match call.callee {
                Callee::Symbol(symbol) => Some(module.string(symbol)),
                Callee::Indirect | Callee::Asm => None,
            })
        })
    }

    /// Its IR text, one instruction a line, where it was kept.
    #[must_use]
    pub fn ir(&self) -> Option<String> {
        let parts: Option<Vec<&str>> = self.nodes().map(|(node, _)| node.ir.map(|id| self.function.module.string(id))).collect();
        parts.map(|parts| parts.join("\n"))
    }
}
