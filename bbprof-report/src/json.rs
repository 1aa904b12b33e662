//! The JSON export, schema `bbprof-profile/1` (`docs/schema/bbprof-profile-1.json`): one line for each function.

use crate::names::edge_kind;
use bbprof_profile::{BlockView, CounterMode, Exception, ExceptionKind, FileId, FunctionView, PathEnd, PathView, Process, Profile};
use rayon::prelude::*;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use std::io::{self, Write};

/// Functions that are turned into text at once: enough to keep every core busy, few enough to keep memory small.
const FUNCTIONS_AT_ONCE: usize = 1024;

/// Writes a profile as JSON; `with_ir` adds the IR text of each block, where it was kept.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_json(profile: &Profile, with_ir: bool, out: &mut dyn Write) -> io::Result<()> {
    let exceptions = profile.exceptions();
    write!(out, "{{\"schema\":\"bbprof-profile/1\",\"exact\":{},\n\"processes\":[", exceptions.is_empty())?;
    write_list(out, profile.processes.iter().map(ProcessJson::new))?;
    let totals = profile.totals();
    let totals = TotalsJson {
        functions: totals.functions,
        functions_executed: totals.functions_executed,
        blocks: totals.blocks,
        blocks_executed: totals.blocks_executed,
        block_executions: totals.block_executions,
        instructions: totals.instructions,
        instructions_with_line: totals.instructions_with_line,
    };
    write!(out, "],\n\"totals\":{},\n\"exceptions\":[", serde_json::to_string(&totals)?)?;
    write_list(out, exceptions.iter().map(ExceptionJson::new))?;
    write!(out, "],\n\"skipped\":[")?;
    let skipped = profile.skipped();
    let skipped = skipped.iter().map(|skip| SkippedJson { symbol: skip.symbol, module: skip.module, reason: skip.reason });
    write_list(out, skipped)?;
    write!(out, "],\n\"functions\":[")?;
    let functions: Vec<FunctionView<'_>> = profile.functions().collect();
    let mut separator = "\n";
    for chunk in functions.chunks(FUNCTIONS_AT_ONCE) {
        let texts: Vec<serde_json::Result<Vec<u8>>> =
            chunk.par_iter().map(|function| serde_json::to_vec(&FunctionJson::new(profile, *function, with_ir))).collect();
        for text in texts {
            out.write_all(separator.as_bytes())?;
            out.write_all(&text?)?;
            separator = ",\n";
        }
    }
    out.write_all(b"\n]}\n")
}

fn write_list(out: &mut dyn Write, items: impl Iterator<Item = impl Serialize>) -> io::Result<()> {
    for (position, item) in items.enumerate() {
        write!(out, "{}{}", if position == 0 { "\n" } else { ",\n" }, serde_json::to_string(&item)?)?;
    }
    Ok(())
}

#[derive(Serialize)]
struct ProcessJson<'p> {
    pid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    executable: &'p str,
    build_id: String,
    fate: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    caveat: Option<&'p str>,
    images: Vec<String>,
}

impl<'p> ProcessJson<'p> {
    fn new(process: &'p Process) -> Self {
        Self {
            pid: process.pid,
            number: (process.pid == 0).then_some(process.number),
            executable: &process.executable,
            build_id: process.images.first().map_or_else(String::new, ToString::to_string),
            fate: &process.fate,
            caveat: process.caveat.as_deref(),
            images: process.images.iter().map(ToString::to_string).collect(),
        }
    }
}

#[derive(Serialize)]
struct TotalsJson {
    functions: u64,
    functions_executed: u64,
    blocks: u64,
    blocks_executed: u64,
    block_executions: u128,
    instructions: u128,
    instructions_with_line: u128,
}

#[derive(Serialize)]
struct ExceptionJson<'p> {
    kind: &'static str,
    symbol: &'p str,
    name: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u32>,
    reason: &'p str,
}

impl<'p> ExceptionJson<'p> {
    fn new(exception: &'p Exception) -> Self {
        let kind = match exception.kind {
            ExceptionKind::Process => "process",
            ExceptionKind::Unsolved => "unsolved",
            ExceptionKind::Interrupted => "interrupted",
            ExceptionKind::Difference => "difference",
            ExceptionKind::Calls => "calls",
        };
        Self { kind, symbol: &exception.symbol, name: &exception.name, block: exception.block, reason: &exception.reason }
    }
}

