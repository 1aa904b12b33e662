//! Forks in a signal handler, in the middle of anything: children count on in what was interrupted, in their own files, and
//! `verify` says that their counts begin in the middle of an activation.

use bbprof_format::raw::RawProfile;
use bbprof_tests::{Exported, Run, Sandbox, Truth, tool};
use std::collections::HashMap;
use std::path::Path;

const CHILDREN: usize = 40;

fn check(options: &[&str]) {
    let sandbox = Sandbox::new("forks");
    let program = sandbox.join("forks");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/forks/forks.c");
    let compile = Run::new(tool("bbprof-cc")).args(["-O2", "-w", "-D_GNU_SOURCE"]).args(options).arg(source);
    compile.arg("-o").arg(&program).ok();
    std::fs::create_dir(sandbox.join("raw")).expect("a folder in the sandbox");
    Truth::create(&sandbox.join("truth"));
    let run = Run::new(&program).env("TRUTH", sandbox.join("truth")).env("BBPROF_OUT", sandbox.join("raw/%p.bbraw"));
    // Its exit code is the number of children that crashed.
    run.ok();
    let truths: HashMap<u32, Truth> = Truth::read(&sandbox.join("truth")).into_iter().map(|truth| (truth.pid, truth)).collect();
    assert_eq!(truths.len(), 1 + CHILDREN, "{options:?}");
    let mut begun_within = 0;
    for path in sandbox.raw_profiles("raw") {
        let profile = RawProfile::read(&std::fs::read(&path).expect("a raw profile")).unwrap_or_else(|error| panic!("{error}"));
        let verified = Run::new(tool("bbprof")).arg("verify").arg(&path).outcome();
        let said = verified.text();
        let is_within = said.contains("at the fork a signal handler was running that had interrupted other code");
        begun_within += usize::from(is_within);
        let exported = Exported::of(std::slice::from_ref(&path));
        // What a child has not begun, it has not entered: its handler, and the activation that was interrupted.
        let open: &[&str] = if is_within { &["step"] } else { &[] };
        truths[&profile.process.pid].compare(&exported, open, &format!("{options:?} {said}"));
        assert_eq!(verified.code, if is_within { 5 } else { 0 }, "{options:?} {said}");
    }
    assert!(begun_within > CHILDREN / 2, "{options:?}: {begun_within} children began in the middle of an activation");
}

#[test]
fn in_a_handler() {
    check(&[]);
    check(&["-fPIC", "--bbprof-storage=shared"]);
}

#[test]
fn in_a_handler_with_paths() {
    check(&["--bbprof-counters=paths"]);
    check(&["--bbprof-counters=paths", "--bbprof-path-array=0"]);
    check(&["--bbprof-counters=paths", "--bbprof-path-array=0", "-fPIC"]);
}

const WITHOUT_ROOM: &str = r#"
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *unused) { return unused; }
int main(void) {
    struct rlimit none = {1, 1};
    pthread_t made;
    setrlimit(RLIMIT_FSIZE, &none);
    pthread_create(&made, 0, thread, 0);
    pthread_join(made, 0);
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) return 0;
        wait(0);
    }
    return 0;
}
"#;

/// Each process whose counts are lost says so, also if its parent had something to say before.
#[test]
fn children_without_room() {
    let sandbox = Sandbox::new("no-room");
    let source = sandbox.write("program.c", WITHOUT_ROOM);
    let program = sandbox.join("program");
    Run::new(tool("bbprof-cc")).args(["-O2", "-pthread", "-o"]).arg(&program).arg(&source).ok();
    let run = Run::new(&program).env("BBPROF_OUT", sandbox.join("%p.bbraw")).ok();
    let said = |what: &str| run.stderr.lines().filter(|line| line.contains(what)).count();
    assert_eq!((said("cannot extend"), said("cannot write"), run.stderr.lines().count()), (1, 3, 4), "{}", run.stderr);
    let verified = Run::new(tool("bbprof")).arg("verify").arg(sandbox.path()).outcome().expect_code(5).text();
    assert!(verified.contains("3 processes that were forked here could not write profiles"), "{verified}");
}

const OUT_OF_REACH: &str = r#"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    (void)argc;
    close(2);
    if (rename("raw", "gone") != 0) return 1;
    for (int i = 0; i < 5; i++) {
        if (fork() == 0) {
            if (i == 0 && fork() == 0) return 0;
            wait(0);
            return 0;
        }
        wait(0);
    }
    if (rename("gone", "raw") != 0) return 2;
    if (argv[1] == 0) return 0;
    if (fork() == 0) return 0;
    wait(0);
    execl(argv[0], argv[0], (char *)0);
    return 3;
}
"#;

