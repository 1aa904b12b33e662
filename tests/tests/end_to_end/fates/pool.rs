//! `%m` in `BBPROF_OUT`: one file for any number of processes, with all their counts, whatever comes between.
//!
//! Requires `unshare` (util-linux) and the right to make user namespaces.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_format::raw::{Ending, Fate, RawProfile};
use bbprof_tests::{Exported, Outcome, Run, Sandbox, is_long, tool};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Calls of `step` by each process.
const CALLS: u64 = 100;

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/pool").join(name)
}

/// A folder with the program and its library; profiles go to `raw` in it.
fn built() -> Sandbox {
    built_with(&[])
}

/// All paths are counted in hash tables.
const HASHED: &[&str] = &["--bbprof-counters=paths", "--bbprof-path-array=0"];

fn built_with(more: &[&str]) -> Sandbox {
    let sandbox = Sandbox::new("pool");
    let compile = |output: &str, source: PathBuf, options: &[&str]| {
        let run = Run::new(tool("bbprof-cc")).args(["-O2", "-D_GNU_SOURCE", "-pthread"]).args(options).args(more).arg(source);
        run.arg("-o").arg(sandbox.join(output)).ok();
    };
    compile("pool", source("pool.c"), &[]);
    compile("part.so", source("part.c"), &["-shared", "-fPIC"]);
    std::fs::create_dir(sandbox.join("raw")).unwrap();
    sandbox
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    let run = Run::new(sandbox.join("pool")).args(arguments).env("BBPROF_OUT", "raw/%m.bbraw");
    run.in_folder(sandbox.path()).outcome()
}

