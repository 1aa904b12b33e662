//! Ends on stacks that the program made itself.

use bbprof_tests::{Run, Sandbox, tool};

/// A handler came back on a stack of its own, 4 MB above that on which the program ends later.
const BELOW_REMAINS: &str = r#"
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
static ucontext_t first, here;
static volatile int handled;
static void handler(int number) { handled = number; }
static void is_interrupted(void) { __asm__ volatile("int3"); }
static void ends(void) { exit(handled == SIGTRAP ? 3 : 4); }
static void run_on(char *stack, void (*function)(void)) {
    ucontext_t there;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = 1 << 18;
    there.uc_link = &here;
    makecontext(&there, function, 0);
    swapcontext(&here, &there);
}
int main(void) {
    char *stacks = mmap(0, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGTRAP, handler);
    run_on(stacks + (4 << 20), is_interrupted);
    run_on(stacks, ends);
    return 1;
}
"#;

/// Without random addresses, mappings are some gigabytes below the first thread's stack; but they are not that stack.
#[test]
fn near_the_first_stack() {
    let sandbox = Sandbox::new("stacks");
    let (source, program) = (sandbox.write("program.c", BELOW_REMAINS), sandbox.join("program"));
    Run::new(tool("bbprof-cc")).args(["-O1", "-o"]).arg(&program).arg(&source).ok();
    for before in [&["setarch", "-R"][..], &["env"]] {
        let run = Run::new(before[0]).args(&before[1..]).arg(&program).env("BBPROF_OUT", sandbox.join("raw.bbraw"));
        run.outcome().expect_code(3);
        Run::new(tool("bbprof")).arg("verify").arg(sandbox.join("raw.bbraw")).ok();
    }
}
