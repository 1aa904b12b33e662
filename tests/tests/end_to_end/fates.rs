//! However a program ends, whatever its threads and children do: its counts are what it knows of itself, and `verify` tells its
//! fate. A table of scenarios; the programs (`tests/programs/fates`) are compiled once for each storage.

mod beside_forks;
mod forks;
mod lost_names;
mod many;
mod pool;
mod refused;
mod scenarios;
mod stacks;
mod storm;
mod windows;

use bbprof_format::raw::RawProfile;
use bbprof_tests::{Cargo, Exported, MuslImage, Run, Sandbox, Truth, for_musl, is_long, tool};
use scenarios::{ABORT, CPP, ENDS, LIBC_THREADS, LOST_THREADS, RUST, RUST_ABORTS, SHARED_BY_THREADS, Scenario, UNSEEN, scenario};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/fates")
}

/// Where the programs are built, once for all tests of this file.
fn built() -> &'static Sandbox {
    static BUILT: OnceLock<Sandbox> = OnceLock::new();
    BUILT.get_or_init(|| Sandbox::new("fates"))
}

/// Compiles all files of a language.
fn compile(driver: &str, extension: &str, name: &str, options: &[&str]) -> PathBuf {
    compile_between(driver, extension, name, options, &[])
}

/// The same with options before and behind the files.
fn compile_between(driver: &str, extension: &str, name: &str, before: &[&str], behind: &[String]) -> PathBuf {
    let program = built().join(name);
    let mut sources: Vec<PathBuf> =
        std::fs::read_dir(programs()).expect("the programs").map(|entry| entry.expect("a file").path()).collect();
    sources.retain(|path| path.extension().is_some_and(|found| found == extension));
    sources.sort();
    let run = Run::new(tool(driver)).args(["-O2", "-g", "-w", "-D_GNU_SOURCE", "-pthread"]).args(before);
    run.args(&sources).args(behind).arg("-o").arg(&program).ok();
    program
}

/// Runs a scenario and compares: the end, each process's truth and its verdict.
fn check(program: &Path, scenario: &Scenario) -> Result<(), String> {
    let sandbox = Sandbox::new("fate");
    std::fs::create_dir(sandbox.join("raw")).expect("a folder in the sandbox");
    Truth::create(&sandbox.join("truth"));
    let outcome = Run::new(program)
        .arg(scenario.name)
        .env("TRUTH", sandbox.join("truth"))
        .env("BBPROF_OUT", sandbox.join("raw/%p.bbraw"))
        .in_folder(sandbox.path())
        .outcome();
    let what = format!("{} {}", program.file_name().unwrap_or_default().to_string_lossy(), scenario.name);
    if outcome.code != scenario.code {
        return Err(format!("{what}: ended with {} instead of {}: {}", outcome.code, scenario.code, outcome.stderr));
    }
    let read = |path: PathBuf| {
        let profile = RawProfile::read(&std::fs::read(&path).expect("a raw profile"));
        (profile.unwrap_or_else(|error| panic!("{what}: {}: {error}", path.display())), path)
    };
    let mut profiles: Vec<_> = sandbox.raw_profiles("raw").into_iter().map(read).collect();
    profiles.sort_by_key(|(profile, _)| profile.process.begun_ns);
    let truths = Truth::read(&sandbox.join("truth"));
    if profiles.len() != scenario.processes.len() || truths.len() != profiles.len() {
        return Err(format!("{what}: {} profiles, {} processes", profiles.len(), truths.len()));
    }
    let mut errors = Vec::new();
    for (((profile, path), truth), expected) in profiles.iter().zip(&truths).zip(scenario.processes) {
        assert_eq!(profile.process.pid, truth.pid, "{what}");
        let (fate, exception) = expected.split_once(" | ").unwrap_or((expected, ""));
        let verified = Run::new(tool("bbprof")).args(["verify", "--interrupted"]).arg(path).outcome();
        let text = verified.text();
        let said = text.lines().next().unwrap_or_default().to_owned();
        if !said.ends_with(&format!(": {fate}")) {
            errors.push(format!("{what}: expected {fate:?}, verify says:\n{text}"));
        }
        if (exception.is_empty(), verified.code) != (exception.is_empty(), if exception.is_empty() { 0 } else { 5 })
            || !text.contains(exception)
        {
            errors.push(format!("{what}: expected {exception:?}, verify says:\n{text}{}", verified.stderr));
        }
        if let Some(function) = scenario.interrupted
            && !exception.is_empty()
            && !text.contains(&format!("may be interrupted: {function}: block"))
        {
            errors.push(format!("{what}: {function} was interrupted, verify says:\n{text}"));
        }
        if !text.contains(scenario.says) {
            errors.push(format!("{what}: expected {:?}, verify says:\n{text}", scenario.says));
        }
        if exception.is_empty() == text.contains("may be interrupted") {
            errors.push(format!("{what}: expected {exception:?}, verify says:\n{text}"));
        }
        let exported = Exported::of(std::slice::from_ref(path));
        let compared = std::panic::catch_unwind(|| truth.without(scenario.lost).compare(&exported, scenario.open, &what));
        if let Err(error) = compared {
            errors.push(error.downcast_ref::<String>().cloned().unwrap_or_default());
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
}

/// Runs all scenarios, some at a time.
fn check_all<'s>(program: &Path, scenarios: impl Iterator<Item = &'s Scenario>) {
    let scenarios: Vec<&Scenario> = scenarios.collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failed = Vec::new();
        while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
            failed.extend(check(program, scenario).err());
        }
        failed
    };
    let failed: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker of the test")).collect()
    });
    assert!(failed.is_empty(), "{} of {} scenarios:\n{}", failed.len(), scenarios.len(), failed.join("\n"));
}

