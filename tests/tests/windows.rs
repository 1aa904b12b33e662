//! What a program asks of the runtime that it carries, through the header as it is installed: each dump holds what was executed
//! since the last reset, in C and in C++.

use bbprof_tests::{Exported, ProfiledRun, Run, Sandbox, tool};

const PROGRAM: &str = r#"
#include <bbprof.h>
#include <errno.h>
#include <stdio.h>
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
        run.outcome.clone().expect_code(0);
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
