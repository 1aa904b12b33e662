//! Control-flow graphs for graphviz: a digraph for each function. Blocks are filled the darker the more instructions they execute,
//! compared with the hottest one; edges are the wider the more often they were taken.

use crate::names::{file_name, one_line};
use crate::number::{grouped, numbered};
use bbprof_profile::{BlockEdge, EdgeKind, FunctionView, Profile};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// A function of the profile and the name that a file of its graph can have, without an ending; the names are unique.
#[must_use]
pub fn dot_files(profile: &Profile) -> Vec<(String, FunctionView<'_>)> {
    let mut uses: BTreeMap<String, u32> = BTreeMap::new();
    let mut files = Vec::new();
    for (number, function) in profile.functions().enumerate() {
        // File systems may not tell cases apart.
        let mut name = file_name(&function, number);
        let used = uses.entry(name.to_lowercase()).or_default();
        *used += 1;
        if *used > 1 {
            name = format!("{name}-{number}");
        }
        files.push((name, function));
    }
    files
}

/// Writes the graph of one function.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_dot(profile: &Profile, function: FunctionView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let total = function.counts.instructions;
    let place = function.file().map_or_else(String::new, |file| format!("\n{}:{}", profile.files.path(file), function.line()));
    let entries = numbered(u128::from(function.counts.entries), "time");
    let title = quoted(&format!("{}\nentered {entries}, {}{place}", function.name(), numbered(total, "instruction")));
    writeln!(out, "digraph {} {{", quoted(function.symbol()))?;
    writeln!(out, "  label={title}; labelloc=t; fontname=\"sans-serif\";")?;
    writeln!(out, "  node [shape=box, style=filled, fontname=\"monospace\", fillcolor=white];")?;
    writeln!(out, "  edge [fontname=\"monospace\"];")?;
    let hottest = function.blocks().map(|block| block.instructions()).max().unwrap_or(0);
    for block in function.blocks() {
        let lines = line_ranges(profile, &block.positions());
        let label = quoted(&format!("#{}\n{}{lines}", block.id(), grouped(u128::from(block.count()))));
        // 9 shades of graphviz's own scheme; white = not executed.
        let shade = match block.instructions() {
            0 => "white".to_owned(),
            executed => format!("/oranges9/{}", 1 + scaled(executed, hottest, 5)),
        };
        writeln!(out, "  b{} [label={label}, fillcolor=\"{shade}\"];", block.id())?;
    }
    let most = function.edges().filter_map(|edge| edge.count).max().unwrap_or(0);
    for edge in function.edges() {
        let label = edge.count.map_or_else(|| "?".to_owned(), |count| grouped(u128::from(count)));
        let width = 1 + scaled(u128::from(edge.count.unwrap_or(0)), u128::from(most), 4);
        writeln!(out, "  b{} -> b{} [label={}, penwidth={width}{}];", edge.from, edge.to, quoted(&label), style(&edge))?;
    }
    writeln!(out, "}}")
}

/// `part` of `whole` as a number of 0 to `top`.
fn scaled(part: u128, whole: u128, top: u128) -> u128 {
    if whole == 0 {
        return 0;
    }
    // Sums of this size are not met; where they are, the shade is the lightest.
    part.checked_mul(top).map_or(0, |scaled| (scaled / whole).min(top))
}

fn style(edge: &BlockEdge) -> &'static str {
    match (edge.kind, edge.count) {
        (EdgeKind::Unwind, _) => ", style=dashed, color=red",
        (_, Some(0)) => ", color=grey",
        _ => "",
    }
}

/// The lines of a block, by file: `\na.c:3-5`.
fn line_ranges(profile: &Profile, positions: &[(bbprof_profile::FileId, u32, u32)]) -> String {
    let mut ranges: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (file, line, _) in positions {
        let path = profile.files.path(*file);
        let range = ranges.entry(path.rsplit('/').next().unwrap_or(path)).or_insert((*line, *line));
        *range = (range.0.min(*line), range.1.max(*line));
    }
    let text = |(file, (first, last)): (&str, (u32, u32))| {
        if first == last { format!("\n{file}:{first}") } else { format!("\n{file}:{first}-{last}") }
    };
    // More files than this are inlined code of many levels; the graph stays readable.
    ranges.into_iter().take(4).map(text).collect()
}

/// Bytes of a string, at most: graphviz 2 refuses those of 16,384.
const LONGEST: usize = 16_000;

/// A string of the DOT language; line ends are `\n`, other control characters `?`. Where
/// it is too long, the longest line ends in `...`.
pub(crate) fn quoted(text: &str) -> String {
    let mut lines: Vec<String> = text.split('\n').map(|line| one_line(line).replace('\\', "\\\\").replace('"', "\\\"")).collect();
    let length = lines.iter().map(|line| line.len() + 2).sum::<usize>();
    if let Some(longest) = lines.iter_mut().max_by_key(|line| line.len()).filter(|_| length > LONGEST) {
        let kept = longest.len().saturating_sub(length - LONGEST + 3);
        let kept = (0..=kept).rev().find(|end| longest.is_char_boundary(*end)).unwrap_or(0);
        longest.truncate(kept);
        // Nor is an escape cut.
        if (kept - longest.trim_end_matches('\\').len()) % 2 == 1 {
            longest.pop();
        }
        longest.push_str("...");
    }
    format!("\"{}\"", lines.join("\\n"))
}
