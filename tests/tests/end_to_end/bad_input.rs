//! What users do wrong, and what goes wrong around them: each gets one clear message (what, where, expected, found, what to do)
//! and its documented exit code; never a panic, a wrong number or a lost profile. The profiled program never notices.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_format::manifest;
use bbprof_tests::{Outcome, Parcel, ProfiledRun, Run, Sandbox, tool};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const MISSING: i32 = 2;
const FAILURE: i32 = 1;
const SKIPPED: i32 = 4;

/// One clear message on stderr that says all this, this exit code, and nothing on stdout.
fn says(outcome: &Outcome, code: i32, words: &[&str]) {
    let outcome = outcome.clone().expect_code(code);
    let stderr = &outcome.stderr;
    for word in words {
        assert!(stderr.contains(word), "{}: the message lacks {word:?}:\n{stderr}", outcome.what);
    }
    let ours: Vec<&str> = stderr.lines().filter(|line| line.starts_with("bbprof")).collect();
    assert_eq!(ours.len(), 1, "{}: one message, not {}:\n{stderr}", outcome.what, ours.len());
    assert!(!stderr.contains("panicked") && !stderr.contains("RUST_BACKTRACE"), "{stderr}");
    assert!(outcome.stdout.is_empty(), "{}: nothing on stdout:\n{}", outcome.what, outcome.text());
}