#[derive(Serialize)]
struct SkippedJson<'p> {
    symbol: &'p str,
    module: &'p str,
    reason: &'p str,
}

#[derive(Serialize)]
struct FunctionJson<'p> {
    symbol: &'p str,
    name: &'p str,
    module: &'p str,
    image: &'p str,
    file: Option<&'p str>,
    line: u32,
    counters: &'static str,
    entries: u64,
    instructions: u128,
    blocks: Vec<BlockJson<'p>>,
    edges: Vec<EdgeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<Vec<PathJson>>,
}

#[derive(Serialize)]
struct PathJson {
    number: u64,
    count: i128,
    instructions: u64,
    from_entry: bool,
    end: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u32>,
    blocks: Vec<u32>,
}

impl PathJson {
    fn new(path: PathView) -> Self {
        let (end, to) = match path.end {
            PathEnd::Leaves => ("leaves", None),
            PathEnd::Vanishes => ("vanishes", None),
            PathEnd::GoesOn(block) => ("goes-on", Some(block)),
        };
        let PathView { number, count, instructions, from_entry, blocks, .. } = path;
        Self { number, count, instructions, from_entry, end, to, blocks }
    }
}

impl<'p> FunctionJson<'p> {
    fn new(profile: &'p Profile, function: FunctionView<'p>, with_ir: bool) -> Self {
        let mut vanished = function.vanished().into_iter().peekable();
        let mut block = |block: BlockView<'p>| {
            let vanished = vanished.next_if(|(id, _)| *id == block.id()).map_or(0, |(_, count)| count);
            BlockJson::new(profile, &block, vanished, with_ir)
        };
        Self {
            symbol: function.symbol(),
            name: function.name(),
            module: function.module_name(),
            image: function.image_path(),
            file: function.file().map(|file| profile.files.path(file)),
            line: function.line(),
            counters: match function.mode() {
                CounterMode::Edges => "edges",
                CounterMode::Check => "check",
                CounterMode::Blocks => "blocks",
                CounterMode::Patterns => "patterns",
                CounterMode::Paths => "paths",
            },
            entries: function.counts.entries,
            instructions: function.counts.instructions,
            blocks: function.blocks().map(&mut block).collect(),
            edges: function.edges().map(|edge| EdgeJson::new(&edge)).collect(),
            paths: function.num_paths().map(|_| function.paths().into_iter().map(PathJson::new).collect()),
        }
    }
}

#[derive(Serialize)]
struct BlockJson<'p> {
    id: u32,
    count: u64,
    instructions: u128,
    opcodes: Opcodes<'p>,
    lines: Vec<LineJson<'p>>,
    calls: Vec<&'p str>,
    /// Activations that ended in a call of this block, or came back a second time (negative).
    #[serde(skip_serializing_if = "is_zero")]
    vanished: i128,
    #[serde(skip_serializing_if = "Option::is_none")]
    ir: Option<String>,
}

fn is_zero(count: &i128) -> bool {
    *count == 0
}

impl<'p> BlockJson<'p> {
    fn new(profile: &'p Profile, block: &BlockView<'p>, vanished: i128, with_ir: bool) -> Self {
        let line = |(file, line, column): (FileId, u32, u32)| LineJson { file: profile.files.path(file), line, column };
        Self {
            id: block.id(),
            count: block.count(),
            instructions: block.instructions(),
            opcodes: Opcodes(block.opcodes()),
            lines: block.positions().into_iter().map(line).collect(),
            calls: block.callees().collect(),
            vanished,
            ir: if with_ir { block.ir() } else { None },
        }
    }
}

struct Opcodes<'p>(Vec<(&'p str, u64)>);

impl Serialize for Opcodes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (opcode, count) in &self.0 {
            map.serialize_entry(opcode, count)?;
        }
        map.end()
    }
}

#[derive(Serialize)]
struct LineJson<'p> {
    file: &'p str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct EdgeJson {
    from: u32,
    to: u32,
    count: Option<u64>,
    kind: &'static str,
}

impl EdgeJson {
    fn new(edge: &bbprof_profile::BlockEdge) -> Self {
        Self { from: edge.from, to: edge.to, count: edge.count, kind: edge_kind(edge.kind) }
    }
}
