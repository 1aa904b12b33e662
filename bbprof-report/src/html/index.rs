//! What the page shows first: totals, processes, what is not exact, and the table of functions, by column.

use super::Earlier;
use super::changes::Changes;
use super::count::Count;
use super::sources::Source;
use bbprof_profile::source_name;
use bbprof_profile::{Exception, FileId, FunctionView, Process, Profile, SkippedFunction};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::Range;

/// Blocks in the list of the hottest.
const HOTTEST_BLOCKS: usize = 200;

/// The piece.
#[derive(Serialize)]
pub(super) struct Index<'p> {
    schema: &'static str,
    producer: &'static str,
    /// What the names of its pieces begin with.
    prefix: &'static str,
    is_folder: bool,
    is_exact: bool,
    totals: Totals,
    processes: Vec<ProcessData<'p>>,
    exceptions: Vec<ExceptionData>,
    skipped: Vec<SkippedData<'p>>,
    images: Vec<&'p str>,
    /// Source of the compilation unit, and image.
    modules: Vec<(&'p str, usize)>,
    files: Vec<FileData<'p>>,
    functions: Functions<'p>,
    /// By executed instructions.
    hottest_blocks: Vec<HotBlock>,
    /// By piece `f0`, `f1`, ...: position of its first function.
    pieces: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Changes<'p>>,
}

/// Function, block, count, executed instructions, file and line.
type HotBlock = (usize, u32, Count, Count, Option<(usize, u32)>);

#[derive(Serialize)]
struct Totals {
    functions: u64,
    functions_executed: u64,
    blocks: u64,
    blocks_executed: u64,
    block_executions: Count,
    instructions: Count,
    instructions_with_line: Count,
    compared_edges: u64,
}

#[derive(Serialize)]
struct ProcessData<'p> {
    /// 0: processes that are not told apart.
    pid: u32,
    /// How many processes ended so.
    number: u64,
    executable: &'p str,
    fate: &'p str,
    caveat: Option<&'p str>,
}

#[derive(Serialize)]
struct ExceptionData {
    name: String,
    block: Option<u32>,
    reason: String,
}

#[derive(Serialize)]
struct SkippedData<'p> {
    name: String,
    module: &'p str,
    reason: &'p str,
}

#[derive(Serialize)]
struct FileData<'p> {
    path: &'p str,
    /// Lines with code, those that were reached, and executed instructions of all code that has its source here.
    lines: usize,
    lines_executed: usize,
    instructions: Count,
    /// Lines of the text; `None` when it could not be read.
    text_lines: Option<usize>,
    /// What is to be said of the text: why it is missing, or that it was changed.
    remark: Option<&'p str>,
    /// The numbers of its parts, ascending: where neither text nor code is, there is none.
    parts: Vec<usize>,
}

/// The table, by column.
#[derive(Serialize)]
struct Functions<'p> {
    name: Vec<&'p str>,
    /// Linker symbol, where it differs from the name.
    symbol: Vec<Option<&'p str>>,
    module: Vec<usize>,
    file: Vec<Option<usize>>,
    line: Vec<u32>,
    /// Functions of one source function have the same number.
    group: Vec<usize>,
    entries: Vec<Count>,
    instructions: Vec<Count>,
    /// Executed instructions that have no source line.
    unlocated: Vec<Count>,
    blocks: Vec<u32>,
    blocks_executed: Vec<u32>,
    /// Executions of branches, and those that went their branch's most frequent way; `None` where the placement leaves them open.
    branches: Vec<Option<Count>>,
    usual: Vec<Option<Count>>,
}

/// What the pieces are part of.
pub(super) struct Report<'e, 'p> {
    pub(super) prefix: &'static str,
    pub(super) is_folder: bool,
    pub(super) earlier: Option<&'e Earlier<'p>>,
}

impl<'p> Index<'p> {
    pub(super) fn new(
        profile: &'p Profile,
        report: Report<'_, 'p>,
        functions: &[FunctionView<'p>],
        pieces: &[Range<usize>],
        sources: &'p [Source<'p>],
    ) -> Self {
        let exceptions = profile.exceptions();
        let totals = profile.totals();
        let mut images = Positions::default();
        let mut modules = Positions::default();
        let rows: Vec<Row> = functions.par_iter().map(Row::new).collect();
        let mut groups: HashMap<(Option<FileId>, u32, String), usize> = HashMap::new();
        let mut table = Functions::with_capacity(functions.len());
        for (function, row) in functions.iter().zip(&rows) {
            let image = images.add(function.image_path());
            table.name.push(function.name());
            table.symbol.push(Some(function.symbol()).filter(|symbol| *symbol != function.name()));
            table.module.push(modules.add((function.module_name(), image)));
            table.file.push(function.file().map(FileId::index));
            table.line.push(function.line());
            let next = groups.len();
            table.group.push(*groups.entry((function.file(), function.line(), source_name(function.name()))).or_insert(next));
            table.entries.push(function.counts.entries.into());
            table.instructions.push(Count(function.counts.instructions));
            table.unlocated.push(Count(row.unlocated));
            table.blocks.push(function.num_blocks());
            table.blocks_executed.push(row.blocks_executed);
            table.branches.push(row.branches.map(|(all, _)| Count(all)));
            table.usual.push(row.branches.map(|(_, usual)| Count(usual)));
        }
        Self {
            schema: "bbprof-html/1",
            producer: concat!("bbprof ", env!("CARGO_PKG_VERSION")),
            prefix: report.prefix,
            is_folder: report.is_folder,
            is_exact: exceptions.is_empty(),
            totals: Totals {
                functions: totals.functions,
                functions_executed: totals.functions_executed,
                blocks: totals.blocks,
                blocks_executed: totals.blocks_executed,
                block_executions: Count(totals.block_executions),
                instructions: Count(totals.instructions),
                instructions_with_line: Count(totals.instructions_with_line),
                compared_edges: profile.compared_edges(),
            },
            processes: profile.processes.iter().map(ProcessData::new).collect(),
            exceptions: exceptions.into_iter().map(ExceptionData::new).collect(),
            skipped: profile.skipped().iter().map(SkippedData::new).collect(),
            images: images.list,
            modules: modules.list,
            files: sources.iter().map(FileData::new).collect(),
            functions: table,
            hottest_blocks: hottest_blocks(functions),
            pieces: pieces.iter().map(|range| range.start).collect(),
            changes: report.earlier.map(Changes::new),
        }
    }
}

