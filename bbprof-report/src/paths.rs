//! The hottest paths: how often each was taken, its share of the executed instructions, its blocks and source lines.

use crate::number::{grouped, numbered, percent};
use crate::one_line;
use crate::table::{Style, cut_middle, warmth};
use bbprof_profile::{FileId, FunctionView, PathEnd, PathView, Profile};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

/// Which paths are shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PathOptions {
    /// At most so many.
    pub top: usize,
    /// As many as are needed to cover this share of the executed instructions, in thousandths; `None` = `top` alone decides.
    pub coverage_thousandths: Option<u32>,
    /// How the text looks.
    pub style: Style,
}

/// Writes the hottest paths of these functions; `functions` are all that were asked for, of `profile`.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_paths(
    profile: &Profile,
    functions: &[FunctionView<'_>],
    options: &PathOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    let counted: Vec<FunctionView<'_>> = functions.iter().copied().filter(|function| function.num_paths().is_some()).collect();
    let possible: u128 = counted.iter().filter_map(|function| function.num_paths()).map(u128::from).sum();
    let mut paths: Vec<(FunctionView<'_>, PathView)> =
        counted.iter().flat_map(|function| function.paths().into_iter().map(|path| (*function, path))).collect();
    paths.sort_by(|(a_function, a), (b_function, b)| {
        let order = b.executed().cmp(&a.executed()).then(b.count.cmp(&a.count));
        order.then_with(|| a_function.symbol().cmp(b_function.symbol())).then(a.number.cmp(&b.number))
    });
    // The sum of all paths, with those that are negative, is what was executed.
    let total = u128::try_from(paths.iter().map(|(_, path)| path.executed()).sum::<i128>()).unwrap_or(0);
    let loops = loop_turns(&paths);
    writeln!(
        out,
        "{} taken, of {} possible in {}; {} instructions (LLVM IR)",
        numbered(paths.len() as u128, "path"),
        grouped(possible),
        numbered(counted.len() as u128, "function"),
        grouped(total)
    )?;
    if let Some(thousandths) = options.coverage_thousandths {
        match covering(&paths, total, thousandths) {
            Some(number) => {
                let share = format!("{}.{}", thousandths / 10, thousandths % 10);
                let cover = if number == 1 { "covers" } else { "cover" };
                writeln!(out, "{} {cover} {share} % of them", numbered(number as u128, "path"))?;
                paths.truncate(number);
            }
            None => writeln!(out, "nothing was executed")?,
        }
    }
    for (function, path) in paths.iter().take(options.top) {
        write_path(profile, *function, path, total, options.style, out)?;
        if let Some((head, turns)) = loop_of(*function, path).and_then(|key| Some((key.1, loops.get(&key)?))) {
            let (number, share) = (grouped(turns.number), percent(u128::try_from(path.count).unwrap_or(0), turns.number));
            let tenths = 10 * turns.instructions / turns.number.max(1);
            writeln!(
                out,
                "    {share} % of {number} iterations from #{head} to #{head}, {}.{} instructions on average",
                grouped(tenths / 10),
                tenths % 10
            )?;
        }
    }
    Ok(())
}

/// The turns of a loop: paths that lead from its head back to it.
#[derive(Clone, Copy, Default)]
struct LoopTurns {
    number: u128,
    instructions: u128,
}

/// A function, by where its counts are, and the head of a loop in it.
type Loop = (usize, u32);

fn loop_of(function: FunctionView<'_>, path: &PathView) -> Option<Loop> {
    path.loop_head().map(|head| (std::ptr::from_ref(function.counts).addr(), head))
}

fn loop_turns(paths: &[(FunctionView<'_>, PathView)]) -> HashMap<Loop, LoopTurns> {
    let mut loops: HashMap<Loop, LoopTurns> = HashMap::new();
    for (function, path) in paths {
        if let (Some(key), Ok(count), Ok(executed)) =
            (loop_of(*function, path), u128::try_from(path.count), u128::try_from(path.executed()))
        {
            let turns = loops.entry(key).or_default();
            turns.number += count;
            turns.instructions += executed;
        }
    }
    loops
}

/// How many of the first paths execute this share; `None` when nothing was executed.
fn covering(paths: &[(FunctionView<'_>, PathView)], total: u128, thousandths: u32) -> Option<usize> {
    if total == 0 {
        return None;
    }
    let mut sum = 0_u128;
    let reached = paths.iter().position(|(_, path)| {
        sum += u128::try_from(path.executed()).unwrap_or(0);
        // Both are far below 2^118.
        sum * 1000 >= total * u128::from(thousandths)
    });
    Some(reached.map_or(paths.len(), |last| last + 1))
}

fn write_path(
    profile: &Profile,
    function: FunctionView<'_>,
    path: &PathView,
    total: u128,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let share = u128::try_from(path.executed()).map_or_else(|_| "-".to_owned(), |executed| percent(executed, total));
    let count = match u128::try_from(path.count) {
        Ok(count) => grouped(count),
        Err(_) => format!("-{}", grouped(path.count.unsigned_abs())),
    };
    let blocks: Vec<String> = path.blocks.iter().map(|id| format!("#{id}")).collect();
    let begin = if path.from_entry { "entry" } else { "..." };
    let end = match path.end {
        PathEnd::Leaves => "leaves".to_owned(),
        PathEnd::Vanishes => "vanishes in a call".to_owned(),
        PathEnd::GoesOn(block) => format!("goes on at #{block}"),
    };
    let numbers = format!("{share} %  {count} x {} instructions", grouped(u128::from(path.instructions)));
    let number = format!(" path {}", path.number);
    let name = cut_middle(function.name(), style.width.saturating_sub(numbers.width() + 2 + number.len()).max(20));
    let warmth = warmth(u128::try_from(path.executed()).unwrap_or(0), total);
    writeln!(out, "\n{}  {name}{number}", style.paint(warmth, &numbers))?;
    write_words(&format!("{begin} {} {end}", blocks.join(" ")), style.width, out)?;
    let lines = function.path_lines(path);
    if lines.is_empty() { Ok(()) } else { write_words(&one_line(&lines_in_words(profile, &lines)), style.width, out) }
}

/// Words below a path, in as many lines as they need.
fn write_words(words: &str, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut line = String::from("   ");
    for word in words.split(' ') {
        if line.width() + 1 + word.width() > width && !line.trim().is_empty() {
            writeln!(out, "{line}")?;
            line = String::from("     ");
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(out, "{line}")
}

/// `a.c:3 4 7 b.h:2 a.c:8`
fn lines_in_words(profile: &Profile, lines: &[(FileId, u32)]) -> String {
    let mut text = String::new();
    let mut current = None;
    for (file, line) in lines {
        if current != Some(*file) {
            let path = profile.files.path(*file);
            let name = path.rsplit('/').next().unwrap_or(path);
            let separator = if text.is_empty() { "" } else { " " };
            // Writing to a string cannot fail.
            let _ = write!(text, "{separator}{name}:{line}");
            current = Some(*file);
        } else {
            let _ = write!(text, " {line}");
        }
    }
    text
}
