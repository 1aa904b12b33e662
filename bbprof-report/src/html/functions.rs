//! Functions for the page: everything of a function but its row in the table, some functions to a piece.

use super::callers::{BlockCall, Calls};
use super::changes::{Before, LinesBefore};
use super::count::Count;
use super::strings::Strings;
use crate::names::edge_kind;
use bbprof_profile::{BlockView, FileId, FunctionView, LineTable, LocationId, Target};
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;

/// Blocks of one piece, unless a function has more: some hundred kilobytes of JSON, which a browser unpacks in some 10 ms.
const BLOCKS_OF_A_PIECE: u32 = 1200;

/// Neighbours by module that make a piece together.
pub(super) fn chunks(functions: &[FunctionView<'_>]) -> Vec<Range<usize>> {
    let mut chunks: Vec<Range<usize>> = Vec::new();
    let (mut begin, mut blocks) = (0, 0);
    for (position, function) in functions.iter().enumerate() {
        if position > begin && blocks + function.num_blocks() > BLOCKS_OF_A_PIECE {
            chunks.push(begin..position);
            (begin, blocks) = (position, 0);
        }
        blocks += function.num_blocks();
    }
    if begin < functions.len() {
        chunks.push(begin..functions.len());
    }
    chunks
}

/// A piece.
#[derive(Serialize)]
pub(super) struct Chunk {
    /// Position of the first function.
    first: usize,
    functions: Vec<FunctionData>,
    /// Opcodes and names that functions refer to by position.
    strings: Vec<String>,
}

#[derive(Serialize)]
struct FunctionData {
    linkage: &'static str,
    blocks: Vec<BlockData>,
    /// From, to, count, kind.
    edges: Vec<(u32, u32, Option<Count>, &'static str)>,
    /// File, line, column, scope.
    places: Vec<(usize, u32, u32, usize)>,
    /// Name, line of definition, file, and where it is inlined (a place); the first is the function itself.
    scopes: Vec<(usize, u32, usize, Option<usize>)>,
    /// By file.
    lines: Vec<(usize, Vec<LineData>)>,
    /// Function, block, count.
    callers: Vec<(usize, u32, Count)>,
    /// How many paths it has, where they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_paths: Option<Count>,
    /// Counts of its blocks in the profile that this one is compared with, where it had the same graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Vec<Count>>,
    /// Counts of its lines there, as far as it is known which line was which.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines_before: Option<LinesBefore>,
}

/// Line, count, executed instructions.
type LineData = (u32, Count, Count);

#[derive(Serialize)]
struct BlockData {
    count: Count,
    executed: Count,
    /// Opcode and number.
    opcodes: Vec<(usize, u64)>,
    /// Place, instructions that stand there, executed instructions.
    places: Vec<(usize, u64, Count)>,
    /// What is called (a function's position, or a name, or nothing through a pointer), how often, from which place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<(Callee, Count, Option<usize>)>,
    /// Activations that ended here, or came back a second time (negative).
    #[serde(skip_serializing_if = "Option::is_none")]
    vanished: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ir: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Callee {
    Function(usize),
    Name(usize),
    Pointer,
    Asm,
}

impl Chunk {
    pub(super) fn new(functions: &[FunctionView<'_>], range: Range<usize>, calls: &Calls<'_>, before: &Before<'_>) -> Self {
        let mut strings = Strings::default();
        let first = range.start;
        let of = |position: usize| Places::new(functions[position], &mut strings).function(position, calls, before);
        let functions = range.map(of).collect();
        Self { first, functions, strings: strings.into_texts() }
    }
}

/// A function while its places and scopes are gathered.
struct Places<'p, 's> {
    function: FunctionView<'p>,
    strings: &'s mut Strings,
    places: Vec<(usize, u32, u32, usize)>,
    scopes: Vec<(usize, u32, usize, Option<usize>)>,
    place_of: HashMap<LocationId, Option<usize>>,
    scope_of: HashMap<(&'p str, Option<LocationId>), usize>,
}

impl<'p, 's> Places<'p, 's> {
    fn new(function: FunctionView<'p>, strings: &'s mut Strings) -> Self {
        let own = (strings.add(function.name()), function.line(), function.file().map_or(0, FileId::index), None);
        Self { function, strings, places: Vec::new(), scopes: vec![own], place_of: HashMap::new(), scope_of: HashMap::new() }
    }

    fn function(mut self, position: usize, calls: &Calls<'_>, before: &Before<'_>) -> FunctionData {
        let function = self.function;
        let mut vanished = function.vanished().into_iter().peekable();
        let mut calls_of_blocks = calls.of(position).chunk_by(|a, b| a.block == b.block).peekable();
        let blocks = function
            .blocks()
            .map(|block| {
                let vanished = vanished.next_if(|(id, _)| *id == block.id()).map(|(_, count)| count.to_string());
                let calls = calls_of_blocks.next_if(|calls| calls[0].block == block.id()).unwrap_or_default();
                self.block(&block, vanished, calls)
            })
            .collect();
        let table = LineTable::of_functions(&[function]);
        let lines = table.files.iter().map(|(file, source)| {
            let rows = source.lines.iter().map(|(number, line)| (*number, Count(line.count), Count(line.instructions)));
            (file.index(), rows.collect())
        });
        FunctionData {
            linkage: match function.linkage() {
                bbprof_profile::Linkage::External => "external",
                bbprof_profile::Linkage::Hidden => "hidden",
                bbprof_profile::Linkage::Internal => "internal",
                bbprof_profile::Linkage::Comdat => "comdat",
            },
            blocks,
            edges: function.edges().map(|edge| (edge.from, edge.to, edge.count.map(Count::from), edge_kind(edge.kind))).collect(),
            lines: lines.collect(),
            callers: calls.callers(position).iter().map(|(caller, block, count)| (*caller, *block, Count::from(*count))).collect(),
            places: self.places,
            scopes: self.scopes,
            num_paths: function.num_paths().map(Count::from),
            before: before.counts(position),
            lines_before: before.lines(position, function),
        }
    }

    fn block(&mut self, block: &BlockView<'p>, vanished: Option<String>, calls: &[BlockCall<'_>]) -> BlockData {
        let mut places = Vec::new();
        for (id, standing, executed) in block.instructions_by_location() {
            if let Some(place) = self.place(id) {
                places.push((place, standing, Count(executed)));
            }
        }
        let block_calls = calls.iter().map(|call| {
            let callee = match call.target {
                None => Callee::Asm,
                Some(Target::Indirect) => Callee::Pointer,
                Some(Target::Function(function)) => Callee::Function(function.index()),
                Some(Target::Unprofiled(symbol)) => Callee::Name(self.strings.add_symbol(symbol)),
            };
            (callee, Count::from(call.count), call.location.and_then(|id| self.place(id)))
        });
        let block_calls = block_calls.collect();
        BlockData {
            count: block.count().into(),
            executed: Count(block.instructions()),
            opcodes: block.opcodes().into_iter().map(|(opcode, count)| (self.strings.add(opcode), count)).collect(),
            places,
            calls: block_calls,
            vanished,
            ir: block.ir(),
        }
    }

    /// The position of a place, with those of the calls that brought it in.
    fn place(&mut self, id: LocationId) -> Option<usize> {
        // From the innermost outwards until one is known, then back: chains can be long.
        let mut chain = Vec::new();
        let mut next = Some(id);
        let mut outer = None;
        while let Some(id) = next {
            if let Some(known) = self.place_of.get(&id) {
                outer = *known;
                break;
            }
            let frame = self.function.frame(id);
            next = frame.inlined_at;
            chain.push((id, frame));
        }
        for (id, frame) in chain.into_iter().rev() {
            outer = frame.file.map(|file| {
                let scope = match frame.inlined_at {
                    None => 0,
                    Some(call) => *self.scope_of.entry((frame.function, Some(call))).or_insert_with(|| {
                        let name = self.strings.add_symbol(frame.function);
                        let begins_in = frame.function_file.unwrap_or(file);
                        self.scopes.push((name, frame.function_line, begins_in.index(), outer));
                        self.scopes.len() - 1
                    }),
                };
                self.places.push((file.index(), frame.line, frame.column, scope));
                self.places.len() - 1
            });
            self.place_of.insert(id, outer);
        }
        outer
    }
}
