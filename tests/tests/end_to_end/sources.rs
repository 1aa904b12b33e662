//! Sources that are not what was compiled, or cannot be read: no report shows another text as the program's.

use bbprof_tests::{Exported, Outcome, Parcel, ProfiledRun, Run, Sandbox, tool};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A parcel, built with these options, and a profile of it.
fn profiled(options: &[&str]) -> (Parcel, ProfiledRun) {
    let parcel = Parcel::new("bad-source");
    parcel.run(tool("bbprof-cc")).args(["-O1", "-o", "parcel", "main.c", "shelf.c"]).args(options).ok();
    let run = parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
    (parcel, run)
}

/// What the compiler read from a pipe cannot be read again; who tries waits for ever.
#[test]
fn sources_that_are_pipes() {
    let sandbox = Sandbox::new("pipes");
    let source = sandbox.join("piped.c");
    Run::new("mkfifo").arg(&source).ok();
    let writer = std::thread::spawn({
        let source = source.clone();
        move || std::fs::write(source, "int main(void) {\n  return 0;\n}\n").unwrap()
    });
    let program = sandbox.join("piped");
    Run::new(tool("bbprof-cc")).arg("-O0").arg(&source).arg("-o").arg(&program).ok();
    writer.join().unwrap();
    let raw = sandbox.join("piped.bbraw");
    Run::new(&program).env("BBPROF_OUT", &raw).ok();
    let annotated = Run::new(tool("bbprof")).arg("annotate").arg(&raw).arg("main").ok();
    assert!(annotated.text().contains("source not shown: not a regular file"), "{}", annotated.text());
    let pages = format!("html={}", sandbox.join("pages").display());
    let trace = format!("lcov={}", sandbox.join("trace.info").display());
    let exported = Run::new(tool("bbprof")).args(["export", &pages, &trace]).arg(&raw).ok();
    assert!(exported.stderr.contains("lcov: TOTAL 2 of 2 lines 100.0%"), "{}", exported.stderr);
}

/// Names are kept as text.
#[test]
fn sources_whose_names_are_no_text() {
    let sandbox = Sandbox::new("bytes");
    let folder = sandbox.path().join(OsStr::from_bytes(b"sources\xff"));
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("a.c"), "int main(void) {\n  return 0;\n}\n").unwrap();
    Run::new(tool("bbprof-cc")).args(["-O0", "a.c", "-o", "a"]).in_folder(&folder).ok();
    let raw = sandbox.join("a.bbraw");
    Run::new(folder.join("a")).env("BBPROF_OUT", &raw).ok();
    let annotated = Run::new(tool("bbprof")).arg("annotate").arg(&raw).arg("main").ok();
    assert!(annotated.text().contains("source not shown: the name is not UTF-8"), "{}", annotated.text());
}

/// Inline functions share counters with others of their names; these have two.
#[test]
fn symbols_that_are_no_text() {
    let sandbox = Sandbox::new("symbols");
    let text = "#define MADE __attribute__((used, noinline))\n\
        inline MADE int f(int x) asm(\"f\\xfe\");\ninline MADE int g(int x) asm(\"f\\xff\");\n\
        inline int f(int x) { return x + 1; }\ninline int g(int x) { return x + 2; }\n\
        int main() { int sum = f(1); for (volatile int i = 0; i < 100; i++) sum += g(i); return sum == 0; }\n";
    let source = sandbox.write("a.cpp", text);
    Run::new(tool("bbprof-c++")).arg("-O1").arg(&source).arg("-o").arg(sandbox.join("a")).ok();
    let raw = sandbox.join("a.bbraw");
    Run::new(sandbox.join("a")).env("BBPROF_OUT", &raw).ok();
    let functions = Exported::of(std::slice::from_ref(&raw)).functions();
    let entries: Vec<u64> = functions.iter().filter_map(|function| function.value["entries"].as_u64()).collect();
    assert_eq!(entries.iter().sum::<u64>(), 102, "{entries:?}");
    assert!(entries.contains(&100), "{entries:?}");
}

