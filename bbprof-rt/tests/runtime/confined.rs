//! Programs in mount namespaces of their own: full, read-only and missing file systems. Requires `unshare` (util-linux) and the
//! right to make user namespaces.

use crate::support::{Link, Run, assert_end, assert_tls, program, run_with};
use bbprof_format::raw::{Fate, State};
use std::path::Path;

/// Runs a shell script in a mount namespace; `$P` is the scenario program, `/mnt` a place to mount on.
fn confined(link: Link, script: &str) -> Run {
    let program = program(link);
    run_with(Path::new("unshare"), &["-rm", "sh", "-ec", script], |command| {
        command.env("P", program);
    })
}

#[test]
fn a_disk_that_is_full_at_once() {
    for link in Link::ALL {
        // One page: not even room for the counters.
        let run = confined(
            link,
            "out=$PWD; mount -t tmpfs -o size=4k none /mnt; cd /mnt; $P exit || echo $? > $out/code; ls > $out/files",
        );
        assert!(run.stderr.contains("no space left on device") && run.stderr.lines().count() == 1, "{}", run.stderr);
        assert_eq!(std::fs::read_to_string(run.folder.path().join("code")).unwrap(), "42\n");
        assert_eq!(std::fs::read_to_string(run.folder.path().join("files")).unwrap(), "");
    }
}

/// Room for the program's own counters, but neither for those of its threads nor for a second file.
#[test]
fn a_disk_that_is_full_later() {
    for link in Link::ALL {
        let run = confined(link, "out=$PWD; mount -t tmpfs -o size=24k none /mnt; cd /mnt; $P threads; mv * $out");
        assert!(run.stderr.contains("cannot extend") && run.stderr.lines().count() == 1, "{}", run.stderr);
        assert_eq!(run.file_names().len(), 1, "{:?}", run.file_names());
        let profile = &run.profiles()[0];
        assert_tls(profile, [1, 100, 8_000_000, 0, 1]);
        assert_end(profile, State::Ended, Fate::Exit { status: Some(0) });
        assert!(profile.ending.notes.is_empty() && !profile.ending.in_memory.no_room, "{:?}", profile.ending);
    }
}

#[test]
fn a_read_only_file_system() {
    for link in Link::ALL {
        let run = confined(link, "mount -t tmpfs -o ro none /mnt; cd /mnt; $P exit");
        assert_eq!(run.status.code(), Some(42));
        assert!(run.stderr.contains("read-only file system") && run.stderr.lines().count() == 1, "{}", run.stderr);
    }
}

/// Names, live threads and paths are not known then, but all counts are.
#[test]
fn without_proc() {
    for link in Link::ALL {
        for (how, threads) in [("threads", 8_000_000), ("detached", 400)] {
            let run = confined(link, &format!("mount -t tmpfs none /proc; $P {how}"));
            assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
            let profile = run.profile();
            assert_tls(&profile, [1, 100, threads, 0, 1]);
            assert_eq!(profile.process.start_ticks, None);
            let state = if how == "threads" { State::Complete } else { State::Ended };
            assert_end(&profile, state, Fate::Exit { status: Some(0) });
        }
    }
}

/// The working directory is gone: the default name cannot be written.
#[test]
fn a_removed_directory() {
    for link in Link::ALL {
        let run = confined(link, "mkdir gone; cd gone; rmdir $PWD; $P exit");
        assert_eq!(run.status.code(), Some(42));
        assert!(run.stderr.contains("no such directory") && run.stderr.lines().count() == 1, "{}", run.stderr);
    }
}

/// Parent and child are both the first process of their namespaces.
#[test]
fn a_child_with_its_parents_number() {
    for link in Link::ALL {
        let program = program(link);
        let run = run_with(Path::new("unshare"), &["-rpf", program.to_str().unwrap(), "fork-namespace"], |_| {});
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
        let profiles = run.profiles();
        assert_eq!(profiles.iter().map(|profile| profile.process.pid).collect::<Vec<_>>(), [1, 1]);
        assert_tls(&profiles[0], [1, 100, 0, 0, 1]);
        assert_tls(&profiles[1], [0, 0, 0, 50, 0]);
    }
}
