//! Many threads, many children, many processes with one name for their files: nothing is lost, nothing mixed.

use bbprof_format::raw::RawProfile;
use bbprof_tests::{Exported, Run, Sandbox, Truth, is_long, tool};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn compile(sandbox: &Sandbox) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/fates");
    let sources =
        ["main.c", "sudden.c", "handlers.c", "threads.c", "children.c", "confined.c", "glibc.c"].map(|name| folder.join(name));
    let program = sandbox.join("ends");
    let run = Run::new(tool("bbprof-cc")).args(["-O2", "-w", "-D_GNU_SOURCE", "-pthread", "-o"]).arg(&program);
    run.args(&sources).ok();
    Truth::create(&sandbox.join("truth"));
    std::fs::create_dir(sandbox.join("raw")).expect("a folder in the sandbox");
    program
}

/// Eight threads call a function of two branches.
#[test]
fn eight_threads_lose_no_call() {
    let sandbox = Sandbox::new("many-calls");
    let program = compile(&sandbox);
    let times: u64 = if is_long() { 50_000_000 } else { 2_000_000 };
    Run::new(&program)
        .arg("many_calls")
        .env("TIMES", times.to_string())
        .env("TRUTH", sandbox.join("truth"))
        .env("BBPROF_OUT", sandbox.join("raw/a.bbraw"))
        .ok();
    let profiles = sandbox.raw_profiles("raw");
    Run::new(tool("bbprof")).arg("verify").args(&profiles).ok();
    let exported = Exported::of(&profiles);
    assert_eq!(exported.entries("thread_work"), Some(8));
    assert!(exported.entries("branchy") >= Some(8 * times));
    Truth::read(&sandbox.join("truth"))[0].compare(&exported, &[], "many_calls");
}

/// A test runner's thousand children: a file for each, each with the counts of its own work, half of them ended by `_exit`.
#[test]
fn a_thousand_children() {
    let sandbox = Sandbox::new("children");
    let program = compile(&sandbox);
    Run::new(&program)
        .arg("children")
        .env("CHILDREN", "1000")
        .env("TRUTH", sandbox.join("truth"))
        .env("BBPROF_OUT", sandbox.join("raw/%p.bbraw"))
        .ok();
    let profiles = sandbox.raw_profiles("raw");
    assert_eq!(profiles.len(), 1001);
    let merged = sandbox.join("all.bbprof");
    Run::new(tool("bbprof")).arg("merge").arg("-o").arg(&merged).arg(sandbox.join("raw")).ok();
    Run::new(tool("bbprof")).arg("verify").arg(&merged).ok();
    // In each child 4 calls; the parent's own stand in its truth.
    let own = Truth::read(&sandbox.join("truth"))[0].entries.iter().find(|(name, _)| name == "at_end").map(|(_, count)| *count);
    let exported = Exported::of(&[merged]);
    // Those that ended by exit ran at_end, which works on; the truth's row is the parent's, shared by all of them.
    assert_eq!(exported.entries("at_end"), own);
    assert_eq!(exported.entries("at_end"), Some(501));
    let size: u64 = profiles.iter().map(|path| std::fs::metadata(path).expect("a raw profile").len()).sum();
    assert!(size / 1001 < 64 * 1024, "{} bytes for each of 1,001 processes", size / 1001);
}

