//! `cargo bbprof test|run|bench` of a workspace with doctests, a build script, a procedural macro, tests of every kind, an
//! example, a bench, and a part in C and C++: the results are plain cargo's, and what cargo runs for itself stays plain.
#![allow(clippy::unwrap_used)]

use bbprof_tests::{Cargo, Exported, Outcome, Run, Sandbox, Verdict, is_long, profiles_in, tool, verify};
use std::path::{Path, PathBuf};

const TARGET: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/rust_workspace");

fn workspace() -> Cargo {
    Cargo::new("workspace", TARGET)
}

/// What tests say, without durations, in an order that does not depend on threads.
fn results(outcome: &Outcome) -> Vec<String> {
    let mut lines: Vec<String> = outcome
        .text()
        .lines()
        .filter(|line| line.starts_with("test ") || line.starts_with("running "))
        .map(|line| line.split("; finished in").next().unwrap_or_default().to_owned())
        .collect();
    lines.sort();
    lines
}

/// Every file below a folder whose name starts like this.
fn files_named(folder: &Path, start: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            files_named(&path, start, found);
        } else if path.is_file() && path.file_name().unwrap().to_string_lossy().starts_with(start) {
            found.push(path);
        }
    }
}

/// Whether a linked file has our note.
fn is_profiled(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap();
    bytes.windows(12).any(|window| window == b".note.bbprof")
}

#[test]
fn tests_of_a_workspace() {
    let sandbox = Sandbox::new("workspace");
    let expected = workspace().plain("test", &["--workspace", "--all-targets"]).ok();
    let found =
        workspace().profiled("test", &["--workspace", "--all-targets", "--counters", "check", "--no-report"], &sandbox).ok();
    assert_eq!(results(&found), results(&expected));
    let profiles = sandbox.raw_profiles("raw");
    verify(&profiles, Verdict::Exact);

    let exported = Exported::of(&profiles);
    for function in ["shapes::square", "adder_sys::add", "adder_add", "carry", "app::main", "started::run"] {
        assert!(exported.entries(function).unwrap_or(0) > 0, "{function} was executed");
    }
    // Three runs of the program by its tests, and the main function that the test harness puts into the crate.
    assert_eq!(exported.entries("app::main"), Some(4));
    assert_eq!(exported.entries("adder_sys::add"), exported.entries("adder_add"));
    // The unit tests of a macro are a program; what the macro does for the compiler is none.
    assert_eq!(exported.entries("shapes_macros::tests::tests_of_a_macro_crate_run"), Some(1));
    assert_eq!(exported.entries("shapes_macros::count").unwrap_or(0), 0);
    assert_eq!(exported.entries("carry").unwrap(), 64 * exported.entries("adder_add").unwrap());

    // What runs on the host, for the build.
    let built = Path::new(TARGET).join("bbprof");
    let (mut scripts, mut macros, mut programs) = (Vec::new(), Vec::new(), Vec::new());
    files_named(&built, "build-script-build", &mut scripts);
    files_named(&built, "libshapes_macros-", &mut macros);
    macros.retain(|path| path.extension().is_some_and(|extension| extension == "so"));
    files_named(&built, "app", &mut programs);
    programs.retain(|path| path.file_name().unwrap() == "app");
    assert!(scripts.len() >= 2 && !macros.is_empty() && !programs.is_empty());
    assert!(scripts.iter().chain(&macros).all(|path| !is_profiled(path)));
    assert!(programs.iter().all(|path| is_profiled(path)));
    for executable in exported.document["processes"].as_array().unwrap() {
        let executable = executable["executable"].as_str().unwrap();
        assert!(!executable.contains("build-script") && !executable.ends_with("rustc"), "{executable}");
    }
}

#[test]
fn doctests() {
    let sandbox = Sandbox::new("doctests");
    let expected = workspace().plain("test", &["--workspace", "--doc"]).ok();
    let found = workspace().profiled("test", &["--workspace", "--doc", "--counters", "check", "--no-report"], &sandbox).ok();
    assert_eq!(results(&found), results(&expected));
    assert!(results(&found).iter().any(|line| line == "test shapes/src/lib.rs - square (line 16) - should panic ... ok"));
    let profiles = sandbox.raw_profiles("raw");
    verify(&profiles, Verdict::Exact);
    // 41 by the first, 2 by the second, 1 by the one that panics.
    assert_eq!(Exported::of(&profiles).entries("shapes::square"), Some(44));
}

