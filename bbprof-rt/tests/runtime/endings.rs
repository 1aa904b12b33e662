//! However a process ends, its counts are right and its fate is told.

use crate::support::{Link, assert_end, assert_global, assert_tls, program, run};
use bbprof_format::raw::{Fate, State};
use std::os::unix::process::ExitStatusExt;

/// Runs a scenario in all kinds of links: exit code or signal, thread-local counters 0 to 4, fate.
#[track_caller]
fn check(how: &str, code: Result<i32, i32>, tls: [u64; 5], state: State, fate: Fate) {
    for link in Link::ALL {
        let run = run(&program(link), &[how]);
        assert_eq!(run.status.code().ok_or_else(|| run.status.signal().unwrap_or(0)), code, "{link:?}: {}", run.stderr);
        let profile = run.profile();
        assert_tls(&profile, tls);
        assert_global(&profile, [1, 1]);
        assert_end(&profile, state, fate);
        assert_eq!(profile.ending.live_threads, 0);
        assert_eq!(profile.images.len(), 1);
        assert_eq!(profile.images[0].presence, [true, false, true]);
        assert_eq!(profile.images[0].path, program(link).into_os_string().into_encoded_bytes());
        assert_eq!(profile.process.executable, profile.images[0].path);
    }
}

const fn exit(status: u8) -> Fate {
    Fate::Exit { status: Some(status) }
}

#[test]
fn return_from_main() {
    check("return", Ok(0), [1, 100, 0, 0, 1], State::Complete, exit(0));
}

#[test]
fn exit_with_a_code() {
    check("exit", Ok(42), [1, 100, 0, 0, 1], State::Complete, exit(42));
}

#[test]
fn exit_without_handlers() {
    check("_exit", Ok(3), [1, 100, 0, 0, 0], State::Ended, Fate::ExitAtOnce { status: 3 });
    check("quick_exit", Ok(5), [1, 100, 0, 0, 0], State::Ended, Fate::QuickExit { status: 5 });
    check("quick_exit-_exit", Ok(6), [1, 100, 0, 0, 0], State::Ended, Fate::ExitAtOnce { status: 6 });
}

#[test]
fn abort_and_signals() {
    check("abort", Err(6), [1, 100, 0, 0, 0], State::Ended, Fate::Abort);
    check("segv", Err(11), [1, 100, 0, 0, 0], State::Running, Fate::NotSeen);
    check("kill", Err(9), [1, 100, 0, 0, 0], State::Ended, Fate::OwnSignal { signal: 9 });
}

#[test]
fn the_programs_own_handler() {
    check("handler", Ok(3), [1, 100, 0, 0, 10], State::Ended, Fate::ExitAtOnce { status: 3 });
}