/// Things by order of first appearance.
struct Positions<T> {
    list: Vec<T>,
    known: HashMap<T, usize>,
}

impl<T> Default for Positions<T> {
    fn default() -> Self {
        Self { list: Vec::new(), known: HashMap::new() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Positions<T> {
    fn add(&mut self, thing: T) -> usize {
        *self.known.entry(thing).or_insert_with(|| {
            self.list.push(thing);
            self.list.len() - 1
        })
    }
}

/// What has to be summed over the blocks of a function.
struct Row {
    unlocated: u128,
    blocks_executed: u32,
    /// Executions of branches, and of each branch's most frequent way.
    branches: Option<(u128, u128)>,
}

impl Row {
    fn new(function: &FunctionView<'_>) -> Self {
        let (mut located, mut blocks_executed) = (0, 0);
        for block in function.blocks() {
            located += block.instructions_with_line();
            blocks_executed += u32::from(block.count() > 0);
        }
        Self { unlocated: function.counts.instructions - located, blocks_executed, branches: branches(function) }
    }
}

/// Executions of its branches, and those of them that went the usual way; `None` where one is not known.
fn branches(function: &FunctionView<'_>) -> Option<(u128, u128)> {
    let (mut all, mut usual) = (0, 0);
    for ways in function.decisions() {
        let counts: Vec<u64> = ways.iter().map(|way| way.count).collect::<Option<_>>()?;
        all += counts.iter().map(|count| u128::from(*count)).sum::<u128>();
        usual += counts.iter().copied().max().map_or(0, u128::from);
    }
    Some((all, usual))
}

fn hottest_blocks(functions: &[FunctionView<'_>]) -> Vec<HotBlock> {
    let mut blocks: Vec<(u128, usize, u32, u64)> = Vec::new();
    for (position, function) in functions.iter().enumerate().filter(|(_, function)| function.is_executed()) {
        let executed = function.blocks().filter(|block| block.count() > 0);
        blocks.extend(executed.map(|block| (block.instructions(), position, block.id(), block.count())));
    }
    blocks.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    blocks.truncate(HOTTEST_BLOCKS);
    let place = |position: usize, id: u32| {
        let block = functions[position].blocks().nth(id as usize)?;
        block.positions().first().map(|(file, line, _)| (file.index(), *line))
    };
    blocks
        .into_iter()
        .map(|(instructions, position, id, count)| (position, id, count.into(), Count(instructions), place(position, id)))
        .collect()
}

impl<'p> ProcessData<'p> {
    fn new(process: &'p Process) -> Self {
        let Process { pid, number, executable, fate, caveat, .. } = process;
        Self { pid: *pid, number: *number, executable, fate, caveat: caveat.as_deref() }
    }
}

impl ExceptionData {
    fn new(exception: Exception) -> Self {
        Self { name: exception.name, block: exception.block, reason: exception.reason }
    }
}

impl<'p> SkippedData<'p> {
    fn new(skipped: &SkippedFunction<'p>) -> Self {
        Self { name: bbprof_profile::demangle(skipped.symbol), module: skipped.module, reason: skipped.reason }
    }
}

impl<'p> FileData<'p> {
    fn new(source: &'p Source<'p>) -> Self {
        let lines = source.counts.iter().flat_map(|counts| counts.lines.values());
        Self {
            path: source.path,
            lines: lines.clone().count(),
            lines_executed: lines.clone().filter(|line| line.count > 0).count(),
            instructions: Count(lines.map(|line| line.instructions).sum()),
            text_lines: source.text.as_ref().map(|text| text.num_lines()),
            remark: source.remark.as_deref(),
            parts: source.parts(),
        }
    }
}

impl Functions<'_> {
    fn with_capacity(len: usize) -> Self {
        Self {
            name: Vec::with_capacity(len),
            symbol: Vec::with_capacity(len),
            module: Vec::with_capacity(len),
            file: Vec::with_capacity(len),
            line: Vec::with_capacity(len),
            group: Vec::with_capacity(len),
            entries: Vec::with_capacity(len),
            instructions: Vec::with_capacity(len),
            unlocated: Vec::with_capacity(len),
            blocks: Vec::with_capacity(len),
            blocks_executed: Vec::with_capacity(len),
            branches: Vec::with_capacity(len),
            usual: Vec::with_capacity(len),
        }
    }
}