/// Those where it matters where the counters live.
const OTHER_STORAGES: [&str; 19] = [
    "refused_list",
    "nothing",
    "end_exit",
    "end_quietly",
    "end_abort",
    "end_killed",
    "end_exec",
    "end_fault",
    "end_recovered",
    "threads_exit",
    "main_ends_first",
    "bare_clone",
    "fork_exit",
    "fork_quietly",
    "fork_threads",
    "thread_forks",
    "vfork_exec",
    "timer_threads",
    "aio_threads",
];

/// Scenarios that only one thread counts in at a time: plain shared counters are right for them.
fn of_one_thread(scenario: &Scenario) -> bool {
    !["fork_threads", "refused_list"].contains(&scenario.name)
}

fn others() -> impl Iterator<Item = &'static Scenario> {
    ENDS.iter().chain(LIBC_THREADS).filter(|scenario| OTHER_STORAGES.contains(&scenario.name))
}

#[test]
fn in_c() {
    check_all(&compile("bbprof-cc", "c", "ends-thread", &[]), ENDS.iter().chain(LOST_THREADS));
}

#[test]
fn in_c_with_other_storages() {
    let shared = compile("bbprof-cc", "c", "ends-shared", &["--bbprof-storage=shared"]);
    let said = |scenario: &Scenario| SHARED_BY_THREADS.iter().any(|one| one.name == scenario.name);
    check_all(&shared, others().filter(|scenario| of_one_thread(scenario) && !said(scenario)).chain(SHARED_BY_THREADS));
    check_all(&compile("bbprof-cc", "c", "ends-atomic", &["--bbprof-storage=atomic"]), others());
    let in_static = ENDS.iter().filter(|scenario| IN_STATIC.contains(&scenario.name));
    check_all(&compile("bbprof-cc", "c", "ends-static", &["-static"]), in_static);
}

/// Statically linked with glibc, where libc's own calls are seen, too.
const IN_STATIC: [&str; 26] = [
    "nothing",
    "end_exit",
    "end_quietly",
    "end_quickly",
    "end_abort",
    "end_assert",
    "end_signal_raised",
    "end_killed",
    "end_signal_in_thread",
    "end_signal_queued",
    "end_signal_of_named_group",
    "end_after_blocked_signal",
    "end_exec_list",
    "end_exec_environment",
    "end_after_failed_exec",
    "end_after_abort_was_left",
    "end_after_assert_was_left",
    "end_after_quick_exit_was_left",
    "end_interrupted_on_own_stack",
    "end_interrupted_on_context",
    "thread_comes_to_rest",
    "thread_comes_to_rest_quickly",
    "end_timed_out",
    "threads",
    "fork_quietly",
    "spawn",
];

