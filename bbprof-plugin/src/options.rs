//! What the drivers ask of the plugin: `key=value` lines in the file `options` beside the plugin's own path.
//!
//! They stand in a file whose folder is named after its content, not in the environment, because compiler caches hash the
//! command line (which names that folder) and not the environment.

use crate::doctest::Doctest;
use bbprof_format::frequencies::Frequencies;
use bbprof_format::manifest::{CounterMode, PATH_ARRAYS, PATH_LIMITS, Storage};
use globset::{Glob, GlobMatcher};
use regex::Regex;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Where counters live, as the user says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StorageChoice {
    Thread,
    Shared,
    Atomic,
}

/// How thread-local counters are reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TlsChoice {
    /// Local-exec: the code goes into executables only.
    Exec,
    /// Through the image's delta: the code may go into a shared library.
    Library,
    /// [`TlsChoice::Library`] when compiled position-independent but not for an executable.
    Auto,
}

/// The most paths of a function when nothing else is said, see [`Options::path_limit`]; as in Preuss 2010.
pub(crate) const PATH_LIMIT: u64 = 100_000_000;

/// Parts of the placement that are left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Without {
    /// The price of split edges.
    pub costs: bool,
    /// Counting the turns of a loop in front of it.
    pub loops: bool,
    /// Registers in the addresses of counters in tight loops.
    pub bases: bool,
    /// Adding for several turns of a tight loop at once.
    pub unrolling: bool,
    /// Phis for values that leave loops.
    pub closing: bool,
    /// The jump of computed `goto`s, repeated where control comes from.
    pub dispatches: bool,
    /// Guesses of branches beside LLVM's.
    pub guesses: bool,
    /// One more parameter of functions in shared libraries, for where the thread's counters are.
    pub handing: bool,
}

/// Parts of the placement that have to be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct With {
    /// Counters of tight loops in registers.
    pub registers: bool,
    /// Telling code generation of measured frequencies.
    pub branches: bool,
}

/// All options.
#[derive(Debug)]
pub(crate) struct Options {
    pub mode: CounterMode,
    pub storage: StorageChoice,
    pub tls: TlsChoice,
    pub ir: bool,
    /// A counter on every edge behind the planned ones.
    pub check: bool,
    /// Most paths of a function; where there are more, edges are cut.
    pub path_limit: Option<u64>,
    /// Most paths of a function that are counted in an array. Where there are more, a hash table counts them: everywhere
    /// when this or the limit is given, else where it is cheap.
    pub path_array: Option<u64>,
    /// Seed by which the weights of blocks and edges are shuffled: the counters move, the counts must not. For tests only.
    pub permuted_weights: Option<u64>,
    /// What of the placement is left out, to see what it gains.
    pub without: Without,
    /// What of it is there only when asked for.
    pub with: With,
    /// File with the frequencies of an earlier run, and what stands in it once it has been read.
    pub weights: Option<PathBuf>,
    pub frequencies: Option<Frequencies>,
    /// The source that the module is a doctest of.
    pub doctest: Option<Doctest>,
    /// Whether later compilations, of other texts, may take over what is compiled now:
    /// rustc does, incrementally, where no line has moved.
    pub is_incremental: bool,
    pub include_fn: Vec<Regex>,
    pub exclude_fn: Vec<Regex>,
    pub include_file: Vec<GlobMatcher>,
    pub exclude_file: Vec<GlobMatcher>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: CounterMode::Edges,
            storage: StorageChoice::Thread,
            tls: TlsChoice::Auto,
            ir: false,
            check: false,
            path_limit: None,
            path_array: None,
            permuted_weights: None,
            without: Without::default(),
            with: With::default(),
            weights: None,
            frequencies: None,
            doctest: None,
            is_incremental: false,
            include_fn: Vec::new(),
            exclude_fn: Vec::new(),
            include_file: Vec::new(),
            exclude_file: Vec::new(),
        }
    }
}

