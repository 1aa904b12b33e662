//! What coverage formats show of each source file: functions of the source, lines, and the branches of lines.
//!
//! - A function's count is the entries of all its instantiations plus the arrivals at inlined copies, so a function with a hit line
//!   is hit. It goes by the linker symbol of its first instantiation. Overloads on one line are functions of their own.
//! - Branches are conditional branches and switches. Left out are ways to a landing pad;
//!   branches whose counts the counter placement does not tell; and, because lcov 2 refuses a hit line without a hit branch,
//!   the branches of a line that only ran in copies of its code which need no branch.

use crate::exclusions::{SourceReader, exclude};
use bbprof_profile::{
    BranchKey, LineTable, Profile, SourceFunction, SourceLines, Way, demangle, is_of_doctests, is_of_toolchain, source_name,
};
use std::collections::BTreeMap;

/// A function of the source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CoveredFunction {
    pub(crate) line: u32,
    pub(crate) symbol: String,
    pub(crate) count: u128,
}

/// The branches of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CoveredBranches {
    pub(crate) line: u32,
    pub(crate) is_reached: bool,
    /// By branch instruction: how often each of its ways was taken.
    pub(crate) ways: Vec<Vec<u64>>,
}

/// One source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct CoveredFile<'p> {
    pub(crate) path: &'p str,
    /// By line, then name.
    pub(crate) functions: Vec<CoveredFunction>,
    /// By line.
    pub(crate) branches: Vec<CoveredBranches>,
    /// How many branches are left out, as the counter placement leaves their ways open.
    pub(crate) open_branches: u64,
    /// Lines and counts, ascending.
    pub(crate) lines: Vec<(u32, u128)>,
}

/// What of a profile coverage formats show.
#[derive(Clone, Copy, Default)]
pub struct Coverage<'r> {
    /// Gives the text of a source file: lines that markers in it take out are left out. `None`: all lines.
    pub markers: Option<SourceReader<'r>>,
    /// With the sources of Rust's own libraries, of which inlined and generic code was counted.
    pub with_toolchain: bool,
}

/// How many lines with code there are, and how many of them ran.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct CoveredLines {
    /// Those that ran.
    pub hit: u64,
    /// All.
    pub all: u64,
    /// Branches that are left out, as the counter placement leaves their ways open.
    pub open_branches: u64,
}

impl CoveredLines {
    pub(crate) fn of(files: &[CoveredFile<'_>]) -> Self {
        let lines = || files.iter().flat_map(|file| &file.lines);
        Self {
            hit: lines().filter(|(_, count)| *count > 0).count() as u64,
            all: lines().count() as u64,
            open_branches: files.iter().map(|file| file.open_branches).sum(),
        }
    }
}

/// The source files with code, by path.
pub(crate) fn covered_files<'p>(profile: &'p Profile, coverage: Coverage<'_>) -> Vec<CoveredFile<'p>> {
    let mut table = LineTable::with_branches(profile);
    table.files.retain(|file, _| {
        let path = profile.files.path(*file);
        (coverage.with_toolchain || !is_of_toolchain(path)) && !is_of_doctests(path)
    });
    if let Some(read) = coverage.markers {
        exclude(profile, &mut table, read);
    }
    let sources = table.files.iter().filter(|(_, source)| !source.lines.is_empty());
    let files = sources.map(|(file, source)| {
        let (branches, open_branches) = branches(source);
        CoveredFile {
            path: profile.files.path(*file),
            functions: functions(source),
            branches,
            open_branches,
            lines: source.lines.iter().map(|(number, line)| (*number, line.count)).collect(),
        }
    });
    let mut files: Vec<CoveredFile<'p>> = files.collect();
    files.sort_by_key(|file| file.path);
    files
}

fn functions(source: &SourceLines) -> Vec<CoveredFunction> {
    let mut functions: BTreeMap<(u32, String), (&str, SourceFunction)> = BTreeMap::new();
    for ((line, symbol), function) in &source.functions {
        let key = (*line, source_name(&demangle(symbol)));
        let (_, total) = functions.entry(key).or_insert_with(|| (symbol.as_str(), SourceFunction::default()));
        total.entries += function.entries;
        total.inlined += function.inlined;
    }
    let function = |((line, _), (symbol, function)): ((u32, String), (&str, SourceFunction))| CoveredFunction {
        line,
        symbol: symbol.to_owned(),
        count: function.entries + function.inlined,
    };
    functions.into_iter().map(function).collect()
}

/// The branches, and how many are left out as their ways are open.
fn branches(source: &SourceLines) -> (Vec<CoveredBranches>, u64) {
    let known_ways = |outcomes: &[Way]| -> Option<Vec<u64>> {
        outcomes.iter().filter(|outcome| !outcome.unwinds).map(|outcome| outcome.count).collect()
    };
    let (mut covered, mut open) = (Vec::new(), 0);
    let all: Vec<(&BranchKey, &Vec<Way>)> = source.branches.iter().collect();
    for of_line in all.chunk_by(|(a, _), (b, _)| a.line == b.line) {
        let line = of_line[0].0.line;
        let is_reached = source.lines.get(&line).is_some_and(|line| line.count > 0);
        open += of_line.iter().filter(|(_, outcomes)| known_ways(outcomes).is_none()).count() as u64;
        let ways: Vec<Vec<u64>> = of_line.iter().filter_map(|(_, outcomes)| known_ways(outcomes)).collect();
        if is_reached == ways.iter().flatten().any(|count| *count > 0) {
            covered.push(CoveredBranches { line, is_reached, ways });
        }
    }
    (covered, open)
}
