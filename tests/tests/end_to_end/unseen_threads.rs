//! Threads that the runtime could miss: it sees them, or `verify` says that it did not.

use bbprof_tests::{Exported, Outcome, Run, Sandbox, tool};
use std::path::PathBuf;

/// 20 threads by the C++ library, which calls `pthread_create` from outside the program.
const BY_A_LIBRARY: &str = "\
#include <thread>
static volatile int sink;
__attribute__((noinline)) void work() { sink = sink + 1; }
int main() {
  for (int i = 0; i < 20; i++)
    std::thread([] { for (int k = 0; k < 100; k++) work(); }).join();
}
";

/// 50 threads, behind which libc frees memory; the program tells how often its own `free` was called.
const OWN_FREE: &str = "\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static volatile long calls;
extern void __libc_free(void *);
__attribute__((noinline)) void free(void *p) {
  __atomic_add_fetch(&calls, 1, 5);
  __libc_free(p);
}
static void *thread(void *x) { free(malloc(10)); return x; }
int main(void) {
  for (int i = 0; i < 50; i++) {
    pthread_t made;
    pthread_create(&made, 0, thread, 0);
    pthread_join(made, 0);
  }
  printf(\"%ld\", calls);
  fflush(stdout);
  _Exit(0);
}
";

/// A `thrd_create` as programs bring along for old libcs, with numbers of its own for what went wrong.
const OWN_CREATE: &str = "\
#include <pthread.h>
static volatile int sink;
typedef int (*start)(void *);
struct made { start start; void *argument; };
static void *begin(void *made) { struct made *m = made; m->start(m->argument); return 0; }
__attribute__((noinline)) int thrd_create(pthread_t *thread, start start, void *argument) {
  static struct made made;
  made.start = start;
  made.argument = argument;
  return pthread_create(thread, 0, begin, &made) == 0 ? 0 : -17;
}
__attribute__((noinline)) void work(void) { sink = sink + 1; }
static int thread(void *x) { for (int k = 0; k < 100; k++) work(); return 0; }
int main(void) {
  for (int i = 0; i < 20; i++) {
    pthread_t made;
    if (thrd_create(&made, thread, 0) != 0)
      return 1;
    pthread_join(made, 0);
  }
}
";

/// 400 threads that wake all the time and are still there when the process ends.
const MANY: &str = "\
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_barrier_t all;
static volatile int sink;
__attribute__((noinline)) void begin(void) { sink = sink + 1; }
static void *thread(void *x) {
  begin();
  pthread_barrier_wait(&all);
  for (;;) usleep(200);
}
int main(void) {
  pthread_barrier_init(&all, 0, 401);
  for (int i = 0; i < 400; i++) {
    pthread_t made;
    if (pthread_create(&made, 0, thread, 0) != 0)
      return 1;
  }
  pthread_barrier_wait(&all);
}
";

/// A library whose constructor waits for threads that call what the runtime interposes, and work of the program's.
const OPENED: &str = "\
#define _GNU_SOURCE
#include <pthread.h>
#include <threads.h>
extern void work(void) __attribute__((weak));
static int num_threads;
static void *thread(void *x) {
  pthread_attr_t attributes;
  num_threads += pthread_getattr_np(pthread_self(), &attributes) == 0;
  if (work) work();
  return x;
}
static int another(void *x) { return thread(x) != x; }
int threads(void) { return num_threads; }
static void *maker(void *x) {
  thrd_t made;
  if (thrd_create(&made, another, x) == thrd_success)
    thrd_join(made, 0);
  return thread(x);
}
__attribute__((constructor)) static void begin(void) {
  pthread_t made;
  if (pthread_create(&made, 0, maker, 0) == 0)
    pthread_join(made, 0);
}
";

const OPENING: &str = "\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static volatile int sink;
__attribute__((noinline)) void work(void) { sink = sink + 1; }
int main(int argc, char **argv) {
  pthread_attr_t attributes;
  work();
  void *library = dlopen(argv[1], RTLD_NOW);
  work();
  dlopen(\"/nonexistent.so\", RTLD_NOW);
  pthread_getattr_np(pthread_self(), &attributes);
  const char *error = dlerror();
  printf(\"%s; \", error ? error : \"no error\");
  int (*threads)(void) = library ? (int (*)(void))dlsym(library, \"threads\") : 0;
  printf(\"%d threads\", threads ? threads() : -1);
}
";

/// A library that another thread opens and closes all the time, while threads come that
/// count first in the callback of who lists all libraries.
const LISTING: &str = "\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
extern int work(int);
static atomic_int stop, listed;
static int visit(struct dl_phdr_info *info, size_t size, void *x) { work(4); listed++; return 1; }
static void *list(void *x) { dl_iterate_phdr(visit, x); return x; }
static void *lister(void *x) {
  while (!stop) {
    pthread_t made;
    pthread_create(&made, 0, list, x);
    pthread_join(made, 0);
  }
  return x;
}
int main(int argc, char **argv) {
  pthread_t made;
  pthread_create(&made, 0, lister, 0);
  for (int i = 0; i < 1000; i++) {
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library) return 1;
    dlclose(library);
  }
  stop = 1;
  pthread_join(made, 0);
  return listed == 0;
}
";

/// A thread that has handed back its counters, in the last round of destructors, and does
/// not come to its end before the process does.
const LINGERING: &str = "\
#include <pthread.h>
#include <semaphore.h>
static sem_t rounds, never;
static pthread_key_t again, keys[40];
static volatile int sink;
__attribute__((noinline)) void work(void) { sink = sink + 1; }
static void repeat(void *x) {
  pthread_setspecific(keys[38], &rounds);
  pthread_setspecific(keys[39], &never);
  pthread_setspecific(again, x);
}
static void *thread(void *x) { work(); if (x) repeat(x); return x; }
int main(void) {
  pthread_t made;
  pthread_create(&made, 0, thread, 0); // behind it the runtime has the 32nd key
  pthread_join(made, 0);
  sem_init(&never, 0, 3);
  pthread_key_create(&again, repeat);
  for (int i = 0; i < 40; i++)
    pthread_key_create(&keys[i], i < 38 ? 0 : i == 38 ? (void (*)(void *))sem_post : (void (*)(void *))sem_wait);
  pthread_create(&made, 0, thread, &sink);
  for (int i = 0; i < 4; i++)
    sem_wait(&rounds);
}
";

/// The first thread ends, and the exit comes from the second, while libc's thread for a timer lives on.
const READER: &str = "\
#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_t first;
static void *thread(void *x) {
  pthread_join(first, 0);
  exit(0);
}
int main(void) {
  pthread_t made;
  static char bytes[8];
  static struct aiocb read = {.aio_buf = bytes, .aio_nbytes = sizeof bytes};
  read.aio_fildes = open(\"/dev/zero\", O_RDONLY);
  first = pthread_self();
  if (aio_read(&read) != 0 || pthread_create(&made, 0, thread, 0) != 0)
    return 1;
  pthread_exit(0);
}
";

const READER_ALONE: &str = "\
#include <aio.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
static volatile int came;
static void told(union sigval x) { came = 1; }
int main(void) {
  static char bytes[8];
  static struct aiocb read = {.aio_buf = bytes, .aio_nbytes = sizeof bytes};
  read.aio_fildes = open(\"/dev/zero\", O_RDONLY);
  read.aio_sigevent = (struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = told};
  if (aio_read(&read) != 0)
    return 1;
  while (!came)
    usleep(100);
}
";

/// Timers, one of them with threads whose stacks are as small as may be, and messages; in
/// a forked child, too. Tells how often they came.
const NOTIFIED: &str = "\
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static atomic_long rung, told;
static mqd_t queue;
static void ring(union sigval value) { rung += value.sival_int; }
static void tell(union sigval value) {
  char message[8];
  mq_receive(queue, message, sizeof message, 0);
  told++;
}
static void wait_for_timers(int number) {
  struct itimerspec often = {{0, 200000}, {0, 100000}}, never = {0};
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 16384);
  timer_t timers[3];
  for (int i = 0; i < 3; i++) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = ring, .sigev_value.sival_int = 1};
    event.sigev_notify_attributes = i == 2 ? &small : 0;
    if (timer_create(CLOCK_MONOTONIC, &event, &timers[i]) != 0 || timer_settime(timers[i], 0, &often, 0) != 0)
      exit(1);
  }
  for (long until = rung + number; rung < until;)
    usleep(1000);
  for (int i = 0; i < 3; i++) {
    timer_settime(timers[i], 0, &never, 0);
    timer_delete(timers[i]);
  }
  usleep(200000);
}
int main(void) {
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
  char name[40];
  sprintf(name, \"/bbprof-%d\", getpid());
  queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
  mq_unlink(name);
  for (int i = 0; i < 20; i++) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tell};
    if (mq_notify(queue, &event) != 0 || mq_send(queue, \"x\", 1, 0) != 0)
      return 1;
    while (told <= i)
      usleep(100);
  }
  wait_for_timers(200);
  long before = rung;
  pid_t child = fork();
  if (child == 0) {
    wait_for_timers(100);
    exit(rung - before < 256 ? rung - before : 1);
  }
  int status;
  waitpid(child, &status, 0);
  printf(\"%ld %ld %d\", before, (long)told, WEXITSTATUS(status));
}
";

struct Program {
    sandbox: Sandbox,
    raw: PathBuf,
}

impl Program {
    fn new(driver: &str, source: &str, text: &str, options: &[&str]) -> Self {
        let sandbox = Sandbox::new("unseen");
        sandbox.write("hidden.map", "{ local: *; };\n");
        let source = sandbox.write(source, text);
        let compile = Run::new(tool(driver)).args(["-O1", "-g", "-w", "-fno-builtin", "-pthread"]).args(options);
        compile.arg(&source).arg("-o").arg(sandbox.join("program")).in_folder(sandbox.path()).ok();
        let raw = sandbox.join("run.bbraw");
        Self { sandbox, raw }
    }

    fn run(&self) -> Outcome {
        Run::new(self.sandbox.join("program")).env("BBPROF_OUT", &self.raw).in_folder(self.sandbox.path()).ok()
    }

    fn entries(&self, function: &str) -> Option<u64> {
        Exported::of(std::slice::from_ref(&self.raw)).entries(function)
    }

    fn verify(&self) -> Outcome {
        Run::new(tool("bbprof")).arg("verify").arg(&self.raw).outcome()
    }
}

/// `--exclude-libs` hides what comes from archives.
#[test]
fn definitions_that_stay_visible() {
    for linker in ["bfd", "lld", "mold"] {
        let linker = format!("-fuse-ld={linker}");
        let program = Program::new("bbprof-c++", "a.cpp", BY_A_LIBRARY, &[&linker, "-Wl,--exclude-libs,ALL"]);
        program.run();
        program.verify().expect_code(0);
        assert_eq!(program.entries("work()"), Some(2000), "{linker}");
    }
}

/// A version script hides all that it does not name.
#[test]
fn definitions_that_are_hidden() {
    let hidden = Program::new("bbprof-c++", "a.cpp", BY_A_LIBRARY, &["-Wl,--version-script=hidden.map"]);
    hidden.run();
    let said = hidden.verify().expect_code(5).text();
    assert!(said.contains("of which the runtime was not told") && said.contains("--storage=atomic"), "{said}");
    let atomic = Program::new("bbprof-c++", "a.cpp", BY_A_LIBRARY, &["-Wl,--version-script=hidden.map", "--bbprof-storage=atomic"]);
    atomic.run();
    atomic.verify().expect_code(0);
    assert_eq!(atomic.entries("work()"), Some(2000));
}

/// libc calls the program's own `free` behind all that a thread executes of the program.
#[test]
fn a_free_of_the_programs_own() {
    // It may be another name of a function, as it is in allocators that stand in for libc's.
    let alias = "void free(void *) __attribute__((alias(\"release\")));\nstatic void *thread";
    let aliased = OWN_FREE.replace("void free(", "void release(").replace("static void *thread", alias);
    for (text, function) in [(OWN_FREE, "free"), (&aliased, "release")] {
        let by_thread = Program::new("bbprof-cc", "a.c", text, &[]);
        let tally: u64 = by_thread.run().text().parse().unwrap();
        let said = by_thread.verify().expect_code(5).text();
        assert!(said.contains("free: libc calls the program's own") && said.contains("--storage=atomic"), "{said}");
        assert!(by_thread.entries(function).unwrap() <= tally);
        let atomic = Program::new("bbprof-cc", "a.c", text, &["--bbprof-storage=atomic"]);
        let tally: u64 = atomic.run().text().parse().unwrap();
        atomic.verify().expect_code(0);
        assert_eq!(atomic.entries(function), Some(tally));
    }
}

/// The program's own `thrd_create` is called, and its threads are seen.
#[test]
fn a_thrd_create_of_the_programs_own() {
    let own = Program::new("bbprof-cc", "a.c", OWN_CREATE, &[]);
    own.run();
    own.verify().expect_code(0);
    assert_eq!((own.entries("work"), own.entries("thrd_create")), (Some(2000), Some(20)));
}

/// Who lists libraries keeps the loader's lock meanwhile.
#[test]
fn threads_that_begin_while_libraries_are_listed() {
    let sandbox = Sandbox::new("listed");
    sandbox.write("worker.c", "int work(int x) { return x * 7 + 1; }\n");
    sandbox.write("other.c", "int other(int x) { return x * 7 + 1; }\n");
    sandbox.write("main.c", LISTING);
    let compile = |driver: PathBuf, words: &[&str]| {
        Run::new(driver).args(["-O1", "-g", "-w", "-fPIC"]).args(words).in_folder(sandbox.path()).ok();
    };
    compile(tool("bbprof-cc"), &["-shared", "worker.c", "-o", "libworker.so"]);
    compile(tool("bbprof-cc"), &["-shared", "other.c", "-o", "libother.so"]);
    for driver in [tool("bbprof-cc"), "clang-22".into()] {
        compile(driver, &["main.c", "./libworker.so", "-o", "main"]);
        let run = Run::new("timeout").args(["-s", "KILL", "60", "./main", "./libother.so"]);
        run.env("BBPROF_OUT", sandbox.join("run.bbraw")).in_folder(sandbox.path()).ok();
        Run::new(tool("bbprof")).arg("verify").arg(sandbox.join("run.bbraw")).ok();
    }
}

/// The sanitizer makes a thread that executes nothing of the program.
#[test]
fn the_thread_of_a_sanitizer() {
    let checked = Program::new("bbprof-c++", "a.cpp", BY_A_LIBRARY, &["-fsanitize=thread"]);
    checked.run();
    checked.verify().expect_code(0);
    assert_eq!(checked.entries("work()"), Some(2000));
}

/// What they counted is all there; what they were about when the process ended may be in some counters and not in others.
#[test]
fn many_threads_that_are_left_at_work() {
    let many = Program::new("bbprof-cc", "a.c", MANY, &[]);
    many.run();
    assert_eq!((many.entries("begin"), many.entries("thread")), (Some(400), Some(400)), "{}", many.verify().text());
}

/// Who opens a library waits for a thread of its constructor: nothing of the runtime may
/// wait for who opens it. Nor is what `dlopen` said forgotten.
#[test]
fn threads_of_a_library_that_is_being_opened() {
    let sandbox = Sandbox::new("opened");
    sandbox.write("library.c", OPENED);
    Run::new("clang-22").args(["-O1", "-shared", "-fPIC", "library.c", "-o", "library.so"]).in_folder(sandbox.path()).ok();
    let program = Program::new("bbprof-cc", "a.c", OPENING, &["-rdynamic"]);
    let opened = Run::new("timeout").arg("60").arg(program.sandbox.join("program")).arg(sandbox.join("library.so"));
    let said = opened.env("BBPROF_OUT", &program.raw).in_folder(sandbox.path()).ok().text();
    assert!(said.starts_with("/nonexistent.so: ") && said.ends_with("; 2 threads"), "{said}");
    program.verify().expect_code(0);
    assert_eq!(program.entries("work"), Some(4));
}

/// Of such a thread the runtime knows all, also when another has come after it.
#[test]
fn a_thread_in_its_last_destructor() {
    let another = "  pthread_create(&made, 0, thread, 0);\n  pthread_join(made, 0);\n}\n";
    for (end, threads) in [("}\n", 2), (another, 3)] {
        let text = format!("{}{end}", LINGERING.strip_suffix("}\n").unwrap());
        let lingering = Program::new("bbprof-cc", "a.c", &text, &[]);
        lingering.run();
        let said = lingering.verify().expect_code(0).text();
        assert!(!said.contains("neither pthread_create nor thrd_create"), "{said}");
        assert_eq!(lingering.entries("work"), Some(threads));
    }
}

/// It is not taken for the first thread, which the kernel keeps as long as there are others.
#[test]
fn a_thread_of_libcs_own() {
    let reader = Program::new("bbprof-cc", "a.c", READER, &[]);
    reader.run();
    let said = reader.verify().expect_code(5).text();
    assert!(said.contains("neither pthread_create nor thrd_create"), "{said}");
}

/// Nothing hides the program's `pthread_create` there; the note says what else it may be, and one note is enough.
#[test]
fn no_threads_but_libcs_own() {
    let reader = Program::new("bbprof-cc", "a.c", READER_ALONE, &[]);
    reader.run();
    let said = reader.verify().expect_code(5).text();
    assert!(said.contains("was not told: by libc (for ") && !said.contains("neither") && !said.contains(".;"), "{said}");
}

/// Of a function that libc calls in a thread of its own the runtime is told where it is named.
#[test]
fn threads_that_libc_makes_to_notify() {
    for options in [&[][..], &["-static"]] {
        let notified = Program::new("bbprof-cc", "a.c", NOTIFIED, options);
        let run = Run::new(notified.sandbox.join("program")).env("BBPROF_OUT", notified.sandbox.join("%p.bbraw"));
        let text = run.in_folder(notified.sandbox.path()).ok().text();
        let [rung, told, in_child] = text.split(' ').map(|number| number.parse().unwrap()).collect::<Vec<u64>>()[..] else {
            panic!("{text}")
        };
        let files = std::fs::read_dir(notified.sandbox.path()).unwrap().map(|entry| entry.unwrap().path());
        let raws: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|extension| extension == "bbraw")).collect();
        assert_eq!(raws.len(), 2, "{raws:?}");
        Run::new(tool("bbprof")).arg("verify").args(&raws).ok();
        let entries = |function: &str| Exported::of(&raws).entries(function);
        assert_eq!((entries("ring"), entries("tell")), (Some(rung + in_child), Some(told)), "{options:?}");
    }
}
