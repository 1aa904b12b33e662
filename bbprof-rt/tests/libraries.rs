//! Shared libraries: dlopen, dlclose, reopen, and a library in a program that is not profiled.

mod support;

use bbprof_format::raw::{Fate, State};
use support::{LIBRARY, Link, assert_end, assert_tls, image, library, plain_program, program, run};

fn assert_library(counters: &[u64], expected: [u64; 3]) {
    assert_eq!([counters[0], counters[1], counters[599]], expected);
    assert_eq!(counters.len(), 600);
    assert_eq!(counters.iter().sum::<u64>(), expected.iter().sum());
}

#[test]
fn opened_closed_and_reopened() {
    for rounds in [1, 2, 20] {
        let run = run(&program(Link::Dynamic), &["dlopen", library().to_str().unwrap(), &rounds.to_string()]);
        assert_eq!(run.status.code(), Some(0), "{}", run.stderr);
        let profile = run.profile();
        assert_tls(&profile, [1, 100, 0, 0, 1]);
        assert_end(&profile, State::Complete, Fate::Exit { status: Some(0) });
        assert_eq!(profile.images.len(), 2);
        let image = image(&profile, LIBRARY);
        assert_library(&image.global_counters, [rounds, rounds, rounds * 310]);
        assert_eq!(image.path, library().into_os_string().into_encoded_bytes());
    }
}

#[test]
fn in_a_program_that_is_not_profiled() {
    let run = run(&plain_program(), &[]);
    assert_eq!(run.status.code(), Some(6));
    let profile = run.profile();
    assert_end(&profile, State::Complete, Fate::Exit { status: None });
    assert_eq!(profile.images.len(), 1);
    assert_library(&image(&profile, LIBRARY).global_counters, [1, 1, 30]);
}