/// The compiler noted what it read: nothing else is the source, and that is, whenever it was written.
#[test]
fn sources_that_are_not_what_was_compiled() {
    let sandbox = Sandbox::new("another-text");
    let source = sandbox.write("src/main.rs", "fn main() {\n    println!(\"2\");\n}\n");
    sandbox.write("Cargo.toml", "[package]\nname = \"texts\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n");
    let run = Run::new(tool("cargo-bbprof")).args(["bbprof", "run", "--quiet", "--no-report"]).in_folder(sandbox.path());
    run.env("BBPROF_OUT", sandbox.join("rust.bbraw")).env("CARGO_INCREMENTAL", "0").ok();
    let (parcel, run) = profiled(&[]);
    for (source, raw, function) in
        [(source, sandbox.join("rust.bbraw"), "texts::main"), (parcel.source().join("shelf.c"), run.raw, "shelf_put")]
    {
        let text = std::fs::read_to_string(&source).unwrap();
        let (pages, trace) = (sandbox.join("pages"), sandbox.join("trace.info"));
        let exports = [format!("html={}", pages.display()), format!("lcov={}", trace.display())];
        let readers = [&["annotate", function][..], &["export", &*exports[0]], &["export", &*exports[1]]];
        for reader in readers {
            let said = || {
                let run = Run::new(tool("bbprof")).arg(reader[0]).arg(&raw).args(&reader[1..]).ok();
                run.stderr.contains(&format!("{} is not the text that was compiled", source.display()))
            };
            std::fs::write(&source, &text).unwrap();
            assert!(!said(), "written anew, {reader:?}");
            let time = std::fs::metadata(&source).unwrap().modified().unwrap();
            std::fs::write(&source, format!("// More.\n{text}")).unwrap();
            std::fs::File::options().append(true).open(&source).unwrap().set_modified(time).unwrap();
            assert!(said(), "changed, {reader:?}");
        }
    }
}

/// Before DWARF 5, clang does not tell what it read.
#[test]
fn sources_that_are_newer_than_the_program() {
    let (parcel, run) = profiled(&["-gdwarf-4"]);
    let source = parcel.source().join("shelf.c");
    let annotate = || Run::new(tool("bbprof")).arg("annotate").arg(&run.raw).arg("shelf_put").ok();
    let fresh = annotate();
    assert_eq!(fresh.stderr, "");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options().append(true).open(&source).unwrap().set_modified(later).unwrap();
    let warned = |outcome: &Outcome, words: &str| {
        let said: Vec<&str> = outcome.stderr.lines().collect();
        assert!(matches!(said[..], [line] if line.contains(words) && line.contains(source.to_str().unwrap())), "{said:?}");
    };
    let newer = annotate();
    warned(&newer, "modified after the program was linked");
    assert_eq!(newer.stdout, fresh.stdout);
    let pages = format!("html={}", parcel.sandbox.join("pages").display());
    let export = Run::new(tool("bbprof")).args(["export", &pages]).arg(&run.raw).ok();
    warned(&export, "modified after the program was linked");
    // A build that is newer than the source does not speak for the other.
    parcel.run(tool("bbprof-cc")).args(["-O1", "-gdwarf-4", "-DANOTHER", "-o", "second", "main.c", "shelf.c"]).ok();
    let second = parcel.check(&parcel.source().join("second"), None, &["second"]);
    let newest = later + std::time::Duration::from_secs(60);
    std::fs::File::options().append(true).open(parcel.source().join("second")).unwrap().set_modified(newest).unwrap();
    let of = |raws: &[&Path]| Run::new(tool("bbprof")).arg("annotate").args(raws).arg("shelf_put").ok();
    assert_eq!(of(&[&second.raw]).stderr, "");
    warned(&of(&[&run.raw, &second.raw]), "modified after the program was linked");
    // When it was linked is not known any more.
    let map = parcel.sandbox.join("old.bbmap");
    std::fs::copy(parcel.source().join("parcel.bbmap"), &map).unwrap();
    parcel.run(tool("bbprof-cc")).args(["-O2", "-gdwarf-4", "-o", "parcel", "main.c", "shelf.c"]).ok();
    let again = Run::new(tool("bbprof")).arg("annotate").arg("--map").arg(&map).arg(&run.raw).arg("shelf_put").ok();
    warned(&again, "built again since");
}