fn read(path: &Path) -> RawProfile {
    RawProfile::read(&std::fs::read(path).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The one file that is left, exact, and how many of its processes ended how.
fn pool(sandbox: &Sandbox) -> (PathBuf, Vec<(Fate, u64)>) {
    let profiles = sandbox.raw_profiles("raw");
    assert_eq!(profiles.len(), 1, "{}", profiles[0].display());
    Run::new(tool("bbprof")).arg("verify").args(&profiles).ok();
    let mut fates: Vec<(Fate, u64)> = read(&profiles[0]).pooled.into_iter().map(|(ending, n)| (ending.fate, n)).collect();
    fates.sort_by_key(|(fate, _)| fate.to_string());
    (profiles[0].clone(), fates)
}

fn steps(sandbox: &Sandbox) -> u64 {
    Exported::of(&[sandbox.join("raw")]).entries("step").unwrap()
}

#[test]
fn a_thousand_children_in_one_file() {
    let sandbox = built();
    run(&sandbox, &["1000", "exit"]).expect_code(0);
    let (pool, fates) = pool(&sandbox);
    assert_eq!(fates, [(Fate::Exit { status: Some(0) }, 1), (Fate::Exit { status: Some(7) }, 1000)]);
    assert_eq!(steps(&sandbox), 1001 * CALLS);
    assert!(std::fs::metadata(&pool).unwrap().len() < 16_384, "a file for one process would not be smaller");
    assert_eq!(std::fs::read_dir(sandbox.join("raw")).unwrap().count(), 2, "besides it, the lock");
    // And what readers say of it.
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&pool).ok().text();
    assert!(verified.contains("1,000 processes of ") && verified.contains(": exit 7\n"), "{verified}");
    assert!(verified.contains(", in 1,001 processes"), "{verified}");
    let report = Run::new(tool("bbprof")).arg("report").arg(&pool).ok().text();
    assert!(report.contains("exit 7 (1,000 processes)"), "{report}");
    let dumped = Run::new(tool("bbprof")).arg("dump").arg(&pool).ok().text();
    assert!(dumped.contains("1000: exit 7"), "{dumped}");
    let merged = sandbox.join("all.bbprof");
    Run::new(tool("bbprof")).arg("merge").arg("-o").arg(&merged).arg(&pool).ok();
    assert!(Run::new(tool("bbprof")).arg("dump").arg(&merged).ok().text().contains("of 1001 processes"));
}

/// Those that do not come to it themselves are added by others.
#[test]
fn however_they_end() {
    let sandbox = built();
    for order in [&["60", "each"][..], &["60", "each", "one"]] {
        run(&sandbox, order).expect_code(0);
    }
    let (_, fates) = pool(&sandbox);
    let expected = [
        (Fate::Exit { status: Some(0) }, 2),
        (Fate::ExitAtOnce { status: 3 }, 20),
        (Fate::QuickExit { status: 4 }, 20),
        (Fate::Exit { status: Some(7) }, 20),
        (Fate::Abort, 20),
        (Fate::OwnSignal { signal: 15 }, 20),
        (Fate::Exec, 20),
    ];
    let mut sorted = expected.to_vec();
    sorted.sort_by_key(|(fate, _)| fate.to_string());
    assert_eq!(fates, sorted);
    assert_eq!(steps(&sandbox), 122 * CALLS);
}

/// Processes with other images than the pool's, and other programs.
#[test]
fn other_images() {
    let sandbox = built();
    run(&sandbox, &["20", "library"]).expect_code(0);
    let (pool, fates) = pool(&sandbox);
    assert_eq!(fates.iter().map(|(_, processes)| processes).sum::<u64>(), 21);
    assert_eq!(read(&pool).images.len(), 2);
    let exported = Exported::of(std::slice::from_ref(&pool));
    assert_eq!((exported.entries("step"), exported.entries("part")), (Some(21 * CALLS), Some(10 * 10)));
    // Another program has another pool.
    Run::new(tool("bbprof-cc")).args(["-O1", "-D_GNU_SOURCE"]).arg(source("pool.c")).arg("-o").arg(sandbox.join("pool")).ok();
    run(&sandbox, &["3", "exit"]).expect_code(0);
    assert_eq!(sandbox.raw_profiles("raw").len(), 2);
}

/// Killed in the middle of adding: at the lock, before and while the sum is written,
/// before it takes its place. Others add it later.
#[test]
fn killed_in_the_middle() {
    killed_in_the_middle_with(&[]);
}

#[test]
fn killed_in_the_middle_of_adding_paths() {
    killed_in_the_middle_with(HASHED);
}

fn killed_in_the_middle_with(options: &[&str]) {
    let sandbox = built_with(options);
    run(&sandbox, &["1", "exit"]).expect_code(0);
    run(&sandbox, &["20", "in the middle", "one"]).expect_code(0);
    let (_, fates) = pool(&sandbox);
    assert_eq!(fates, [(Fate::Exit { status: Some(0) }, 2), (Fate::Exit { status: Some(7) }, 21)]);
    assert_eq!(steps(&sandbox), 23 * CALLS);
    assert_eq!(std::fs::read_dir(sandbox.join("raw")).unwrap().count(), 2, "the pool and its lock");
}

/// Killed somewhere between the end of their work and their own: what they did is counted once.
#[test]
fn killed_while_adding() {
    killed_while_adding_with(&[]);
}

#[test]
fn killed_while_adding_paths() {
    killed_while_adding_with(HASHED);
}

fn killed_while_adding_with(options: &[&str]) {
    let sandbox = built_with(options);
    run(&sandbox, &["200", "killed", "one"]).expect_code(0);
    assert_eq!(steps(&sandbox), 201 * CALLS);
    run(&sandbox, &["5", "exit"]).expect_code(0);
    assert_eq!(steps(&sandbox), 207 * CALLS);
    for path in sandbox.raw_profiles("raw") {
        let profile = read(&path);
        assert!(
            !profile.pooled.is_empty() || profile.ending.fate == Fate::NotSeen,
            "{}: {:?} was not added",
            path.display(),
            profile.ending.fate
        );
    }
}

/// Somebody else kills them: they are in a pool of their own, with what is to be said of their counts.
#[test]
fn killed_from_outside() {
    let sandbox = built();
    run(&sandbox, &["200", "waits", "one"]).expect_code(0);
    let profiles = sandbox.raw_profiles("raw");
    assert_eq!(std::fs::read_dir(sandbox.join("raw")).unwrap().count(), 3, "two pools and the lock: {profiles:?}");
    let of = |fate: Fate, profile: &RawProfile| profile.pooled == [(fate.into(), if fate == Fate::NotSeen { 200 } else { 1 })];
    let pools: Vec<RawProfile> = profiles.iter().map(|path| read(path)).collect();
    assert!(of(Fate::Exit { status: Some(0) }, &pools[0]) && of(Fate::NotSeen, &pools[1]), "{profiles:?}");
    assert!(profiles[1].to_string_lossy().ends_with("_inexact.bbraw"));
    assert_eq!(steps(&sandbox), 201 * CALLS);
    Run::new(tool("bbprof")).arg("verify").arg(&profiles[0]).ok();
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&profiles[1]).outcome().expect_code(5).text();
    assert!(verified.contains("(200 processes of a pool): no end of these processes was seen"), "{verified}");
    // Merged, they are told as they are in the pool.
    let merged = sandbox.join("all.bbprof");
    Run::new(tool("bbprof")).arg("merge").arg("-o").arg(&merged).args(&profiles).ok();
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&merged).outcome().expect_code(5).text();
    assert!(verified.contains("(200 processes of a pool): no end of these processes was seen"), "{verified}");
}

