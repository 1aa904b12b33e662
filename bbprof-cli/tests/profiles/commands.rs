//! What the commands do with good input.

use crate::folder::Folder;
use std::io::Read;
use std::os::unix::fs::symlink;
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
    assert!(annotate.out.contains("entered 1 time,"), "{}", annotate.out);
    assert!(annotate.out.contains("(source not shown: "), "{}", annotate.out);
    let export = folder.bbprof(&["export", "json=p.json", "lcov=-"]);
    assert_eq!(export.code, 0);
    assert!(export.out.contains("\nDA:4,5\n"), "{}", export.out);
    assert!(std::fs::read_to_string(folder.path("p.json")).expect("written").contains("\"exact\":true"));
}

#[test]
fn source_files_are_found_by_any_path_from_here() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    // Above the root is the root.
    let up = "../".repeat(64);
    for path in ["a.c", "/src/a.c", "/src/x/.././a.c", &format!("./{up}src/a.c")] {
        let said = folder.bbprof(&["annotate", path]);
        assert!(said.code == 0 && said.out.starts_with("/src/a.c:1\n"), "{path}: {}", said.err);
    }
    assert_eq!(folder.bbprof(&["annotate", "./a.c"]).code, 2, "another file");
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
    // Commands without colours take the word for them, too.
    assert_eq!(folder.bbprof(&["--color=always", "merge", "-o", "m.bbprof", "a.bbraw", "--color", "never"]).code, 0);
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

#[test]
fn instruction_mixes() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    let mix = folder.bbprof(&["mix"]);
    assert_eq!((mix.code, &*mix.err), (0, ""));
    assert!(mix.out.starts_with("(program) (2 functions)\nexecuted "), "{}", mix.out);
    let csv = folder.bbprof(&["mix", "--csv", "--by", "module", "a.bbraw"]);
    assert!(csv.out.contains("\na.c,,,,,call,call,5,1\n"), "{}", csv.out);
    let code = folder.bbprof(&["mix", "--csv", "--static", "app.bbmap"]);
    assert_eq!((code.code, &*code.err), (0, ""));
    assert!(code.out.contains("\n(program),,,,,call,call,,1\n"), "{}", code.out);
    for (words, said) in [
        (&["mix", "--static"][..], "name a profiled program or library, or its build map"),
        (&["mix", "--static", "a.bbraw"], "a.bbraw: expected a profiled program or library, or a build map"),
        (&["mix", "--static", "absent"], "absent: No such file"),
        (&["mix", "--csv", "--json"], "cannot be used with"),
    ] {
        let refused = folder.bbprof(words);
        assert_eq!(refused.code, 2, "{words:?}");
        assert!(refused.err.contains(said) && refused.out.is_empty(), "{words:?}: {}", refused.err);
    }
}

/// A reader that stops early (`| head -1`) is no error and no panic.
#[test]
fn closed_pipes() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    let commands: [&[&str]; 17] = [
        &["mix"],
        &["report", "--bias"],
        &["report", "--copies"],
        &["report", "--copies=f"],
        &["annotate", "--ir", "f"],
        &["diff", "a.bbraw", "a.bbraw"],
        &["diff", "--json", "a.bbraw", "a.bbraw"],
        &["report"],
        &["verify"],
        &["annotate", "f"],
        &["export", "json=-"],
        &["export", "callgrind=-"],
        &["export", "csv=-"],
        &["export", "pprof=-"],
        &["dump", "--full", "app.bbmap"],
        &["completions", "zsh"],
        &["cmake-toolchain"],
    ];
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
    raw.ending.live_threads = 2;
    folder.write("c.bbraw", &raw);
    let verify = folder.bbprof(&["verify", "c.bbraw"]);
    assert_eq!(verify.code, 5);
    assert!(verify.out.contains("2 other threads were running"), "{}", verify.out);
}

/// Every kind is written, several in one run, and what comes out is the same at every run.
#[test]
fn every_kind_of_export() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    let kinds = ["json", "lcov", "cobertura", "callgrind", "pprof", "speedscope", "folded", "afdo", "csv"];
    for run in ["1", "2"] {
        let mut words: Vec<String> = kinds.iter().map(|kind| format!("{kind}={kind}.{run}")).collect();
        words.push(format!("dot=dot.{run}"));
        words.insert(0, "export".to_owned());
        let said = folder.bbprof(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!((said.code, &*said.out), (0, ""));
        let totals: Vec<&str> = said.err.lines().map(|line| line.split(" TOTAL ").next().unwrap_or("")).collect();
        assert_eq!(totals, ["bbprof: lcov:", "bbprof: cobertura:"], "{}", said.err);
    }
    let bytes = |name: String| std::fs::read(folder.path(&name)).expect("written");
    for kind in kinds {
        assert!(!bytes(format!("{kind}.1")).is_empty() && bytes(format!("{kind}.1")) == bytes(format!("{kind}.2")), "{kind}");
    }
    assert!(bytes("dot.1/f.dot".to_owned()).starts_with(b"digraph \"f\""));
    let dot = folder.bbprof(&["export", "dot=-"]);
    assert_eq!(dot.out.matches("digraph").count(), 2);
}

