//! Applications that are not ours: built in check mode, by edges and by paths, with all their dependencies
//! counted they do what the plain build does, on real inputs and in their own tests, and their profiles are
//! exact. One on its inputs always, more in the long suite.
#![allow(clippy::unwrap_used)]

use bbprof_tests::{Application, Cargo, Outcome, Run, Sandbox, Verdict, is_long, verify};
use std::path::{Path, PathBuf};

const HEXYL: Application = Application { package: "hexyl", version: "0.17.0", program: "hexyl" };
const RIPGREP: Application = Application { package: "ripgrep", version: "15.2.0", program: "rg" };
const FD: Application = Application { package: "fd-find", version: "10.5.0", program: "fd" };
const TOKEI: Application = Application { package: "tokei", version: "15.0.0", program: "tokei" };
const BAT: Application = Application { package: "bat", version: "0.26.1", program: "bat" };

/// Which dependencies are counted, and what counts: in the short suite edges, of all at once.
fn choices() -> &'static [[&'static str; 2]] {
    if is_long() { &[["none", "check"], ["all", "check"], ["all", "paths-check"]] } else { &[["all", "check"]] }
}

/// Builds it plain and profiled, and compares runs with these arguments in its own folder. A run's first word may be `!N`:
/// it exits with N.
fn check_runs(application: Application, options: &[&str], runs: &[&[&str]], verdict: Verdict) {
    let sandbox = Sandbox::new(application.package);
    let folder = application.unpack(&sandbox);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust_applications").join(application.package);
    let cargo = Cargo::new(&folder, &target);
    let options = [&["--quiet", "--release"], options].concat();
    cargo.plain("build", &options).ok();
    let plain = target.join("release").join(application.program);
    for [deps, counters] in choices() {
        let raw = format!("raw-{deps}-{counters}");
        std::fs::create_dir_all(sandbox.join(&raw)).unwrap();
        cargo.profiled("build", &[&options[..], &["--counters", counters, "--deps", deps]].concat(), &sandbox).ok();
        let profiled = target.join("bbprof/build/x86_64-unknown-linux-gnu/release").join(application.program);
        for words in runs {
            let (code, words) = match words[0].strip_prefix('!') {
                Some(code) => (code.parse().unwrap(), &words[1..]),
                None => (0, *words),
            };
            let run = |program: &PathBuf| {
                // A backtrace shows the names of symbols, and what was inlined.
                let run = Run::new(program)
                    .env("RUST_BACKTRACE", "1")
                    .args(words)
                    .in_folder(&folder)
                    .env("BBPROF_OUT", sandbox.join(&raw).join("%p.bbraw"));
                run.outcome().expect_code(code)
            };
            let (expected, found) = (run(&plain), run(&profiled));
            assert!(found.stdout == expected.stdout, "the output changed: {}", found.what);
            assert_eq!(found.stderr, expected.stderr, "{}", found.what);
        }
        let profiles = sandbox.raw_profiles(&raw);
        assert_eq!(profiles.len(), runs.len());
        verify(&profiles, verdict);
    }
}

/// Lines about tests, in an order that does not depend on threads.
fn results(outcome: &Outcome) -> Vec<String> {
    let text = outcome.text();
    let lines = text.lines().filter(|line| line.starts_with("test ") || line.starts_with("running "));
    let mut lines: Vec<String> = lines.map(|line| line.split("; finished in").next().unwrap_or_default().to_owned()).collect();
    lines.sort();
    lines
}

/// Runs its own tests, plain and profiled.
fn check_tests(application: Application, options: &[&str], verdict: Verdict) {
    let sandbox = Sandbox::new(application.package);
    let folder = application.unpack(&sandbox);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust_applications").join(application.package);
    let cargo = Cargo::new(&folder, &target);
    let expected = cargo.plain("test", options).outcome();
    let options = [options, &["--no-report", "--counters", "check"]].concat();
    let found = cargo.profiled("test", &options, &sandbox).outcome().expect_code(expected.code);
    assert_eq!(results(&found), results(&expected));
    assert!(results(&found).len() > 10, "{}", expected.stderr);
    verify(&sandbox.raw_profiles("raw"), verdict);
}

#[test]
fn hexyl() {
    check_runs(
        HEXYL,
        &[],
        &[
            &["Cargo.lock"],
            &["--color", "always", "--border", "ascii", "-n", "3000", "src/lib.rs"],
            &["--base", "binary", "--panels", "1", "-c", "256", "--skip", "100", "tests/examples/ascii"],
            &["!1", "missing"],
        ],
        Verdict::Exact,
    );
    if is_long() {
        check_tests(HEXYL, &[], Verdict::Exact);
    }
}

#[test]
fn ripgrep() {
    if is_long() {
        let runs: &[&[&str]] = &[
            &["--sort", "path", "-n", r"fn \w+\(", "crates"],
            &["--sort", "path", "--color", "always", "-C", "2", "-i", "ERROR|warning", "crates", "tests"],
            &["-c", "--sort", "path", "-uu", "-t", "rust", r"(?s)impl.*?\{", "."],
            &["--sort", "path", "-U", "--multiline-dotall", "-o", r"struct \w+ \{.*?\}", "crates/core"],
            &["-l", "-j4", "--sort", "path", "-w", "Regex"],
            &["!1", "-j4", "no such words anywhere in these sources, not even h[e]re", "crates"],
            &["!2", "(unclosed"],
            &["--files", "--sort", "path"],
        ];
        check_runs(RIPGREP, &[], runs, Verdict::Exact);
        check_tests(RIPGREP, &[], Verdict::Exact);
    }
}

#[test]
fn fd() {
    if is_long() {
        let runs: &[&[&str]] =
            &[&["-j1", "rs$"], &["-j1", "-H", "-t", "f", "-x", "echo", "{/.}"], &["!1", "-q", "nothing at all"], &["!1", "["]];
        check_runs(FD, &["--no-default-features"], runs, Verdict::Exact);
        check_tests(FD, &["--no-default-features"], Verdict::ThreadsRunning);
    }
}

#[test]
fn tokei() {
    if is_long() {
        check_runs(
            TOKEI,
            &[],
            &[&["--sort", "lines", "src"], &["-f", "-s", "files", "."], &["-o", "json", "src/language/language_type.rs"]],
            // Rayon's threads wait for work until the process ends.
            Verdict::ThreadsRunning,
        );
        check_tests(TOKEI, &[], Verdict::ThreadsRunning);
    }
}

#[test]
fn bat() {
    if is_long() {
        // With a regular expression engine in C.
        let options = ["--no-default-features", "--features", "minimal-application"];
        let runs: &[&[&str]] = &[
            &["--color", "always", "--style", "full", "--paging", "never", "src/lib.rs", "README.md"],
            &["--color", "always", "-A", "Cargo.toml"],
            &["--list-themes", "--color", "never"],
            &["!1", "missing"],
        ];
        // It never waits for the thread that builds its table of file names ahead.
        check_runs(BAT, &options, runs, Verdict::ThreadsRunning);
    }
}