fn told_steps(outcome: &Outcome) -> u64 {
    outcome.text().trim_end_matches(" steps\n").parse().unwrap()
}

/// What is to be said of their counts is said for as many as it is true of; nothing else keeps a file.
#[test]
fn of_which_more_is_to_be_said() {
    for options in [&[][..], HASHED] {
        let sandbox = built_with(options);
        let children = if is_long() { 10_000 } else { 60 };
        let told = told_steps(&run(&sandbox, &[&children.to_string(), "caveats"]).expect_code(0));
        assert_eq!(std::fs::read_dir(sandbox.join("raw")).unwrap().count(), 3, "two pools and the lock");
        let profiles = sandbox.raw_profiles("raw");
        let verified = Run::new(tool("bbprof")).arg("verify").arg(&profiles[0]).ok().text();
        // A thread that has not come to its wait is called running, on a busy machine.
        assert!(verified.contains("exit 7, counted since a reset\n"), "{verified}");
        let verified = Run::new(tool("bbprof")).arg("verify").arg(&profiles[1]).outcome().expect_code(5).text();
        let each = children / 5;
        for expected in [
            "1 other thread was running when each ended;",
            "a signal handler (or cancellation) interrupted other code and did not return to it;",
            "1 other thread was running at the reset, which reads counter by counter",
        ] {
            assert!(verified.contains(expected), "{expected}: {verified}");
        }
        let endings: Vec<_> = profiles.iter().flat_map(|path| read(path).pooled).collect();
        let number = |of: &dyn Fn(&Ending) -> bool| -> u64 { endings.iter().filter(|(end, _)| of(end)).map(|(_, n)| n).sum() };
        let waiting = |end: &Ending| end.waits.is_some() || end.live_threads == 2;
        assert_eq!(number(&|_| true), children + 1);
        assert_eq!([number(&waiting), number(&|end| end.interrupted > 0), number(&|end| end.resets > 0)], [each, each, 2 * each]);
        let bytes: u64 = profiles.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
        assert!(bytes < 20_000, "{bytes} bytes");
        assert_eq!(steps(&sandbox), told);
    }
}

/// The same paths as in files of their own, which other code adds up.
#[test]
fn paths_in_hash_tables() {
    let sandbox = built_with(HASHED);
    let children = if is_long() { "10000" } else { "130" };
    for (pattern, folder) in [("raw/%m.bbraw", "raw"), ("own/%p.bbraw", "own")] {
        std::fs::create_dir_all(sandbox.join(folder)).unwrap();
        let run = Run::new(sandbox.join("pool")).args([children, "each"]).env("BBPROF_OUT", pattern);
        run.in_folder(sandbox.path()).outcome().expect_code(0);
    }
    let (pool, _) = pool(&sandbox);
    assert_eq!(std::fs::read_dir(sandbox.join("raw")).unwrap().count(), 2, "besides it, the lock");
    let mut expected: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for path in sandbox.raw_profiles("own") {
        for path in &read(&path).images[0].hashed_paths {
            *expected.entry((path.counter, path.number)).or_default() += path.count;
        }
    }
    let pooled: Vec<_> = read(&pool).images[0].hashed_paths.iter().map(|path| ((path.counter, path.number), path.count)).collect();
    assert_eq!(pooled, expected.into_iter().collect::<Vec<_>>());
    assert!(std::fs::metadata(&pool).unwrap().len() < 16_384, "as large as for a hundred processes");
}