/// An executable shell script.
fn script(sandbox: &Sandbox, name: &str, text: &str) -> PathBuf {
    let path = sandbox.write(name, format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn fake_clang(sandbox: &Sandbox, version: &str) -> PathBuf {
    let name = format!("clang-fake-{version}");
    script(
        sandbox,
        &name,
        &format!("case \"$1\" in --version) echo 'Debian clang version {version}';; *) echo compiled; exit 0;; esac"),
    )
}

#[test]
fn compilers_that_are_not_supported() {
    let parcel = Parcel::new("wrong-clang");
    let compile = |cc: &Path| parcel.run(tool("bbprof-cc")).args(["-c", "main.c"]).env("BBPROF_CC", cc).outcome();
    for version in ["14.0.6", "19.1.7", "23.0.0"] {
        let clang = fake_clang(&parcel.sandbox, version);
        let major = version.split('.').next().unwrap();
        says(&compile(&clang), MISSING, &[clang.to_str().unwrap(), &format!("clang {major}"), "20 to 22"]);
        assert!(!parcel.source().join("main.o").exists());
    }
    says(&compile("gcc".as_ref()), MISSING, &["gcc", "not a clang", "20 to 22"]);
    says(&compile("/nowhere/clang".as_ref()), MISSING, &["/nowhere/clang", "no such compiler"]);
    let toolchain = parcel.run(tool("bbprof")).arg("cmake-toolchain").env("BBPROF_CC", "/nowhere/clang").outcome();
    says(&toolchain, MISSING, &["/nowhere/clang", "no such compiler"]);
    says(&compile("/bin/false".as_ref()), MISSING, &["/bin/false", "not a clang"]);
    let rustc = script(
        &parcel.sandbox,
        "rustc-old",
        "printf 'rustc 1.70.0\\nhost: x86_64-unknown-linux-gnu\\nrelease: 1.70.0\\nLLVM version: 16.0.2\\n'",
    );
    let outcome = with_manifest(&parcel.sandbox).env("RUSTC", &rustc).outcome();
    says(&outcome, MISSING, &[rustc.to_str().unwrap(), "LLVM 16", "20 to 22"]);
    let bare = format!(
        "case \"$1$2\" in -vV) printf 'rustc 1.95.0\\nhost: x86_64-unknown-linux-gnu\\nrelease: 1.95.0\\nLLVM version: 22.1.2\\n';; *) echo {};; esac",
        parcel.sandbox.path().display()
    );
    let rustc = script(&parcel.sandbox, "rustc-bare", &bare);
    says(&with_manifest(&parcel.sandbox).env("RUSTC", &rustc).outcome(), MISSING, &["no shared libLLVM", "rustup"]);
}

/// `cargo bbprof build` of an empty package.
fn with_manifest(sandbox: &Sandbox) -> Run {
    sandbox.write("rust/Cargo.toml", "[package]\nname = \"empty\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n");
    sandbox.write("rust/src/main.rs", "fn main() {}\n");
    Run::new(tool("cargo-bbprof")).args(["bbprof", "build", "-q"]).in_folder(&sandbox.join("rust"))
}

/// Nothing counts in what clang compiles without passes.
#[test]
fn options_that_leave_the_pass_out() {
    let parcel = Parcel::new("no-passes");
    let compiled = parcel.run(tool("bbprof-cc")).args(["-c", "main.c", "-Xclang", "-disable-llvm-passes"]).ok();
    assert!(compiled.stderr.contains("-disable-llvm-passes: this leaves out the pass"), "{}", compiled.stderr);
}

#[test]
fn headers_or_compilers_that_are_not_there() {
    let parcel = Parcel::new("missing");
    // A clang of a version whose headers are not installed.
    let clang = fake_clang(&parcel.sandbox, "21.1.0");
    let outcome = parcel.run(tool("bbprof-cc")).args(["-c", "main.c"]).env("BBPROF_CC", &clang).outcome();
    says(&outcome, MISSING, &["headers of LLVM 21", "llvm-21-dev", "apt-get install"]);
    // Headers that llvm-config only promises.
    let config = script(&parcel.sandbox, "bin/llvm-config-21", "echo 21.1.0; echo /nowhere/include");
    let path = format!("{}:/usr/bin:/bin", config.parent().unwrap().display());
    let outcome = parcel.run(tool("bbprof-cc")).args(["-c", "main.c"]).env("BBPROF_CC", &clang).env("PATH", &path).outcome();
    says(&outcome, MISSING, &["/nowhere/include", "PassManager.h", "llvm-21-dev"]);
    // Itself.
    let outcome = parcel.run(tool("bbprof-cc")).args(["-c", "main.c"]).env("BBPROF_CC", tool("bbprof-cc")).outcome();
    says(&outcome, MISSING, &["own compiler driver", "BBPROF_CC"]);
    // A script that calls us again, with more processes each time.
    let circle = script(&parcel.sandbox, "circle", &format!("{} \"$@\"", tool("bbprof-cc").display()));
    let outcome = parcel.run(tool("bbprof-cc")).args(["-c", "main.c"]).env("BBPROF_CC", &circle).outcome();
    says(&outcome, MISSING, &["circle", "it calls bbprof-cc again"]);
    let outcome = parcel.run(tool("bbprof-cc")).args(["-E", "main.c"]).env("BBPROF_CC", &circle).outcome();
    says(&outcome, MISSING, &["circle", "it calls bbprof-cc, which called it", "BBPROF_CC"]);
    // No linker behind clang.
    let outcome = parcel.run(tool("bbprof-cc")).args(["main.c", "shelf.c", "-fuse-ld=missing"]).outcome();
    says(&outcome, MISSING, &["ld.missing", "no such linker"]);
    // An installation without its plugin's sources.
    let root = parcel.sandbox.join("root");
    std::fs::create_dir_all(root.join("bin")).unwrap();
    std::fs::copy(tool("bbprof"), root.join("bin/bbprof-cc")).unwrap();
    let outcome =
        Run::new(root.join("bin/bbprof-cc")).args(["-c", "main.c"]).env("BBPROF_ROOT", &root).in_folder(&parcel.source()).outcome();
    says(&outcome, MISSING, &["plugin's sources are not there", "xtask install"]);
    // A cache that cannot be made.
    let outcome = parcel.run(tool("bbprof-cc")).args(["-c", "main.c"]).env("XDG_CACHE_HOME", "/proc/cache").outcome();
    says(&outcome, MISSING, &["/proc/cache/bbprof", "XDG_CACHE_HOME"]);
    let outcome = parcel.run(tool("bbprof")).arg("cmake-toolchain").env("XDG_CACHE_HOME", "/proc/cache").outcome();
    says(&outcome, MISSING, &["/proc/cache/bbprof", "XDG_CACHE_HOME"]);
    // Without HOME, the home that the system knows.
    let outcome = parcel.run("env").args(["-u", "HOME", "-u", "XDG_CACHE_HOME"]).arg(tool("bbprof-cc")).args(["-c", "main.c"]);
    outcome.ok();
    // No rustc, none that runs.
    for (name, value) in [("PATH", "/nowhere"), ("RUSTC", "/nowhere/rustc")] {
        let outcome = with_manifest(&parcel.sandbox).env(name, value).outcome();
        says(&outcome, MISSING, &["rustc: cannot be run", "rustup"]);
    }
    // No linker for the plugin.
    for name in ["clang-22", "clang++-22", "llvm-config-22"] {
        let found = Run::new("which").arg(name).ok().text();
        let text = format!("case \"$*\" in *-shared*) exit 1;; *) exec {} \"$@\";; esac", found.trim());
        script(&parcel.sandbox, &format!("no-ld/{name}"), &text);
    }
    let without = parcel.run(tool("bbprof-cc")).args(["-c", "main.c"]).env("XDG_CACHE_HOME", parcel.sandbox.join("cache"));
    let outcome =
        without.env("PATH", parcel.sandbox.join("no-ld")).env("BBPROF_CC", parcel.sandbox.join("no-ld/clang-22")).outcome();
    let compiling = "bbprof: compiling the plugin";
    let stderr = outcome.stderr.lines().filter(|line| !line.starts_with(compiling)).map(|line| format!("{line}\n")).collect();
    says(&Outcome { stderr, ..outcome }, MISSING, &["no ld in PATH", "binutils"]);
}

#[test]
fn options_that_do_not_exist() {
    let parcel = Parcel::new("options");
    let cc = |word: &str| parcel.run(tool("bbprof-cc")).args(["-c", "main.c", word]).outcome();
    says(&cc("--bbprof-counters=most"), MISSING, &["--bbprof-counters=most", "edges"]);
    says(&cc("--bbprof-color=1"), MISSING, &["--bbprof-color=1"]);
    says(&cc("--bbprof-include=("), MISSING, &["--bbprof-include (: "]);
    let bbprof = |words: &[&str]| parcel.run(tool("bbprof")).args(words).outcome();
    says(&bbprof(&["export", "odt=x"]), MISSING, &["odt", "json"]);
    says(&bbprof(&["export", "json="]), MISSING, &["json=", "path"]);
    says(&bbprof(&["verify", "none.bbraw"]), MISSING, &["none.bbraw"]);
    says(&bbprof(&["verify"]), MISSING, &["no profile", "run the program first"]);
    says(&bbprof(&["annotate", "shelf_put", "one.bbraw"]), MISSING, &["one.bbraw: stands for profiles", "comes last"]);
    parcel.sandbox.write("src/bbprof.toml", "counter = \"check\"\n");
    says(&bbprof(&["env", "--sh"]), MISSING, &["bbprof.toml", "counter"]);
    parcel.sandbox.write("src/bbprof.toml", "exclude-fn = \"(\"\n");
    says(&bbprof(&["env", "--sh"]), MISSING, &["bbprof.toml: exclude-fn (: ", "unclosed"]);
    says(&cc("-O1"), MISSING, &["bbprof.toml: exclude-fn (: ", "unclosed"]);
}

/// An object with one field of its manifest changed.
fn damage_manifest(object: &Path, change: impl FnOnce(&mut [u8])) {
    let mut bytes = std::fs::read(object).unwrap();
    let at = bytes.windows(8).position(|window| window == manifest::MAGIC).expect("a manifest");
    change(&mut bytes[at..]);
    std::fs::write(object, bytes).unwrap();
}

/// What is damaged, how, and the words that must be said.
type Damage = (&'static str, fn(&mut [u8]), &'static [&'static str]);

#[test]
fn objects_with_damaged_or_newer_manifests() {
    let parcel = Parcel::new("manifest");
    let cc = tool("bbprof-cc");
    let damages: [Damage; 3] = [
        ("version", |manifest| manifest[8] += 1, &["version", "recompile"]),
        ("body", |manifest| manifest[200] ^= 0x10, &["checksum", "recompile"]),
        ("magic", |manifest| manifest[0] ^= 0x20, &["recompile"]),
    ];
    for (what, damage, words) in damages {
        parcel.run(&cc).args(["-O1", "-c", "shelf.c"]).ok();
        damage_manifest(&parcel.source().join("shelf.o"), damage);
        let outcome = parcel.run(&cc).args(["main.c", "shelf.o", "-o", "parcel"]).outcome();
        assert!(outcome.stderr.contains("shelf.o"), "{what}: {}", outcome.stderr);
        assert!(!parcel.source().join("parcel").exists() && !parcel.source().join("parcel.bbmap").exists(), "{what}");
        for word in words {
            assert!(outcome.stderr.contains(word), "{what}: the message lacks {word:?}: {}", outcome.stderr);
        }
        assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
        // clang passes the linker's exit code on.
        assert_eq!(outcome.code, MISSING, "{what}");
        // In an archive the member is named.
        parcel.run("ar").args(["rcs", "libshelf.a", "shelf.o"]).ok();
        let outcome = parcel.run(&cc).args(["main.c", "libshelf.a", "-o", "parcel"]).outcome();
        assert!(outcome.stderr.contains("libshelf.a(shelf.o)"), "{what}: {}", outcome.stderr);
        let outcome = parcel.run(tool("bbprof")).args(["dump", "shelf.o"]).outcome();
        says(&outcome, FAILURE, &["shelf.o"]);
        std::fs::remove_file(parcel.source().join("libshelf.a")).unwrap();
    }
    // Truncated by a full disk: the linker's own business.
    parcel.run(&cc).args(["-O1", "-c", "shelf.c"]).ok();
    let object = parcel.source().join("shelf.o");
    let bytes = std::fs::read(&object).unwrap();
    for length in [3, 40, bytes.len() / 2, bytes.len() - 5] {
        std::fs::write(&object, &bytes[..length]).unwrap();
        let outcome = parcel.run(&cc).args(["main.c", "shelf.o", "-o", "parcel"]).outcome();
        assert!(
            outcome.code != 0 && outcome.stderr.contains("shelf.o") && !outcome.stderr.contains("panicked"),
            "{length}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn code_for_executables_in_a_library() {
    let parcel = Parcel::new("tls");
    parcel.run(tool("bbprof-cc")).args(["-c", "shelf.c"]).ok();
    let outcome = parcel.run(tool("bbprof-cc")).args(["-shared", "shelf.o", "-o", "libshelf.so"]).outcome();
    assert!(
        outcome.code == MISSING && outcome.stderr.contains("shelf.o") && outcome.stderr.contains("-fPIC"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn emulated_thread_local_storage() {
    let parcel = Parcel::new("emulated");
    let compile = |more: &[&str]| {
        parcel.run(tool("bbprof-cc")).args(more).args(["-femulated-tls", "-o", "parcel", "main.c", "shelf.c"]).outcome()
    };
    says(&compile(&[]), MISSING, &["-femulated-tls", "--bbprof-storage=atomic"]);
    compile(&["--bbprof-storage=atomic", "-O1"]).expect_code(0);
    parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
}

/// A parcel, built, and a profile of it.
fn profiled() -> (Parcel, ProfiledRun) {
    let parcel = Parcel::new("bad-profile");
    parcel.run(tool("bbprof-cc")).args(["-O1", "-o", "parcel", "main.c", "shelf.c"]).ok();
    let run = parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
    (parcel, run)
}

const READERS: [&[&str]; 4] = [&["verify"], &["report"], &["export", "json=-"], &["export", "lcov=-"]];

#[test]
fn raw_profiles_that_are_not() {
    let (parcel, run) = profiled();
    let raw = std::fs::read(&run.raw).unwrap();
    let mut flipped = raw.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let mut newer = raw.clone();
    newer[8] += 1;
    let files: [(&str, &[u8], &[&str]); 6] = [
        ("empty", b"", &["empty", "run the program again"]),
        ("truncated", &raw[..raw.len() / 2], &["truncated", "bytes", "run the program again"]),
        ("cut", &raw[..raw.len() - 1], &["truncated", "bytes", "run the program again"]),
        ("flipped", &flipped, &["checksum", "run the program again"]),
        ("newer", &newer, &["version", "rebuild"]),
        ("foreign", b"\x81rforpl\xff and what LLVM writes", &["raw profile"]),
    ];
    for (name, bytes, words) in files {
        let path = parcel.sandbox.write(&format!("{name}.bbraw"), bytes);
        let file_name = format!("{name}.bbraw");
        for reader in READERS {
            let outcome = Run::new(tool("bbprof")).args(reader).arg(&path).outcome();
            says(&outcome, FAILURE, &[&[&*file_name], words].concat());
        }
        // With a good one: named, left out, and the rest is right.
        let merged = parcel.sandbox.join(format!("{name}.bbprof"));
        let merge = |strict: &[&str]| {
            Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&merged).args(strict).arg(&path).arg(&run.raw).outcome()
        };
        says(&merge(&[]), SKIPPED, &[&file_name, "skipped"]);
        let exported = bbprof_tests::Exported::of(std::slice::from_ref(&merged));
        assert_eq!(exported.entries("shelf_put"), Some(3000));
        std::fs::remove_file(&merged).unwrap();
        says(&merge(&["--strict"]), FAILURE, &[&file_name]);
        assert!(!merged.exists(), "half a result is none");
        let verified = Run::new(tool("bbprof")).arg("verify").arg(&path).arg(&run.raw).outcome().expect_code(SKIPPED);
        assert!(verified.stderr.contains(&file_name) && verified.text().contains("exact"), "{}", verified.stderr);
    }
    // Other files are called by their names, and no more is read of them: one of these has no end.
    for (name, what) in [("parcel.bbmap", "a build map"), ("parcel", "a program"), ("/dev/zero", "\\0\\0")] {
        let path = parcel.source().join(name);
        says(&Run::new(tool("bbprof")).arg("verify").arg(&path).outcome(), FAILURE, &[name, "not a bbprof raw profile", what]);
    }
    let folder = parcel.sandbox.join("nothing");
    std::fs::create_dir(&folder).unwrap();
    says(&Run::new(tool("bbprof")).arg("verify").arg(&folder).outcome(), MISSING, &["nothing", "no profile"]);
}

/// A profile in which nothing has counters, because of what was left out, says so.
#[test]
fn filters_that_leave_nothing() {
    let parcel = Parcel::new("nothing-left");
    let compile =
        parcel.run(tool("bbprof-cc")).args(["-O1", "--bbprof-include-file=nowhere.c", "-o", "parcel", "main.c", "shelf.c"]);
    compile.ok();
    let run = ProfiledRun::of(&parcel.source().join("parcel"), &[], &parcel.sandbox);
    for reader in [&["report"][..], &["export", "json=-"]] {
        let told = Run::new(tool("bbprof")).args(reader).arg(&run.raw).outcome().expect_code(0).stderr;
        assert!(told.contains("no function has counters: all are left out"), "{told}");
    }
}

/// What stands in a file whose name is no text is read like any other.
#[test]
fn names_that_are_no_text() {
    let (parcel, run) = profiled();
    let odd = |name: &[u8]| parcel.sandbox.path().join(std::ffi::OsStr::from_bytes(name));
    let raw = odd(b"caf\xe9.bbraw");
    std::fs::copy(&run.raw, &raw).unwrap();
    let result = odd(b"caf\xe9.json");
    let mut target = std::ffi::OsString::from("json=");
    target.push(&result);
    Run::new(tool("bbprof")).arg("export").arg(target).arg(&raw).ok();
    assert!(std::fs::read(&result).unwrap().starts_with(b"{"));
    let annotated = Run::new(tool("bbprof")).arg("annotate").arg(&raw).arg("shelf_put").ok();
    assert!(annotated.text().contains("entered 3,000 times"), "{}", annotated.text());
    let paths = Run::new(tool("bbprof")).arg("paths").arg(&raw).outcome();
    says(&paths, MISSING, &["no path was counted"]);
}

#[test]
fn maps_that_do_not_match() {
    let (parcel, run) = profiled();
    let map = parcel.source().join("parcel.bbmap");
    let good = std::fs::read(&map).unwrap();
    let verify = |cache: bool| {
        let run = Run::new(tool("bbprof")).arg("verify").arg(&run.raw);
        if cache { run } else { run.env("XDG_CACHE_HOME", parcel.sandbox.join("no-cache")) }.outcome()
    };
    // Built again from other sources since the run.
    parcel.run(tool("bbprof-cc")).args(["-O2", "-o", "parcel", "main.c", "shelf.c"]).ok();
    says(&verify(true), MISSING, &["parcel.bbmap", "does not match", "--map"]);
    let other = map.to_str().unwrap();
    let outcome = Run::new(tool("bbprof")).args(["verify", "--map", other]).arg(&run.raw).outcome();
    says(&outcome, MISSING, &["does not match", "--map"]);
    // Not there, empty, foreign, damaged.
    std::fs::remove_file(&map).unwrap();
    says(&verify(false), MISSING, &["parcel", "no build map", "--map"]);
    for (bytes, words) in [
        (&b""[..], &["truncated"][..]),
        (&b"not a map, but long enough to be one, with sixty-four bytes or more"[..], &["build map"]),
    ] {
        std::fs::write(&map, bytes).unwrap();
        let outcome = verify(false);
        says(&outcome, FAILURE, &[&["parcel.bbmap"], words].concat());
    }
    let mut damaged = good.clone();
    *damaged.last_mut().unwrap() ^= 1;
    std::fs::write(&map, damaged).unwrap();
    says(&verify(false), FAILURE, &["parcel.bbmap", "checksum"]);
    let mut newer = good.clone();
    newer[8] += 1;
    std::fs::write(&map, newer).unwrap();
    says(&verify(false), FAILURE, &["parcel.bbmap", "version"]);
    // The right one elsewhere.
    std::fs::write(parcel.sandbox.join("kept.bbmap"), good).unwrap();
    std::fs::remove_file(&map).unwrap();
    Run::new(tool("bbprof")).args(["verify", "--map"]).arg(parcel.sandbox.join("kept.bbmap")).arg(&run.raw).ok();
    Run::new(tool("bbprof")).arg("verify").arg(&run.raw).env("BBPROF_MAPS", parcel.sandbox.path()).ok();
}

#[test]
fn results_that_cannot_be_written() {
    let (parcel, run) = profiled();
    let export = |target: &str| Run::new(tool("bbprof")).args(["export", target]).arg(&run.raw).outcome();
    for kind in ["json", "lcov"] {
        says(&export(&format!("{kind}=/nowhere/out")), FAILURE, &["/nowhere/out"]);
        says(&export(&format!("{kind}=/proc/out")), FAILURE, &["/proc/out"]);
        says(&export(&format!("{kind}=/dev/full")), FAILURE, &["/dev/full", "No space left"]);
    }
    let bytes = std::fs::read(&run.raw).unwrap();
    says(&export(&format!("json={}", run.raw.display())), MISSING, &["would be lost"]);
    assert_eq!(std::fs::read(&run.raw).unwrap(), bytes, "the only copy of the counts");
    let merge = Run::new(tool("bbprof")).args(["merge", "-o", "/nowhere/out.bbprof"]).arg(&run.raw).outcome();
    says(&merge, FAILURE, &["/nowhere/out.bbprof"]);
    let shell = |command: &str| {
        let command = format!("{} {command}", tool("bbprof").display());
        Run::new("sh").args(["-c", &command, "sh"]).arg(&run.raw).outcome()
    };
    for command in ["verify", "report", "export json=-", "export lcov=-", "dump"] {
        says(&shell(&format!("{command} \"$1\" > /dev/full")), FAILURE, &["stdout", "No space left"]);
        let piped = shell(&format!("{command} \"$1\" | true")).expect_code(0);
        assert!(piped.stderr.is_empty(), "{command} into a closed pipe: {}", piped.stderr);
    }
    // No input is to blame.
    let several = shell("verify \"$1\" \"$1\" > /dev/full");
    says(&several, FAILURE, &["stdout", "No space left"]);
    assert!(!several.stderr.contains("skipped"), "{}", several.stderr);
    // The link succeeds, its map has no place: no program either without its map.
    std::fs::create_dir(parcel.source().join("mapless.bbmap")).unwrap();
    let outcome = parcel.run(tool("bbprof-cc")).args(["-o", "mapless", "main.c", "shelf.c"]).outcome();
    assert!(outcome.code == FAILURE && outcome.stderr.contains("mapless.bbmap"), "{}", outcome.stderr);
    assert!(!parcel.source().join("mapless").exists(), "make must not take it for done");
}

/// The program's own output and exit code are untouched, and there is one line about the profile.
fn runs_on(outcome: &Outcome, words: &[&str]) {
    let outcome = outcome.clone().expect_code(4);
    assert_eq!(outcome.text(), Parcel::expected_output(false), "{}", outcome.what);
    let ours: Vec<&str> = outcome.stderr.lines().filter(|line| !line.starts_with("tally ")).collect();
    assert_eq!(ours.len(), 1, "{}: one line: {}", outcome.what, outcome.stderr);
    for word in words {
        assert!(ours[0].contains(word), "{}: the line lacks {word:?}: {}", outcome.what, ours[0]);
    }
}

#[test]
fn raw_profiles_that_cannot_be_written() {
    let (parcel, _) = profiled();
    let program = parcel.source().join("parcel");
    let to = |place: &str| Run::new(&program).env("BBPROF_OUT", place).in_folder(parcel.sandbox.path()).outcome();
    for place in ["/nowhere/x.bbraw", "/proc/x.bbraw", "/dev/full/x.bbraw", "/dev/full", parcel.source().to_str().unwrap()] {
        runs_on(&to(place), &["bbprof", place, "counts are lost"]);
    }
    // A read-only directory.
    if Run::new("id").arg("-u").ok().text().trim() != "0" {
        let folder = parcel.sandbox.join("read-only");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
        runs_on(&to(folder.join("x.bbraw").to_str().unwrap()), &["Permission denied"]);
    }
    let silent = Run::new(&program).env("BBPROF_OUT", "/nowhere/x").env("BBPROF_OFF", "1").outcome().expect_code(4);
    assert!(silent.stderr.lines().all(|line| line.starts_with("tally ")), "{}", silent.stderr);
}

/// A file system that is full: by a limit on the size of files, and by a small file system where the kernel lets us make one.
#[test]
fn full_disks() {
    let (parcel, run) = profiled();
    let program = parcel.source().join("parcel");
    let whole = std::fs::metadata(&run.raw).unwrap().len();
    assert!(whole < 8192, "a small profile: {whole} bytes");
    // In blocks of 512 bytes; 0 forbids every byte, even of the program's own files.
    for blocks in [0, 1, 8, 9] {
        let out = parcel.sandbox.join(format!("limited-{blocks}.bbraw"));
        let command = format!("ulimit -f {blocks}; exec {}", program.display());
        let outcome = Run::new("bash").args(["-c", &command]).env("BBPROF_OUT", &out).outcome();
        lost_or_exact(&outcome, &out);
    }
    let mount = |size: &str| {
        let out = parcel.sandbox.join("small");
        std::fs::create_dir_all(&out).unwrap();
        let script = format!(
            "mount -t tmpfs -o size={size} tmpfs {0} && {1} > {2}/stdout 2> {2}/stderr; echo $? > {2}/code; cp {0}/* {2}/small.bbraw 2>/dev/null; true",
            out.display(),
            program.display(),
            parcel.sandbox.path().display()
        );
        let _ = std::fs::remove_file(parcel.sandbox.join("small.bbraw"));
        let made = Run::new("unshare")
            .args(["--mount", "--map-root-user", "sh", "-c", &script])
            .env("BBPROF_OUT", out.join("x.bbraw"))
            .outcome();
        (made.code == 0).then(|| {
            let read = |name: &str| std::fs::read(parcel.sandbox.join(name)).unwrap();
            Outcome {
                code: String::from_utf8(read("code")).unwrap().trim().parse().unwrap(),
                stdout: read("stdout"),
                stderr: String::from_utf8(read("stderr")).unwrap(),
                what: format!("in a file system of {size}"),
            }
        })
    };
    for size in ["4k", "8k", "12k", "16k", "1m"] {
        if let Some(outcome) = mount(size) {
            lost_or_exact(&outcome, &parcel.sandbox.join("small.bbraw"));
        } else {
            eprintln!("no mount namespaces here: only limits were tested");
        }
    }
}

/// The program ran as always. Either its profile is there and exact, or there is none and one line said so.
fn lost_or_exact(outcome: &Outcome, raw: &Path) {
    let outcome = outcome.clone().expect_code(4);
    assert_eq!(outcome.text(), Parcel::expected_output(false), "{}", outcome.what);
    let ours: Vec<&str> = outcome.stderr.lines().filter(|line| !line.starts_with("tally ")).collect();
    assert!(ours.len() <= 1, "{}: {ours:?}", outcome.what);
    if raw.exists() {
        Run::new(tool("bbprof")).arg("verify").arg(raw).ok();
    } else {
        assert!(ours.len() == 1 && ours[0].contains("counts are lost"), "{}: lost in silence: {ours:?}", outcome.what);
    }
}

/// Numbers that may be wrong are not shown without a word, whatever shows them.
#[test]
fn counts_that_are_not_exact_are_called_so_everywhere() {
    let sandbox = Sandbox::new("inexact");
    let source = sandbox.write(
        "own.c",
        "#include <stdlib.h>\n#include <unistd.h>\nchar *volatile last;\nvolatile int filled;\nstatic char pool[16384];\nstatic size_t used;\n\
         void *malloc(size_t size) {\n  if (used + size > sizeof pool)\n    exit(3);\n  void *block = pool + used;\n  used += (size + 15) & ~15ul;\n  return block;\n}\n\
         void free(void *block) {}\nint main(void) {\n  for (int i = 0; i < 60; i++) {\n    last = malloc(1000);\n    filled++;\n  }\n  return 0;\n}\n",
    );
    // The compiler takes the program's own malloc for the standard's, which returns.
    let user = sandbox.write(
        "user.c",
        "#include <stdlib.h>\nextern char *volatile last;\nextern volatile int filled;\nvoid fill(void) {\n  for (int i = 0; i < 60; i++) {\n    last = malloc(1000);\n    filled++;\n  }\n}\n",
    );
    let own = std::fs::read_to_string(&source).unwrap();
    let (front, _) = own.split_once("  for (int i").unwrap();
    std::fs::write(&source, format!("void fill(void);\n{front}  fill();\n  return 0;\n}}\n")).unwrap();
    let (object, program, raw) = (sandbox.join("own.o"), sandbox.join("own"), sandbox.join("own.bbraw"));
    Run::new(tool("bbprof-cc")).args(["-O2", "-fno-builtin", "-w", "-c", "-o"]).arg(&object).arg(&source).ok();
    Run::new(tool("bbprof-cc")).args(["-O2", "-o"]).arg(&program).arg(&user).arg(&object).ok();
    Run::new(&program).env("BBPROF_OUT", &raw).outcome().expect_code(3);
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&raw).outcome().expect_code(5).text();
    assert!(verified.contains("malloc: did not return from 1 of its calls, but fill was compiled as if"), "{verified}");
    for kind in ["lcov", "cobertura", "callgrind", "folded", "speedscope", "pprof", "afdo", "csv", "json"] {
        let export = Run::new(tool("bbprof")).args(["export", &format!("{kind}=-")]).arg(&raw).ok();
        assert!(export.stderr.contains("counts are NOT exact: 1 exception, see bbprof verify"), "{kind}: {}", export.stderr);
    }
    let annotated = Run::new(tool("bbprof")).arg("annotate").arg(&raw).arg("fill").ok();
    assert!(annotated.stderr.contains("counts are NOT exact"), "{}", annotated.stderr);
}
