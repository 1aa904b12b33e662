//! Exit codes are those that are documented, or cargo's and the program's own, whatever becomes of messages.

use bbprof_format::map::BuildMap;
use bbprof_format::merged::MergedProfile;
use bbprof_tests::{Parcel, ProfiledRun, Run, Sandbox, tool};
use std::path::PathBuf;

/// An empty package.
fn package(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    sandbox.write("Cargo.toml", "[package]\nname = \"empty\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
    sandbox.write("src/main.rs", "fn main() {}\n");
    sandbox
}

/// What `cargo metadata` finds is cargo's to say, with cargo's exit code.
#[test]
fn what_cargo_refuses() {
    let sandbox = package("refused");
    for options in [&["--locked"][..], &["--features", "none"], &["--manifest-path", "none/Cargo.toml"]] {
        let in_package = |run: Run| run.args(["build", "-q"]).args(options).in_folder(sandbox.path()).outcome().expect_code(101);
        let _ = in_package(Run::new("cargo"));
        let refused = in_package(Run::new(tool("cargo-bbprof")).arg("bbprof")).stderr;
        assert!(refused.starts_with("bbprof: error: "), "{refused}");
    }
}

/// Options that end the line without the value that they take.
#[test]
fn options_without_their_values() {
    let sandbox = package("valueless");
    for (option, code) in [("--target-dir", 1), ("--target", 101), ("-p", 101)] {
        let in_package = |run: Run| run.args(["build", "-q", option]).in_folder(sandbox.path()).outcome().expect_code(code).stderr;
        assert_eq!(in_package(Run::new(tool("cargo-bbprof")).arg("bbprof")), in_package(Run::new("cargo")), "{option}");
    }
    // Of ours, too: what follows is not the value.
    for words in [&["--include"][..], &["--include", "--", "x"]] {
        let ours = Run::new(tool("cargo-bbprof")).args(["bbprof", "run"]).args(words).in_folder(sandbox.path());
        let refused = ours.outcome().expect_code(2).stderr;
        assert!(refused.contains("a value is required for '--include <REGEX>'"), "{refused}");
    }
}

/// What cargo prints in place of doing something, it prints here, too; nothing is built.
#[test]
fn flags_that_cargo_lists() {
    let sandbox = package("flags");
    for words in [&["run", "-Z", "help"][..], &["build", "-qZhelp"], &["test", "--ir", "-Z", "help", "--", "x"]] {
        let cargos: Vec<&str> = words.iter().copied().filter(|word| *word != "--ir").collect();
        let listed = Run::new("cargo").args(&cargos).in_folder(sandbox.path()).ok().text();
        let run = Run::new(tool("cargo-bbprof")).arg("bbprof").args(words).in_folder(sandbox.path());
        assert_eq!(run.ok().text(), listed, "{words:?}");
    }
    assert!(!sandbox.join("target").exists());
}

/// `--color` before the subcommand, as cargo takes it.
#[test]
fn colours_before_the_subcommand() {
    let sandbox = package("colours");
    let in_package = |colour: &str| {
        let run = Run::new(tool("cargo-bbprof")).args(["bbprof", "--color", colour, "run", "--bin", "empty"]);
        run.in_folder(sandbox.path()).outcome().expect_code(0).stderr
    };
    assert!(in_package("always").contains("\x1b["));
    assert!(!in_package("never").contains('\x1b'));
}

/// A stderr that is full, or that nobody reads, changes no exit code.
#[test]
fn messages_that_cannot_be_written() {
    let sandbox = package("unheard");
    let run = Run::new(tool("cargo-bbprof")).args(["bbprof", "run", "-q"]).in_folder(sandbox.path());
    run.env("BBPROF_OUT", sandbox.join("whole.bbraw")).ok();
    sandbox.write("damaged.bbraw", "BBPROFRW");
    let bin = tool("bbprof").parent().expect("a folder").display().to_string();
    for (command, code) in [
        ("bbprof report nosuch", 2),
        ("bbprof verify damaged.bbraw whole.bbraw", 4),
        ("bbprof export lcov=x.info whole.bbraw", 0),
        ("bbprof-cc --bbprof-foo", 2),
        ("cargo-bbprof bbprof run -q", 0),
    ] {
        for stderr in ["2> /dev/full", "2> >(exec 0<&-)", "2>&-"] {
            let script = format!("PATH={bin}:$PATH; {command} {stderr} > /dev/null");
            Run::new("bash").args(["-c", &script]).in_folder(sandbox.path()).outcome().expect_code(code);
        }
    }
}

/// What an earlier version compiled cannot be solved: every command names it and leaves it out, so that nothing else is lost.
#[test]
fn build_maps_of_another_version() {
    let parcel = Parcel::new("versions");
    let [current, older] = ["-O1", "-O2"].map(|level| {
        let program = parcel.source().join(level);
        parcel.run(tool("bbprof-cc")).args([level, "-o", &*program.to_string_lossy(), "main.c", "shelf.c"]).ok();
        ProfiledRun::of(&program, &["parcel"], &parcel.sandbox).raw
    });
    let merged = parcel.sandbox.join("older.bbprof");
    Run::new(tool("bbprof")).args(["merge", "-o"]).args([&merged, &older]).ok();
    let aged = |bytes: &[u8]| {
        let mut map = BuildMap::decode(bytes).unwrap();
        map.body.modules.iter_mut().for_each(|linked| linked.manifest.to_mut()[8] -= 1);
        map.encode()
    };
    let map = parcel.source().join("-O2.bbmap");
    std::fs::write(&map, aged(&std::fs::read(&map).unwrap())).unwrap();
    let mut with_map = MergedProfile::decode(&std::fs::read(&merged).unwrap()).unwrap();
    with_map.images.iter_mut().for_each(|image| image.map = image.map.as_deref().map(aged));
    std::fs::write(&merged, with_map.encode()).unwrap();
    for input in [&older, &merged] {
        let name = input.file_name().unwrap().to_str().unwrap();
        let sum = parcel.sandbox.join(format!("{name}.sum"));
        let bbprof = |before: &[&str], inputs: &[&PathBuf], behind: &[&str], code: i32| {
            let stderr = Run::new(tool("bbprof")).args(before).args(inputs).args(behind).outcome().expect_code(code).stderr;
            assert!(["skipped", "error"].iter().any(|word| stderr.contains(word)), "{before:?}: {stderr}");
            assert!(stderr.contains(name) && stderr.contains("version"), "{before:?}: {stderr}");
        };
        for (before, behind) in
            [(&["verify"][..], &[][..]), (&["report"], &[]), (&["export", "lcov=-"], &[]), (&["annotate"], &["shelf_put"])]
        {
            bbprof(before, &[input], behind, 1);
            bbprof(before, &[input, &current], behind, 4);
            bbprof(before, &[&current, input], behind, 4);
        }
        let folder = parcel.sandbox.join(format!("{name}.folder"));
        std::fs::create_dir(&folder).unwrap();
        for profile in [input, &current] {
            std::fs::copy(profile, folder.join(profile.file_name().unwrap())).unwrap();
        }
        bbprof(&["diff"], &[&folder, &current], &[], 4);
        bbprof(&["merge", "--strict", "-o"], &[&sum, input, &current], &[], 1);
        assert!(!sum.exists());
        bbprof(&["merge", "-o"], &[&sum, input, &current], &[], 4);
        Run::new(tool("bbprof")).arg("verify").arg(&sum).ok();
    }
}
