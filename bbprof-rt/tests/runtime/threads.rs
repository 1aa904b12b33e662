//! Threads: every count of every thread, whatever ends it.

use crate::support::{
    Link, PAUSE, PROGRAM, assert_end, assert_global, assert_tls, assert_waiting, image, program, program_with, run,
};
use bbprof_format::raw::{Fate, RawProfile, State};
use std::path::Path;

/// Runs a scenario in all kinds of links to a clean end: counters 0 to 4.
#[track_caller]
fn check(how: &str, tls: [u64; 5]) -> Vec<RawProfile> {
    Link::ALL.map(|link| check_link(link, how, tls)).into()
}

#[track_caller]
fn check_link(link: Link, how: &str, tls: [u64; 5]) -> RawProfile {
    check_program(link, &program(link), how, tls)
}

#[track_caller]
fn check_program(link: Link, program: &Path, how: &str, tls: [u64; 5]) -> RawProfile {
    let run = run(program, &[how]);
    assert_eq!(run.status.code(), Some(0), "{link:?}: {}", run.stderr);
    let profile = run.profile();
    assert_tls(&profile, tls);
    assert_end(&profile, State::Complete, Fate::Exit { status: Some(0) });
    profile
}

#[test]
fn eight_threads_lose_nothing() {
    for profile in check("threads", [1, 100, 8_000_000, 0, 1]) {
        assert_eq!(profile.threads, 8);
    }
}

#[test]
fn ten_thousand_short_threads() {
    for profile in check("short-threads", [1, 100, 10_000, 0, 1]) {
        assert_eq!(profile.threads, 10_000);
    }
}

/// Pages of their stacks are put aside while the counters are mapped there, and come
/// back: those of some threads, if many are there at once.
#[test]
fn threads_with_many_counters() {
    for link in Link::ALL {
        for (counters, how, tls) in [
            (100_000, "threads", [1, 100, 8_000_000, 0, 1]),
            (2_000_000, "threads", [1, 100, 8_000_000, 0, 1]),
            (100_000, "short-threads", [1, 100, 10_000, 0, 1]),
            (100_000, "cancel", [1, 100, 400, 0, 1]),
            (100_000, "late", [1, 100, 3, 0, 13]),
            (100_000, "main-pthread_exit", [1, 100, 10, 0, 1]),
        ] {
            check_program(link, &program_with(link, counters), how, tls);
        }
    }
}

#[test]
fn blocks_of_threads() {
    for link in Link::ALL {
        let profile = check_link(link, "delta-threads", [1, 100, 0, 0, 1]);
        assert_global(&profile, [1, 800_001]);
        let profile = check_link(link, "delta-short-threads", [1, 100, 0, 0, 1]);
        assert_global(&profile, [1, 801]);
    }
}

#[test]
fn pthread_exit() {
    check("pthread_exit", [1, 100, 40, 0, 1]);
}

#[test]
fn cancelled_threads() {
    check("cancel", [1, 100, 400, 0, 1]);
}

/// Four rounds of another key's destructor, in each of three threads.
#[test]
fn destructors_of_thread_specific_data() {
    check("late", [1, 100, 3, 0, 13]);
}

#[test]
fn c11_threads() {
    check("c11", [1, 100, 30, 0, 1]);
}

/// The last thread runs the process's exit behind its own last destructor.
#[test]
fn main_ends_first() {
    check("main-pthread_exit", [1, 100, 10, 0, 1]);
}

#[test]
fn exit_in_a_thread() {
    for link in Link::ALL {
        let run = run(&program(link), &["exit-in-thread"]);
        assert_eq!(run.status.code(), Some(9));
        let profile = run.profile();
        assert_tls(&profile, [1, 100, 5, 0, 1]);
        assert_end(&profile, State::Ended, Fate::Exit { status: Some(9) });
        assert_waiting(&profile, PAUSE, 1);
    }
}

#[test]
fn detached_threads_alive_at_exit() {
    for link in Link::ALL {
        let run = run(&program(link), &["detached"]);
        let profile = run.profile();
        assert_tls(&profile, [1, 100, 400, 0, 1]);
        assert_end(&profile, State::Ended, Fate::Exit { status: Some(0) });
        assert_waiting(&profile, PAUSE, 4);
        // The program's own storage and one for each thread.
        assert_eq!(image(&profile, PROGRAM).segments, 1 + 4 + 1);
    }
}

/// 64 KiB of stack, and up to 800 KB of counters: libc takes the counters out of the stack, the
/// program must not feel it. Nor what their alignment wastes.
#[test]
fn stacks_keep_their_size() {
    for (link, counters) in Link::ALL.into_iter().flat_map(|link| [8, 513, 100_000].map(|counters| (link, counters))) {
        let run = run(&program_with(link, counters), &["small-stack"]);
        assert_eq!(run.status.code(), Some(0), "{link:?}, {counters}: {}", run.stderr);
        assert_tls(&run.profile(), [1, 100, 40, 0, 1]);
    }
}

/// The program knows how much they need, and what lies below them: they are the program's alone, however many counters there are.
#[test]
fn stacks_of_the_programs_own() {
    for (link, counters, bytes) in Link::ALL
        .into_iter()
        .flat_map(|link| [(link, 8, 32 << 10), (link, 100_000, 64 << 10), (link, 100_000, 1 << 20), (link, 8, 1 << 42)])
    {
        let run = run(&program_with(link, counters), &["own-stack", &format!("{bytes}")]);
        assert_eq!((run.status.code(), &*run.stderr), (Some(0), ""), "{link:?}, {counters}");
        let turns = if bytes < 1 << 42 { bytes / 8 * 7 / 1024 } else { 0 };
        assert_tls(&run.profile(), [1, 100, 2 * turns, 0, 1]);
    }
}

/// Instrumented code calls the runtime wherever it is.
#[test]
fn asking_for_a_block_preserves_all_registers() {
    for link in Link::ALL {
        assert_global(&check_link(link, "registers", [1, 100, 0, 0, 1]), [1, 4]);
    }
}

/// The threads' folder can be opened, their files cannot.
#[test]
fn a_thread_alive_at_exit_and_one_descriptor_left() {
    for link in Link::ALL {
        let run = run(&program(link), &["one-descriptor"]);
        let profile = run.profile();
        assert_tls(&profile, [1, 100, 100, 0, 1]);
        assert_end(&profile, State::Ended, Fate::Exit { status: Some(0) });
        assert_eq!((profile.ending.live_threads, profile.ending.waits), (1, None));
    }
}

/// What nobody can keep is said to be lost.
#[test]
fn threads_without_a_key() {
    for link in Link::ALL {
        let run = run(&program(link), &["no-keys"]);
        assert!(run.stderr.contains("counts of some threads are lost") && run.stderr.lines().count() == 1, "{}", run.stderr);
        let profile = &run.profiles()[0];
        assert_tls(profile, [1, 100, 0, 0, 1]);
        assert_end(profile, State::Complete, Fate::Exit { status: Some(0) });
        assert!(profile.ending.notes.iter().any(|note| note.contains("what it counted is lost")), "{:?}", profile.ending.notes);
    }
}

/// vfork's child has the thread-local storage of a thread, but not its number.
#[test]
fn no_block_is_kept_from_a_child_of_vfork() {
    for link in Link::ALL {
        let profile = check_link(link, "vfork-counts", [1, 100, 0, 0, 1]);
        assert_global(&profile, [1, 5]);
    }
}
