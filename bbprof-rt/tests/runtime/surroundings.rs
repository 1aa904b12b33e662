//! Names, dumps, resets; and what happens when the profile cannot be written: one line, and the program runs on.

use crate::support::{Link, Run, assert_end, assert_tls, program, run, run_with};
use bbprof_format::raw::{Fate, State};
use std::process::Command;

fn with_out(how: &[&str], pattern: &str) -> Run {
    run_with(&program(Link::Dynamic), how, |command| {
        command.env("BBPROF_OUT", pattern).env("NEXTEST_TEST_NAME", "a::b/c");
    })
}

/// The program ends as it would, says one line, leaves nothing.
#[track_caller]
fn assert_refused(run: &Run, why: &str) {
    assert_eq!(run.status.code(), Some(42), "{}", run.stderr);
    assert!(run.stderr.contains(why), "{:?} should say {why:?}", run.stderr);
    assert!(run.stderr.starts_with("bbprof: "), "{:?}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{:?}", run.stderr);
}

#[test]
fn default_name() {
    let run = run(&program(Link::Dynamic), &["return"]);
    let expected = format!("bbprof-scenario-Dynamic-1000-{}.bbraw", run.profile().process.pid);
    assert_eq!(run.file_names(), [expected]);
}

#[test]
fn patterns() {
    let run = with_out(&["return"], "%e_%T_%b_%%_%x.raw");
    assert_eq!(run.file_names(), ["scenario-Dynamic-1000_a::b_c_e0000000000000000000000000000000_%_%x.raw"]);
    let run = with_out(&["return"], "%h-%t");
    let host = String::from_utf8(Command::new("uname").arg("-n").output().unwrap().stdout).unwrap();
    let seconds = run.profile().process.begun_ns / 1_000_000_000;
    assert_eq!(run.file_names(), [format!("{}-{seconds}", host.trim())]);
}

#[test]
fn a_fixed_name_is_overwritten_by_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fixed.bbraw");
    let mut pids = Vec::new();
    for how in ["return", "kill", "exit"] {
        let run = with_out(&[how], path.to_str().unwrap());
        assert_eq!(run.stderr, "");
        let bytes = std::fs::read(&path).unwrap();
        pids.push(bbprof_format::raw::RawProfile::read(&bytes).unwrap().process.pid);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    pids.dedup();
    assert_eq!(pids.len(), 3);
}

#[test]
fn off() {
    for link in Link::ALL {
        let run = run_with(&program(link), &["threads"], |command| {
            command.env("BBPROF_OFF", "1");
        });
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
        assert!(run.file_names().is_empty());
    }
}

#[test]
fn unknown_dump_setting() {
    let run = run_with(&program(Link::Dynamic), &["exit"], |command| {
        command.env("BBPROF_DUMP", "exit,sometimes");
    });
    assert_refused(&run, "sometimes");
    for twice in ["signal:USR2,signal:HUP", "signal:USR2,signal:NONE", "every:10s,every:1x"] {
        let run = run_with(&program(Link::Dynamic), &["exit"], |command| {
            command.env("BBPROF_DUMP", twice);
        });
        assert_refused(&run, twice.split_once(',').unwrap().1);
    }
    assert_tls(&run.profiles()[0], [1, 100, 0, 0, 1]);
}

#[test]
fn dumps_and_resets() {
    for (link, ends) in [(Link::Dynamic, true), (Link::Dynamic, false), (Link::Static, true)] {
        let mut arguments = vec!["dump", "first.bbraw"];
        arguments.extend((!ends).then_some("_exit"));
        let run = run(&program(link), &arguments);
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
        let first = run.read("first.bbraw");
        assert_tls(&first, [1, 100, 0, 0, 0]);
        assert_end(&first, State::Complete, Fate::Snapshot);
        let names = run.file_names();
        let second = run.read(names.iter().find(|name| name.ends_with(".1.bbraw")).unwrap());
        assert_tls(&second, [0, 22, 0, 0, 0]);
        let last = run.read(names.iter().find(|name| name.starts_with("bbprof") && !name.ends_with(".1.bbraw")).unwrap());
        assert_tls(&last, [0, 33, 0, 0, u64::from(ends)]);
    }
}

#[test]
fn dumps_on_a_signal() {
    for link in Link::ALL {
        let run = run_with(&program(link), &["signals"], |command| {
            command.env("BBPROF_DUMP", "exit,signal:USR2").env("BBPROF_OUT", "x.bbraw");
        });
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
        let last = run.read("x.bbraw");
        assert_tls(&last, [1, 130, 0, 0, 1]);
        for (number, count) in [(1, 100), (2, 110), (3, 120)] {
            let dump = run.read(&format!("x.{}.{number}.bbraw", last.process.pid));
            assert_tls(&dump, [1, count, 0, 0, 0]);
            assert_end(&dump, State::Complete, Fate::Snapshot);
        }
        assert_eq!(run.file_names().len(), 4);
    }
    let ignored = run_with("/bin/sh".as_ref(), &["-c", "trap '' USR2; exec $P exit"], |command| {
        command.env("BBPROF_DUMP", "signal:USR2").env("P", program(Link::Dynamic));
    });
    assert_refused(&ignored, "its own setting");
}

