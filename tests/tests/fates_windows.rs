//! Windows: what is counted between `bbprof_reset` and `bbprof_dump`, with activations under way at both, and what `verify` says of them.

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