/// In the middle of their work: no count is farther off than one for each of them.
#[test]
fn killed_at_work() {
    let sandbox = built();
    let told = run(&sandbox, &["40", "works on"]).expect_code(0).text();
    run(&sandbox, &["0"]).expect_code(0);
    let profiles = sandbox.raw_profiles("raw");
    assert_eq!(profiles.len(), 2, "{profiles:?}");
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&profiles[1]).outcome().expect_code(5).text();
    assert!(!verified.contains("no counts") && verified.contains("(40 processes of a pool)"), "{verified}");
    let (counted, told) = (steps(&sandbox) - CALLS, told.trim_end_matches(" steps\n").parse::<u64>().unwrap());
    assert!(counted.abs_diff(told) <= 40, "{counted} calls, {told} told");
}

/// A copy of a file that was added, as a kill leaves it before its removal: neither readers nor the pool count it again.
#[test]
fn added_but_not_removed() {
    let sandbox = built();
    run(&sandbox, &["2", "exit", "one"]).expect_code(0);
    let (pool, _) = pool(&sandbox);
    let last = read(&pool).process;
    let name = pool.file_stem().unwrap().to_str().unwrap();
    let mut own = read(&pool);
    (own.ending.fate, own.pooled) = (Fate::Exit { status: Some(7) }, Vec::new());
    let left = sandbox.join(format!("raw/{name}_r{}-{:016x}.bbraw", last.pid, last.begun_ns));
    std::fs::write(&left, own.encode()).unwrap();
    assert_eq!(steps(&sandbox), 3 * CALLS);
    let merged = sandbox.join("all.bbprof");
    let told = Run::new(tool("bbprof")).arg("merge").arg("-o").arg(&merged).arg(sandbox.join("raw")).ok().stderr;
    assert!(told.contains("left out") && told.contains("are in the pool"), "{told}");
    run(&sandbox, &["0"]).expect_code(0);
    assert!(!left.exists());
    assert_eq!(steps(&sandbox), 4 * CALLS);
}

/// Where the file that was added cannot be removed, nothing more is added: it would be counted again.
#[test]
fn added_and_never_removed() {
    let sandbox = built();
    let outcome = run(&sandbox, &["4", "cannot remove", "one"]).expect_code(0);
    assert!(outcome.stderr.contains("operation not permitted; each process keeps its own file"), "{}", outcome.stderr);
    assert_eq!(steps(&sandbox), 5 * CALLS);
    // Who may, goes on.
    run(&sandbox, &["0"]).expect_code(0);
    let (_, fates) = pool(&sandbox);
    assert_eq!(fates, [(Fate::Exit { status: Some(0) }, 2), (Fate::Exit { status: Some(7) }, 4)]);
    assert_eq!(steps(&sandbox), 6 * CALLS);
}

