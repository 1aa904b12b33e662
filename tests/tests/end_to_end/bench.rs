//! The bench itself: the rows of its tables build, run and have figures.

use bbprof_tests::{Run, Sandbox, is_long, tool};
use std::path::Path;

/// What has no instructions: gprof's programs may crash under valgrind, and callgrind is run for its time.
const WITHOUT_INSTRUCTIONS: [&str; 2] = ["clang gprof", "callgrind"];

/// Without the long suites: the row that another one's profile places, and that gives the linker most options.
const SAMPLE: &str = "bbprof --weights, branches";

#[test]
fn each_row_has_figures() {
    let sandbox = Sandbox::new("bench");
    let tests = std::env::current_exe().expect("this test's path");
    let target = tests.ancestors().nth(3).expect("the target directory");
    let bench = Run::new("cargo").args(["build", "--locked", "--quiet", "--workspace", "--bin", "bbprof-bench", "--target-dir"]);
    // Of the whole workspace, whose features are those of what was built before.
    bench.arg(target).in_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).ok();
    let root = tool("bbprof").ancestors().nth(2).expect("the installation").to_owned();
    let run = Run::new(target.join("debug/bbprof-bench")).arg(root).arg(sandbox.path());
    let sample = ["--variant", SAMPLE];
    run.args(["--compiles", "1", "--program", "list"]).args(if is_long() { &[][..] } else { &sample }).ok();
    let results = std::fs::read_to_string(sandbox.join("results.csv")).expect("the results");
    let rows: Vec<Vec<&str>> = results.lines().skip(1).map(|line| line.trim_matches('"').split("\",\"").collect()).collect();
    for row in rows.iter().filter(|row| row[0] == "list" && !WITHOUT_INSTRUCTIONS.contains(&row[1])) {
        assert!(row[2].parse::<f64>().is_ok_and(|ratio| ratio > 0.9), "{row:?}");
    }
    let has = |name: &str| rows.iter().any(|row| row[1] == name);
    assert!(has("plain") && has("bbprof") && has(SAMPLE) && (has("callgrind") || !is_long()), "{results}");
}