/// Processes that run at once under one name: the file is always whole, and of one of them.
#[test]
fn one_name_for_many_processes() {
    let sandbox = Sandbox::new("one-name");
    let program = compile(&sandbox);
    let raw = sandbox.join("raw/one.bbraw");
    for _ in 0..10 {
        let start = |how: &&str| {
            let mut command = Command::new(&program);
            command.arg(how).env("TRUTH", sandbox.join("truth")).env("BBPROF_OUT", &raw).stderr(Stdio::null());
            command.current_dir(sandbox.path()).spawn().expect("the program starts")
        };
        let children: Vec<_> =
            ["nothing", "end_quietly", "threads", "end_abort", "nothing", "threads_c11"].iter().map(start).collect();
        let pids: Vec<u32> = children.iter().map(std::process::Child::id).collect();
        for mut child in children {
            while child.try_wait().expect("our child").is_none() {
                if let Ok(bytes) = std::fs::read(&raw) {
                    RawProfile::read(&bytes).unwrap_or_else(|error| panic!("while they run: {error}"));
                }
            }
        }
        let profile = RawProfile::read(&std::fs::read(&raw).expect("a file")).unwrap_or_else(|error| panic!("{error}"));
        assert!(pids.contains(&profile.process.pid));
        Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
        Truth::create(&sandbox.join("truth"));
        assert_eq!(sandbox.raw_profiles("raw"), std::slice::from_ref(&raw));
        assert_eq!(std::fs::read_dir(sandbox.join("raw")).expect("the folder").count(), 1, "temporary files are left");
    }
}

/// In another root, with no way back to the folder: what is mapped goes on counting. Requires `unshare` and the right to make
/// user namespaces.
#[test]
fn in_another_root() {
    let sandbox = Sandbox::new("root");
    let program = compile(&sandbox);
    let outcome = Run::new("unshare")
        .arg("-r")
        .arg(&program)
        .arg("rooted")
        .env("TRUTH", sandbox.join("truth"))
        .env("BBPROF_OUT", sandbox.join("raw/a.bbraw"))
        .in_folder(sandbox.path())
        .outcome()
        .expect_code(7);
    assert!(outcome.stderr.lines().count() <= 1, "{}", outcome.stderr);
    let profiles = sandbox.raw_profiles("raw");
    assert_eq!(profiles.len(), 1);
    Run::new(tool("bbprof")).arg("verify").args(&profiles).ok();
    Truth::read(&sandbox.join("truth"))[0].compare(&Exported::of(&profiles), &[], "rooted");
}

