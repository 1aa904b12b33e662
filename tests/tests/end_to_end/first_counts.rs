//! A thread's first count in a shared library, where the function asks the runtime for counters: the
//! function, and who walks the stack meanwhile, see nothing of it.

use bbprof_tests::{Exported, ProfiledRun, Run, Sandbox, tool};

/// Walks the stack at each instruction of first counts, the first time that it is executed.
/// Signals stay open meanwhile: what would block them is left out.
const STEPPING: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unwind.h>
#include <x86intrin.h>
extern long leaf(long, long), framed(long), unoptimized(long);
static long steps, lost;
static char seen[1 << 20];
static void *thread(void *);
static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *found) {
  void *function = _Unwind_FindEnclosingFunction((void *)(_Unwind_GetIP(context) - 1));
  return *(int *)found |= function == (void *)thread, _URC_NO_REASON;
}
static void step(int signal, siginfo_t *info, void *interrupted) {
  greg_t *registers = ((ucontext_t *)interrupted)->uc_mcontext.gregs;
  char *walked = &seen[registers[REG_RIP] % sizeof seen];
  int found = 0;
  if (!*walked) {
    *walked = 1;
    steps++;
    _Unwind_Backtrace(visit, &found);
    lost += !found;
  }
  if (memcmp((void *)registers[REG_RIP], "\x0f\x05", 2) == 0 && registers[REG_RAX] == SYS_rt_sigprocmask) {
    registers[REG_RIP] += 2;
    registers[REG_RAX] = 0;
  }
}
__attribute__((noinline)) static void *thread(void *which) {
  __writeeflags(__readeflags() | 0x100);
  long result = which == (void *)1 ? leaf(3, 5) : which == (void *)2 ? framed(7) : unoptimized(9);
  __writeeflags(__readeflags() & ~0x100);
  return (void *)result;
}
int main(void) {
  struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, 0);
  for (long which = 1; which < 4; which++) {
    pthread_t made;
    void *result;
    steps = lost = 0;
    memset(seen, 0, sizeof seen);
    pthread_create(&made, 0, thread, (void *)which);
    pthread_join(made, &result);
    printf("%ld: %s, lost at %ld\n", (long)result, steps > 100 ? "first count" : "few steps", lost);
  }
}
"#;

const STEPPED: &str = "\
__attribute__((noinline)) long leaf(long a, long b) { volatile long kept[] = {a, b}; return kept[0] > b ? kept[1] : b * 2; }
long framed(long a) { volatile long kept[20]; for (int i = 0; i < 20; i++) kept[i] = a + i; return kept[a % 20] + leaf(a, 3); }
__attribute__((optnone, noinline)) long unoptimized(long a) {
  volatile long kept[20];
  for (int i = 0; i < 20; i++) kept[i] = a + i;
  return kept[a % 20] + leaf(a, 3);
}
";

#[test]
fn stacks_can_be_walked_at_each_instruction() {
    let sandbox = Sandbox::new("steps");
    let folder = sandbox.path();
    sandbox.write("stepping.c", STEPPING);
    sandbox.write("stepped.c", STEPPED);
    for options in
        [&["-O0"][..], &["-O0", "-fomit-frame-pointer"], &["-O2"], &["-O2", "-fno-omit-frame-pointer"], &["-O1", "-mcmodel=large"]]
    {
        Run::new(tool("bbprof-cc"))
            .args(["-fPIC", "-shared", "stepped.c", "-o", "libstepped.so"])
            .args(options)
            .in_folder(folder)
            .ok();
        let host = ["-O1", "-fno-omit-frame-pointer", "stepping.c", "libstepped.so", "-Wl,-z,now,-rpath,$ORIGIN", "-o", "stepping"];
        Run::new("clang-22").args(host).in_folder(folder).ok();
        let run = ProfiledRun::of(&sandbox.join("stepping"), &[], &sandbox);
        let expected = "10: first count, lost at 0\n17: first count, lost at 0\n21: first count, lost at 0\n";
        assert_eq!(run.outcome.expect_code(0).stdout, expected.as_bytes(), "{options:?}");
        Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok();
    }
}

