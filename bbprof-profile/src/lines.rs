//! Counts by source line.
//!
//! An *instance* of a line is the line in one function of the program, or in one inlined copy of its source function (the
//! inlined-at chain tells copies apart). Its count is the number of times control arrives at it: the executions of edges that
//! enter its nodes from elsewhere, and the turns of loops that stay on it. A line's count is the sum over its instances.
//! Several blocks on a line (`a && b`, a `for` header) are thus counted once a visit, as gcov does; at -O0 the counts
//! are gcov's. The line of a function's definition counts its entries. Inlined code counts at its own source line.
//!
//! Where the counter placement leaves edges open (`blocks`, `patterns`), an instance counts what its hottest node counts.

use crate::arrivals::Flow;
use crate::view::FunctionView;
use crate::{FileId, Profile};
use bbprof_format::manifest::{Location, LocationId, StringId};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Counts of all source lines of a profile.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LineTable {
    /// By source file.
    pub files: BTreeMap<FileId, SourceLines>,
}

/// Counts of the lines of one source file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceLines {
    /// By line number: the lines that have code.
    pub lines: BTreeMap<u32, Line>,
    /// The functions defined here, by line of definition and linker symbol.
    pub functions: BTreeMap<(u32, String), SourceFunction>,
    /// Branches, by line, function of the program that holds them, and node.
    pub branches: BTreeMap<BranchKey, Vec<Outcome>>,
}

/// One source line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Line {
    /// How often control arrived at it.
    pub count: u128,
    /// Executed LLVM IR instructions that have it as their source.
    pub instructions: u128,
}

/// One function of the source, whether it became code of its own or was inlined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceFunction {
    /// Activations of its own code.
    pub entries: u128,
    /// Arrivals at inlined copies: at least so many executions of the inlined function.
    pub inlined: u128,
    /// The last line that has code of it.
    pub last_line: u32,
}

/// Which branch: its line, then its place in the code, which only orders them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct BranchKey {
    /// Source line of the branch instruction.
    pub line: u32,
    /// Linker symbol of the function that holds it.
    pub symbol: String,
    /// The node that ends in it.
    pub node: u32,
}

/// One way that a branch can go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// How often it went this way; `None` where the placement leaves it open.
    pub count: Option<u64>,
    /// Whether it leads to a landing pad.
    pub unwinds: bool,
}

impl LineTable {
    /// Counts the lines of all functions of a profile.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let functions: Vec<FunctionView<'_>> = profile.functions().collect();
        Self::of_functions(&functions)
    }

    /// Counts the lines of some functions.
    #[must_use]
    pub fn of_functions(functions: &[FunctionView<'_>]) -> Self {
        let parts: Vec<FunctionLines<'_>> = functions.par_iter().map(|function| FunctionLines::new(*function)).collect();
        let mut table = Self::default();
        let mut lines: Vec<(FileId, u32, Line)> = parts.iter().flat_map(|part| part.lines.iter().copied()).collect();
        lines.par_sort_unstable_by_key(|(file, line, _)| (*file, *line));
        for same_file in lines.chunk_by(|a, b| a.0 == b.0) {
            let sums = same_file.chunk_by(|a, b| a.1 == b.1).map(|same_line| (same_line[0].1, sum(same_line)));
            table.files.entry(same_file[0].0).or_default().lines = sums.collect();
        }
        for part in parts {
            for (file, line, symbol, function) in part.functions {
                let functions = &mut table.files.entry(file).or_default().functions;
                let total = functions.entry((line, symbol.to_owned())).or_default();
                total.entries += function.entries;
                total.inlined += function.inlined;
                total.last_line = total.last_line.max(function.last_line);
            }
            for (file, line, node, outcomes) in part.branches {
                let key = BranchKey { line, symbol: part.symbol.to_owned(), node };
                table.files.entry(file).or_default().branches.insert(key, outcomes);
            }
        }
        table
    }
}

fn sum(lines: &[(FileId, u32, Line)]) -> Line {
    lines.iter().fold(Line::default(), |sum, (_, _, line)| Line {
        count: sum.count + line.count,
        instructions: sum.instructions + line.instructions,
    })
}

/// What one function adds to the table.
struct FunctionLines<'p> {
    symbol: &'p str,
    lines: Vec<(FileId, u32, Line)>,
    functions: Vec<(FileId, u32, &'p str, SourceFunction)>,
    branches: Vec<(FileId, u32, u32, Vec<Outcome>)>,
}

/// A source function at one place: by itself, or inlined there.
type Scope = (StringId, Option<LocationId>);

impl<'p> FunctionLines<'p> {
    fn new(function: FunctionView<'p>) -> Self {
        let mut lines = Self { symbol: function.symbol(), lines: Vec::new(), functions: Vec::new(), branches: branches(function) };
        let manifest = function.manifest;
        let mut flow = Flow::new(manifest.nodes.len(), &manifest.edges, &function.counts.edges);
        lines.add_lines(function, &mut flow);
        lines.add_source_functions(function, &mut flow);
        lines
    }