/// Wrong words and places that cannot be written: each is named, with what to do.
#[test]
fn exports_that_cannot_be() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    std::fs::write(folder.path("file"), "").expect("written");
    symlink("circle", folder.path("circle")).expect("a link");
    for (words, code, says) in [
        (&["export", "a.bbraw"][..], 2, "nothing to export: give at least one KIND=PATH"),
        (&["export", "jsn=x"], 2, "\"jsn\" is no kind of export; there are json, lcov, cobertura, callgrind"),
        (&["export", "csv="], 2, "csv=: a path is missing; `-` is stdout"),
        (&["export", "csv=-", "json=-"], 2, "csv and json would both be written to stdout; give each a path of its own"),
        (&["export", "csv=x", "json=x"], 2, "csv and json would both be written to x; give each a path of its own"),
        (&["export", "csv=x", "json=./x"], 2, "csv and json would both be written to ./x; give each a path of its own"),
        (&["export", "csv=circle"], 1, "csv export: circle: cannot be written: too many links"),
        (&["export", "dot=file"], 2, "file: is a file; this export needs a folder"),
        (&["export", "html=file"], 2, "file: is a file; html= names a folder, unless --single-file is given"),
        (&["export", "html=-"], 2, "html=-: a folder cannot go to stdout; add --single-file"),
        (&["export", "csv=nowhere/x"], 1, "csv export: nowhere/x: cannot be written: nowhere is no folder\n"),
        (&["export", "csv=file/x"], 1, "csv export: file/x: cannot be written: file is no folder\n"),
        (&["export", "csv=/dev/full"], 1, "csv export: /dev/full: cannot be written: No space left on device"),
    ] {
        let said = folder.bbprof(words);
        assert_eq!(said.code, code, "{words:?}: {}", said.err);
        assert!(said.err.contains(says), "{words:?}: {}", said.err);
    }
    let full = std::fs::File::create("/dev/full").expect("a full disk");
    let help = folder.command(&["--help"]).stdout(full).output().expect("bbprof runs");
    assert!(help.status.code() == Some(1) && help.stderr.starts_with(b"bbprof: error: stdout: cannot be written"));
}

/// Links are followed, also to where nothing is yet.
#[test]
fn exports_through_links() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    symlink("second", folder.path("first")).expect("a link");
    symlink("later.csv", folder.path("second")).expect("a link");
    assert_eq!(folder.bbprof(&["export", "csv=first"]).code, 0);
    assert!(folder.path("later.csv").is_file() && folder.path("first").is_symlink() && folder.path("second").is_symlink());
}

/// What is read and written by its whole path needs no working directory.
#[test]
fn a_working_directory_that_is_gone() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" export cobertura=- \"$1\"";
    let mut shell = std::process::Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", script, env!("CARGO_BIN_EXE_bbprof")]).arg(folder.path("a.bbraw"));
    let said = shell.output().expect("a shell");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(String::from_utf8_lossy(&said.stdout).contains("filename=\"/src/a.c\""));
}

#[test]
fn diff_and_its_gate() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 100));
    folder.write("b.bbraw", &folder.raw(8, 101));
    folder.write("c.bbraw", &folder.raw(9, 100));
    let same = folder.bbprof(&["diff", "a.bbraw", "c.bbraw", "--fail-above", "0"]);
    assert_eq!((same.code, &*same.err), (0, ""));
    assert!(same.out.ends_with("no difference in 2 functions\n"), "{}", same.out);
    for (limit, code) in [("0.9%", 3), ("1%", 0), ("0.9=^f$", 3), ("0.9=^g$", 3), ("2=.", 0)] {
        let said = folder.bbprof(&["diff", "a.bbraw", "b.bbraw", "--fail-above", limit]);
        assert_eq!(said.code, code, "{limit}: {}{}", said.out, said.err);
        assert_eq!(said.err.contains("regression: "), code == 3, "{}", said.err);
    }
    let json = folder.bbprof(&["diff", "--json", "a.bbraw", "b.bbraw"]);
    assert!(json.out.starts_with("{\"schema\":\"bbprof-diff/1\""), "{}", json.out);
    assert_eq!(folder.bbprof(&["diff", "a.bbraw"]).code, 2);
    assert_eq!(folder.bbprof(&["diff", "a.bbraw", "nowhere"]).code, 2);
}

