//! fork, vfork and exec: each process has its own file, and counts from zero.

use crate::support::{Link, PROGRAM, assert_end, assert_global, assert_tls, image, program, program_with, run, run_with};
use bbprof_format::raw::{Fate, State};

const EXIT_0: Fate = Fate::Exit { status: Some(0) };

#[test]
fn a_child_starts_from_zero() {
    for link in Link::ALL {
        let run = run(&program(link), &["fork"]);
        let [parent, child] = run.profiles().try_into().unwrap();
        assert_tls(&parent, [1, 100, 0, 0, 1]);
        assert_global(&parent, [1, 1]);
        assert_end(&parent, State::Complete, EXIT_0);
        assert_tls(&child, [0, 0, 0, 50, 1]);
        assert_global(&child, [0, 1]);
        assert_end(&child, State::Complete, Fate::Exit { status: Some(1) });
        assert_eq!(child.process.parent_pid, parent.process.pid);
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn a_child_that_dies() {
    for link in Link::ALL {
        for how in ["fork-_exit", "_Fork"] {
            let [parent, child] = run(&program(link), &[how]).profiles().try_into().unwrap();
            assert_tls(&parent, [1, 100, 0, 0, 1]);
            assert_tls(&child, [0, 0, 0, 50, 0]);
            assert_end(&child, State::Ended, Fate::ExitAtOnce { status: 1 });
        }
    }
}

#[test]
fn fork_in_a_thread() {
    for link in Link::ALL {
        for counters in [1000, 100_000] {
            let [parent, child] = run(&program_with(link, counters), &["fork-in-thread"]).profiles().try_into().unwrap();
            assert_tls(&parent, [1, 100, 20, 0, 1]);
            assert_global(&parent, [1, 1]);
            assert_tls(&child, [0, 0, 0, 20, 1]);
            assert_global(&child, [0, 1]);
            assert_end(&child, State::Complete, EXIT_0);
        }
    }
}

/// The child's threads take over stacks of the parent's, whose counters were mapped to the parent's file.
#[test]
fn threads_of_a_child() {
    for link in Link::ALL {
        for counters in [1000, 100_000] {
            let [parent, child] = run(&program_with(link, counters), &["fork-then-threads"]).profiles().try_into().unwrap();
            assert_tls(&parent, [1, 100, 40, 0, 1]);
            assert_tls(&child, [0, 0, 100, 0, 1]);
        }
    }
}

#[test]
fn vfork_leaves_one_file() {
    for link in Link::ALL {
        assert_tls(&run(&program(link), &["vfork"]).profile(), [1, 100, 0, 0, 1]);
    }
}

#[test]
fn exec_leaves_both_files() {
    for (link, how) in Link::ALL.into_iter().flat_map(|link| [(link, "exec"), (link, "execveat")]) {
        let run = run(&program(link), &[how]);
        assert_eq!(run.status.code(), Some(0));
        let [before, after] = run.profiles().try_into().unwrap();
        assert_eq!(before.process.pid, after.process.pid);
        assert_eq!(before.process.start_ticks, after.process.start_ticks);
        assert_tls(&before, [1, 100, 0, 0, 0]);
        assert_end(&before, State::Ended, Fate::Exec);
        assert_eq!(before.process.exec_path, program(link).into_os_string().into_encoded_bytes());
        assert_tls(&after, [1, 100, 0, 0, 1]);
        assert_end(&after, State::Complete, EXIT_0);
    }
}

/// Neither takes the other's name: each process's file has a name of its own, and each dump the name of its file, with a number.
#[test]
fn dumps_around_exec() {
    let run = run(&program(Link::Dynamic), &["dump-exec"]);
    assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
    let names = run.file_names();
    for (rest, work) in [(".1.bbraw", 105), (".exec1.1.bbraw", 22), (".exec1.bbraw", 33)] {
        let found = names.iter().find(|name| name.split_once('.').is_some_and(|(_, found)| format!(".{found}") == rest)).unwrap();
        assert_eq!(image(&run.read(found), PROGRAM).tls_counters[1], work, "{found} of {names:?}");
    }
    assert_eq!(names.len(), 5, "{names:?}");
}

#[test]
fn a_fixed_name_gets_the_childs_number() {
    let run = run_with(&program(Link::Dynamic), &["fork"], |command| {
        command.env("BBPROF_OUT", "fixed.bbraw");
    });
    let names = run.file_names();
    assert_eq!(names.len(), 2);
    let child = names.iter().find(|name| *name != "fixed.bbraw").unwrap();
    assert_eq!(*child, format!("fixed.{}.bbraw", run.read(child).process.pid));
    assert_tls(&run.read("fixed.bbraw"), [1, 100, 0, 0, 1]);
}

/// It has no file, but counts, and its threads run.
#[test]
fn a_fork_without_memory_left() {
    for link in Link::ALL {
        let run = run(&program(link), &["fork-without-memory", "child"]);
        assert_eq!(run.status.code(), Some(0), "{link:?}: {}", run.stderr);
        assert!(run.stderr.contains("out of memory") && run.stderr.lines().count() == 1, "{}", run.stderr);
        assert_tls(&run.read("child"), [0, 0, 10, 50, 0]);
    }
}

/// It cannot even be parted from its parent's counters, which says so and still has its own.
#[test]
fn a_fork_beyond_the_limit_of_memory() {
    for link in Link::ALL {
        let run = run(&program(link), &["fork-without-memory", "child", "beyond"]);
        assert_eq!(run.status.code(), Some(0), "{link:?}: {}", run.stderr);
        let parents =
            run.profiles().into_iter().find(|profile| profile.ending.fate != Fate::Snapshot).expect("the parent has a file");
        assert_eq!(image(&parents, PROGRAM).tls_counters[..2], [1, 100]);
        assert_eq!(parents.ending.lost_children, 1);
    }
}
