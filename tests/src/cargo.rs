//! cargo and `cargo bbprof` on one package of a workspace under `tests/programs`, and what is expected of both.

use crate::command::{Outcome, Run};
use crate::exported::Exported;
use crate::tally::compare_tallies;
use crate::tools::{Sandbox, tool};
use std::path::{Path, PathBuf};

/// A package to build and run, plain and profiled. Tests that share a target directory share the builds of dependencies.
#[derive(Debug, Clone)]
pub struct Cargo {
    manifest: PathBuf,
    target: PathBuf,
    package: Option<String>,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
}

/// What `bbprof verify` has to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No exception.
    Exact,
    /// No exception but that threads were running when the process ended, each of which may be one execution ahead.
    ThreadsRunning,
}

/// Whether the long suite is wanted.
#[must_use]
pub fn is_long() -> bool {
    std::env::var_os("BBPROF_LONG").is_some()
}

impl Cargo {
    /// The workspace or package in this folder (absolute, or under `tests/programs`), built in this target directory.
    #[must_use]
    pub fn new(folder: impl AsRef<Path>, target: impl Into<PathBuf>) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(folder);
        Self {
            manifest: folder.join("Cargo.toml"),
            target: target.into(),
            package: None,
            arguments: Vec::new(),
            variables: Vec::new(),
        }
    }

    /// Only this package of it.
    #[must_use]
    pub fn package(mut self, name: &str) -> Self {
        self.package = Some(name.to_owned());
        self
    }

    /// The program's arguments.
    #[must_use]
    pub fn arguments<S: Into<String>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }

    /// An environment variable for plain cargo and `cargo bbprof`.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Plain cargo; the subcommand may be of two words.
    #[must_use]
    pub fn plain(&self, subcommand: &str, options: &[&str]) -> Run {
        self.with(Run::new("cargo").args(subcommand.split(' ')), options)
    }

    /// `cargo bbprof`.
    #[must_use]
    pub fn bbprof(&self, subcommand: &str, options: &[&str]) -> Run {
        self.with(Run::new(tool("cargo-bbprof")).args(["bbprof", subcommand]), options)
    }

    /// `cargo bbprof`; raw profiles go to the folder `raw` of the sandbox.
    #[must_use]
    pub fn profiled(&self, subcommand: &str, options: &[&str], sandbox: &Sandbox) -> Run {
        std::fs::create_dir_all(sandbox.join("raw")).expect("a folder in the sandbox");
        self.bbprof(subcommand, options).env("BBPROF_OUT", sandbox.join("raw/%e-%p.bbraw"))
    }

    fn with(&self, run: Run, options: &[&str]) -> Run {
        let folder = self.manifest.parent().expect("a manifest stands in a folder");
        let mut run = run.args(["--locked", "--target-dir"]).arg(&self.target).args(options).in_folder(folder);
        if let Some(package) = &self.package {
            run = run.args(["--package", package]);
        }
        for (name, value) in &self.variables {
            run = run.env(name, value);
        }
        if self.arguments.is_empty() { run } else { run.arg("--").args(&self.arguments) }
    }

    /// Runs the package's program in a profile, plain and in check mode, and compares output, exit code, entries and edges.
    ///
    /// # Panics
    /// When anything differs.
    pub fn check_run(&self, profile: &str, own: &[&str], verdict: Verdict) {
        self.check_counted(profile, "check", own, verdict);
    }

    /// The same with paths counted.
    ///
    /// # Panics
    /// When anything differs.
    pub fn check_paths(&self, profile: &str, own: &[&str], verdict: Verdict) {
        self.check_counted(profile, "paths-check", own, verdict);
    }

    fn check_counted(&self, profile: &str, counters: &str, own: &[&str], verdict: Verdict) {
        let sandbox = Sandbox::new("run");
        let what = format!("{:?} {profile} {own:?}", self.package);
        // What the plain program does depends on how it is built only where it panics.
        let plain = if profile == "abort" { profile } else { "dev" };
        let expected = self.plain("run", &["--quiet", "--profile", plain]).outcome();
        let mut options = vec!["--quiet", "--profile", profile];
        options.extend(["--no-report", "--counters", counters]);
        options.extend(own);
        let found = self.profiled("run", &options, &sandbox).outcome().expect_code(expected.code);
        assert_eq!(found.text(), expected.text(), "{what}: the output changed");
        assert_eq!(found.stderr, expected.stderr, "{what}: the messages changed");
        let profiles = sandbox.raw_profiles("raw");
        verify(&profiles, verdict);
        compare_tallies(&found.stderr, &Exported::of(&profiles), &what);
    }
}

/// Asks `bbprof verify`, and expects this verdict.
///
/// # Panics
/// When it is another.
pub fn verify(profiles: &[PathBuf], verdict: Verdict) -> Outcome {
    assert!(!profiles.is_empty(), "no raw profile was written");
    let outcome = Run::new(tool("bbprof")).arg("verify").args(profiles).outcome();
    let text = outcome.text();
    let exceptions: Vec<&str> = text.lines().filter(|line| line.starts_with("not exact: ")).collect();
    match verdict {
        // No thread may be running any more, but it need not: a thread that was quick enough leaves an exact profile.
        Verdict::ThreadsRunning if outcome.code == 5 => {
            let (last, exceptions) = exceptions.split_last().expect("a verdict");
            assert!(last.contains("otherwise exact"), "{text}");
            assert!(exceptions.iter().all(|line| line.contains("running when it ended")), "{text}");
            outcome
        }
        _ => {
            let outcome = outcome.expect_code(0);
            assert!(exceptions.is_empty() && text.contains("exact: "), "{text}");
            outcome
        }
    }
}

/// The raw profiles in a folder and the folders within, sorted.
///
/// # Panics
/// When a folder cannot be read.
#[must_use]
pub fn profiles_in(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.expect("a folder entry").path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "bbraw") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
