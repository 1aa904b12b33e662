//! Threads, forks, a library that comes and goes, dumps and a timer's handler, all at
//! once: every process's counts are what it knows of itself.

use bbprof_tests::{Exported, Run, Sandbox, is_long, tool};
use std::path::{Path, PathBuf};

fn check(options: &[&str]) {
    let sandbox = Sandbox::new("storm");
    let compile = |source: &str, output: &str, more: &[&str]| -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/storm").join(source);
        let run = Run::new(tool("bbprof-cc")).args(["-O2", "-w", "-D_GNU_SOURCE", "-pthread"]).args(options).args(more);
        run.arg(source).arg("-o").arg(sandbox.join(output)).ok();
        sandbox.join(output)
    };
    let program = compile("storm.c", "storm", &["-rdynamic", "-ldl"]);
    let library = compile("part.c", "part.so", &["-shared", "-fPIC"]);
    for run in 0..if is_long() { 60 } else { 5 } {
        let raw = sandbox.join(format!("raw{run}"));
        std::fs::create_dir(&raw).expect("a folder in the sandbox");
        let storm =
            Run::new("timeout").args(["-s", "KILL", "60"]).arg(&program).arg(&library).env("BBPROF_OUT", raw.join("%p.bbraw"));
        let told = storm.in_folder(sandbox.path()).ok().text();
        assert_eq!(told.lines().count(), 7, "{told}");
        for line in told.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let path = raw.join(format!("{}.bbraw", words[0]));
            let verified = Run::new(tool("bbprof")).arg("verify").arg(&path).outcome();
            let exported = Exported::of(std::slice::from_ref(&path));
            let counted = ["step", "part", "handler"].map(|name| exported.entries(name).unwrap_or(0).to_string());
            assert_eq!(counted.each_ref().map(String::as_str), words[1..], "{options:?}, run {run}: {}", verified.text());
            let _ = verified.expect_code(0);
        }
    }
}

#[test]
fn by_edges() {
    check(&[]);
}

#[test]
fn by_paths_in_hash_tables() {
    check(&["--bbprof-counters=paths", "--bbprof-path-array=0"]);
}

#[test]
fn in_shared_counters() {
    check(&["--bbprof-storage=atomic"]);
}
