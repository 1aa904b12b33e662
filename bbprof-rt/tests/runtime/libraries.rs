//! Shared libraries: dlopen, dlclose, reopen, and a library in a program that is not profiled.

use crate::support::{
    LIBRARY, Link, READ, assert_end, assert_tls, assert_waiting, image, library, library_named, library_of_version, loader_program,
    plain_program, program, run, run_with,
};
use bbprof_format::raw::{Fate, State};

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

#[test]
fn killed() {
    let profile = run(&plain_program(), &["kill"]).profile();
    assert_end(&profile, State::Running, Fate::NotSeen);
    assert_library(&image(&profile, LIBRARY).global_counters, [1, 0, 30]);
}

#[test]
fn children() {
    for (how, parents, childs) in [("fork", 30, 3), ("fork-in-thread", 38, 4)] {
        let [parent, child] = run(&plain_program(), &[how]).profiles().try_into().unwrap();
        assert_library(&image(&parent, LIBRARY).global_counters, [1, 1, parents]);
        assert_library(&image(&child, LIBRARY).global_counters, [0, 1, childs]);
        assert_eq!(child.process.parent_pid, parent.process.pid);
    }
}

/// A daemon's parents end at once: the child may begin its file behind that.
#[test]
fn a_child_whose_parent_is_gone() {
    let run = run(&loader_program(), &["orphan", library().to_str().unwrap()]);
    let [parent, child] = run.profiles().try_into().unwrap();
    assert_library(&image(&parent, LIBRARY).global_counters, [1, 1, 5]);
    assert_library(&image(&child, LIBRARY).global_counters, [0, 1, 3]);
    assert_eq!(child.process.parent_pid, parent.process.pid);
}

#[test]
fn a_thread_alive_at_exit() {
    let profile = run(&plain_program(), &["live"]).profile();
    assert_end(&profile, State::Ended, Fate::Exit { status: None });
    assert_waiting(&profile, READ, 1);
    assert_library(&image(&profile, LIBRARY).global_counters, [1, 1, 50]);
}

/// A second library comes and goes; one thread counts in it each time.
#[test]
fn a_thread_that_outlives_a_library() {
    let other = library_named("libother.so", 0x0b);
    let run = run(&plain_program(), &["reopen", other.to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(6), "{}", run.stderr);
    let profile = run.profile();
    assert_end(&profile, State::Complete, Fate::Exit { status: None });
    assert_library(&image(&profile, LIBRARY).global_counters, [1, 1, 30]);
    assert_library(&image(&profile, 0x0b).global_counters, [10, 10, 10 * 8]);
}

/// The first image of the process goes, the others' counts go on in the same file.
#[test]
fn the_first_library_goes_first() {
    let (first, second) = (library_named("libfirst.so", 0x0c), library_named("libsecond.so", 0x0d));
    let run = run(&loader_program(), &[first.to_str().unwrap(), second.to_str().unwrap()]);
    assert_eq!(run.status.code(), Some(0), "{}", run.stderr);
    let [together, alone] = run.profiles().try_into().unwrap();
    assert_end(&together, State::Complete, Fate::Exit { status: None });
    assert_library(&image(&together, 0x0c).global_counters, [1, 1, 5]);
    assert_library(&image(&together, 0x0d).global_counters, [1, 1, 10]);
    // All libraries were gone: that completed the first file; another one begins the next.
    assert_eq!(alone.images.len(), 1);
    assert_library(&image(&alone, 0x0c).global_counters, [1, 1, 6]);
    assert_eq!(run.stderr, "");
}

/// Another one handles the signal when the first has gone.
#[test]
fn a_dump_signal_behind_the_first_library() {
    let (first, second) = (library_named("libfirst.so", 0x0c), library_named("libsecond.so", 0x0d));
    let run = run_with(&loader_program(), &[first.to_str().unwrap(), second.to_str().unwrap(), "dump"], |command| {
        command.env("BBPROF_DUMP", "signal:USR2").env("BBPROF_OUT", "x.bbraw");
    });
    assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
    let names = run.file_names();
    let dump = run.read(names.iter().find(|name| name.ends_with(".1.bbraw")).unwrap());
    assert_end(&dump, State::Complete, Fate::Snapshot);
    assert_library(&image(&dump, 0x0c).global_counters, [1, 1, 5]);
    assert_eq!(image(&dump, 0x0d).global_counters[599], 10);
}

/// Libraries of different versions of bbprof are counted apart: each in a file of its own.
#[test]
fn other_versions_in_one_process() {
    let first = library_named("libthis.so", 0x0e);
    let others = [
        library_of_version("libprocess.so", 0x0f, "process.h", "#define PROCESS_ABI ", "#define PROCESS_ABI 9"),
        library_of_version("librecord.so", 0x0f, "bbprof_abi.h", "#define BBPROF_IMAGE_VERSION ", "#define BBPROF_IMAGE_VERSION 9"),
    ];
    for other in others {
        for [before, behind] in [[&first, &other], [&other, &first]] {
            let run = run(&loader_program(), &[before.to_str().unwrap(), behind.to_str().unwrap()]);
            assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
            let profiles = run.profiles();
            let by = |build_id: u8| {
                let of = profiles.iter().filter(|profile| profile.images.iter().any(|image| image.build_id.0[0] == build_id));
                of.map(|profile| image(profile, build_id).global_counters[599]).collect::<Vec<_>>()
            };
            let (loaded_twice, once) = if before == &first { (0x0e, 0x0f) } else { (0x0f, 0x0e) };
            assert_eq!((by(loaded_twice), by(once)), (vec![5, 6], vec![10]));
            for profile in &profiles {
                assert_eq!(profile.images.len(), 1);
                assert_end(profile, State::Complete, Fate::Exit { status: None });
            }
        }
    }
}
