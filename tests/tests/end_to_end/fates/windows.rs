//! Windows: what is counted between `bbprof_reset` and `bbprof_dump`, with activations
//! under way at both, and what `verify` says of them.

use bbprof_tests::{Exported, Run, Sandbox, tool};
use std::path::Path;

/// What `verify` says of the dump and of the raw profile; the exit codes with which it does.
fn run(arguments: &[&str], codes: [i32; 2]) -> [String; 2] {
    let sandbox = Sandbox::new("windows");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compile = Run::new(tool("bbprof-cc")).args(["-O2", "-pthread", "-I"]).arg(root.join("../bbprof-rt/c"));
    compile.arg(root.join("programs/resets/resets.c")).arg("-o").arg(sandbox.join("windows")).ok();
    let program = Run::new(sandbox.join("windows")).args(arguments).env("BBPROF_OUT", "end.bbraw").in_folder(sandbox.path());
    program.ok();
    // In 20 passes, those behind the reset in the eleventh; in three, the one behind the reset in the second.
    [("window", 9, codes[0]), ("end", 1, codes[1])].map(|(name, branchy, code)| {
        let path = sandbox.join(format!("{name}.bbraw"));
        let said = Run::new(tool("bbprof")).arg("verify").arg(&path).outcome().expect_code(code).text();
        if code == 0 {
            let exported = Exported::of(std::slice::from_ref(&path));
            assert_eq!(
                ["branchy", "outer", "main"].map(|name| exported.entries(name)),
                [Some(branchy), Some(0), Some(0)],
                "{name}"
            );
        }
        said
    })
}

#[test]
fn they_are_exact_and_named() {
    let [window, end] = run(&[], [0, 0]);
    assert!(window.contains("snapshot of a running process, counted since a reset\n"), "{window}");
    assert!(end.contains("exit 0, counted since the last of 3 resets\n"), "{end}");
}

/// A thread counts at the reset and at the dump; it is gone at the last reset.
#[test]
fn threads_at_a_window() {
    let [window, end] = run(&["thread"], [5, 0]);
    assert!(window.contains("1 other thread was running at the snapshot"), "{window}");
    assert!(window.contains("1 other thread was running at the reset"), "{window}");
    assert!(end.contains("exit 0, counted since the last of 3 resets\n"), "{end}");
}

/// Threads wait in system calls of all kinds; what `verify` says of the two dumps, and how often the function was entered.
fn waiting(options: &[&str], arguments: &[&str], code: i32) -> [(String, Option<u64>); 2] {
    let sandbox = Sandbox::new("waiting");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let compile = Run::new(tool("bbprof-cc")).args(["-O2", "-w", "-D_GNU_SOURCE", "-pthread"]).args(options);
    compile.arg(root.join("programs/resets/waiting.c")).arg("-o").arg(sandbox.join("waiting")).ok();
    let program = Run::new(sandbox.join("waiting")).args(arguments).env("BBPROF_OUT", "end.bbraw").in_folder(sandbox.path());
    program.ok();
    ["waiting", "window"].map(|name| {
        let path = sandbox.join(format!("{name}.bbraw"));
        let said = Run::new(tool("bbprof")).arg("verify").arg(&path).outcome().expect_code(code).text();
        (said, Exported::of(&[path]).entries("branchy"))
    })
}

#[test]
fn threads_that_wait_all_the_while() {
    for options in [&[][..], &["--bbprof-storage=atomic"], &["--bbprof-counters=paths", "--bbprof-path-array=0"]] {
        let [(said, calls), (said_of_window, calls_in_window)] = waiting(options, &[], 0);
        assert_eq!((calls, calls_in_window), (Some(607), Some(5)), "{options:?}: {said}{said_of_window}");
    }
}

/// One of them waits in a handler, and what that interrupted does not.
#[test]
fn a_thread_that_waits_in_the_middle_of_a_block() {
    let [(said, _), (said_of_window, calls_in_window)] = waiting(&[], &["struck"], 5);
    assert!(said.contains("7 other threads were running at the snapshot"), "{said}");
    assert!(said_of_window.contains("7 other threads were running at the reset"), "{said_of_window}");
    assert_eq!(calls_in_window, Some(5), "nobody else counted");
}

const MANY_WINDOWS: &str = "\
#include <bbprof.h>
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noinline)) void leaf(unsigned i) { sink += i; }
int main(int argc, char **argv) {
  for (int window = atoi(argv[argc - 1]); window > 0; window--) {
    for (unsigned i = 0; i < 100; i++)
      leaf(i);
    bbprof_dump(0);
    bbprof_reset();
  }
  for (unsigned i = 0; i < 7; i++)
    leaf(i);
  return 0;
}
";

/// Dumps of windows that a reset ended are in no pool, whatever other processes did.
#[test]
fn windows_of_pools() {
    let sandbox = Sandbox::new("pool-windows");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bbprof-rt/c");
    let compile = Run::new(tool("bbprof-cc")).args(["-O1", "-g", "-I"]).arg(include);
    compile.arg(sandbox.write("many.c", MANY_WINDOWS)).arg("-o").arg(sandbox.join("many")).ok();
    std::fs::create_dir(sandbox.join("raw")).expect("a folder in the sandbox");
    for windows in ["3", "0"] {
        Run::new(sandbox.join("many")).arg(windows).env("BBPROF_OUT", sandbox.join("raw/%m.bbraw")).ok();
    }
    assert_eq!(Exported::of(&[sandbox.join("raw")]).entries("leaf"), Some(314));
}