/// A daemon that has left the reach of its folder, and has closed stderr: its own profile says what its children cannot.
#[test]
fn children_out_of_reach() {
    for (out, options) in [("raw/%p.bbraw", &[][..]), ("raw/%m.bbraw", &[]), ("raw/%p.bbraw", &["-static"])] {
        let sandbox = Sandbox::new("out-of-reach");
        let source = sandbox.write("program.c", OUT_OF_REACH);
        let program = sandbox.join("program");
        Run::new(tool("bbprof-cc")).args(["-O2", "-o"]).arg(&program).arg(&source).args(options).ok();
        std::fs::create_dir(sandbox.join("raw")).unwrap();
        Run::new(&program).arg("again").env("BBPROF_OUT", sandbox.join(out)).in_folder(sandbox.path()).ok();
        let read = |path| RawProfile::read(&std::fs::read(path).unwrap()).unwrap();
        let profiles: Vec<_> = sandbox.raw_profiles("raw").into_iter().map(read).collect();
        let single = profiles.iter().filter(|profile| profile.pooled.is_empty()).map(|profile| profile.ending.lost_children);
        let pooled = profiles.iter().flat_map(|profile| &profile.pooled);
        let mut lost: Vec<_> = single.chain(pooled.map(|(ending, _)| ending.lost_children)).collect();
        lost.sort_unstable();
        // The child that has a file, and the process before and behind its exec.
        assert_eq!(lost, [0, 6, 6], "{out} {options:?}");
        let verified = Run::new(tool("bbprof")).arg("verify").arg(sandbox.join("raw")).outcome().expect_code(5).text();
        let told =
            verified.matches("6 processes that were forked here could not write profiles: what they executed is lost").count();
        assert_eq!(told, 2, "{out} {options:?}: {verified}");
    }
}

const AT_THE_END: &str = r#"
#include <sys/wait.h>
#include <unistd.h>
static volatile int turns;
__attribute__((noinline)) static void step(void) { turns++; }
static void part(int own, int childs) {
    int child = fork();
    for (int i = 0; i < (child ? own : childs); i++) step();
    if (!child) _exit(3);
    waitpid(child, 0, 0);
}
__attribute__((destructor)) static void last(void) { part(300, 200); }
__attribute__((destructor(200))) static void behind_all(void) { part(50, 70); }
#ifdef PROGRAM
int main(void) { return 0; }
#else
void touch(void) {}
#endif
"#;

/// In destructors: glibc has dropped by then what the image itself registered for forks.
#[test]
fn in_destructors() {
    let bbprof_cc = tool("bbprof-cc");
    let clang = Path::new("clang-22");
    let check = |what: &str, program: &Path, sandbox: &Sandbox| {
        std::fs::create_dir(sandbox.join("raw")).expect("a folder in the sandbox");
        Run::new(program).env("BBPROF_OUT", sandbox.join("raw/%p.bbraw")).ok();
        let profiles = sandbox.raw_profiles("raw");
        let mut steps: Vec<_> = profiles.into_iter().map(|path| Exported::of(&[path]).entries("step")).collect();
        steps.sort_unstable();
        assert_eq!(steps, [70, 200, 350].map(Some), "{what}");
    };
    for options in [&[][..], &["-no-pie"], &["-static"], &["-static-pie"], &["--bbprof-counters=paths", "--bbprof-path-array=0"]] {
        let sandbox = Sandbox::new("forks-at-the-end");
        let (source, program) = (sandbox.write("end.c", AT_THE_END), sandbox.join("end"));
        Run::new(&bbprof_cc).args(["-O1", "-DPROGRAM", "-o"]).arg(&program).arg(&source).args(options).ok();
        check(&format!("program {options:?}"), &program, &sandbox);
    }
    for (compiler, options) in [(&*bbprof_cc, &[][..]), (clang, &[]), (clang, &["--bbprof-storage=shared"])] {
        let sandbox = Sandbox::new("forks-at-the-end");
        let (library, program) = (sandbox.join("libend.so"), sandbox.join("main"));
        let source = sandbox.write("end.c", AT_THE_END);
        Run::new(&bbprof_cc).args(["-O1", "-fPIC", "-shared", "-o"]).arg(&library).arg(&source).args(options).ok();
        let main = sandbox.write("main.c", "void touch(void); int main(void) { touch(); return 0; }");
        Run::new(compiler).args(["-O1", "-o"]).arg(&program).arg(&main).arg(&library).ok();
        check(&format!("library {options:?} in a program by {}", compiler.display()), &program, &sandbox);
    }
}