const LEAST_STACK: &str = r#"
#include <limits.h>
#include <pthread.h>
#include <string.h>
static void *thread(void *unused) {
    char room[9000];
    memset(room, 1, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
    return unused;
}
int main(void) {
    pthread_attr_t attributes;
    pthread_t made;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
    if (pthread_create(&made, &attributes, thread, 0) != 0) return 8;
    return pthread_join(made, 0);
}
"#;

/// Who asks for the smallest stack has as much of it as without counters.
#[test]
fn the_least_stack() {
    let sandbox = Sandbox::new("least-stack");
    let source = sandbox.write("program.c", LEAST_STACK);
    for options in [&["-O2"][..], &["-O0", "-static"], &["-O2", "--bbprof-counters=paths"]] {
        let program = sandbox.join("program");
        Run::new(tool("bbprof-cc")).args(options).args(["-pthread", "-o"]).arg(&program).arg(&source).ok();
        let raw = sandbox.join("a.bbraw");
        let _ = std::fs::remove_file(&raw);
        for off in ["0", "1"] {
            Run::new(&program).env("BBPROF_OUT", &raw).env("BBPROF_OFF", off).ok();
        }
        assert_eq!(Exported::of(&[raw]).entries("thread"), Some(1), "{options:?}");
    }
}

/// Process ids come round, and each namespace has its own: what another process left under the same name stays.
#[test]
fn ids_that_come_again() {
    let sandbox = Sandbox::new("again");
    let program = compile(&sandbox);
    let run = |shell: &str| {
        let run = Run::new("sh").args(["-c", &format!("{shell} exec \"$0\" nothing")]).arg(&program);
        run.env("TRUTH", sandbox.join("truth")).env("BBPROF_OUT", sandbox.join("raw/%p.bbraw")).ok();
    };
    run("");
    let first = sandbox.raw_profiles("raw").remove(0);
    let before = std::fs::read(&first).expect("just written");
    for _ in 0..2 {
        run(&format!("cp '{}' '{}'/$$.bbraw;", first.display(), sandbox.join("raw").display()));
    }
    let profiles = sandbox.raw_profiles("raw");
    let again = profiles.iter().filter(|path| path.to_string_lossy().ends_with(".again1.bbraw"));
    assert_eq!((again.count(), profiles.len()), (2, 5), "{profiles:?}");
    let kept = profiles.iter().filter(|path| std::fs::read(path).expect("a file") == before).count();
    assert_eq!(kept, 3, "the first and its copies");
}

const BESET: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned long *tally;
static void handler(int number) {
    (void)number;
    __atomic_fetch_add(tally, 1, __ATOMIC_RELAXED);
}
int main(int argc, char **argv) {
    tally = mmap(0, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int left = atoi(argv[argc - 1]); left > 0; left--) {
        if (fork() == 0) {
            struct itimerval often = {{0, 20}, {0, 20}};
            struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
            sigaction(SIGALRM, &action, 0);
            setitimer(ITIMER_REAL, &often, 0);
            exit(0);
        }
        wait(0);
    }
    printf("%lu", *tally);
    return 0;
}
"#;

/// A timer strikes until the kernel stops the process: also while its file is written, and behind that.
#[test]
fn handlers_at_the_very_end() {
    let sandbox = Sandbox::new("beset");
    let source = sandbox.write("program.c", BESET);
    for options in [&[][..], &["--bbprof-storage=shared"], &["--bbprof-counters=paths"], &["-static"]] {
        let program = sandbox.join("program");
        Run::new(tool("bbprof-cc")).args(["-O2", "-o"]).arg(&program).arg(&source).args(options).ok();
        for name in ["%p.bbraw", "%m.bbraw"] {
            let raw = sandbox.join("beset");
            let _ = std::fs::remove_dir_all(&raw);
            std::fs::create_dir(&raw).expect("a folder in the sandbox");
            let children = if is_long() { "2000" } else { "40" };
            let told = Run::new(&program).arg(children).env("BBPROF_OUT", raw.join(name)).ok().text();
            Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
            let counted = Exported::of(&[raw]).entries("handler");
            assert_eq!(counted.map(|count| count.to_string()), Some(told), "{options:?}, {name}");
        }
    }
}

const MANY_AT_ONCE: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static pthread_barrier_t all_there;
static int waits;
static void *thread(void *unused) {
    if (waits)
        pthread_barrier_wait(&all_there);
    return unused;
}
int main(int argc, char **argv) {
    unsigned threads = (unsigned)atoi(argv[1]);
    pthread_t *made = calloc(threads, sizeof *made);
    pthread_attr_t small;
    waits = argc > 3;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    pthread_barrier_init(&all_there, 0, threads);
    for (int round = 0; round < atoi(argv[2]); round++) {
        for (unsigned i = 0; i < threads; i++)
            if (pthread_create(&made[i], waits ? &small : 0, thread, 0) != 0)
                return 1;
        for (unsigned i = 0; i < threads; i++)
            pthread_join(made[i], 0);
    }
    return 0;
}
"#;

/// Threads that all begin and end at once, so that they wait for the runtime: 1,500 by themselves, where those who wait
/// must leave the processors to who works; a few in valgrind, which takes no pages of a file that lie beside each other
/// where the file had another name when the first were mapped.
#[test]
fn threads_that_wait_for_the_runtime() {
    let sandbox = Sandbox::new("at-once");
    let (source, program) = (sandbox.write("program.c", MANY_AT_ONCE), sandbox.join("program"));
    Run::new(tool("bbprof-cc")).args(["-O1", "-pthread", "-o"]).arg(&program).arg(&source).ok();
    let name = program.to_str().expect("a path that is text");
    for words in [&["timeout", "-s", "KILL", "100", name, "1500", "1", "wait"][..], &["valgrind", "-q", name, "16", "10"]] {
        let run = Run::new(words[0]).args(&words[1..]).env("BBPROF_OUT", sandbox.join("raw.bbraw")).in_folder(sandbox.path());
        run.outcome().expect_code(0);
        Run::new(tool("bbprof")).arg("verify").arg(sandbox.join("raw.bbraw")).ok();
    }
}