#[test]
fn bias_copies_and_colours() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    let bias = folder.bbprof(&["report", "--bias"]);
    assert!(bias.out.contains("\nHardest branches"), "{}{}", bias.out, bias.err);
    let copies = folder.bbprof(&["report", "--copies=g"]);
    assert!(copies.out.contains("\n1 copy, 5 executions, 20 instructions\n"), "{}{}", copies.out, copies.err);
    assert_eq!(folder.bbprof(&["report", "--copies"]).code, 0);
    let none = folder.bbprof(&["report", "--copies=nothing"]);
    assert_eq!(none.code, 2);
    assert!(none.err.contains("no function of the source is called \"nothing\""), "{}", none.err);
    assert_eq!(folder.bbprof(&["report", "--bias", "--by", "file"]).code, 2);
    // Escapes go to terminals, and where they are asked for.
    let is_coloured = |words: &[&str], variable: (&str, &str)| {
        let output =
            folder.command(words).env_remove("CARGO_TERM_COLOR").env(variable.0, variable.1).output().expect("bbprof runs");
        output.stdout.contains(&0x1b)
    };
    assert!(!is_coloured(&["report"], ("X", "")));
    assert!(is_coloured(&["report"], ("CARGO_TERM_COLOR", "always")));
    // As in cargo.
    let mut both = folder.command(&["report"]);
    let output = both.env("CARGO_TERM_COLOR", "always").env("NO_COLOR", "1").output().expect("bbprof runs");
    assert!(output.stdout.contains(&0x1b));
    assert!(is_coloured(&["report", "--color", "always"], ("NO_COLOR", "1")));
    assert!(!is_coloured(&["report", "--color", "never"], ("CARGO_TERM_COLOR", "always")));
    for words in [&["report", "--bias"][..], &["annotate", "f"], &["verify"], &["mix"], &["diff", "a.bbraw", "a.bbraw"]] {
        let asked = |when| [words, &["--color", when]].concat();
        assert!(!is_coloured(&asked("never"), ("CARGO_TERM_COLOR", "always")), "{words:?}");
        let has_colours = words[0] != "diff";
        assert_eq!(is_coloured(&asked("always"), ("NO_COLOR", "1")), has_colours, "{words:?}: no difference is plain");
    }
    let paths = folder.bbprof(&["paths", "--color", "always", "--width", "60"]);
    assert!(paths.code == 2 && paths.err.contains("no path was counted"), "{}", paths.err);
}

#[test]
fn generated_code_of_a_function() {
    let folder = Folder::new();
    folder.write("a.bbraw", &folder.raw(7, 5));
    let ir = folder.bbprof(&["annotate", "--ir", "f"]);
    assert!(ir.out.contains("\n    -> #2  5 (83.3 %)\n"), "{}{}", ir.out, ir.err);
    let file = folder.bbprof(&["annotate", "--ir", "a.c"]);
    assert_eq!(file.code, 2);
    assert!(file.err.contains("is a file; --ir shows functions"), "{}", file.err);
}

/// Each of many processes has a verdict of its own, also where it shares the counters of the one before it.
#[test]
fn verdicts_of_many_processes_are_their_own() {
    let folder = Folder::new();
    for pid in 1..=40 {
        folder.write(&format!("{pid:02}.bbraw"), &folder.raw(pid, u64::from(pid % 3)));
    }
    let mut wrong = folder.raw(41, 2);
    wrong.images[0].tls_counters[0] += 1;
    folder.write("20-wrong.bbraw", &wrong);
    std::fs::write(folder.path("30-damaged.bbraw"), b"BBPROFRW").expect("written");
    let said = folder.bbprof(&["verify", "."]);
    assert_eq!(said.code, 5);
    assert_eq!(said.out.matches("\nnot exact: f").count(), 1, "{}", said.out);
    let (before, after) = said.out.split_once("\nnot exact: f").expect("there is one");
    assert!(before.lines().last().is_some_and(|line| line.starts_with("process 41 ")), "{before}");
    assert_eq!(after.matches("\nprocess ").count(), 21, "{after}");
    assert!(said.err.contains("skipped ") && said.err.contains("30-damaged.bbraw"), "{}", said.err);
    assert!(!said.err.contains(" to go"), "a progress bar is for terminals: {}", said.err);
}