    /// One entry for each instance of a line.
    fn add_lines(&mut self, function: FunctionView<'p>, flow: &mut Flow) {
        let manifest = function.manifest;
        // (scope, file, line), node, instructions executed there
        let mut places: Vec<((Scope, StringId, u32), u32, u128)> = Vec::new();
        if let (Some(file), true) = (manifest.file, manifest.line > 0) {
            places.push((((manifest.symbol, None), file, manifest.line), 0, 0));
        }
        for (position, (node, count)) in manifest.nodes.iter().zip(&function.counts.nodes).enumerate() {
            for (id, instructions) in &node.locations {
                let location = &function.module.locations[id.0 as usize];
                let scope = (location.function, location.inlined_at);
                let executed = u128::from(*instructions) * u128::from(*count);
                places.push(((scope, location.file, location.line), position as u32, executed));
            }
        }
        places.sort_unstable();
        let mut nodes = Vec::new();
        for instance in places.chunk_by(|a, b| a.0 == b.0) {
            nodes.clear();
            nodes.extend(instance.iter().map(|(_, node, _)| *node));
            nodes.dedup();
            let (_, file, line) = instance[0].0;
            if let Some(file) = function.file_of(file) {
                let instructions = instance.iter().map(|(_, _, executed)| executed).sum();
                self.lines.push((file, line, Line { count: visits(function, flow, &nodes), instructions }));
            }
        }
    }

    /// The function itself, and one entry for each inlined copy of another; a copy holds what is inlined into it.
    fn add_source_functions(&mut self, function: FunctionView<'p>, flow: &mut Flow) {
        let manifest = function.manifest;
        let module = function.module;
        let mut nodes_of_scope: BTreeMap<Scope, (&Location, Vec<u32>)> = BTreeMap::new();
        let mut own_last_line = manifest.line;
        for (position, node) in manifest.nodes.iter().enumerate() {
            for (id, _) in &node.locations {
                let mut location = &module.locations[id.0 as usize];
                while let Some(outer) = location.inlined_at {
                    let (_, nodes) =
                        nodes_of_scope.entry((location.function, location.inlined_at)).or_insert_with(|| (location, Vec::new()));
                    if nodes.last() != Some(&(position as u32)) {
                        nodes.push(position as u32);
                    }
                    location = &module.locations[outer.0 as usize];
                }
                if Some(location.file) == manifest.file {
                    own_last_line = own_last_line.max(location.line);
                }
            }
        }
        if let (Some(file), true) = (function.file(), manifest.line > 0) {
            let entries = u128::from(function.counts.entries);
            let own = SourceFunction { entries, inlined: 0, last_line: own_last_line };
            self.functions.push((file, manifest.line, self.symbol, own));
        }
        let own_lines: std::collections::HashSet<(FileId, u32)> = self.lines.iter().map(|(file, line, _)| (*file, *line)).collect();
        for (location, nodes) in nodes_of_scope.into_values() {
            let (Some(file), line) = (function.file_of(location.file), location.function_line) else { continue };
            if line == 0 {
                continue;
            }
            let inlined = if flow.is_complete() { flow.arrivals(&nodes) } else { visits(function, flow, &nodes) };
            let copy = SourceFunction { entries: 0, inlined, last_line: location.line.max(line) };
            self.functions.push((file, line, module.string(location.function), copy));
            if !own_lines.contains(&(file, line)) {
                self.lines.push((file, line, Line { count: inlined, instructions: 0 }));
            }
        }
    }
}

/// How often control came to these nodes, turns of loops among them included.
fn visits(function: FunctionView<'_>, flow: &mut Flow, nodes: &[u32]) -> u128 {
    if !flow.is_complete() {
        return nodes.iter().map(|node| u128::from(function.counts.nodes[*node as usize])).max().unwrap_or(0);
    }
    if nodes.iter().all(|node| function.counts.nodes[*node as usize] == 0) {
        return 0;
    }
    flow.arrivals(nodes) + flow.turns(nodes)
}

/// The ways out of every node that has more than one, landing pads apart: file, line, node, outcomes.
fn branches(function: FunctionView<'_>) -> Vec<(FileId, u32, u32, Vec<Outcome>)> {
    use bbprof_format::manifest::EdgeKind;
    let edges: Vec<_> = function.edges().collect();
    let mut branches = Vec::new();
    for ways in edges.chunk_by(|a, b| a.from_node == b.from_node) {
        let decides = ways.iter().any(|way| matches!(way.kind, EdgeKind::Branch | EdgeKind::Switch | EdgeKind::Indirect));
        if ways.len() > 1
            && decides
            && let Some((file, line)) = function.end_of_node(ways[0].from_node)
        {
            let outcome = |way: &crate::BlockEdge| Outcome { count: way.count, unwinds: way.kind == EdgeKind::Unwind };
            branches.push((file, line, ways[0].from_node, ways.iter().map(outcome).collect()));
        }
    }
    branches
}
