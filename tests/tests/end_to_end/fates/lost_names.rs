//! Profiles whose names go to another file, or to none, while the process runs.

use bbprof_tests::{Exported, Run, Sandbox, tool};

/// Loses its profile's name as its first argument says, and only then begins a thread: its counters make the file grow.
const LOSES_ITS_NAME: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *unused) { return unused; }
__attribute__((noinline)) static void in_child(void) { puts("child"); }
int main(int argc, char **argv) {
    (void)argc;
    if (strcmp(argv[1], "child") == 0) {
        in_child();
        return 0;
    }
    if (strcmp(argv[1], "taken") == 0 && fork() == 0)
        return execl(argv[0], argv[0], "child", (char *)0);
    if (strcmp(argv[1], "removed") == 0)
        remove(getenv("BBPROF_OUT"));
    wait(0);
    pthread_t made;
    pthread_create(&made, 0, thread, 0);
    return pthread_join(made, 0);
}
"#;

/// One line says what happened to the name, also where a thread's counters are the first
/// to miss it; what has the name stays readable.
#[test]
fn before_a_thread() {
    let sandbox = Sandbox::new("lost-names");
    let (source, program) = (sandbox.write("program.c", LOSES_ITS_NAME), sandbox.join("program"));
    Run::new(tool("bbprof-cc")).args(["-O1", "-pthread", "-o"]).arg(&program).arg(&source).ok();
    for (way, said, calls_of) in [
        ("taken", "another file has this name now; this process's counts are lost if it was replaced", "in_child"),
        ("removed", "no file has this name any more; some counts are lost if the program does not end by exit", "thread"),
    ] {
        let raw = sandbox.join(format!("{way}.bbraw"));
        let run = Run::new(&program).arg(way).env("BBPROF_OUT", &raw).ok();
        assert!(run.stderr.lines().count() == 1 && run.stderr.contains(said), "{way}: {}", run.stderr);
        assert!(run.stderr.contains(&*raw.to_string_lossy()), "{way}: {}", run.stderr);
        let left = Exported::of(&[raw]);
        assert!(left.is_exact(), "{way}");
        assert_eq!((left.entries(calls_of), left.entries("main")), (Some(1), Some(1)), "{way}");
    }
}