/// With musl.
#[test]
fn with_musl() {
    let scenarios: Vec<Scenario> = ENDS.iter().filter_map(by_musl).collect();
    for (name, image) in [("ends-musl", MuslImage::Dynamic), ("ends-musl-static", MuslImage::Static)] {
        let [before, behind] = for_musl(image, built());
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        let program = compile_between("bbprof-cc", "c", name, &before, &behind);
        let is_alike = |scenario: &&Scenario| image == MuslImage::Dynamic || !UNLIKE_IN_STATIC.contains(&scenario.name);
        check_all(&program, scenarios.iter().filter(is_alike));
    }
}

/// The scenario as musl plays it, whose `exit` tells nobody its code, and whose
/// `pthread_join` waits for the process alone, not for the kernel.
fn by_musl(scenario: &Scenario) -> Option<Scenario> {
    if WITHOUT_MUSL.contains(&scenario.name) {
        return None;
    }
    let said = |process: &&'static str| -> &'static str {
        let process: &'static str = process.replace(", while 1 other thread waited (1 in futex)", "").leak();
        match process.strip_prefix("exit ").map(|end| end.trim_start_matches(|c: char| c.is_ascii_digit())) {
            Some(rest) if !rest.starts_with(" (") => format!("exit (code unknown){rest}").leak(),
            _ => process,
        }
    };
    Some(Scenario { processes: scenario.processes.iter().map(said).collect::<Vec<_>>().leak(), ..*scenario })
}

/// What the plain program does not come to the end of with musl, either; what only glibc has, whose `quick_exit` alone tells when
/// its handlers are done, and which alone gives a thread's stack to another one; and musl's `daemon` forks once more.
const WITHOUT_MUSL: [&str; 11] = [
    "end_interrupted_in_first_malloc",
    "refused_memory",
    "thread_comes_to_rest_quickly",
    "thread_goes_on",
    "threads_unseen",
    "threads_wait",
    "destructor_exits",
    "ifunc",
    "coroutines",
    "end_interrupted_on_context",
    "becomes_daemon",
];

/// In a static program libc's own calls are seen (`execvp` executes /usr/bin/true), and of what leaves handlers jumps alone.
const UNLIKE_IN_STATIC: [&str; 7] = [
    "end_exec_list",
    "end_exec_path",
    "threads_spin_exec",
    "fork_exec",
    "thread_ended_in_handler",
    "thread_ended_in_c11_handler",
    "thread_cancelled_at_once",
];

/// mold does not look for weak references in the dynamic loader.
#[test]
fn with_mold() {
    check_all(&compile("bbprof-cc", "c", "ends-mold", &["-fuse-ld=mold"]), ENDS.iter().chain(LOST_THREADS));
}

/// With sanitizers, which interpose functions of their own.
#[test]
fn with_sanitizers() {
    let everywhere = ["nothing", "end_exit", "end_quietly", "end_quickly", "end_abort", "end_exec_list"];
    // ThreadSanitizer finds the program's own races in the others, and gives a forked child a thread that `verify` has to state.
    for (sanitizer, linker, besides) in [
        ("address", "bfd", &["threads", "fork_exit", "end_timed_out"][..]),
        ("address", "lld", &["threads", "fork_exit"]),
        ("thread", "bfd", &["end_interrupted"]),
    ] {
        let wanted = [&everywhere[..], besides].concat();
        let options = [&*format!("-fsanitize={sanitizer}"), &*format!("-fuse-ld={linker}")];
        let program = compile("bbprof-cc", "c", &format!("ends-{sanitizer}-{linker}"), &options);
        check_all(&program, ENDS.iter().filter(|scenario| wanted.contains(&scenario.name)));
    }
}

#[test]
fn in_cpp() {
    check_all(&compile("bbprof-c++", "cpp", "ends-cpp", &[]), CPP.iter());
}

#[test]
fn in_rust() {
    for (profile, scenarios) in [("release", RUST), ("abort", RUST_ABORTS)] {
        let target = built().join(format!("rust-{profile}"));
        Cargo::new("fates/rust", &target).bbprof("build", &["--quiet", "--profile", profile]).ok();
        let program = target.join("bbprof/build/x86_64-unknown-linux-gnu").join(profile).join("fates");
        check_all(&program, scenarios.iter());
    }
    named_by_cargo_run();
}

