//! Bad input: one clear message, the documented exit code, never a panic or a wrong number.

use crate::folder::{Folder, Said};
use bbprof_format::map::VERSION;
use std::fs;
use std::process::Command;

/// One line on stderr that says all of this.
fn one_message(said: &Said, code: i32, words: &[&str]) {
    assert_eq!(said.code, code, "{}", said.err);
    assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    for word in words {
        assert!(said.err.contains(word), "{word:?} is not in {:?}", said.err);
    }
}

#[test]
fn a_map_of_another_build() {
    let (folder, other) = (Folder::new(), Folder::of_source("b.c"));
    let (ours, theirs) = (folder.raw(1, 1), other.raw(1, 1));
    folder.write("a.bbraw", &ours);
    fs::copy(other.path("app.bbmap"), folder.path("app.bbmap")).expect("copied");
    let ids = [ours.images[0].build_id.to_string(), theirs.images[0].build_id.to_string()];
    one_message(&folder.bbprof(&["report"]), 2, &[&ids[0], &ids[1], "app.bbmap", "does not match", "--map"]);
    one_message(&folder.bbprof(&["report", "--map", "app.bbmap"]), 2, &[&ids[0], &ids[1], "does not match"]);
}

#[test]
fn damaged_maps() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(1, 1));
    let map = fs::read(folder.path("app.bbmap")).expect("there");
    for len in [0, 10, 64, map.len() / 2, map.len() - 1] {
        fs::write(folder.path("app.bbmap"), &map[..len]).expect("written");
        one_message(&folder.bbprof(&["report"]), 1, &["app.bbmap", "truncated"]);
    }
    let mut damaged = map.clone();
    *damaged.last_mut().expect("not empty") ^= 1;
    fs::write(folder.path("app.bbmap"), damaged).expect("written");
    one_message(&folder.bbprof(&["report"]), 1, &["app.bbmap", "checksum"]);
    let mut newer = map;
    newer[8] += 1;
    fs::write(folder.path("app.bbmap"), newer).expect("written");
    one_message(
        &folder.bbprof(&["report"]),
        1,
        &["app.bbmap", &format!("version {}", VERSION + 1), &format!("reads version {VERSION}")],
    );
}

#[test]
fn foreign_truncated_and_empty_profiles() {
    let folder = Folder::new();
    let bytes = folder.raw(1, 1).encode();
    fs::write(folder.path("text.bbraw"), "this is no profile, but a long enough text").expect("written");
    fs::write(folder.path("empty.bbraw"), "").expect("written");
    fs::write(folder.path("short.bbraw"), &bytes[..bytes.len() - 8]).expect("written");
    for command in ["report", "verify"] {
        one_message(&folder.bbprof(&[command, "text.bbraw"]), 1, &["text.bbraw", "not a bbprof raw profile"]);
        one_message(&folder.bbprof(&[command, "empty.bbraw"]), 1, &["empty.bbraw", "empty file"]);
        one_message(&folder.bbprof(&[command, "short.bbraw"]), 1, &["short.bbraw"]);
        one_message(&folder.bbprof(&[command, "absent.bbraw"]), 2, &["absent.bbraw"]);
    }
    fs::create_dir(folder.path("nothing")).expect("made");
    one_message(&folder.bbprof(&["report", "nothing"]), 2, &["nothing", "no profile"]);
    one_message(&folder.bbprof(&["dump", "text.bbraw"]), 2, &["text.bbraw", "not a bbprof file"]);
}

#[test]
fn damaged_inputs_of_many_are_named_and_left_out() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(1, 5));
    folder.write("b.bbraw", &folder.raw(2, 6));
    let bytes = folder.raw(3, 7).encode();
    fs::write(folder.path("c.bbraw"), &bytes[..bytes.len() / 2]).expect("written");
    let merge = folder.bbprof(&["merge", "-o", "m.bbprof", "a.bbraw", "c.bbraw", "b.bbraw"]);
    one_message(&merge, 4, &["skipped", "c.bbraw"]);
    let lcov = folder.bbprof(&["export", "lcov=-", "m.bbprof"]);
    assert!(lcov.out.contains("\nDA:4,11\n"), "{}", lcov.out);
    fs::remove_file(folder.path("m.bbprof")).expect("there");
    let strict = folder.bbprof(&["merge", "--strict", "-o", "m.bbprof", "a.bbraw", "c.bbraw", "b.bbraw"]);
    one_message(&strict, 1, &["c.bbraw"]);
    assert!(!folder.path("m.bbprof").exists());
    for command in ["report", "verify"] {
        assert_eq!(folder.bbprof(&[command, "a.bbraw", "c.bbraw"]).code, 4);
    }
    // A sum that does not fit is refused like damage, and leaves the others as they are.
    let mut huge = folder.raw(4, 1);
    huge.images[0].tls_counters.fill(u64::MAX);
    folder.write("d.bbraw", &huge);
    let merge = folder.bbprof(&["merge", "-o", "m.bbprof", "a.bbraw", "d.bbraw"]);
    one_message(&merge, 4, &["skipped", "d.bbraw", "64 bits"]);
}

/// Nobody writes into it: whoever opened it would wait for ever.
#[test]
fn pipes_in_folders_are_named_and_left_alone() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(1, 5));
    let made = Command::new("mkfifo").arg(folder.path("f.bbraw")).status().expect("mkfifo runs");
    assert!(made.success());
    std::os::unix::fs::symlink("f.bbraw", folder.path("link.bbraw")).expect("linked");
    let lcov = folder.bbprof(&["export", "lcov=-", "."]);
    assert_eq!(lcov.code, 4, "{}", lcov.err);
    assert!(lcov.out.contains("\nDA:4,5\n"), "{}", lcov.out);
    let said: Vec<&str> = lcov.err.lines().collect();
    assert!(matches!(said[..], [f, link] if f.contains("skipped ./f.bbraw: a pipe") && link.contains("./link.bbraw")), "{said:?}");
}

#[test]
fn profiles_in_which_nothing_ran() {
    let folder = Folder::new();
    let mut raw = folder.raw(1, 1);
    raw.images[0].tls_counters.fill(0);
    folder.write("zero.bbraw", &raw);
    one_message(&folder.bbprof(&["report", "zero.bbraw"]), 0, &["nothing was executed"]);
    one_message(&folder.bbprof(&["export", "json=-", "zero.bbraw"]), 0, &["nothing was executed"]);
    raw.images.clear();
    folder.write("none.bbraw", &raw);
    one_message(&folder.bbprof(&["report", "none.bbraw"]), 0, &["the profile is empty"]);
}

#[test]
fn wrong_words() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(1, 1));
    one_message(&folder.bbprof(&["export", "pdf=x"]), 2, &["pdf", "json"]);
    one_message(&folder.bbprof(&["export", "a.bbraw"]), 2, &["nothing to export"]);
    one_message(&folder.bbprof(&["export", "json="]), 2, &["path is missing"]);
    one_message(&folder.bbprof(&["annotate", "nowhere_at_all"]), 2, &["nowhere_at_all"]);
    one_message(&folder.bbprof(&["export", "json=absent/folder/x"]), 1, &["absent/folder/x", "cannot be written"]);
    assert_eq!(folder.bbprof(&["merge", "a.bbraw"]).code, 2);
}