impl Options {
    /// Parses the text of an options file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |what: String| format!("options, line {}: {what}", number + 1);
            let (key, value) = line.split_once('=').ok_or_else(|| wrong(format!("expected key=value, found {line:?}")))?;
            options.set(key.trim(), value).map_err(wrong)?;
        }
        Ok(options)
    }

    /// Whether some functions may have no counters though others of their module have.
    pub(crate) fn selects_functions(&self) -> bool {
        !(self.include_fn.is_empty() && self.exclude_fn.is_empty() && self.include_file.is_empty() && self.exclude_file.is_empty())
    }

    /// Whose the counters of a module are that may end up in a shared library, or not.
    pub(crate) fn storage_of(&self, pic_without_pie: bool) -> Storage {
        match (self.storage, self.tls) {
            (StorageChoice::Shared, _) => Storage::Shared,
            (StorageChoice::Atomic, _) => Storage::Atomic,
            (StorageChoice::Thread, TlsChoice::Library) => Storage::Delta,
            (StorageChoice::Thread, TlsChoice::Auto) if pic_without_pie => Storage::Delta,
            (StorageChoice::Thread, _) => Storage::Tls,
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let regex = |value: &str| Regex::new(value).map_err(|e| format!("{key}={value}: {e}"));
        let glob =
            |value: &str| Glob::new(&at_any_depth(value)).map(|g| g.compile_matcher()).map_err(|e| format!("{key}={value}: {e}"));
        match key {
            "counters" => {
                let choices = [
                    ("edges", (CounterMode::Edges, false)),
                    ("check", (CounterMode::Check, true)),
                    ("blocks", (CounterMode::Blocks, false)),
                    ("patterns", (CounterMode::Patterns, false)),
                    ("paths", (CounterMode::Paths, false)),
                    ("paths-check", (CounterMode::Paths, true)),
                ];
                (self.mode, self.check) = one_of(key, value, choices)?;
            }
            "storage" => {
                let choices =
                    [("thread", StorageChoice::Thread), ("shared", StorageChoice::Shared), ("atomic", StorageChoice::Atomic)];
                self.storage = one_of(key, value, choices)?;
            }
            "tls" => {
                let choices = [("exec", TlsChoice::Exec), ("library", TlsChoice::Library), ("auto", TlsChoice::Auto)];
                self.tls = one_of(key, value, choices)?;
            }
            "path-limit" => self.path_limit = Some(number_of_paths(key, value, PATH_LIMITS)?),
            "path-array" => self.path_array = Some(number_of_paths(key, value, PATH_ARRAYS)?),
            "ir" => self.ir = one_of(key, value, [("0", false), ("1", true)])?,
            "permute-weights" => {
                self.permuted_weights = Some(value.parse().map_err(|e| format!("{key}={value}: {e}"))?);
            }
            "without" => {
                let Without { costs, loops, bases, unrolling, closing, dispatches, guesses, handing } = &mut self.without;
                let parts = [
                    ("costs", costs),
                    ("loops", loops),
                    ("bases", bases),
                    ("unrolling", unrolling),
                    ("closing", closing),
                    ("dispatches", dispatches),
                    ("guesses", guesses),
                    ("handing", handing),
                ];
                *one_of(key, value, parts)? = true;
            }
            "with" => {
                let With { registers, branches } = &mut self.with;
                *one_of(key, value, [("registers", registers), ("branches", branches)])? = true;
            }
            "weights" => self.weights = Some(value.into()),
            "include" => self.include_fn.push(regex(value)?),
            "exclude-fn" => self.exclude_fn.push(regex(value)?),
            "include-file" => self.include_file.push(glob(value)?),
            "exclude-file" => self.exclude_file.push(glob(value)?),
            _ => return Err(format!("unknown key {key:?}")),
        }
        Ok(())
    }
}

/// The choice of this name.
fn one_of<T, const N: usize>(key: &str, value: &str, choices: [(&str, T); N]) -> Result<T, String> {
    let names = choices.each_ref().map(|(name, _)| *name).join(", ");
    let chosen = choices.into_iter().find(|(name, _)| *name == value);
    chosen.map(|(_, choice)| choice).ok_or_else(|| format!("{key}={value}: expected one of {names}"))
}

fn number_of_paths(key: &str, value: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let number = value.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("{key}={value}: expected a number of paths from {} to {}", range.start(), range.end()))
}

/// Files are compared by their whole paths: what is no whole path matches the end of one.
fn at_any_depth(glob: &str) -> String {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    if glob.starts_with(['/', '*']) { glob.to_owned() } else { format!("**/{glob}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_what_drivers_write() {
        let options =
            Options::parse("counters=check\nstorage=atomic\ntls=library\nir=1\nexclude-fn=^foo\nexclude-file=*/x.c\n").unwrap();
        assert_eq!(options.mode, CounterMode::Check);
        assert_eq!(options.storage, StorageChoice::Atomic);
        assert_eq!(options.tls, TlsChoice::Library);
        assert!(options.ir && options.exclude_fn[0].is_match("foobar") && options.exclude_file[0].is_match("/a/x.c"));
    }

    #[test]
    fn names_the_line_that_is_wrong() {
        assert_eq!(
            Options::parse("ir=1\ncounters=all").unwrap_err(),
            "options, line 2: counters=all: expected one of edges, check, blocks, patterns, paths, paths-check"
        );
        assert!(Options::parse("colour=red").unwrap_err().contains("unknown key"));
        assert!(Options::parse("path-limit=0").unwrap_err().contains("from 1 to 9223372036854775808"));
        assert!(Options::parse("path-array=1048577").unwrap_err().contains("from 0 to 1048576"));
        assert!(Options::parse("path-limit=18446744073709551616").is_err());
        assert!(Options::parse("include=(").is_err() && Options::parse("permute-weights=x").is_err());
    }
}
