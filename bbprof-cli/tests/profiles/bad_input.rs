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
fn a_map_of_another_image_of_the_process() {
    let (folder, library) = (Folder::new(), Folder::of_source("b.c"));
    let mut raw = folder.raw(1, 1);
    raw.images.extend(library.raw(1, 1).images);
    // The others are read if a library is gone, too.
    let path = folder.path("elsewhere/liba.so");
    fs::create_dir(folder.path("elsewhere")).expect("made");
    fs::write(&path, "").expect("written");
    raw.images[1].path = path.as_os_str().as_encoded_bytes().to_vec();
    folder.write("a.bbraw", &raw);
    let said = folder.bbprof(&["report", "--map", "app.bbmap"]);
    one_message(&said, 2, &["/liba.so: no build map with build id", &raw.images[1].build_id.to_string()]);
    fs::copy(library.path("app.bbmap"), folder.path("liba.so.bbmap")).expect("copied");
    assert_eq!(folder.bbprof(&["report", "--map", "app.bbmap", "--map", "liba.so.bbmap"]).code, 0);
    fs::copy(folder.path("app.bbmap"), folder.path("liba.so.bbmap")).expect("copied");
    one_message(&folder.bbprof(&["report", "--map", "liba.so.bbmap"]), 2, &["liba.so", "does not match liba.so.bbmap"]);
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
    fs::write(folder.path("bitcode.o"), b"BC\xc0\xde5\x14").expect("written");
    one_message(&folder.bbprof(&["dump", "bitcode.o"]), 2, &["bitcode.o", "bitcode for link-time optimisation"]);
    one_message(&folder.bbprof(&["dump", "empty.bbraw"]), 1, &["empty.bbraw", "empty file"]);
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

/// Programs that a configuration runs once leave profiles, but no maps.
#[test]
fn profiles_without_their_maps_among_others_are_named_and_left_out() {
    let (folder, gone) = (Folder::new(), Folder::of_source("conftest.c"));
    folder.write("a.bbraw", &folder.raw(1, 5));
    folder.write("z.bbraw", &folder.raw(2, 6));
    let conftest = gone.raw(3, 7);
    fs::remove_file(gone.path("app.bbmap")).expect("there");
    folder.write("c.bbraw", &conftest);
    let id = conftest.images[0].build_id.to_string();
    let lcov = folder.bbprof(&["export", "lcov=-", "."]);
    one_message(&lcov, 4, &["skipped ./c.bbraw: ", "no build map", &id]);
    assert!(lcov.out.contains("\nDA:4,11\n"), "{}", lcov.out);
    let files = ["a.bbraw", "c.bbraw", "z.bbraw"];
    let verify = folder.bbprof(&[&["verify"], &files[..]].concat());
    one_message(&verify, 4, &["skipped c.bbraw: ", "no build map", &id]);
    assert!(verify.out.contains("\nexact: 4 functions") && verify.out.contains("in 2 processes"), "{}", verify.out);
    one_message(&folder.bbprof(&[&["merge", "-o", "m.bbprof"], &files[..]].concat()), 4, &["skipped c.bbraw: "]);
    fs::remove_file(folder.path("m.bbprof")).expect("merged");
    one_message(&folder.bbprof(&[&["merge", "--strict", "-o", "m.bbprof"], &files[..]].concat()), 2, &["c.bbraw", "no build map"]);
    assert!(!folder.path("m.bbprof").exists());
    // None is left, or the one that was asked for is not: an error.
    folder.write("d.bbraw", &conftest);
    for words in
        [&["report", "c.bbraw"][..], &["report", "c.bbraw", "d.bbraw"], &["verify", "c.bbraw"], &["verify", "d.bbraw", "c.bbraw"]]
    {
        one_message(&folder.bbprof(words), 2, &["error: ", "no build map", &id]);
    }
}

/// The map may be in an input that comes later, or beside the same program elsewhere.
#[test]
fn a_map_that_any_input_leads_to_is_found_for_all() {
    let folder = Folder::new();
    let mut raw = folder.raw(1, 5);
    raw.images[0].path = b"/absent/app".to_vec();
    fs::create_dir(folder.path("apart")).expect("a folder");
    folder.write("apart/a.bbraw", &raw);
    folder.write("b.bbraw", &folder.raw(2, 6));
    one_message(&folder.bbprof(&["report", "apart/a.bbraw"]), 2, &["no build map"]);
    let both = folder.bbprof(&["export", "lcov=-", "apart/a.bbraw", "b.bbraw"]);
    assert!(both.code == 0 && both.out.contains("\nDA:4,11\n"), "{}{}", both.err, both.out);
    assert_eq!(folder.bbprof(&["merge", "-o", "m.bbprof", "b.bbraw"]).code, 0);
    fs::remove_file(folder.path("app.bbmap")).expect("there");
    let both = folder.bbprof(&["export", "lcov=-", "apart/a.bbraw", "m.bbprof"]);
    assert!(both.code == 0 && both.out.contains("\nDA:4,11\n"), "{}{}", both.err, both.out);
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