/// In a pid namespace whose /proc is that of another, where a dead process has the number
/// of a living one: that is not added before its end.
#[test]
fn the_number_of_a_dead_process_elsewhere() {
    let sandbox = built();
    let mut dead = std::process::Command::new("true").spawn().unwrap();
    let script = format!(
        "mkfifo go
        echo $(({0} - 1)) > /proc/sys/kernel/ns_last_pid
        ./pool 0 'after a line' < go &
        test $! = {0} || exit 9
        exec 3> go
        until ls raw/*_r{0}-* 2> none; do sleep 0.01; done
        ./pool 0 && echo >&3 && wait $!",
        dead.id()
    );
    let outcome = Run::new("unshare").args(["-rpf", "bash", "-c", &script]).env("BBPROF_OUT", "raw/%m.bbraw");
    outcome.in_folder(sandbox.path()).outcome().expect_code(0);
    dead.wait().unwrap();
    assert_eq!(pool(&sandbox).1, [(Fate::Exit { status: Some(0) }, 2)]);
    assert_eq!(steps(&sandbox), 3 * CALLS);
}

/// A child of vfork ends, in a pid namespace of its own where it has its parent's number,
/// and its parent's memory: the parent goes on.
#[test]
fn the_number_of_the_parent_elsewhere() {
    for (pattern, ends) in [("raw/%m.bbraw", 1), ("raw/%p.bbraw", 0)] {
        let sandbox = built();
        let run = Run::new("unshare").args(["-rpf", "./pool", "0", "child elsewhere"]).env("BBPROF_OUT", pattern);
        run.in_folder(sandbox.path()).outcome().expect_code(0);
        let (path, pooled) = pool(&sandbox);
        assert_eq!(pooled.into_iter().map(|(_, n)| n).sum::<u64>(), ends);
        assert_eq!(ends + u64::from(read(&path).ending.fate == Fate::Exit { status: Some(0) }), 1);
        assert_eq!(steps(&sandbox), 2 * CALLS);
    }
}

/// Killed while a library was loaded, before its counters had a place: it is not among the images, as in the file of the process.
#[test]
fn killed_while_loading() {
    let sandbox = built();
    run(&sandbox, &["2", "cut library", "one"]).expect_code(0);
    run(&sandbox, &["0"]).expect_code(0);
    let profiles = sandbox.raw_profiles("raw");
    let images = |path: &PathBuf| read(path).images.len();
    assert_eq!(profiles.iter().map(images).collect::<Vec<_>>(), [2, 1], "{profiles:?}");
    assert_eq!(steps(&sandbox), 4 * CALLS);
}

/// Killed before their files had their names: nothing was counted in these yet.
#[test]
fn killed_at_their_begin() {
    let sandbox = built();
    run(&sandbox, &["4", "killed at its begin", "one"]).expect_code(0);
    assert_eq!(pool(&sandbox).1, [(Fate::Exit { status: Some(0) }, 1), (Fate::Exec, 4)]);
    assert_eq!(std::fs::read_dir(sandbox.join("raw")).unwrap().count(), 2, "the pool and its lock");
    assert_eq!(steps(&sandbox), 5 * CALLS);
}

/// A process elsewhere, whose number means nothing here, holds its file while it begins;
/// and what only looks like such a file stays.
#[test]
fn beginning_elsewhere() {
    let sandbox = built();
    run(&sandbox, &["0"]).expect_code(0);
    let (pool, _) = pool(&sandbox);
    let name = pool.file_stem().unwrap().to_str().unwrap();
    // Greater than any process's number.
    let file = |suffix: &str| sandbox.join(format!("raw/{name}_r4194305-0123456789abcdef.bbraw{suffix}"));
    let (begins, others) = (file(".tmp7-1"), [".tmp7-", ".tmp7x", ".tmp", ".tmpx", ".tm"].map(file));
    others.iter().chain([&begins]).for_each(|path| std::fs::write(path, "").unwrap());
    let held = Run::new("flock").arg(&begins).args(["./pool", "0"]).env("BBPROF_OUT", "raw/%m.bbraw");
    held.in_folder(sandbox.path()).outcome().expect_code(0);
    assert!(begins.exists());
    run(&sandbox, &["0"]).expect_code(0);
    assert!(!begins.exists() && others.iter().all(|path| path.exists()));
    assert_eq!(steps(&sandbox), 3 * CALLS);
}

/// On a disk with room for some: each process is counted, or has said that it is not.
#[test]
fn a_disk_that_fills() {
    for kilobytes in (4..80).step_by(8) {
        let sandbox = built();
        let script = format!(
            "mount -t tmpfs -o size={kilobytes}k none raw && ./pool 20 _exit one; code=$?; mkdir out; cp raw/*.bbraw out; exit $code"
        );
        let outcome = Run::new("unshare").args(["-rm", "bash", "-c", &script]).env("BBPROF_OUT", "raw/%m.bbraw");
        let outcome = outcome.in_folder(sandbox.path()).outcome().expect_code(0);
        let lines = outcome.stderr.lines().filter(|line| line.starts_with("bbprof: ")).count() as u64;
        std::fs::remove_dir(sandbox.join("raw")).unwrap();
        std::fs::rename(sandbox.join("out"), sandbox.join("raw")).unwrap();
        let counted = if sandbox.raw_profiles("raw").is_empty() { 0 } else { steps(&sandbox) };
        let expected = if counted == 0 { 0 } else { (21 - lines) * CALLS };
        assert!(counted == expected && (counted > 0 || lines == 1), "{kilobytes} KB: {counted} calls, {}", outcome.stderr);
    }
}

/// What is no pool is left alone; each process keeps its own file.
#[test]
fn a_pool_that_is_damaged() {
    let sandbox = built();
    run(&sandbox, &["2", "exit", "one"]).expect_code(0);
    let (pool, _) = pool(&sandbox);
    let mut bytes = std::fs::read(&pool).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&pool, &bytes).unwrap();
    let outcome = run(&sandbox, &["0"]).expect_code(0);
    assert!(outcome.stderr.contains("is damaged") && outcome.stderr.lines().count() == 1, "{}", outcome.stderr);
    assert_eq!(std::fs::read(&pool).unwrap(), bytes);
    let profiles = sandbox.raw_profiles("raw");
    assert_eq!(profiles.len(), 2);
    Run::new(tool("bbprof")).arg("verify").arg(profiles.iter().find(|path| **path != pool).unwrap()).ok();
}

#[test]
fn in_the_name_of_a_folder() {
    let sandbox = built();
    let outcome = Run::new(sandbox.join("pool")).env("BBPROF_OUT", "%m/x.bbraw").in_folder(sandbox.path()).outcome().expect_code(0);
    assert!(outcome.stderr.contains("%m stands in the name of the file"), "{}", outcome.stderr);
}

/// What the processes of a pool dumped is in the pool, too, and is read when it is named alone.
#[test]
fn beside_snapshots_of_its_processes() {
    let sandbox = built();
    let told = told_steps(&run(&sandbox, &["5", "dumps"]).expect_code(0));
    let (pools, snapshots): (Vec<_>, Vec<_>) =
        sandbox.raw_profiles("raw").into_iter().partition(|path| !read(path).pooled.is_empty());
    assert_eq!((pools.len(), snapshots.len()), (1, 5));
    let verified = Run::new(tool("bbprof")).arg("verify").arg(sandbox.join("raw")).ok();
    assert!(verified.stderr.contains("left out 5 snapshots"), "{}", verified.stderr);
    assert_eq!(steps(&sandbox), told);
    assert_eq!(Exported::of(&snapshots[..1]).entries("step"), Some(CALLS), "the child's own");
}

/// A preloaded library has an `_exit` of its own, which waits for a thread.
#[test]
fn an_exit_of_others_behind_ours() {
    const LIBRARY: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <pthread.h>\nstatic void *thread(void *x) { return x; }\n\
        void _exit(int status) {\n  pthread_t made;\n  if (pthread_create(&made, 0, thread, 0) == 0)\n    pthread_join(made, 0);\n  \
        ((void (*)(int))dlsym(RTLD_NEXT, \"_exit\"))(status);\n  for (;;) ;\n}\n";
    let sandbox = Sandbox::new("pool-exit");
    std::fs::create_dir(sandbox.join("raw")).unwrap();
    sandbox.write("exit.c", LIBRARY);
    sandbox.write("main.c", "#include <unistd.h>\nint main(void) { _exit(5); }\n");
    Run::new("clang-22").args(["-O1", "-shared", "-fPIC", "exit.c", "-o", "exit.so"]).in_folder(sandbox.path()).ok();
    Run::new(tool("bbprof-cc")).args(["-O1", "main.c", "-o", "main"]).in_folder(sandbox.path()).ok();
    let run =
        Run::new("timeout").args(["-s", "KILL", "60", "env", "LD_PRELOAD=./exit.so", "./main"]).env("BBPROF_OUT", "raw/%m.bbraw");
    run.in_folder(sandbox.path()).outcome().expect_code(5);
    assert_eq!(pool(&sandbox).1, [(Fate::ExitAtOnce { status: 5 }, 1)]);
}
