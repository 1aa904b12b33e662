//! What the plugin is asked to do, and the text in which it reads that: `key=value` lines.

use crate::exit::require;
use anyhow::Result;
use bbprof_format::manifest::{PATH_ARRAYS, PATH_LIMITS};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Where counters stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Counters {
    /// On the edges and blocks that a spanning tree leaves over: the fewest executions.
    #[default]
    Edges,
    /// In every block, for comparison.
    Blocks,
    /// By Hucovic's four patterns, for comparison.
    Patterns,
    /// As `edges`, and one more on every edge, which `bbprof verify` compares.
    Check,
    /// On paths without cycles: which ways through each function were taken, and how often.
    Paths,
    /// As `paths`, and one more on every edge, which `bbprof verify` compares.
    PathsCheck,
}

/// A limit of paths, checked.
pub(crate) fn path_limit(text: &str) -> Result<u64> {
    number_of_paths("path-limit", text, &PATH_LIMITS)
}

/// The most paths that are counted in an array, checked.
pub(crate) fn path_array(text: &str) -> Result<u64> {
    number_of_paths("path-array", text, &PATH_ARRAYS)
}

fn number_of_paths(option: &str, text: &str, range: &RangeInclusive<u64>) -> Result<u64> {
    match text.parse::<u64>() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => require!("{option} {text}: expected a number of paths from {} to {}", range.start(), range.end()),
    }
}

/// Where the counters' memory is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Storage {
    /// Each thread has its own: exact, and as cheap as plain memory.
    #[default]
    Thread,
    /// One for all threads, plain increments: loses counts when threads run at once.
    Shared,
    /// One for all threads, atomic increments: exact, slow.
    Atomic,
}

/// How code reaches thread-local counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tls {
    /// The code goes into executables only.
    Exec,
    /// The code may go into a shared library.
    Library,
    /// `library` for what is compiled with -fPIC, else `exec`.
    #[default]
    Auto,
}

/// Which functions are instrumented. Exclusion wins over inclusion; without any inclusion, all are.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Filters {
    pub include_fn: Vec<String>,
    pub exclude_fn: Vec<String>,
    pub include_file: Vec<String>,
    pub exclude_file: Vec<String>,
}

/// A part of the placement that can be left out, to see what it gains.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Part {
    /// The price of split edges: without it, a plain maximum spanning tree.
    Costs,
    /// Counting the turns of a loop in front of it, where they are known there.
    Loops,
    /// A base register in the addresses of counters in tight loops, with which some processors increment them faster.
    Bases,
    /// Repeating the turns of tight loops, so that one of several adds for all of them.
    Unrolling,
    /// Phis for values that leave loops, which spare code generation to keep them in one register on both sides.
    Closing,
    /// The jump of computed gotos, repeated behind each block in front of it.
    Dispatches,
    /// A guess about branches beside LLVM's: objects mostly have the type that code asks for.
    Guesses,
    /// In shared libraries: one more parameter of functions that only their own file calls, for where the thread's counters are.
    Handing,
}

/// A part of the placement that has to be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Extra {
    /// Counters of tight loops in registers while they run: faster, but a process that is killed in one loses its turns.
    Registers,
    /// With --weights: tell code generation where branches went. The program's own instructions are fewer, too:
    /// its machine code is then not what it is without bbprof.
    Branches,
}

/// Everything that the plugin's behaviour depends on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct PluginOptions {
    pub counters: Counters,
    pub storage: Storage,
    pub tls: Tls,
    /// Most paths of a function, when it is not the plugin's own choice.
    pub path_limit: Option<u64>,
    /// Most paths of a function that are counted in an array, likewise.
    pub path_array: Option<u64>,
    /// Parts of the placement that are left out.
    pub without: Vec<Part>,
    /// Parts of it that are there only when asked for.
    pub with: Vec<Extra>,
    /// Keep the IR text of each block in the manifest.
    pub ir: bool,
    pub filters: Filters,
    /// File with the frequencies that counters are placed by, from [`crate::weights`].
    pub weights: Option<PathBuf>,
}

