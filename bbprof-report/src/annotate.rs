//! Source with counts: for a function or a whole file, each line with its count and the ways its branches went.

use crate::called::{Called, WAYS, shell_word, source_word};
use crate::number::{grouped, numbered, percent};
use crate::one_line;
use crate::subject::Subject;
use crate::table::{Paint, Style};
use bbprof_profile::{FileId, FunctionView, LineTable, Profile, SourceLines, demangle, without_turbofish};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::RangeInclusive;

/// Writes the source of `subject` with counts; `read` gives the text of a file, or why it cannot.
///
/// # Errors
/// When `out` cannot be written. A missing source is no error: the counts are written without it.
pub fn annotate(
    profile: &Profile,
    subject: &Subject<'_>,
    read: impl Fn(&str) -> io::Result<String>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match subject {
        Subject::File(file) => {
            let table = LineTable::with_branches(profile);
            let Some(source) = table.files.get(file) else { return Ok(()) };
            write_source(profile, *file, source, 1..=u32::MAX, &read, style, out)
        }
        Subject::Functions(functions, called) => {
            // Static functions of several files may have one symbol.
            let mut by_place: BTreeMap<(Option<FileId>, u32), Vec<FunctionView<'_>>> = BTreeMap::new();
            for function in functions {
                by_place.entry((function.file(), function.line())).or_default().push(*function);
            }
            for (position, (place, functions)) in by_place.into_iter().enumerate() {
                separate(position, out)?;
                let table = copies(profile, place, called);
                if let Some((file, source, lines)) = write_own(profile, &functions, called, &table, out)? {
                    write_source(profile, file, source, lines, &read, style, out)?;
                }
            }
            Ok(())
        }
        Subject::Inlined(places, called) => {
            for (position, (file, line)) in places.iter().enumerate() {
                separate(position, out)?;
                let table = copies(profile, (Some(*file), *line), called);
                if let Some((file, source, lines)) = write_inlined((*file, *line), called, &table, out)? {
                    write_source(profile, file, source, lines, &read, style, out)?;
                }
            }
            Ok(())
        }
    }
}

/// An empty line between two functions.
fn separate(position: usize, out: &mut dyn Write) -> io::Result<()> {
    if position > 0 { writeln!(out) } else { Ok(()) }
}

/// The lines of all copies of what is called so and begins there.
fn copies(profile: &Profile, place: (Option<FileId>, u32), called: &Called) -> LineTable {
    LineTable::of_copies(profile, |file, line, symbol| (file, line) == place && called.is(symbol))
}

/// The lines of a file that are to be written.
type Lines<'t> = (FileId, &'t SourceLines, RangeInclusive<u32>);

/// Says what there is of a function that is inlined wherever it is called; gives its lines.
fn write_inlined<'t>(
    (file, line): (FileId, u32),
    called: &Called,
    table: &'t LineTable,
    out: &mut dyn Write,
) -> io::Result<Option<Lines<'t>>> {
    let Some(source) = table.files.get(&file) else { return Ok(None) };
    let copies = || source.functions.iter().filter(|((at, symbol), _)| *at == line && called.is(symbol));
    let Some(((_, symbol), _)) = copies().next() else { return Ok(None) };
    let name = demangle(symbol);
    let times = numbered(copies().map(|(_, function)| function.inlined).sum(), "time");
    let word = shell_word(&source_word(&name));
    writeln!(out, "{}", one_line(&name))?;
    writeln!(out, "is inlined wherever it is called: executed {times}; `bbprof report --copies={word}` says where")?;
    let last = copies().map(|(_, function)| function.last_line).max();
    Ok(Some((file, source, line..=last.unwrap_or(line))))
}

/// Says what there is of the instantiations of one function; gives the lines of all its copies.
fn write_own<'t>(
    profile: &Profile,
    functions: &[FunctionView<'_>],
    called: &Called,
    table: &'t LineTable,
    out: &mut dyn Write,
) -> io::Result<Option<Lines<'t>>> {
    let Some(first) = functions.first() else { return Ok(None) };
    let entries: u128 = functions.iter().map(|function| u128::from(function.counts.entries)).sum();
    let instructions: u128 = functions.iter().map(|function| function.counts.instructions).sum();
    let copies = if functions.len() > 1 { format!(" ({} copies)", functions.len()) } else { String::new() };
    writeln!(out, "{}{copies}", one_line(first.name()))?;
    let source = first.file().and_then(|file| Some((file, table.files.get(&file)?)));
    let of_source = || source.iter().flat_map(|(_, source)| &source.functions).filter(|((line, _), _)| *line == first.line());
    // Others may begin on the same line: closures, lambdas.
    let of_its_name = of_source().filter(|((_, symbol), _)| called.is(symbol));
    let inlined = match of_its_name.map(|(_, function)| function.inlined).sum() {
        0 => String::new(),
        times => format!("; inlined copies were executed {}, which the lines count, too", numbered(times, "time")),
    };
    writeln!(out, "entered {}, {}{inlined}", numbered(entries, "time"), numbered(instructions, "instruction"))?;
    if first.file().is_none() {
        writeln!(out, "no source is known for it: it was compiled without debug information, or the compiler made it")?;
        let names = namesakes(profile, called);
        if !names.is_empty() {
            writeln!(out, "others that may be called so: {}", names.join(", "))?;
        }
        return Ok(None);
    }
    let within = closures(profile, first);
    if !within.is_empty() {
        writeln!(out, "closures in it, and the body of an async fn, are functions of their own: {}", within.join(", "))?;
    }
    let last = of_source().map(|(_, function)| function.last_line).max();
    let Some((file, source)) = source else { return Ok(None) };
    Ok(match (first.line(), source.lines.first_key_value(), source.lines.last_key_value()) {
        // What compilers make themselves (`__cxx_global_var_init`) begins at no line, but may have code of some.
        (0, Some((begin, _)), Some((end, _))) => Some((file, source, *begin..=*end)),
        (0, ..) => None,
        (line, ..) => Some((file, source, line..=last.unwrap_or(u32::MAX))),
    })
}