/// What a compiler without the plugin inlines into a function without counters is in a function whose red zone is in use.
#[test]
fn bitcode_with_counters_within_functions_without() {
    let sandbox = Sandbox::new("zone");
    let folder = sandbox.path();
    sandbox.write("pick.c", "long pick(const long *of) { return *of > 3 ? of[1] : of[2] * of[3]; }\n");
    sandbox.write(
        "around.c",
        "long pick(const long *);\n\
         long around(const long *of, long a, long b) {\n  volatile long kept[] = {a, b, a + b, a - b, a * b, a ^ b};\n\
         \x20 long picked = pick(of);\n\
         \x20 return picked + kept[0] + 3 * kept[1] + 5 * kept[2] + 7 * kept[3] + 11 * kept[4] + 13 * kept[5];\n}\n",
    );
    sandbox.write(
        "main.c",
        "#include <pthread.h>\n#include <stdio.h>\nlong around(const long *, long, long);\n\
         static void *thread(void *argument) {\n  long n = (long)argument, of[] = {n, 7, 8, 9};\n  return (void *)around(of, n, n + 5);\n}\n\
         int main(void) {\n  for (long n = 0; n < 6; n++) {\n    pthread_t made;\n    void *sum;\n\
         \x20   pthread_create(&made, 0, thread, (void *)n);\n    pthread_join(made, &sum);\n    printf(\"%ld\\n\", (long)sum);\n  }\n}\n",
    );
    Run::new("clang-22").args(["-O2", "main.c", "around.c", "pick.c", "-o", "plain"]).in_folder(folder).ok();
    Run::new(tool("bbprof-cc")).args(["-O2", "-fPIC", "-emit-llvm", "-c", "pick.c", "-o", "pick.bc"]).in_folder(folder).ok();
    let linked = ["-O2", "-fPIC", "-c", "around.c", "-Xclang", "-mlink-bitcode-file", "-Xclang", "pick.bc", "-o", "around.o"];
    Run::new("clang-22").args(linked).in_folder(folder).ok();
    Run::new(tool("bbprof-cc")).args(["-shared", "around.o", "-o", "libaround.so"]).in_folder(folder).ok();
    Run::new("clang-22").args(["main.c", "libaround.so", "-Wl,-rpath,$ORIGIN", "-o", "program"]).in_folder(folder).ok();
    let run = ProfiledRun::of(&sandbox.join("program"), &[], &sandbox);
    assert_eq!(run.outcome.expect_code(0).stdout, Run::new(sandbox.join("plain")).ok().stdout);
    Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok();
}

/// A function that calls nothing, but for the one that it ends in or on a way that is hardly taken, has no frame for the runtime,
/// which it asks for counters at a thread's first count: arguments, and what it keeps below the stack's end, are as before.
#[test]
fn a_threads_first_count_is_in_a_function_without_a_frame() {
    let sandbox = Sandbox::new("leaf");
    sandbox.write(
        "leaf.c",
        "long leaf(long a, long b, long c, long d, long e, long f, long g, double x, double y, const long *more) {\n\
         \x20 volatile long kept[] = {a, b, c, d, e, f, g};\n  long sum = more[0] * a + more[1] * b + more[2] * c + more[3] * d + more[4] * e + more[5] * f;\n\
         \x20 if (x > y) sum -= (long)(x * 3); else sum += (long)(y * 5);\n\
         \x20 return sum + kept[0] + 2 * kept[1] + 3 * kept[2] + 4 * kept[3] + 5 * kept[4] + 6 * kept[5] + 7 * kept[6];\n}\n\
         __attribute__((noinline)) long small(const long *of) { return *of > 3 ? of[1] : of[2] * of[3]; }\n\
         __attribute__((noinline)) long rarely(const long *of) { return __builtin_expect(*of > 3, 0) ? 1 + small(of) : of[1]; }\n\
         long ends_in(const long *of) { return rarely(of + *of % 2); }\n",
    );
    sandbox.write(
        "main.c",
        "#include <pthread.h>\n#include <stdio.h>\n\
         long leaf(long, long, long, long, long, long, long, double, double, const long *);\n\
         long ends_in(const long *);\n\
         static void *thread(void *argument) {\n  long n = (long)argument, more[] = {1, 10, 100, 1000, 10000, 100000}, few[] = {n, 7 * n, 9, 11, 13};\n\
         \x20 long first = n % 2 ? ends_in(few) : 0;\n\
         \x20 return (void *)(first + leaf(n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n % 3, 1.5, more));\n}\n\
         int main(void) {\n  for (long n = 0; n < 30; n++) {\n    pthread_t made;\n    void *sum;\n\
         \x20   pthread_create(&made, 0, thread, (void *)n);\n    pthread_join(made, &sum);\n    printf(\"%ld\\n\", (long)sum);\n  }\n}\n",
    );
    let folder = sandbox.path();
    Run::new("clang-22").args(["-O2", "main.c", "leaf.c", "-o", "plain"]).in_folder(folder).ok();
    for options in [&["-O0"][..], &["-O2", "-mcmodel=large"], &["-O2"]] {
        Run::new(tool("bbprof-cc")).args(["-fPIC", "-c", "leaf.c"]).args(options).in_folder(folder).ok();
        Run::new(tool("bbprof-cc")).args(["-shared", "-o", "libleaf.so", "leaf.o"]).in_folder(folder).ok();
        Run::new("clang-22").args(["-O2", "main.c", "-o", "program", "libleaf.so", "-Wl,-rpath,$ORIGIN"]).in_folder(folder).ok();
        let run = ProfiledRun::of(&sandbox.join("program"), &[], &sandbox);
        assert_eq!(run.outcome.clone().expect_code(0).stdout, Run::new(sandbox.join("plain")).ok().stdout, "{options:?}");
        Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok();
        let entries = Exported::of(&[run.raw]);
        assert_eq!([entries.entries("leaf"), entries.entries("ends_in")], [Some(30), Some(15)], "{options:?}");
    }
    let code = |function: &str| {
        let only = format!("--disassemble={function}");
        Run::new("objdump").args(["-d", "--no-show-raw-insn", &only, "leaf.o"]).in_folder(folder).ok().text()
    };
    for (function, frame) in [("small", false), ("ends_in", false), ("leaf", true)] {
        let code = code(function);
        assert!(code.contains("%r11") && code.contains("push") == frame, "{code}");
    }
}
