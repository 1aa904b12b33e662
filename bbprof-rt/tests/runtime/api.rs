//! The API: from C, from Rust, without libc.

use crate::support::{Link, PROGRAM, assert_end, assert_tls, bare_program, image, program, run, run_with, rust_program};
use bbprof_format::raw::{Fate, RawProfile, State};

#[test]
fn bytes_to_a_callback() {
    for link in Link::ALL {
        let run = run(&program(link), &["write"]);
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
        let profile = RawProfile::read(&run.stdout).expect("a complete profile on stdout");
        assert_tls(&profile, [1, 100, 0, 0, 0]);
        assert_end(&profile, State::Complete, Fate::Snapshot);
        assert_tls(&run.profile(), [1, 101, 0, 0, 1]);
    }
}

/// Nothing is held while the callback runs.
#[test]
fn a_callback_that_waits_for_a_thread() {
    for link in Link::ALL {
        let run = run(&program(link), &["write-by-thread"]);
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
        assert_tls(&RawProfile::read(&run.stdout).expect("a complete profile on stdout"), [1, 100, 0, 0, 0]);
        assert_eq!(image(&run.profile(), PROGRAM).tls_counters[0], 1);
    }
}

/// It does nothing: all counts since the start are there, and the profile does not say otherwise.
#[test]
fn a_reset_without_room() {
    for link in Link::ALL {
        let run = run(&program(link), &["reset-without-room"]);
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
        let profile = run.profile();
        assert_tls(&profile, [1, 101, 0, 0, 1]);
        assert_eq!((profile.ending.resets, profile.ending.notes.len()), (0, 0));
    }
}

#[test]
fn from_rust() {
    let run = run_with(&rust_program(), &[], |command| {
        command.env("BBPROF_OUT", "x.bbraw");
    });
    assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
    let numbered = format!("x.{}.1.bbraw", run.read("x.bbraw").process.pid);
    for (name, count) in [("first.bbraw", 3), (&numbered, 4), ("last.bbraw", 4)] {
        let profile = run.read(name);
        assert_eq!(image(&profile, 0x45).global_counters[0], count, "{name}");
    }
}

#[test]
fn a_program_without_libc() {
    for (arguments, state, fate) in
        [(&[][..], State::Complete, Fate::Exit { status: Some(0) }), (&["x"], State::Running, Fate::NotSeen)]
    {
        let run = run(&bare_program(), arguments);
        assert_eq!(run.status.code(), Some(7));
        assert_eq!(image(&RawProfile::read(&run.stdout).expect("a profile on stdout"), 0xba).global_counters[..3], [1, 10, 0]);
        let profile = run.profile();
        assert_eq!(image(&profile, 0xba).global_counters[..3], [1, 10, 1]);
        assert_end(&profile, state, fate);
    }
}