/// Rust's closures and bodies of `async fn` that stand in a function and have code of their own, the hottest first, at most five.
fn closures(profile: &Profile, function: &FunctionView<'_>) -> Vec<String> {
    let name = without_turbofish(function.name());
    hottest_names(profile.functions().filter(|other| {
        let is_within = |other: &str| other.strip_prefix(&*name).is_some_and(|rest| rest.starts_with("::{"));
        other.file() == function.file() && is_within(&without_turbofish(other.name()))
    }))
}

/// Functions with a source, the hottest first, at most five, that the word means where none has that very name:
/// beside Rust's `a::main` there is `main`, which calls it.
fn namesakes(profile: &Profile, called: &Called) -> Vec<String> {
    hottest_names(profile.functions().filter(|function| {
        let is_meant = || WAYS.iter().any(|is_called| is_called(&called.word, function.symbol(), function.name()));
        function.file().is_some() && is_meant()
    }))
}

/// The names of these functions as words of a command line: those of the most instructions, at most five.
fn hottest_names<'p>(functions: impl Iterator<Item = FunctionView<'p>>) -> Vec<String> {
    let mut hot: BTreeMap<&str, u128> = BTreeMap::new();
    for function in functions {
        *hot.entry(function.name()).or_default() += function.counts.instructions;
    }
    let mut names: Vec<(&str, u128)> = hot.into_iter().collect();
    names.sort_by_key(|(_, instructions)| Reverse(*instructions));
    names.into_iter().take(5).map(|(name, _)| shell_word(name)).collect()
}

fn write_source(
    profile: &Profile,
    file: FileId,
    source: &SourceLines,
    range: RangeInclusive<u32>,
    read: &impl Fn(&str) -> io::Result<String>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let path = profile.files.path(file);
    writeln!(out, "{}:{}", one_line(path), range.start())?;
    let text = read(path);
    let texts: Vec<&str> = match &text {
        Ok(text) => text.lines().collect(),
        Err(error) => {
            writeln!(out, "(source not shown: {error})")?;
            Vec::new()
        }
    };
    let last_counted = source.lines.range(range.clone()).next_back().map_or(0, |(line, _)| *line);
    if text.is_ok() && last_counted as usize > texts.len() {
        writeln!(out, "(the file has {} lines, but code on line {last_counted}: it was changed since the build)", texts.len())?;
    }
    let hottest = source.lines.range(range.clone()).map(|(_, line)| line.instructions).max().unwrap_or(0);
    let width = source.lines.range(range.clone()).map(|(_, line)| grouped(line.count).len()).max().unwrap_or(1).max(5);
    let last_text = (texts.len() as u32).min(*range.end());
    // Behind the text, which `#line` may put far from its end, only lines with code.
    let behind = source.lines.range(range.clone()).map(|(number, _)| *number).filter(|number| *number > last_text);
    for number in (*range.start()..=last_text).chain(behind) {
        let line = source.lines.get(&number);
        let count = line.map_or_else(String::new, |line| grouped(line.count));
        // A line with at least a tenth of the hottest line's instructions is marked.
        let mark = if line.is_some_and(|line| hottest > 0 && line.instructions >= hottest.div_ceil(10)) { '*' } else { ' ' };
        let text: String = texts.get(number as usize - 1).unwrap_or(&"").chars().map(plain).collect();
        let paint = match (mark, line) {
            ('*', _) => Some(Paint::Hot),
            (_, Some(line)) if line.count == 0 => Some(Paint::Faint),
            _ => None,
        };
        let text = format!("{count:>width$} {mark} {number:>5}  {text}");
        writeln!(out, "{}", style.paint(paint, text.trim_end()))?;
        write_ways(source, number, width, style, out)?;
    }
    Ok(())
}

/// Below the source line, the share of every way of each of its branches, in lines that are cut between ways only.
fn write_ways(source: &SourceLines, number: u32, width: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
    for outcomes in source.branches_of(number) {
        let counts: Option<Vec<u64>> = outcomes.iter().map(|outcome| outcome.count).collect();
        let Some(counts) = counts else {
            let open = format!("{:width$}          branch: not determined (--counters edges counts its ways)", "");
            writeln!(out, "{}", style.paint(Some(Paint::Faint), &open))?;
            continue;
        };
        let total: u128 = counts.iter().map(|count| u128::from(*count)).sum();
        if total > 0 {
            let ways: Vec<String> = counts.iter().map(|count| format!("{} %", percent(u128::from(*count), total))).collect();
            let mut text = format!("{:width$}          branch: {}", "", ways[0]);
            for way in &ways[1..] {
                if text.len() + " / ".len() + way.len() > style.width {
                    writeln!(out, "{}", style.paint(Some(Paint::Faint), &text))?;
                    text = format!("{:width$}                / {way}", "");
                } else {
                    text = format!("{text} / {way}");
                }
            }
            writeln!(out, "{}", style.paint(Some(Paint::Faint), &text))?;
        }
    }
    Ok(())
}

/// Tabs stay; what could move the cursor does not.
fn plain(c: char) -> char {
    if c.is_control() && c != '\t' { '?' } else { c }
}
