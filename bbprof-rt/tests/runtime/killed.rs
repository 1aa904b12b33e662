//! SIGKILL at any instant: what the program has told of its counts is in the file, and at most one more for each thread.

use crate::support::{Link, PROGRAM, image, program};
use bbprof_format::raw::{RawProfile, State};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

const THREADS: u64 = 4;
const ROUNDS: u64 = 40;

/// Kills the program after this time; says how far it had got.
fn kill_after(link: Link, delay: Duration) -> Option<State> {
    let folder = tempfile::tempdir().unwrap();
    let tally = folder.path().join("tally");
    std::fs::write(&tally, [0; 4096]).unwrap();
    let mut command = Command::new(program(link));
    command.args(["tally", "tally"]).current_dir(folder.path()).env("BBPROF_OUT", "x.bbraw");
    let mut child = command.spawn().unwrap();
    sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    let words: Vec<u64> =
        std::fs::read(&tally).unwrap().chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let told: [u64; 2] = [words[..4].iter().sum(), words[8..12].iter().sum()];
    let Ok(bytes) = std::fs::read(folder.path().join("x.bbraw")) else {
        assert_eq!(told, [0, 0], "no file, but main has run");
        return None;
    };
    let profile = RawProfile::read(&bytes).unwrap_or_else(|e| panic!("after {delay:?}: {e}"));
    let image = image(&profile, PROGRAM);
    // The main thread counts once itself.
    let counted = [image.tls_counters[2], image.global_counters[1].saturating_sub(1)];
    for (counted, told) in counted.into_iter().zip(told) {
        assert!(
            (told..=told + THREADS).contains(&counted),
            "{link:?} after {delay:?}: told {told}, counted {counted}: {profile:?}"
        );
    }
    if profile.state == State::Complete {
        assert_eq!(told, [THREADS * ROUNDS * 200; 2]);
    }
    Some(profile.state)
}

#[test]
fn no_count_is_lost() {
    for link in Link::ALL {
        let states: Vec<_> = (0..150).map(|i| kill_after(link, Duration::from_micros(i * 100))).collect();
        assert!(states.contains(&Some(State::Running)), "{link:?}: {states:?}");
    }
}
