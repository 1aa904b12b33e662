//! Source with counts: for a function or a whole file, each line with its count and the ways its branches went.

use crate::called::{Called, WAYS, shell_word, source_word};
use crate::number::{grouped, numbered, percent};
use crate::one_line;
use crate::table::{Paint, Style, cut_middle};
use bbprof_profile::{ExceptionKind, FileId, FunctionView, LineTable, Profile, SourceLines, demangle, without_turbofish};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::ops::RangeInclusive;

/// What to annotate.
#[derive(Clone, Debug)]
pub enum Subject<'p> {
    /// The instantiations of one function that have code of their own, and what else is called so: inlined copies.
    Functions(Vec<FunctionView<'p>>, Called),
    /// A function all code of which is part of others, by the files and lines where it begins.
    Inlined(Vec<(FileId, u32)>, Called),
    /// All code of a source file.
    File(FileId),
}

/// Why a subject cannot be found.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AnnotateError {
    /// Nothing has this name.
    #[error("no function or source file of the profile is called {wanted:?}{}", suggestion(.nearest))]
    NotFound {
        /// What was asked for.
        wanted: String,
        /// Names that contain it, the hottest first, at most five.
        nearest: Vec<String>,
    },
    /// It is there, but has no counts.
    #[error("{wanted:?} was not instrumented: {}", .reasons.join("; "))]
    NotInstrumented {
        /// What was asked for.
        wanted: String,
        /// Why, in each module: `a.c: it is naked`.
        reasons: Vec<String>,
    },
    /// It was instrumented, but its counters do not tell.
    #[error("{wanted:?} has no counts, as its counters are no flow: {}; see `bbprof verify`", .reasons.join("; "))]
    Unsolved {
        /// What was asked for.
        wanted: String,
        /// What `verify` says of each function that has this name.
        reasons: Vec<String>,
    },
    /// Several functions or files have this name.
    #[error("{wanted:?} is ambiguous; give one of: {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// Names that are not.
        candidates: Vec<String>,
    },
}

fn suggestion(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; did you mean {}", nearest.join(", ")) }
}

/// Finds a function by linker symbol, name, or the end of its name behind `::`, with or without arguments
/// and parameters; or a file by path or the end of its path.
///
/// # Errors
/// When nothing, or more than one thing, has this name.
pub fn find_subject<'p>(profile: &'p Profile, wanted: &str) -> Result<Subject<'p>, AnnotateError> {
    for is_called in WAYS {
        let called = || Called { word: wanted.to_owned(), is_called };
        let found: Vec<FunctionView<'p>> =
            profile.functions().filter(|function| is_called(wanted, function.symbol(), function.name())).collect();
        let mut places: Vec<(Option<FileId>, u32)> = found.iter().map(|function| (function.file(), function.line())).collect();
        places.sort_unstable();
        places.dedup();
        match places.len() {
            0 => {}
            1 => return Ok(Subject::Functions(found, called())),
            _ => {
                let distinct = |name: fn(&FunctionView<'p>) -> String| found.iter().map(name).collect::<BTreeSet<_>>();
                let symbols = distinct(|function| function.symbol().to_owned());
                // Names are for reading, if they tell all of them apart.
                let names = distinct(|function| function.name().to_owned());
                let names: Vec<String> = if names.len() == symbols.len() { names } else { symbols }.into_iter().collect();
                let candidates: Vec<String> = names.iter().map(|name| shell_word(name)).collect();
                if candidates.len() > 1 {
                    return Err(AnnotateError::Ambiguous { wanted: wanted.to_owned(), candidates });
                }
                return Ok(Subject::Functions(found, called()));
            }
        }
    }
    let table = LineTable::new(profile);
    if let Some(file) = find_file(profile, &table, wanted)? {
        return Ok(Subject::File(file));
    }
    if let Some(why) = why_absent(profile, wanted) {
        return Err(why);
    }
    find_inlined(&table, wanted)?.ok_or_else(|| not_found(profile, wanted))
}

/// Why a function has no counts, where the profile tells.
fn why_absent(profile: &Profile, wanted: &str) -> Option<AnnotateError> {
    let wanted_is = |symbol: &str| {
        let name = demangle(symbol);
        WAYS.iter().any(|is_called| is_called(wanted, symbol, &name))
    };
    let skipped = profile.skipped().into_iter().filter(|skipped| wanted_is(skipped.symbol));
    let reasons: Vec<String> =
        skipped.map(|skipped| one_line(&format!("{}: {}", skipped.module, skipped.reason)).into_owned()).collect();
    if !reasons.is_empty() {
        return Some(AnnotateError::NotInstrumented { wanted: wanted.to_owned(), reasons });
    }
    let exceptions = profile.exceptions().into_iter();
    let unsolved = exceptions.filter(|exception| exception.kind == ExceptionKind::Unsolved && wanted_is(&exception.symbol));
    let reasons: Vec<String> = unsolved.map(|exception| one_line(&exception.to_string()).into_owned()).collect();
    (!reasons.is_empty()).then(|| AnnotateError::Unsolved { wanted: wanted.to_owned(), reasons })
}

