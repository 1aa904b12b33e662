//! What users name: a function by any of its names, of which there may be only inlined copies, or a source file.

use crate::called::{Called, WAYS, shell_word, source_word};
use crate::one_line;
use crate::table::cut_middle;
use bbprof_profile::{ExceptionKind, FileId, FunctionView, LineTable, Profile, demangle};
use std::collections::{BTreeMap, BTreeSet};

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
pub enum SubjectError {
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
    #[error("{wanted:?} has no counts: {}; see `bbprof verify`", .reasons.join("; "))]
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
pub fn find_subject<'p>(profile: &'p Profile, wanted: &str) -> Result<Subject<'p>, SubjectError> {
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
                    return Err(SubjectError::Ambiguous { wanted: wanted.to_owned(), candidates });
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
fn why_absent(profile: &Profile, wanted: &str) -> Option<SubjectError> {
    let wanted_is = |symbol: &str| {
        let name = demangle(symbol);
        WAYS.iter().any(|is_called| is_called(wanted, symbol, &name))
    };
    let skipped = profile.skipped().into_iter().filter(|skipped| wanted_is(skipped.symbol));
    let reasons: Vec<String> =
        skipped.map(|skipped| one_line(&format!("{}: {}", skipped.module, skipped.reason)).into_owned()).collect();
    if !reasons.is_empty() {
        return Some(SubjectError::NotInstrumented { wanted: wanted.to_owned(), reasons });
    }
    let exceptions = profile.exceptions().into_iter();
    let unsolved = exceptions.filter(|exception| exception.kind == ExceptionKind::Unsolved && wanted_is(&exception.symbol));
    let reasons: Vec<String> = unsolved.map(|exception| one_line(&exception.to_string()).into_owned()).collect();
    (!reasons.is_empty()).then(|| SubjectError::Unsolved { wanted: wanted.to_owned(), reasons })
}

fn find_file(profile: &Profile, table: &LineTable, wanted: &str) -> Result<Option<FileId>, SubjectError> {
    let of_path = |path: &str| path.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let files: Vec<FileId> = table.files.keys().copied().filter(|file| of_path(profile.files.path(*file))).collect();
    match files[..] {
        [] => Ok(None),
        [file] => Ok(Some(file)),
        _ => {
            let candidates = files.iter().map(|file| profile.files.path(*file).to_owned()).collect();
            Err(SubjectError::Ambiguous { wanted: wanted.to_owned(), candidates })
        }
    }
}

/// A function that has no code of its own, but copies of it in others have.
fn find_inlined<'p>(table: &LineTable, wanted: &str) -> Result<Option<Subject<'p>>, SubjectError> {
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
            return Err(SubjectError::Ambiguous { wanted: wanted.to_owned(), candidates });
        }
        if !names.is_empty() {
            let places: BTreeSet<(FileId, u32)> = found.into_values().flatten().collect();
            let called = Called { word: wanted.to_owned(), is_called };
            return Ok(Some(Subject::Inlined(places.into_iter().collect(), called)));
        }
    }
    Ok(None)
}

fn not_found(profile: &Profile, wanted: &str) -> SubjectError {
    let mut near: Vec<(u128, String)> = profile
        .functions()
        .filter(|function| function.name().contains(wanted))
        .map(|function| (function.counts.instructions, cut_middle(function.name(), 100)))
        .collect();
    near.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let nearest = near.into_iter().map(|(_, name)| name).take(5).collect();
    SubjectError::NotFound { wanted: wanted.to_owned(), nearest }
}
