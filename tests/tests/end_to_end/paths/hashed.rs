//! Paths in hash tables: eight threads, no memory left, files that were damaged, pools.

use bbprof_tests::{Exported, Run, Sandbox, Truth, tool};
use std::path::{Path, PathBuf};

const HASHED: [&str; 2] = ["--bbprof-counters=paths", "--bbprof-path-array=0"];

fn compile(sandbox: &Sandbox, sources: &[&str], options: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let program = sandbox.join("program");
    let run = Run::new(tool("bbprof-cc")).args(["-w", "-D_GNU_SOURCE", "-pthread"]).args(HASHED).args(options);
    run.args(sources.iter().map(|source| folder.join(source))).arg("-o").arg(&program).ok();
    program
}

#[test]
fn eight_threads() {
    let sandbox = Sandbox::new("hashed-threads");
    let sources = ["main", "sudden", "handlers", "threads", "children", "confined", "glibc"].map(|name| format!("fates/{name}.c"));
    let program = compile(&sandbox, &sources.each_ref().map(String::as_str), &["-O2"]);
    Truth::create(&sandbox.join("truth"));
    let raw = sandbox.join("a.bbraw");
    let run = Run::new(program).arg("many_calls").env("TIMES", "200000").env("TRUTH", sandbox.join("truth"));
    run.env("BBPROF_OUT", &raw).ok();
    Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
    let exported = Exported::of(&[raw]);
    assert_eq!(exported.entries("thread_work"), Some(8));
    Truth::read(&sandbox.join("truth"))[0].compare(&exported, &[], "eight threads");
}

/// What finds no memory is not lost in silence: the function and the number of its
/// executions are named; the program's output stays.
#[test]
fn without_memory() {
    let sandbox = Sandbox::new("hashed-starved");
    let program = compile(&sandbox, &["many_paths/starved.c"], &["-O0"]);
    let plain = sandbox.join("plain");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/many_paths/starved.c");
    Run::new("cc").args(["-O0", "-w", "-D_GNU_SOURCE"]).arg(source).arg("-o").arg(&plain).ok();
    let raw = sandbox.join("starved.bbraw");
    let run = Run::new(program).arg("starve").env("BBPROF_OUT", &raw).ok();
    assert_eq!(run.stdout, Run::new(plain).arg("starve").ok().stdout);
    assert!(run.stderr.lines().count() == 1 && run.stderr.starts_with("bbprof: "), "{}", run.stderr);
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&raw).outcome().expect_code(5).text();
    let line = verified
        .lines()
        .find(|line| line.contains(": walk: ") && line.contains("executions of paths were not recorded"))
        .unwrap_or(&verified);
    let lost: u64 = line.split(' ').find_map(|word| word.parse().ok()).expect("a number");
    assert!((1..262_144).contains(&lost), "{line}");
    // What found memory is there.
    let dumped = Run::new(tool("bbprof")).arg("dump").arg(&raw).ok().text();
    let line = dumped.lines().find(|line| line.contains("hashed paths")).unwrap_or(&dumped);
    let recorded: u64 = line.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a sum");
    assert!(recorded > 262_144 - lost, "{line}, {lost} not recorded");
}

/// The sum of the executions of paths that stand in a raw profile, and of those that `verify` says were not recorded.
fn recorded_and_lost(raw: &Path, code: i32) -> (u64, u64) {
    let dumped = Run::new(tool("bbprof")).arg("dump").arg(raw).ok().text();
    let sums = dumped.lines().filter(|line| line.contains("hashed paths"));
    let recorded = sums.map(|line| line.rsplit(' ').next().and_then(|word| word.parse::<u64>().ok()).expect("a sum")).sum();
    let verified = Run::new(tool("bbprof")).arg("verify").arg(raw).outcome().expect_code(code).text();
    let lost = verified
        .lines()
        .filter_map(|line| line.split_once(" executions of paths were not recorded")?.0.rsplit(' ').next()?.parse::<u64>().ok());
    (recorded, lost.sum())
}

/// A thread whose first path is one of vfork's child, and one whose first counters are not where those of its next path are.
#[test]
fn vforks_children_and_code_for_libraries() {
    let sandbox = Sandbox::new("hashed-places");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/many_paths/places.c");
    let part = sandbox.join("part.o");
    let run = Run::new(tool("bbprof-cc")).args(HASHED).args(["-O0", "-fPIC", "-DPART", "-c"]);
    run.arg(&source).arg("-o").arg(&part).ok();
    let program = sandbox.join("program");
    let run = Run::new(tool("bbprof-cc")).args(HASHED).args(["-O0", "-fPIE", "-pie", "-pthread"]);
    run.arg(&source).arg(&part).arg("-o").arg(&program).ok();
    let raw = sandbox.join("a.bbraw");
    assert_eq!(Run::new(program).env("BBPROF_OUT", &raw).ok().stderr, "");
    Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
    let exported = Exported::of(&[raw]);
    assert_eq!((exported.entries("walk"), exported.entries("walk_of_library")), (Some(152), Some(151)));
}