/// Compiles and runs a program that forks, whose exit code is its child's; all its profiles are exact.
fn all_exact(source: &str, dump: &str) {
    let sandbox = Sandbox::new("fork");
    let program = sandbox.join("program");
    let source = sandbox.write("program.c", source);
    Run::new(tool("bbprof-cc")).args(["-O2", "-D_GNU_SOURCE", "-pthread", "-o"]).arg(&program).arg(&source).ok();
    std::fs::create_dir(sandbox.join("raw")).expect("a folder in the sandbox");
    Run::new(&program).env("BBPROF_OUT", sandbox.join("raw/%p.bbraw")).env("BBPROF_DUMP", dump).ok();
    let profiles = sandbox.raw_profiles("raw");
    assert!(profiles.len() >= 2, "{profiles:?}");
    Run::new(tool("bbprof")).arg("verify").args(&profiles).ok();
}

const FORKING_THREAD_GOES: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static pthread_t forker;
static int status;
/* The stack of the thread that forked is larger than what libc keeps, and goes. */
static void *rest(void *unused) {
    pthread_join(forker, 0);
    usleep(100000);
    exit(0);
    return unused;
}
static void *forks(void *unused) {
    pid_t child = fork();
    if (child == 0) {
        pthread_t made;
        forker = pthread_self();
        pthread_create(&made, 0, rest, 0);
        return unused;
    }
    waitpid(child, &status, 0);
    return unused;
}
int main(void) {
    pthread_attr_t attributes;
    pthread_t made;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 96ul << 20);
    pthread_create(&made, &attributes, forks, 0);
    pthread_join(made, 0);
    return status != 0;
}
"#;

/// What dumps periodically in a child does not lean on the thread that forked.
#[test]
fn the_forking_thread_goes() {
    all_exact(FORKING_THREAD_GOES, "every:10ms");
}

const STACK_IS_GONE: &str = r#"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define STACK_BYTES (96ul << 20)
static char *of_thread;
static void *ends_barely(void *unused) {
    char here;
    of_thread = &here;
    syscall(SYS_exit, 0);
    return unused;
}
int main(void) {
    pthread_attr_t attributes;
    pthread_t made;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_create(&made, &attributes, ends_barely, 0);
    pthread_join(made, 0);
    /* All around where the thread's stack was, as far as nothing else is there. */
    char *begin = (char *)((unsigned long)of_thread & ~4095ul) - 256 * 4096, *pages[512];
    unsigned num = 0;
    for (char *at = begin; at != begin + 512 * 4096; at += 4096) {
        void *page = mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (page == at)
            pages[num++] = memset(page, 0x5a, 4096);
    }
    if (num < 257) return 91;
    pid_t child = fork();
    if (child == 0) {
        unsigned changed = 0;
        for (unsigned i = 0; i < num * 4096; i++)
            changed += pages[i / 4096][i % 4096] != 0x5a;
        _exit(changed != 0);
    }
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
"#;

/// What a program has where the stack of a thread was that ended by a bare system call is the child's, too.
#[test]
fn another_thing_is_where_a_stack_was() {
    all_exact(STACK_IS_GONE, "");
}

const KILLED_WHILE_COUNTING: &str = r#"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned sum;
__attribute__((noinline)) static void wander(unsigned way) {
    for (unsigned bit = 0; bit < 20; bit++) {
        if (way & 1) sum += bit;
        if (way & 2) sum ^= bit;
        if (way & 4) sum *= 3;
        if (way & 8) sum -= bit;
        if (way & 16) sum ^= 5;
        if (way & 32) sum *= 7;
        if (way & 64) sum += 11;
        if (way & 128) sum ^= 13;
        if (way & 256) sum -= 17;
        if (way & 512) sum ^= 19;
        if (way & 1024) sum += 23;
        if (way & 2048) sum ^= 29;
        way = way >> 1 | way << 31;
    }
}
int main(void) {
    pid_t child = vfork();
    if (child == 0) {
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog all = {4, filter};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0)
            _exit(1);
        for (unsigned way = 0; way < 1u << 16; way++)
            wander(way);
        _exit(2);
    }
    int status;
    waitpid(child, &status, 0);
    wander(0xffff0000);
    return !WIFSIGNALED(status);
}
"#;

/// A child of vfork that is killed where it has the runtime's lock, for memory for a path: its parent does not wait for it.
#[test]
fn killed_while_it_counts_for_its_parent() {
    let sandbox = Sandbox::new("vfork");
    let (source, program) = (sandbox.write("program.c", KILLED_WHILE_COUNTING), sandbox.join("program"));
    let compile = Run::new(tool("bbprof-cc")).args(["-O2", "--bbprof-counters=paths", "--bbprof-path-array=0", "-o"]);
    compile.arg(&program).arg(&source).ok();
    let run = Run::new("timeout").args(["-s", "KILL", "60"]).arg(&program).env("BBPROF_OUT", sandbox.join("raw.bbraw"));
    run.outcome().expect_code(0);
    let verified = Run::new(tool("bbprof")).arg("verify").arg(sandbox.join("raw.bbraw")).outcome().expect_code(5).text();
    assert!(verified.contains("A child of vfork was killed"), "{verified}");
}