fn find_file(profile: &Profile, table: &LineTable, wanted: &str) -> Result<Option<FileId>, AnnotateError> {
    let of_path = |path: &str| path.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let files: Vec<FileId> = table.files.keys().copied().filter(|file| of_path(profile.files.path(*file))).collect();
    match files[..] {
        [] => Ok(None),
        [file] => Ok(Some(file)),
        _ => {
            let candidates = files.iter().map(|file| profile.files.path(*file).to_owned()).collect();
            Err(AnnotateError::Ambiguous { wanted: wanted.to_owned(), candidates })
        }
    }
}

/// A function that has no code of its own, but copies of it in others have.
fn find_inlined<'p>(table: &LineTable, wanted: &str) -> Result<Option<Subject<'p>>, AnnotateError> {
    for is_called in WAYS {
        let mut found: BTreeMap<&str, Vec<(FileId, u32)>> = BTreeMap::new();
        for (file, source) in &table.files {
            for (line, symbol) in source.functions.keys() {
                if is_called(wanted, symbol, &demangle(symbol)) {
                    found.entry(symbol).or_default().push((*file, *line));
                }
            }
        }
        let names: BTreeSet<String> = found.keys().map(|symbol| source_word(&demangle(symbol))).collect();
        if names.len() > 1 {
            let candidates = names.iter().map(|name| shell_word(name)).collect();
            return Err(AnnotateError::Ambiguous { wanted: wanted.to_owned(), candidates });
        }
        if !names.is_empty() {
            let places: BTreeSet<(FileId, u32)> = found.into_values().flatten().collect();
            let called = Called { word: wanted.to_owned(), is_called };
            return Ok(Some(Subject::Inlined(places.into_iter().collect(), called)));
        }
    }
    Ok(None)
}

fn not_found(profile: &Profile, wanted: &str) -> AnnotateError {
    let mut near: Vec<(u128, String)> = profile
        .functions()
        .filter(|function| function.name().contains(wanted))
        .map(|function| (function.counts.instructions, cut_middle(function.name(), 100)))
        .collect();
    near.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let nearest = near.into_iter().map(|(_, name)| name).take(5).collect();
    AnnotateError::NotFound { wanted: wanted.to_owned(), nearest }
}

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
                if position > 0 {
                    writeln!(out)?;
                }
                let table = copies(profile, place, called);
                write_function(profile, &functions, called, &table, &read, style, out)?;
            }
            Ok(())
        }
        Subject::Inlined(places, called) => {
            for (position, (file, line)) in places.iter().enumerate() {
                if position > 0 {
                    writeln!(out)?;
                }
                let table = copies(profile, (Some(*file), *line), called);
                write_inlined(profile, (*file, *line), called, &table, &read, style, out)?;
            }
            Ok(())
        }
    }
}

/// The lines of all copies of what is called so and begins there.
fn copies(profile: &Profile, place: (Option<FileId>, u32), called: &Called) -> LineTable {
    LineTable::of_copies(profile, |file, line, symbol| (file, line) == place && called.is(symbol))
}

/// A function that is inlined wherever it is called.
fn write_inlined(
    profile: &Profile,
    (file, line): (FileId, u32),
    called: &Called,
    table: &LineTable,
    read: &impl Fn(&str) -> io::Result<String>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(source) = table.files.get(&file) else { return Ok(()) };
    let copies = || source.functions.iter().filter(|((at, symbol), _)| *at == line && called.is(symbol));
    let Some(((_, symbol), _)) = copies().next() else { return Ok(()) };
    let name = demangle(symbol);
    writeln!(out, "{}", one_line(&name))?;
    let times = copies().map(|(_, function)| function.inlined).sum();
    let where_to = shell_word(&source_word(&name));
    writeln!(
        out,
        "is inlined wherever it is called: executed {}; `bbprof report --copies={where_to}` says where",
        numbered(times, "time")
    )?;
    let last = copies().map(|(_, function)| function.last_line).max().unwrap_or(line);
    write_source(profile, file, source, line..=last, read, style, out)
}

/// The instantiations of one function, with the lines of all its copies.
fn write_function(
    profile: &Profile,
    functions: &[FunctionView<'_>],
    called: &Called,
    table: &LineTable,
    read: &impl Fn(&str) -> io::Result<String>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(first) = functions.first() else { return Ok(()) };
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
        return match namesakes(profile, called) {
            names if names.is_empty() => Ok(()),
            names => writeln!(out, "others that may be called so: {}", names.join(", ")),
        };
    }
    let within = closures(profile, first);
    if !within.is_empty() {
        writeln!(out, "closures in it, and the body of an async fn, are functions of their own: {}", within.join(", "))?;
    }
    let last = of_source().map(|(_, function)| function.last_line).max();
    let Some((file, source)) = source else { return Ok(()) };
    let lines = match (first.line(), source.lines.first_key_value(), source.lines.last_key_value()) {
        // What compilers make themselves (`__cxx_global_var_init`) begins at no line, but may have code of some.
        (0, Some((begin, _)), Some((end, _))) => *begin..=*end,
        (0, ..) => return Ok(()),
        (line, ..) => line..=last.unwrap_or(u32::MAX),
    };
    write_source(profile, file, source, lines, read, style, out)
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
