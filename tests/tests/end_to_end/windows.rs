//! What a program asks of the runtime that it carries, through the header as it is installed: each dump holds what was executed
//! since the last reset, in C and in C++.

use bbprof_tests::{Exported, ProfiledRun, Run, Sandbox, tool};
use std::path::PathBuf;

const PROGRAM: &str = r#"
#include <bbprof.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __cplusplus
extern "C"
#endif
__attribute__((noinline)) void work(int *sum) { *sum += *sum % 3; __asm__ volatile("" : : : "memory"); }

static int put(void *file, const void *bytes, size_t num_bytes) {
    return fwrite(bytes, 1, num_bytes, (FILE *)file) == num_bytes ? 0 : -EIO;
}

int main(void) {
    int sum = 7, failures = 0;
    for (int i = 0; i < 10; i++) work(&sum);
    failures += bbprof_dump("first.bbraw") != 0;
    for (int i = 0; i < 5; i++) work(&sum);
    failures += bbprof_dump("both.bbraw") != 0;
    failures += bbprof_reset() != 0;
    for (int i = 0; i < 3; i++) work(&sum);
    FILE *file = fopen("after.bbraw", "wb");
    failures += bbprof_write(put, file) != 0;
    fclose(file);
    failures += bbprof_dump("missing/folder.bbraw") != -ENOENT;
    char own[4096], *out = getenv("BBPROF_OUT"), *number = strstr(out, "%p");
    snprintf(own, sizeof own, "%.*s%d%s", (int)(number - out), out, (int)getpid(), number + 2);
    failures += bbprof_dump(own) != -EEXIST;
    for (int i = 0; i < 2; i++) work(&sum);
    return failures;
}
"#;

#[test]
fn dumps_and_resets() {
    let sandbox = Sandbox::new("windows");
    for (compiler, language) in [("bbprof-cc", "c"), ("bbprof-c++", "c++")] {
        let source = sandbox.write(&format!("program.{language}"), PROGRAM);
        let program = sandbox.join(format!("program-{language}"));
        Run::new(tool(compiler)).args(["-O2", "-Wall", "-Werror"]).arg(&source).arg("-o").arg(&program).ok();
        let run = ProfiledRun::of(&program, &[], &sandbox);
        let outcome = run.outcome.clone().expect_code(0);
        assert!(outcome.stderr.contains("this is the process's raw profile"), "{}", outcome.stderr);
        let entries = |profile| Exported::of(&[profile]).entries("work").unwrap();
        let dumped = ["first.bbraw", "both.bbraw", "after.bbraw"].map(|name| entries(sandbox.join(name)));
        assert_eq!((dumped, entries(run.raw)), ([10, 15, 3], 5), "{compiler}");
        for question in ["-E", "-M"] {
            // ccache and build systems ask before they compile.
            let asked = Run::new(tool(compiler)).arg(question).arg(&source).ok();
            assert!(asked.text().contains("bbprof.h"), "{compiler} {question}");
        }
    }
}

const DUMPING: &str = r#"
#include <bbprof.h>
__attribute__((noinline)) void work(int *sum) { *sum += *sum % 3; __asm__ volatile("" : : : "memory"); }

static void times(int times) {
    int sum = 7;
    for (int i = 0; i < times; i++) work(&sum);
}

int main(int argc, char **argv) {
    times(10);
    bbprof_dump("first.bbraw");
    bbprof_dump("idle.bbraw");
    times(5);
    bbprof_dump("second.bbraw");
    if (argc > 1 && argv[1][0] == 'r') {
        bbprof_reset();
        times(3);
        bbprof_dump("third.bbraw");
    }
    times(2);
    return 0;
}
"#;

#[test]
fn snapshots_count_once() {
    let sandbox = Sandbox::new("snapshots");
    let source = sandbox.write("program.c", DUMPING);
    let program = sandbox.join("program");
    Run::new(tool("bbprof-cc")).arg("-O2").arg(&source).arg("-o").arg(&program).ok();
    for (how, counted) in [("", 17), ("reset", 20)] {
        let folder = sandbox.join(format!("of-{how}"));
        std::fs::create_dir(&folder).unwrap();
        Run::new(&program).args(Some(how).filter(|how| !how.is_empty())).env("BBPROF_OUT", "end.bbraw").in_folder(&folder).ok();
        let entries = |files: &[PathBuf]| Exported::of(files).entries("work").unwrap();
        assert_eq!(entries(std::slice::from_ref(&folder)), counted, "{how}");
        // In any order, and a snapshot by itself is what it is.
        let named = ["end", "second", "first"].map(|name| folder.join(name).with_extension("bbraw"));
        assert_eq!(entries(&named), if how == "reset" { 15 + 5 } else { 17 }, "{how}");
        assert_eq!(entries(&named[1..]), 15, "{how}");
        assert_eq!(entries(&[folder.join("idle.bbraw"), folder.join("first.bbraw")]), 10, "{how}");
        assert_eq!(entries(&named[2..]), 10, "{how}");
        let said = Run::new(tool("bbprof")).arg("verify").arg(&folder).ok();
        let says = if how == "reset" { "third.bbraw: its counts are in" } else { "first.bbraw and 2 more of its process: " };
        assert!(said.stderr.contains(says), "{how}: {}", said.stderr);
        // A pool has the last stretch only.
        std::fs::remove_file(folder.join("end.bbraw")).unwrap();
        let pool = Run::new(&program).args(Some(how).filter(|how| !how.is_empty())).env("BBPROF_OUT", "%m.bbraw");
        pool.in_folder(&folder).ok();
        assert_eq!(entries(std::slice::from_ref(&folder)), counted, "{how}, pool");
        // Through a pipe, too.
        let piped = format!("cat '{}' | '{}' report /dev/stdin", named[1].display(), tool("bbprof").display());
        assert!(Run::new("sh").args(["-c", &piped]).ok().text().contains("work"), "{how}");
    }
}

/// The thread that dumps from time to time does not keep a process alive, whose code is that of its last thread.
#[test]
fn dumps_end_with_the_last_thread() {
    let sandbox = Sandbox::new("last-thread");
    sandbox.write("main.c", "#include <sys/syscall.h>\n#include <unistd.h>\nint main(void) { syscall(SYS_exit, 3); }\n");
    Run::new(tool("bbprof-cc")).args(["-w", "main.c", "-o", "main"]).in_folder(sandbox.path()).ok();
    let run = Run::new("timeout").args(["-s", "KILL", "60", "./main"]).env("BBPROF_DUMP", "every:100s").in_folder(sandbox.path());
    run.outcome().expect_code(3);
}
