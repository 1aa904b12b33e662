//! Loops that count several turns at once: which these are, and what is counted in one that is interrupted.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use crate::cases::functions_of;
use bbprof_tests::{Case, Exported, Run, Sandbox, tool};
use std::path::Path;

/// What each turn counts equals what is counted once in several, on every edge; and what handlers count in between is there.
#[test]
fn turns_are_counted_at_once_and_none_is_lost() {
    for options in [
        &["-fPIC"][..],
        &["--bbprof-storage=atomic"],
        &["--bbprof-storage=shared"],
        &["--bbprof-counters=paths-check"],
        &["--bbprof-without=closing"],
        &["-mllvm", "-verify-machineinstrs", "-fno-unroll-loops"],
    ] {
        Case::named("turns").check(options);
    }
}

#[test]
fn tight_loops_with_one_counter_are_unrolled() {
    let unrolled = |options: &[&str]| functions_of("turns", options, |function| !function.unrolled_blocks.is_empty());
    let found = unrolled(&["-O2"]);
    for known in ["length", "either", "returns", "longest", "lowest", "common", "steps", "nested", "twice", "falls", "first"] {
        assert!(found.contains(known), "{known} is not among {found:?}");
    }
    // A step that only the run knows, a counter that not each turn adds to, and one whose source says no.
    for unknown in ["strides", "arms", "few"] {
        assert!(!found.contains(unknown), "{unknown} is among {found:?}");
    }
    for options in [&["-O0"][..], &["-Os"], &["-O2", "--bbprof-without=unrolling"], &["-O2", "--bbprof-counters=blocks"]] {
        assert!(unrolled(options).is_empty(), "{options:?}");
    }
    let found = functions_of("loops", &["-O2"], |function| !function.unrolled_blocks.is_empty());
    for unknown in ["bits", "found", "watched", "wide"] {
        assert!(!found.contains(unknown), "{unknown} is to stay as it is written: {found:?}");
    }
}

/// A loop that runs into memory which it may not read, in the turn behind this many.
const RUNS_INTO_A_WALL: &str = "#include <stdlib.h>
    #include <sys/mman.h>
    __attribute__((noinline)) long length(const unsigned char *at) {
        const unsigned char *from = at;
        while (*at > 3) at++;
        return at - from;
    }
    int main(int count, char **words) {
        unsigned char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (int i = 0; i < 4096; i++) pages[i] = 9;
        mprotect(pages + 4096, 4096, PROT_NONE);
        return (int)length(pages + 4096 - atol(words[count - 1]));
    }";

/// The counts of the blocks of `length`, after so many turns, and what `verify` says.
fn counts_at_the_wall(program: &Path, sandbox: &Sandbox, turns: u64) -> (Vec<u64>, String) {
    let profile = sandbox.join("run.bbraw");
    let died = Run::new(program).arg(turns.to_string()).env("BBPROF_OUT", &profile).outcome();
    assert_eq!(died.code, 128 + 11, "{}", died.stderr);
    let verified = Run::new(tool("bbprof")).args(["verify", "--interrupted"]).arg(&profile).outcome().expect_code(5).text();
    let exported = Exported::of(&[profile]);
    let length = exported.functions().into_iter().find(|function| function.is_called("length")).unwrap();
    let counts = length.value["blocks"].as_array().unwrap().iter().map(|block| block["count"].as_u64().unwrap());
    (counts.collect(), verified)
}

#[test]
fn who_is_interrupted_is_behind_by_three_turns_at_most() {
    let sandbox = Sandbox::new("wall");
    std::fs::write(sandbox.join("wall.c"), RUNS_INTO_A_WALL).unwrap();
    let compiled = |name: &str, options: &[&str]| {
        let program = sandbox.join(name);
        Run::new(tool("bbprof-cc")).arg("-O2").args(options).arg(sandbox.join("wall.c")).arg("-o").arg(&program).ok();
        program
    };
    let (unrolled, each) = (compiled("unrolled", &[]), compiled("each", &["--bbprof-without=unrolling"]));
    // The turn that it does not end has been counted, too. Behind it the last block comes, once there are turns at all.
    for turns in (0..10).chain([1000]) {
        let (late, says) = counts_at_the_wall(&unrolled, &sandbox, turns);
        assert!(says.contains("in loops that count up to 4 turns at once, behind by at most 3\n"), "{says}");
        let (counts, says) = counts_at_the_wall(&each, &sandbox, turns);
        assert!(!says.contains("behind by at most"), "{says}");
        let behind: Vec<u64> = counts.iter().zip(&late).map(|(count, late)| count - late).collect();
        assert_eq!(behind, [0, (turns + 1) % 4, u64::from(turns < 3)], "{turns} turns: {late:?}, {counts:?} if each is counted");
    }
}
