//! Where musl does otherwise than glibc, beyond how programs end (`fates`) and libraries begin (`libraries.rs`).

use bbprof_tests::{Exported, MuslImage, Run, Sandbox, for_musl, tool};

const FORK_AT_END: &str = r"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int at_end;
__attribute__((noinline)) static void step(void) { at_end++; }
static void *forks(void *unused) {
    while (at_end == 0) usleep(100);
    fork();
    return unused;
}
__attribute__((destructor)) static void waits(void) {
    step();
    usleep(100000);
}
int main(void) {
    pthread_t thread;
    return pthread_create(&thread, 0, forks, 0) == 0 ? 3 : 4;
}
";

/// musl's `exit` holds a lock while destructors run, which `fork` takes: who forks then waits for the end, with the runtime's lock.
#[test]
fn a_fork_while_destructors_run() {
    let sandbox = Sandbox::new("musl-fork");
    let source = sandbox.write("program.c", FORK_AT_END);
    let [before, behind] = for_musl(MuslImage::Dynamic, &sandbox);
    let (program, raw) = (sandbox.join("program"), sandbox.join("run.bbraw"));
    Run::new(tool("bbprof-cc")).args(["-O2", "-pthread"]).args(before).arg(source).args(behind).arg("-o").arg(&program).ok();
    let run = Run::new("timeout").args(["-s", "KILL", "60"]).arg(&program).env("BBPROF_OUT", &raw).outcome();
    assert_eq!(run.code, 3, "{}", run.stderr);
    Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
    let exported = Exported::of(std::slice::from_ref(&raw));
    assert_eq!(["main", "forks", "waits", "step"].map(|name| exported.entries(name)), [Some(1); 4]);
}
