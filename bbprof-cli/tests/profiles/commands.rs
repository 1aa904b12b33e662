//! What the commands do with good input.

use crate::folder::Folder;
use std::io::Read;
use std::process::Stdio;

#[test]
fn report_annotate_verify_and_export() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    let report = folder.bbprof(&["report", "--top", "1"]);
    assert_eq!((report.code, &*report.err), (0, ""));
    assert!(report.out.contains("blocks            7 of 8 executed (87.5 %)\n"), "{}", report.out);
    assert!(report.out.lines().all(|line| line.len() <= 80 || line.contains("/app: exit 0")), "{}", report.out);
    let verify = folder.bbprof(&["verify"]);
    assert_eq!(verify.code, 0);
    assert!(verify.out.ends_with("exact: 2 functions, 8 blocks, 13 edges compared with counters of their own\n"), "{}", verify.out);
    let annotate = folder.bbprof(&["annotate", "f"]);
    assert!(annotate.out.contains("entered 1 times"), "{}", annotate.out);
    assert!(annotate.out.contains("(source not shown: "), "{}", annotate.out);
    let export = folder.bbprof(&["export", "json=p.json", "lcov=-"]);
    assert_eq!(export.code, 0);
    assert!(export.out.contains("\nDA:4,5\n"), "{}", export.out);
    assert!(std::fs::read_to_string(folder.path("p.json")).expect("written").contains("\"exact\":true"));
}

#[test]
fn merging_in_any_order_and_grouping_gives_the_same_bytes() {
    let folder = Folder::new();
    for (name, pid, turns) in [("a.bbraw", 1, 5), ("b.bbraw", 2, 70), ("c.bbraw", 3, 900)] {
        folder.write(name, &folder.raw(pid, turns));
    }
    let merge = |words: &[&str]| assert_eq!(folder.bbprof(words).code, 0);
    merge(&["merge", "-o", "abc.bbprof", "a.bbraw", "b.bbraw", "c.bbraw"]);
    merge(&["merge", "-o", "cb.bbprof", "c.bbraw", "b.bbraw"]);
    merge(&["merge", "-o", "cba.bbprof", "cb.bbprof", "a.bbraw"]);
    let bytes = |name: &str| std::fs::read(folder.path(name)).expect("merged");
    assert_eq!(bytes("abc.bbprof"), bytes("cba.bbprof"));
    // The merged profile needs neither map nor inputs.
    for name in ["a.bbraw", "b.bbraw", "c.bbraw", "app.bbmap"] {
        std::fs::remove_file(folder.path(name)).expect("there");
    }
    let lcov = folder.bbprof(&["export", "lcov=-", "abc.bbprof"]);
    assert!(lcov.out.contains("\nDA:4,975\n"), "{}", lcov.out);
    let verify = folder.bbprof(&["verify", "abc.bbprof"]);
    assert_eq!(verify.code, 0);
    assert!(verify.out.contains("in 3 processes"), "{}", verify.out);
}

#[test]
fn a_folder_of_raw_and_merged_profiles_is_summed_with_a_warning() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    let alone = folder.bbprof(&["export", "lcov=-", "."]);
    assert!(alone.out.contains("\nDA:4,5\n") && alone.err.is_empty(), "{}", alone.err);
    assert_eq!(folder.bbprof(&["merge", "-o", "m.bbprof", "a.bbraw"]).code, 0);
    let both = folder.bbprof(&["export", "lcov=-", "."]);
    assert!(both.out.contains("\nDA:4,10\n"), "{}", both.out);
    assert!(both.err.contains("counts twice"), "{}", both.err);
}

#[test]
fn every_kind_of_file_is_dumped() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    assert_eq!(folder.bbprof(&["merge", "-o", "m.bbprof", "a.bbraw"]).code, 0);
    for (file, words) in [
        ("app.bbmap", &["build map of app", "function f (f)", "counter 0: "][..]),
        ("a.bbraw", &["raw profile of ", "exit 0", "thread-local"]),
        ("m.bbprof", &["merged profile of 1 processes", "build map  "]),
    ] {
        let dump = folder.bbprof(&["dump", "--full", file]);
        assert_eq!(dump.code, 0, "{}", dump.err);
        assert!(words.iter().all(|word| dump.out.contains(word)), "{}", dump.out);
    }
}

/// A reader that stops early (`| head -1`) is no error and no panic.
#[test]
fn closed_pipes() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    let commands: [&[&str]; 5] =
        [&["report"], &["verify"], &["annotate", "f"], &["export", "json=-"], &["dump", "--full", "app.bbmap"]];
    for words in commands {
        let mut child = folder.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("bbprof runs");
        drop(child.stdout.take());
        let status = child.wait().expect("it ends");
        let mut said = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
        assert_eq!((status.code(), &*said), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn a_profile_that_is_not_exact_is_not_called_so() {
    let folder = Folder::new();
    let mut raw = folder.raw(7, 5);
    raw.images[0].tls_counters[0] += 1;
    folder.write("a.bbraw", &raw);
    folder.write("b.bbraw", &folder.raw(8, 5));
    let verify = folder.bbprof(&["verify", "a.bbraw", "b.bbraw"]);
    assert_eq!(verify.code, 5);
    assert!(verify.out.contains("\nnot exact: f"), "{}", verify.out);
    assert!(folder.bbprof(&["report", "a.bbraw"]).out.contains("NOT exact"));
    assert!(folder.bbprof(&["export", "json=-", "a.bbraw"]).out.contains("\"exact\":false"));
    let mut raw = folder.raw(9, 5);
    raw.live_threads = 2;
    folder.write("c.bbraw", &raw);
    let verify = folder.bbprof(&["verify", "c.bbraw"]);
    assert_eq!(verify.code, 5);
    assert!(verify.out.contains("2 other threads were running"), "{}", verify.out);
}
