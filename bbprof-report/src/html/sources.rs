//! Source files for the page: text, counts of lines, and which blocks stand on each line, in parts.

use super::count::Count;
use super::{Doubt, ReadSource, SourceText};
use bbprof_profile::{FileId, FunctionView, LineTable, Profile, SourceLines};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;

/// Lines of one part: what a function page needs is mostly in one, and a part is unpacked in a few milliseconds.
const LINES_OF_A_PART: usize = 2_000;

/// Code on a line: function, block, its count, executed instructions on this line.
type Stand = (usize, u32, u64, u128);

/// One source file.
pub(super) struct Source<'p> {
    pub(super) path: &'p str,
    pub(super) counts: Option<&'p SourceLines>,
    pub(super) text: Option<Text>,
    pub(super) remark: Option<String>,
    stands: BTreeMap<u32, Vec<Stand>>,
}

/// A text, cut into lines.
pub(super) struct Text {
    text: String,
    /// Where each line begins; one more at the end.
    begins: Vec<usize>,
}

impl Text {
    fn new(text: String) -> Self {
        let mut begins = vec![0];
        begins.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        if begins.last() != Some(&text.len()) {
            begins.push(text.len());
        }
        Self { text, begins }
    }

    pub(super) fn num_lines(&self) -> usize {
        self.begins.len() - 1
    }

    fn part(&self, part: usize) -> &str {
        let bound = |line: usize| self.begins[line.min(self.num_lines())];
        &self.text[bound(part * LINES_OF_A_PART)..bound((part + 1) * LINES_OF_A_PART)]
    }
}

impl Doubt {
    fn remark(self) -> &'static str {
        match self {
            Self::Differs => "This is not the text that was compiled; lines may have moved.",
            Self::Modified => "This file was modified after the program was linked; lines may have moved.",
            Self::BuiltAgain => "The program was built again since it was profiled; lines may have moved.",
        }
    }
}

/// A part of a file as the page gets it.
#[derive(Serialize)]
pub(super) struct Part<'p> {
    first_line: usize,
    text: Option<&'p str>,
    lines: Vec<LineData>,
    /// Line of definition, last line with code, name, entries, arrivals at inlined copies.
    functions: Vec<(u32, u32, String, Count, Count)>,
}

/// Line, count, executed instructions; function, block, count, executed instructions of each block on it.
type LineData = (u32, Count, Count, Vec<(usize, u32, Count, Count)>);

/// Reads all source files that have code.
pub(super) fn read_all<'p>(
    profile: &'p Profile,
    table: &'p LineTable,
    functions: &[FunctionView<'p>],
    read: ReadSource<'_>,
) -> Vec<Source<'p>> {
    let mut stands: Vec<BTreeMap<u32, Vec<Stand>>> = vec![BTreeMap::new(); profile.files.paths().len()];
    for (position, function) in functions.iter().enumerate() {
        for block in function.blocks() {
            for (id, _, executed) in block.instructions_by_location() {
                let Some((file, line)) = function.file_and_line(id) else { continue };
                let on_line = stands[file.index()].entry(line).or_default();
                match on_line.last_mut() {
                    Some((last, id, _, sum)) if *last == position && *id == block.id() => *sum += executed,
                    _ => on_line.push((position, block.id(), block.count(), executed)),
                }
            }
        }
    }
    let by_file: BTreeMap<usize, &SourceLines> = table.files.iter().map(|(file, lines)| (FileId::index(*file), lines)).collect();
    let paths = profile.files.paths().par_iter().zip(stands).enumerate();
    paths.map(|(file, (path, stands))| Source::new(path, by_file.get(&file).copied(), stands, read)).collect()
}

impl<'p> Source<'p> {
    fn new(path: &'p str, counts: Option<&'p SourceLines>, stands: BTreeMap<u32, Vec<Stand>>, read: ReadSource<'_>) -> Self {
        let last_counted = counts.and_then(|counts| counts.lines.keys().next_back()).map_or(0, |line| *line as usize);
        let mut source = Self { path, counts, text: None, remark: None, stands };
        if counts.is_none() {
            return source;
        }
        match read(path) {
            Err(error) => source.remark = Some(format!("The source cannot be read: {error}.")),
            Ok(SourceText { text, doubt }) => {
                let text = Text::new(text);
                if last_counted > text.num_lines() {
                    source.remark = Some(format!(
                        "This file was changed since the build: it has {} lines, but there is code of line {last_counted}.",
                        text.num_lines()
                    ));
                } else {
                    source.remark = doubt.map(|doubt| doubt.remark().to_owned());
                }
                source.text = Some(text);
            }
        }
        source
    }

    /// Those with text or code: `#line` may put code far behind the text.
    pub(super) fn parts(&self) -> Vec<usize> {
        let mut parts: Vec<usize> = (0..self.text.as_ref().map_or(0, Text::num_lines).div_ceil(LINES_OF_A_PART)).collect();
        for line in self.counts.iter().flat_map(|counts| counts.lines.keys()) {
            let part = (*line as usize).saturating_sub(1) / LINES_OF_A_PART;
            if parts.last().is_none_or(|last| *last < part) {
                parts.push(part);
            }
        }
        parts
    }

    pub(super) fn part(&self, part: usize) -> Part<'_> {
        let first_line = part * LINES_OF_A_PART + 1;
        let of_line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let range = of_line(first_line)..=of_line((part + 1) * LINES_OF_A_PART);
        let stands = |line: u32| {
            let list = self.stands.get(&line).map_or(&[][..], Vec::as_slice);
            list.iter()
                .map(|(function, block, count, executed)| (*function, *block, Count::from(*count), Count(*executed)))
                .collect()
        };
        let line =
            |(number, line): (&u32, &bbprof_profile::Line)| (*number, Count(line.count), Count(line.instructions), stands(*number));
        let function = |((line, symbol), function): (&(u32, String), &bbprof_profile::SourceFunction)| {
            let name = bbprof_profile::demangle(symbol);
            (*line, function.last_line, name, Count(function.entries), Count(function.inlined))
        };
        Part {
            first_line,
            text: self.text.as_ref().map(|text| text.part(part)),
            lines: self.counts.map(|counts| counts.lines.range(range.clone()).map(line).collect()).unwrap_or_default(),
            functions: self
                .counts
                .map(|counts| {
                    let from = counts.functions.range((*range.start(), String::new())..);
                    from.take_while(|((line, _), _)| range.contains(line)).map(function).collect()
                })
                .unwrap_or_default(),
        }
    }
}
