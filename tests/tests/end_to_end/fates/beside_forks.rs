//! Forks that wait for other threads: these come to their counters, begin, open and close
//! libraries meanwhile, and nobody waits for ever.

use bbprof_tests::{Exported, Run, Sandbox, tool};
use std::path::PathBuf;

const WORKER: &str = "int work(int x) { return x * 7 + 1; }\n";
const OTHER: &str = "int other(int x) { return x * 7 + 1; }\n";

/// Not profiled; what a fork has taken is given back behind it: another thread begins to count, and
/// signals come. Its handlers of a fork, registered before the libraries' own, wait for a lock that a
/// thread has which opens or closes a library, or begins to count.
const HOST: &str = "\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int held, forking;
static const char *how, *path;
static int (*work)(int);
static void prepare(void) { forking = 1; pthread_mutex_lock(&lock); }
static void behind(void) { pthread_mutex_unlock(&lock); }
static void *opened(void) {
  void *library = dlopen(path, RTLD_NOW);
  int (*other)(int) = (int (*)(int))dlsym(library, \"other\");
  for (int i = 0; i < 4; i++) other(i);
  return library;
}
static void *holder(void *x) {
  void *library = strcmp(how, \"open\") ? opened() : 0;
  pthread_mutex_lock(&lock);
  for (held = 1; !forking;) usleep(1000);
  usleep(50000);
  if (strcmp(how, \"count\") == 0) work(1);
  else if (library) dlclose(library);
  else opened();
  pthread_mutex_unlock(&lock);
  return x;
}
static void *worker(void *x) {
  for (int i = 0; i < 2; i++) work(i);
  return x;
}
int main(int argc, char **argv) {
  int status;
  sigset_t blocked;
  pthread_t made;
  how = argv[1], path = argv[3];
  pthread_atfork(prepare, behind, behind);
  work = (int (*)(int))dlsym(dlopen(argv[2], RTLD_NOW), \"work\");
  for (int i = 0; i < 5; i++) work(i);
  pthread_create(&made, 0, holder, 0);
  while (!held) usleep(1000);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 3; i++) work(i);
    exit(7);
  }
  waitpid(child, &status, 0);
  pthread_join(made, 0);
  pthread_create(&made, 0, worker, 0);
  pthread_join(made, 0);
  pthread_sigmask(SIG_BLOCK, 0, &blocked);
  return WEXITSTATUS(status) != 7 || sigismember(&blocked, SIGTERM);
}
";

/// Behind all handlers, glibc's `fork` waits for who writes out all streams, which calls a function
/// of the program's, in a thread that has not counted before.
const PROGRAM: &str = "\
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern int work(int);
static atomic_int within;
static const char *how;
static void *thread(void *x) { work(2); return x; }
static ssize_t put(void *cookie, const char *bytes, size_t num_bytes) {
  within = 1;
  usleep(200000);
  if (strcmp(how, \"thread\") == 0) {
    pthread_t made;
    pthread_create(&made, 0, thread, 0);
    pthread_join(made, 0);
  } else {
    work(1);
  }
  return num_bytes;
}
static void *flusher(void *x) {
  FILE *file = fopencookie(0, \"w\", (cookie_io_functions_t){.write = put});
  fputs(\"hello\", file);
  fflush(NULL);
  return x;
}
int main(int argc, char **argv) {
  int status;
  pthread_t made;
  how = argv[1];
  pthread_create(&made, 0, flusher, 0);
  while (!within) usleep(1000);
  pid_t child = fork();
  if (child == 0) _exit(7);
  waitpid(child, &status, 0);
  pthread_join(made, 0);
  return WEXITSTATUS(status) != 7;
}
";

fn built() -> Sandbox {
    let sandbox = Sandbox::new("beside-forks");
    for (name, text) in [("worker.c", WORKER), ("other.c", OTHER), ("host.c", HOST), ("program.c", PROGRAM)] {
        sandbox.write(name, text);
    }
    let compile = |driver: PathBuf, words: &[&str]| {
        Run::new(driver).args(["-O1", "-g", "-w", "-fPIC"]).args(words).in_folder(sandbox.path()).ok();
    };
    compile(tool("bbprof-cc"), &["-shared", "worker.c", "-o", "libworker.so"]);
    compile(tool("bbprof-cc"), &["-shared", "other.c", "-o", "libother.so"]);
    compile("clang-22".into(), &["host.c", "-o", "host"]);
    compile(tool("bbprof-cc"), &["program.c", "./libworker.so", "-o", "program"]);
    let storm = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/beside_forks/storm.c");
    compile("clang-22".into(), &[storm, "-o", "storm"]);
    let held = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/beside_forks/held.c");
    compile("clang-22".into(), &[held, "-rdynamic", "-o", "held"]);
    let early = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/beside_forks/early.c");
    compile("clang-22".into(), &[early, "-o", "early"]);
    compile(tool("bbprof-cc"), &[storm, "-o", "profiled-storm"]);
    sandbox
}

/// How often each function was entered in all processes, whose counts are exact.
fn entries(sandbox: &Sandbox, words: &[&str], functions: &[&str]) -> Vec<Option<u64>> {
    let raw = sandbox.join(words.join("-").replace("./", ""));
    std::fs::create_dir(&raw).expect("a folder in the sandbox");
    let run = Run::new("timeout").args(["-s", "KILL", "60"]).args(words).env("BBPROF_OUT", raw.join("%p.bbraw"));
    run.in_folder(sandbox.path()).ok();
    Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
    let exported = Exported::of(&[raw]);
    functions.iter().map(|function| exported.entries(function)).collect()
}

#[test]
fn libraries_that_come_and_go() {
    let sandbox = built();
    for (how, work) in [("open", 10), ("close", 10), ("count", 11)] {
        let counted = entries(&sandbox, &["./host", how, "./libworker.so", "./libother.so"], &["work", "other"]);
        assert_eq!(counted, [Some(work), Some(4)], "{how}");
    }
}

#[test]
fn threads_that_begin_to_count() {
    let sandbox = built();
    for how in ["call", "thread"] {
        let counted = entries(&sandbox, &["./program", how], &["work", "put"]);
        assert_eq!(counted, [Some(1), Some(1)], "{how}");
    }
}

/// All at once, from several threads: what the program says that it called is what was counted.
#[test]
fn a_storm() {
    let sandbox = built();
    for program in ["storm", "profiled-storm"] {
        let raw = sandbox.join(format!("raw-{program}"));
        std::fs::create_dir(&raw).expect("a folder in the sandbox");
        let words = ["-s", "KILL", "60", &format!("./{program}"), "./libworker.so", "./libother.so", "2"];
        let run = Run::new("timeout").args(words).env("BBPROF_OUT", raw.join("%p.bbraw")).in_folder(sandbox.path());
        let text = run.ok().text();
        let said: Vec<u64> = text.split_whitespace().map(|number| number.parse().expect("a number")).collect();
        let [works, others, forks] = said[..] else { panic!("{text}") };
        let exported = Exported::of(&[raw]);
        let counted = ["work", "other"].map(|function| exported.entries(function));
        assert_eq!(counted, [Some(works + 2 * forks), Some(others)], "{program}: {text}");
    }
}

/// Handlers of a library that is gone, whose addresses libc has: also where memory that was written must not be executed. Where
/// nothing can be, nothing is recorded, and that is said.
#[test]
fn handlers_of_libraries_that_are_gone() {
    let sandbox = built();
    for refused in [&[][..], &["written"], &["moved"]] {
        let words = [&["./held", "./libworker.so", "./libother.so"], refused].concat();
        assert_eq!(entries(&sandbox, &words, &["work", "other"]), [Some(5), Some(4)], "{refused:?}");
    }
    let run = Run::new("./held").args(["./libworker.so", "./libother.so", "written", "moved"]).in_folder(sandbox.path());
    let stderr = run.env("BBPROF_OUT", sandbox.join("nothing/%p.bbraw")).ok().stderr;
    assert!(stderr.lines().all(|line| line.ends_with("; nothing is recorded")), "{}", stderr);
    assert!(!stderr.is_empty() && !sandbox.join("nothing").exists());
}

/// What handlers do that run between those of the runtime: what each process says that it called is what was counted, in a
/// profile for each process; and no signal stays blocked.
#[test]
fn between_the_handlers_of_the_runtime() {
    let sandbox = built();
    for (when, whats, processes) in [
        ("before", &["close"][..], 1), // the child begins without a library
        ("parent", &["close"], 2),
        ("child", &["close"], 2),
        ("child", &["call", "close"], 2),
        ("child", &["exit"], 2),
        ("before", &["fork"], 4),
        ("before", &["call", "fork", "call"], 4),
        ("parent", &["fork"], 3),
        ("child", &["fork"], 3),
        ("child", &["call", "fork"], 3),
        ("before", &["open"], 2),
        ("parent", &["open"], 2),
        ("child", &["open"], 2),
        ("child", &["open", "fork", "call"], 3),
    ] {
        let raw = sandbox.join(format!("early-{when}-{}", whats.join("-")));
        std::fs::create_dir(&raw).expect("a folder in the sandbox");
        let run = Run::new("timeout").args(["-s", "KILL", "60", "./early", when, "./libworker.so", "./libother.so"]).args(whats);
        let text = run.env("BBPROF_OUT", raw.join("%p.bbraw")).in_folder(sandbox.path()).ok().text();
        let said: Vec<[u64; 2]> = text.lines().map(numbers).collect();
        let sums = [0, 1].map(|function| said.iter().map(|counts| counts[function]).sum::<u64>());
        assert_eq!(std::fs::read_dir(&raw).expect("a folder").count(), processes, "{when} {whats:?}");
        Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
        let exported = Exported::of(&[raw]);
        let counted = ["work", "other"].map(|function| exported.entries(function).unwrap_or(0));
        assert_eq!(counted, sums, "{when} {whats:?}: {text}");
    }
}

fn numbers(line: &str) -> [u64; 2] {
    let (works, others) = line.split_once(' ').expect("two numbers");
    [works, others].map(|number| number.parse().expect("a number"))
}
