//! Rust programs in every kind of build: in check mode every block and edge solved from the planned counters equals the
//! counter on every edge, entries equal the programs' own tallies, and output and exit code equal plain cargo's.

use bbprof_tests::{Cargo, Sandbox, Verdict, is_long, verify};
use std::sync::atomic::{AtomicBool, Ordering};

/// dev, release, thin and fat link-time optimisation, one codegen unit, panics that abort.
const PROFILES: [&str; 6] = ["dev", "release", "thin", "fat", "one-unit", "abort"];

fn package(name: &str) -> Cargo {
    Cargo::new("rust", concat!(env!("CARGO_TARGET_TMPDIR"), "/rust_programs")).package(name)
}

/// These builds, or in the long suite all of them.
fn builds<'a>(few: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    if !is_long() {
        return few.to_vec();
    }
    PROFILES.iter().flat_map(|profile| [(*profile, "none"), (*profile, "all")]).collect()
}

#[test]
fn the_standard_library_alone() {
    let every = PROFILES.map(|profile| (profile, "none"));
    for (profile, deps) in builds(&every) {
        package("mill").check_run(profile, &["--deps", deps], Verdict::Exact);
    }
}

#[test]
fn regex_json_markdown_and_deflate() {
    for (profile, deps) in builds(&[("dev", "all"), ("thin", "all")]) {
        package("text").check_run(profile, &["--deps", deps], Verdict::Exact);
    }
}

#[test]
fn rayon_and_tokio() {
    for (profile, deps) in builds(&[("release", "none"), ("fat", "all")]) {
        package("tasks").check_run(profile, &["--deps", deps], Verdict::Exact);
        package("tasks").arguments(["global"]).check_run(profile, &["--deps", deps], Verdict::Exact);
    }
}

/// rayon's own threads are alive at the end. They come to rest, also where other processes want the processors.
#[test]
fn threads_that_nobody_joins() {
    let package = package("tasks").arguments(["global"]);
    // The quick suite takes the build of another test.
    let (runs, counters) = if is_long() { (50, "edges") } else { (3, "check") };
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let checked = std::panic::catch_unwind(|| {
            for _ in 0..runs {
                let sandbox = Sandbox::new("run");
                package
                    .profiled(
                        "run",
                        &["--quiet", "--profile", "release", "--no-report", "--counters", counters, "--deps", "none"],
                        &sandbox,
                    )
                    .ok();
                verify(&sandbox.raw_profiles("raw"), Verdict::Exact);
            }
        });
        stop.store(true, Ordering::Relaxed);
        checked.expect("each run is exact");
    });
}

/// Paths, in arrays and in hash tables.
#[test]
fn by_paths() {
    package("mill").check_paths("release", &["--path-array", "16"], Verdict::Exact);
    if is_long() {
        for profile in ["dev", "thin", "abort"] {
            package("mill").check_paths(profile, &["--path-limit", "100000000"], Verdict::Exact);
        }
        package("text").check_paths("thin", &["--deps", "all"], Verdict::Exact);
        package("tasks").check_paths("release", &["--path-array", "0"], Verdict::Exact);
    }
}