/// What ended the program is seen by `cargo bbprof run`, whose child it is, and stands in the profile if nothing else does.
fn named_by_cargo_run() {
    for (how, said, pattern, fate, code) in [
        ("abort", "SIGABRT (6)", "%e-%p.bbraw", ABORT, 0),
        ("fault", "SIGSEGV (11)", "%e-%p.bbraw", "killed by SIGSEGV (11)", 5),
        ("fault", "SIGSEGV (11)", "%m.bbraw", "killed by SIGSEGV (11)", 5),
    ] {
        let sandbox = Sandbox::new("fate");
        Truth::create(&sandbox.join("truth"));
        std::fs::create_dir(sandbox.join("raw")).expect("a folder in the sandbox");
        let cargo = Cargo::new("fates/rust", built().join("rust-release")).arguments([how]);
        let run = cargo.bbprof("run", &["--quiet", "--release"]).env("BBPROF_OUT", sandbox.join("raw").join(pattern));
        let run = run.env("TRUTH", sandbox.join("truth")).outcome();
        assert!(run.stderr.contains(&format!("was ended by {said}\n")), "{} {}", run.code, run.stderr);
        if pattern == "%m.bbraw" {
            // The next process adds it to the pool of those that are not exact.
            let program = built().join("rust-release/bbprof/build/x86_64-unknown-linux-gnu/release/fates");
            let next = Run::new(program).arg("nothing").env("TRUTH", sandbox.join("truth"));
            next.env("BBPROF_OUT", sandbox.join("raw").join(pattern)).ok();
        }
        let profiles = sandbox.raw_profiles("raw");
        let verified = Run::new(tool("bbprof")).arg("verify").arg(profiles.last().expect("one")).outcome().expect_code(code);
        assert!(verified.text().contains(&format!(": {fate}\n")), "{how}: {}", verified.text());
    }
}

/// A loop whose counters stand in registers is behind when the process dies in it, and verify says so.
#[test]
fn ended_in_registers() {
    let options = ["--bbprof-with=registers", "--bbprof-without=loops"];
    let program = compile("bbprof-cc", "c", "ends-registers", &options);
    let behind = scenario("end_counted_loop", 128 + 11, &[UNSEEN]).interrupts("sweep").open(&["sweep"]);
    check_all(&program, std::iter::once(&behind.says("in loops whose counters stand in registers")));
}

/// With paths counted instead of edges: in arrays, and in hash tables for all functions; all scenarios, and C++, in the long suite.
#[test]
fn counted_by_paths() {
    let arrays = compile("bbprof-cc", "c", "ends-paths", &["--bbprof-counters=paths"]);
    let scenarios: Vec<Scenario> = ENDS.iter().filter_map(by_paths).collect();
    check_all(&arrays, scenarios.iter().filter(|scenario| is_long() || QUICK_BY_PATHS.contains(&scenario.name)));
    let hashed = compile("bbprof-cc", "c", "ends-hashed", &["--bbprof-counters=paths", "--bbprof-path-array=0"]);
    check_all(&hashed, scenarios.iter().filter(|scenario| is_long() || QUICK_HASHED.contains(&scenario.name)));
    if is_long() {
        check_all(&compile("bbprof-c++", "cpp", "ends-paths-cpp", &["--bbprof-counters=paths"]), CPP.iter());
    }
}

const QUICK_BY_PATHS: [&str; 8] =
    ["end_exit", "end_abort", "end_exec", "end_stack", "end_recovered", "threads", "fork_exit", "fork_threads"];
const QUICK_HASHED: [&str; 2] = ["end_recovered", "coroutines"];

/// The scenario as paths tell it.
fn by_paths(scenario: &Scenario) -> Option<Scenario> {
    match scenario.name {
        // Nothing is counted in front of loops there.
        "end_counted_loop" => None,
        // A path counts when it has come to its end, and the last activation, for which there was no stack, came to none.
        "end_stack" | "end_recovered" => Some(scenario.open(&["recurse"])),
        _ => Some(*scenario),
    }
}

/// Again, with every processor busy and every edge counted.
#[test]
fn under_load() {
    let stop = AtomicBool::new(false);
    let program = compile("bbprof-cc", "c", "ends-check", &["--bbprof-counters=check"]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let checked = std::panic::catch_unwind(|| check_all(&program, ENDS.iter()));
        stop.store(true, Ordering::Relaxed);
        checked.expect("under load as without");
    });
}