impl Filters {
    fn lines(&self) -> impl Iterator<Item = (&'static str, &String)> {
        [
            ("include", &self.include_fn),
            ("exclude-fn", &self.exclude_fn),
            ("include-file", &self.include_file),
            ("exclude-file", &self.exclude_file),
        ]
        .into_iter()
        .flat_map(|(key, values)| values.iter().map(move |value| (key, value)))
    }

    /// Refuses a regular expression or glob that cannot be read, before a compiler meets it. What
    /// stands before the option's name says where it came from.
    pub(crate) fn check(&self, before: &str) -> Result<()> {
        for (key, value) in self.lines() {
            let error = if key.ends_with("-file") {
                globset::Glob::new(value).err().map(|e| e.to_string())
            } else {
                regex::Regex::new(value).err().map(|e| e.to_string())
            };
            if let Some(error) = error {
                require!("{before}{key} {value}: {error}");
            }
            if value.contains('\n') {
                require!("{before}{key} {value:?}: a pattern is one line");
            }
        }
        Ok(())
    }
}

/// The name of a value as the command line has it.
fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

impl PluginOptions {
    /// Refuses what a command line asks for though nothing comes of it beside everything else
    /// that holds. `before` stands before names of options.
    pub(crate) fn refuse_idle(&self, asked: &Self, before: &str) -> Result<()> {
        let counts_paths = matches!(self.counters, Counters::Paths | Counters::PathsCheck);
        for (key, number) in [("path-limit", asked.path_limit), ("path-array", asked.path_array)] {
            if let (Some(number), false) = (number, counts_paths) {
                require!("{before}{key}={number}: no paths are counted; add {before}counters=paths, or leave this out");
            }
        }
        if asked.with.contains(&Extra::Branches) && self.weights.is_none() {
            require!(
                "{before}with=branches: only an earlier profile knows where branches went; add {before}weights=PROFILE, or leave this out"
            );
        }
        Ok(())
    }

    /// The content of the file `options`.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "counters={}\nstorage={}\ntls={}\nir={}\n",
            name(self.counters),
            name(self.storage),
            name(self.tls),
            u8::from(self.ir)
        );
        for (key, value) in self.filters.lines() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key}={value}");
        }
        if let Some(array) = self.path_array {
            let _ = writeln!(text, "path-array={array}");
        }
        if let Some(limit) = self.path_limit {
            let _ = writeln!(text, "path-limit={limit}");
        }
        for part in &self.without {
            let _ = writeln!(text, "without={}", name(*part));
        }
        for part in &self.with {
            let _ = writeln!(text, "with={}", name(*part));
        }
        if let Some(file) = &self.weights {
            let _ = writeln!(text, "weights={}", file.display());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_one_line_per_option() {
        let mut options = PluginOptions { counters: Counters::Check, tls: Tls::Library, ..Default::default() };
        options.filters.exclude_fn = vec!["^a".into(), "b=c".into()];
        options.filters.include_file = vec!["src/**".into()];
        assert_eq!(
            options.text(),
            "counters=check\nstorage=thread\ntls=library\nir=0\nexclude-fn=^a\nexclude-fn=b=c\ninclude-file=src/**\n"
        );
    }

    #[test]
    fn what_does_nothing_is_refused() {
        let asked = PluginOptions { path_limit: Some(7), with: vec![Extra::Branches], ..Default::default() };
        let refused = |all: PluginOptions| all.refuse_idle(&asked, "--").unwrap_err().to_string();
        assert!(refused(PluginOptions::default()).starts_with("--path-limit=7: no paths are counted"));
        let paths = PluginOptions { counters: Counters::PathsCheck, ..Default::default() };
        assert!(refused(paths.clone()).starts_with("--with=branches: "));
        assert!(PluginOptions { weights: Some("file".into()), ..paths }.refuse_idle(&asked, "--").is_ok());
    }

    #[test]
    fn bad_patterns_are_named() {
        let filters = Filters { exclude_fn: vec!["(".into()], ..Default::default() };
        assert!(filters.check("--").unwrap_err().to_string().starts_with("--exclude-fn (: "));
        let filters = Filters { include_file: vec!["[".into()], ..Default::default() };
        assert!(filters.check("--").is_err());
    }
}