#[test]
fn examples_benches_and_failures() {
    let sandbox = Sandbox::new("examples");
    for (package, subcommand, options, code) in [
        ("shapes", "run", &["--example", "turn"][..], 9),
        ("shapes", "bench", &["--bench", "turning"], 0),
        ("app", "run", &["--features", "loud"], 0),
        ("app", "test", &["--test", "missing"], 101),
        ("app", "test", &["it_says_sums"], 0),
    ] {
        let package = workspace().package(package);
        let mut options = options.to_vec();
        options.push("--quiet");
        let expected = package.plain(subcommand, &options).outcome().expect_code(code);
        options.push("--no-report");
        let found = package.profiled(subcommand, &options, &sandbox).outcome().expect_code(code);
        let lines = |outcome: &Outcome| results(outcome).into_iter().chain(outcome.text().lines().map(words)).collect::<Vec<_>>();
        assert_eq!(lines(&found), lines(&expected));
        assert_eq!(found.stderr, expected.stderr);
    }
    verify(&profiles_in(sandbox.path()), Verdict::Exact);
}

/// A line without a duration.
fn words(line: &str) -> String {
    line.split("; finished in").next().unwrap_or_default().to_owned()
}

/// A summary follows a run, and its raw profiles are the ones that `bbprof verify` takes when none is named.
#[test]
fn the_last_run_is_shown() {
    let sandbox = Sandbox::new("last");
    let target = sandbox.join("target");
    let program = Cargo::new("rust", &target).package("mill");
    let found = program.bbprof("run", &["--counters", "check"]).outcome().expect_code(7);
    assert!(found.stderr.contains("mill::mills::grind"), "{}", found.stderr);
    assert_eq!(profiles_in(&target.join("bbprof/runs")).len(), 1);
}

/// cargo-nextest is in no Debian package: where it is missing, the short suite says so, and the long one fails.
#[test]
fn nextest() {
    if Run::new("cargo").args(["nextest", "--version"]).outcome().code != 0 {
        assert!(!is_long(), "the long suite needs cargo-nextest: cargo install cargo-nextest");
        eprintln!("left out: cargo-nextest is not installed");
        return;
    }
    let sandbox = Sandbox::new("nextest");
    workspace().plain("nextest run", &["--workspace"]).ok();
    workspace().profiled("nextest", &["--workspace", "--counters", "check", "--no-report"], &sandbox).ok();
    let profiles = sandbox.raw_profiles("raw");
    assert!(profiles.len() > 8, "one process per test");
    verify(&profiles, Verdict::Exact);
    // It asks programs for their tests, in the folders of their packages.
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/workspace");
    for words in [&["list"][..], &["run", "--no-run"]] {
        let nextest = Run::new(tool("cargo-bbprof")).args(["bbprof", "nextest"]).args(words).in_folder(&folder);
        let said = nextest.args(["--workspace", "--locked", "--target-dir", TARGET]).ok().stderr;
        assert!(!said.contains("raw profiles are in"), "{words:?}: {said}");
    }
    let left = profiles_in(&folder);
    assert_eq!(left, [] as [PathBuf; 0]);
    // What was built before is run from an archive, which is unpacked elsewhere.
    let archive = sandbox.join("tests.tar.zst").display().to_string();
    let target = sandbox.join("target");
    let nextest = |words: &[&str]| {
        let words = [words, &["--archive-file", &archive]].concat();
        let nextest = Run::new(tool("cargo-bbprof")).args(["bbprof", "nextest"]).args(words).in_folder(&folder);
        nextest.env("CARGO_TARGET_DIR", &target).ok().stderr
    };
    nextest(&["archive", "--package", "shapes", "--locked"]);
    nextest(&["list"]);
    let said = nextest(&["run"]);
    assert!(said.contains("counts            exact"), "{said}");
    // Its configuration is its own affair.
    let asked = |program: &Path, words: &[&str]| {
        let asked = Run::new(program).args(words).args(["nextest", "show-config", "version"]).in_folder(&folder);
        asked.env("CARGO_TARGET_DIR", &target).ok().text()
    };
    assert_eq!(asked(&tool("cargo-bbprof"), &["bbprof"]), asked(Path::new("cargo"), &[]));
}