/// Twice at the least; the child goes on, and nobody is taken for a thread of the program.
#[test]
fn periodic_dumps() {
    for link in Link::ALL {
        let run = run_with(&program(link), &["sleep"], |command| {
            command.env("BBPROF_DUMP", "every:100ms").env("BBPROF_OUT", "x.bbraw");
        });
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
        let last = run.read("x.bbraw");
        assert_end(&last, State::Complete, Fate::Exit { status: Some(0) });
        let own = format!("x.{}.2.bbraw", last.process.pid);
        assert_tls(&run.read(&own), [1, 100, 0, 0, 0]);
        let names = run.file_names();
        let child = names.iter().find(|name| name.ends_with(".2.bbraw") && **name != own);
        assert_tls(&run.read(child.unwrap_or_else(|| panic!("no dump of the child: {names:?}"))), [0, 0, 0, 0, 0]);
    }
}

/// Who dumps is none of the program's threads, and the only one of these may be in the middle of a block, in a child, too; but not
/// where it waits in one system call all the while, as it does for most of eight dumps.
#[test]
fn a_periodic_dump_tells_of_the_only_thread() {
    let others_alive = |how: &str, numbers: std::ops::RangeInclusive<u32>| -> Vec<u32> {
        let run = run_with(&program(Link::Dynamic), &[how], |command| {
            command.env("BBPROF_DUMP", "every:100ms").env("BBPROF_OUT", "x.bbraw");
        });
        assert_eq!((run.status.code(), run.stderr.as_str()), (Some(0), ""));
        let is_wanted = |name: &String| numbers.clone().any(|number| name.ends_with(&format!(".{number}.bbraw")));
        let dumps = run.file_names().into_iter().filter(is_wanted).map(|name| run.read(&name));
        dumps.inspect(|dump| assert_end(dump, State::Complete, Fate::Snapshot)).map(|dump| dump.ending.live_threads).collect()
    };
    assert_eq!(others_alive("spin", 2..=2), [1, 1]);
    let waiting = others_alive("wait", 1..=8);
    assert!(waiting.contains(&0), "{waiting:?}");
}

#[test]
fn missing_folder() {
    let run = with_out(&["exit"], "missing/folder/x.bbraw");
    assert_refused(&run, "no such directory");
    assert!(run.file_names().is_empty());
}

#[test]
fn something_else_is_there() {
    for how in ["exit", "threads"] {
        let run = with_out(&[how], "/dev/full");
        assert!(run.stderr.contains("/dev/full") && run.stderr.lines().count() == 1, "{}", run.stderr);
        assert!(run.status.success() || how == "exit");
    }
    let folder = tempfile::tempdir().unwrap();
    assert_refused(&with_out(&["exit"], folder.path().to_str().unwrap()), "not a regular file");
    let fifo = folder.path().join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert_refused(&with_out(&["exit"], fifo.to_str().unwrap()), "not a regular file");
}

#[test]
fn long_paths() {
    assert_refused(&with_out(&["exit"], &"x".repeat(300)), "path too long");
    assert_refused(&with_out(&["exit"], &"x/".repeat(2040)), "path too long");
    assert_refused(&with_out(&["exit"], &"x/".repeat(5000)), "path too long");
}

/// Without the limit's signal.
#[test]
fn file_size_limit() {
    let path = program(Link::Dynamic);
    // In units of 1024 bytes: nothing at all; the header only; less than a second thread needs.
    for (limit, how, code, files) in [(0, "exit", 42, 0), (4, "exit", 42, 0), (20, "threads", 0, 1)] {
        let script = format!("ulimit -f {limit}; exec {} {how}", path.display());
        let run = run_with("/bin/bash".as_ref(), &["-c", &script], |_| {});
        assert_eq!(run.status.code(), Some(code), "{limit}: {}", run.stderr);
        assert!(run.stderr.contains("larger than the file size limit") && run.stderr.lines().count() == 1, "{}", run.stderr);
        assert_eq!(run.file_names().len(), files);
        if files == 1 {
            // What was in memory only is in the file in the end.
            assert_tls(&run.profiles()[0], [1, 100, 8_000_000, 0, 1]);
        }
    }
}

#[test]
fn closed_descriptors() {
    let run = run(&program(Link::Dynamic), &["closed"]);
    assert_eq!(run.status.code(), Some(0));
    assert_tls(&run.profile(), [1, 100, 20, 0, 1]);
}

#[test]
fn no_descriptor_is_left_open() {
    for link in Link::ALL {
        let run = run(&program(link), &["descriptors"]);
        assert_eq!(run.status.code(), Some(0));
    }
}

#[test]
fn closed_stderr() {
    let script = format!("exec {} exit 0<&- 1>&- 2>&-", program(Link::Dynamic).display());
    let run = run_with("/bin/bash".as_ref(), &["-c", &script], |command| {
        command.env("BBPROF_OUT", "missing/x");
    });
    assert_eq!((run.status.code(), run.stderr.as_str()), (Some(42), ""));
}

/// Wherever the file cannot grow any more, for counters or for the entry that names them, no thread's counts are missing; where
/// there was no room for an entry, the last of its log says that more was to be said.
#[test]
fn a_file_that_is_full_at_any_entry() {
    let first = 4096 + 8192 + 8192;
    let mut full_logs = 0;
    for segments in 45..60 {
        let limit = (first + segments * 8192).to_string();
        let run = run(&program(Link::Dynamic), &["many-at-once", &limit]);
        assert_eq!(run.status.code(), Some(0), "{}", run.stderr);
        let profile = &run.profiles()[0];
        assert_tls(profile, [1, 100, 64, 0, 0]);
        assert_end(profile, State::Ended, Fate::ExitAtOnce { status: 0 });
        full_logs += usize::from(!profile.ending.notes.is_empty());
    }
    assert!(full_logs > 0);
}