/// A file that cannot grow, nor be written anew: what stood in memory alone is told, to the last execution.
#[test]
fn without_room_in_the_file() {
    let sandbox = Sandbox::new("hashed-no-room");
    let program = compile(&sandbox, &["many_paths/starved.c"], &["-O0"]);
    let raw = sandbox.join("a.bbraw");
    Run::new(&program).arg("many").env("BBPROF_OUT", &raw).ok();
    let (all, none) = recorded_and_lost(&raw, 0);
    assert!(all > 8192 && none == 0, "{all}, {none}");
    for kilobytes in ["50", "300"] {
        std::fs::remove_file(&raw).expect("the profile before");
        let script = format!("ulimit -f {kilobytes} && exec '{}' many", program.display());
        let run = Run::new("bash").args(["-c", &script]).env("BBPROF_OUT", &raw).ok();
        assert!(run.stderr.lines().count() == 1 && run.stderr.contains("cannot extend"), "{}", run.stderr);
        let (recorded, lost) = recorded_and_lost(&raw, 5);
        assert!(recorded > 0 && lost > 0 && recorded + lost == all, "{kilobytes}: {recorded} and {lost} of {all}");
    }
}

/// A handler that ends the process where the runtime lets signals in again, in the middle
/// of a block: that is told, as for other code.
#[test]
fn struck_in_the_middle_of_the_runtime() {
    let sandbox = Sandbox::new("hashed-struck");
    let program = compile(&sandbox, &["many_paths/struck.c"], &["-O0"]);
    let raw = sandbox.join("struck.bbraw");
    for _ in 0..40 {
        Run::new(&program).env("BBPROF_OUT", &raw).ok();
        let verified = Run::new(tool("bbprof")).arg("verify").arg(&raw).outcome().expect_code(5).text();
        assert!(
            verified.contains("a signal handler (or cancellation) interrupted other code and did not return to it;"),
            "{verified}"
        );
    }
}

/// Offset of a record of `walk`, whose paths are the last to begin.
fn record_at(bytes: &[u8]) -> usize {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let entry = (128..4096).step_by(64).find(|at| &bytes[*at..at + 4] == b"HASH").expect("records of paths");
    let first = word(entry + 16) as usize;
    let last = (first..).step_by(48).take_while(|at| word(*at) != 0).last().expect("a record");
    (first..=last).step_by(48).find(|at| word(*at) != word(first)).expect("two functions")
}

#[test]
fn damaged_records() {
    let sandbox = Sandbox::new("hashed-damaged");
    let program = compile(&sandbox, &["many_paths/starved.c"], &["-O0"]);
    let raw = sandbox.join("whole.bbraw");
    Run::new(program).arg("all").env("BBPROF_OUT", &raw).ok();
    Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
    let whole = std::fs::read(&raw).expect("a raw profile");
    let at = record_at(&whole);
    let told = |name: &str, bytes: &[u8], code: i32| {
        let path = sandbox.write(&format!("{name}.bbraw"), bytes);
        let outcome = Run::new(tool("bbprof")).arg("verify").arg(path).outcome().expect_code(code);
        outcome.text() + &outcome.stderr
    };
    let with = |word: usize, value: u64| {
        let mut bytes = whole.clone();
        bytes[at + 8 * word..at + 8 * (word + 1)].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let number = told("number", &with(1, 1 << 40), 5);
    assert!(number.contains("walk") && number.contains("1099511627776"), "{number}");
    // A running file has no checksum over its counts; that one is too small shows by the calls.
    let count = told("count", &with(2, 0), 5);
    assert!(count.contains("walk: called 64 times by profiled code, but entered 63 times"), "{count}");
    let place = told("place", &with(0, 8 * 1000), 1);
    assert!(
        place.contains("has place 8000") && place.contains("functions with paths there: ") && place.contains("walk"),
        "{place}"
    );
    let truncated = told("truncated", &whole[..at + 100], 1);
    assert!(truncated.contains("truncated") && truncated.contains("in the records of paths of "), "{truncated}");
    assert!(truncated.contains("functions with paths there: ") && truncated.contains("walk"), "{truncated}");
}
