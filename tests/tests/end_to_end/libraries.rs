//! Programs of several images, and everything that a link can be made of: one raw profile holds all images, and every count in
//! it equals that of a counter on every edge (check mode) and the program's own tallies.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_tests::{Exported, MuslImage, Parcel, Run, Sandbox, for_musl, tool};
use std::path::{Path, PathBuf};

const CHECK: &str = "--bbprof-counters=check";

/// Compiles files of the parcel.
fn compile(parcel: &Parcel, words: &[&str]) {
    parcel.run(tool("bbprof-cc")).args([CHECK, "-O2"]).args(words).ok();
}

fn shared_library(parcel: &Parcel, more: &[&str]) {
    compile(parcel, &[&["-fPIC", "-shared", "-o", "libshelf.so", "shelf.c", "unused.c"], more].concat());
}

fn plugin(parcel: &Parcel, more: &[&str]) -> PathBuf {
    compile(parcel, &[&["-fPIC", "-shared", "-o", "plugin.so", "plugin.c"], more].concat());
    parcel.source().join("plugin.so")
}

const WITH_LIBRARY: [&str; 7] = ["-DPARCEL_DLOPEN", "-o", "parcel", "main.c", "-L.", "-lshelf", "-Wl,-rpath,$ORIGIN"];

/// Linkers that clang knows by name; all are Debian packages that the tests require.
const LINKERS: [&str; 4] = ["bfd", "gold", "lld", "mold"];

#[test]
fn linked_and_opened_libraries_with_every_linker() {
    for linker in LINKERS {
        let parcel = Parcel::new(&format!("libraries-{linker}"));
        let linker = format!("-fuse-ld={linker}");
        shared_library(&parcel, &[&linker]);
        let plugin = plugin(&parcel, &[&linker]);
        compile(&parcel, &[&WITH_LIBRARY[..], &[&linker]].concat());
        let program = parcel.source().join("parcel");
        parcel.check(&program, Some(&plugin), &["libshelf.so", "parcel", "plugin.so"]);
        parcel.check(&program, None, &["libshelf.so", "parcel"]);
    }
}

#[test]
fn only_some_images_are_profiled() {
    let parcel = Parcel::new("some-images");
    parcel.run("clang-22").args(["-O2", "-fPIC", "-shared", "-o", "libshelf.so", "shelf.c", "unused.c"]).ok();
    let plugin = plugin(&parcel, &[]);
    parcel.run("clang-22").args(["-O2"]).args(WITH_LIBRARY).ok();
    let run = bbprof_tests::ProfiledRun::of(&parcel.source().join("parcel"), &[plugin.to_str().unwrap()], &parcel.sandbox);
    assert_eq!(run.outcome.clone().expect_code(0).text(), Parcel::expected_output(true));
    assert_eq!(run.images(), ["plugin.so"], "a plain program with a profiled plugin");
    Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok();
    let exported = bbprof_tests::Exported::of(&[run.raw]);
    assert_eq!((exported.entries("plugin_weigh"), exported.entries("main")), (Some(1500), None));

    shared_library(&parcel, &[]);
    let run = bbprof_tests::ProfiledRun::of(&parcel.source().join("parcel"), &[], &parcel.sandbox);
    assert_eq!(run.images(), ["libshelf.so"], "a plain program with a profiled library");
    Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok();
    assert_eq!(bbprof_tests::Exported::of(&[run.raw]).entries("shelf_put"), Some(3000));
}

/// musl begins libraries first, and the program joins them.
#[test]
fn a_linked_library_with_musl() {
    let parcel = Parcel::new("musl");
    for (image, words) in [
        (MuslImage::Library, &["-O2", "-o", "libshelf.so", "shelf.c", "unused.c"][..]),
        (MuslImage::Dynamic, &["-O2", "-o", "parcel", "main.c", "-L.", "-lshelf", "-Wl,-rpath,$ORIGIN"]),
    ] {
        let [before, behind] = for_musl(image, &parcel.sandbox);
        parcel.run(tool("bbprof-cc")).arg(CHECK).args(before).args(words).args(behind).ok();
    }
    parcel.check(&parcel.source().join("parcel"), None, &["libshelf.so", "parcel"]);
}

/// Before main and before the program's own constructors.
#[test]
fn a_library_that_exits_in_its_constructor() {
    let parcel = Parcel::new("early-exit");
    parcel.sandbox.write("src/early.c", "#include <stdlib.h>\n__attribute__((constructor)) static void early(void) { exit(6); }\n");
    parcel.run("clang-22").args(["-fPIC", "-shared", "-o", "libearly.so", "early.c"]).ok();
    shared_library(&parcel, &[]);
    compile(&parcel, &[&WITH_LIBRARY[..], &["-Wl,--no-as-needed", "-learly"]].concat());
    let run = bbprof_tests::ProfiledRun::of(&parcel.source().join("parcel"), &[], &parcel.sandbox);
    run.outcome.clone().expect_code(6);
    let verdict = Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok();
    assert!(verdict.text().contains("parcel: exit 6\n"), "{}", verdict.text());
    assert_eq!(bbprof_tests::Exported::of(&[run.raw]).entries("main"), Some(0));
}

#[test]
fn static_programs() {
    for linker in LINKERS {
        let linker = format!("-fuse-ld={linker}");
        for kind in ["-static", "-static-pie", "-no-pie", "-pie"] {
            if linker.ends_with("gold") && kind == "-static-pie" {
                // gold makes no static-pie program that runs, with or without counters.
                continue;
            }
            let parcel = Parcel::new("static");
            compile(&parcel, &[kind, &linker, "-o", "parcel", "main.c", "shelf.c"]);
            parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
        }
    }
}

/// The runtime begins before constructors of the first priority, and ends behind destructors of it, by the order of its sections.
#[test]
fn first_constructors_and_last_destructors() {
    let sandbox = Sandbox::new("priority");
    sandbox.write(
        "priority.c",
        "__attribute__((noinline)) void step(void) { __asm__ volatile(\"\"); }\n\
         __attribute__((constructor(0))) static void begin(void) { step(); step(); }\n\
         __attribute__((destructor(0))) static void end(void) { step(); }\nint main(void) { step(); }\n",
    );
    for options in [
        &[][..],
        &["-static"],
        &["-static-pie"],
        &["-static", "-fuse-ld=lld"],
        &["-static", "-fuse-ld=mold"],
        &["-static", "-fuse-ld=gold"],
    ] {
        let compiler = Run::new(tool("bbprof-cc")).args(["-O1", "-w", "priority.c", "-o", "priority"]);
        compiler.args(options).in_folder(sandbox.path()).ok();
        let run = bbprof_tests::ProfiledRun::of(&sandbox.join("priority"), &[], &sandbox);
        Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok();
        assert_eq!(bbprof_tests::Exported::of(&[run.raw]).entries("step"), Some(4), "{options:?}");
    }
}

/// Objects, then an archive of some kind, then a link with these words.
fn through_archive(create: &[&str], link: &[&str]) {
    for linker in LINKERS {
        let parcel = Parcel::new("archive");
        for source in ["main", "shelf", "unused"] {
            compile(&parcel, &["-c", &format!("{source}.c")]);
        }
        parcel.run("ar").args(create).args(["libshelf.a", "shelf.o", "unused.o"]).ok();
        let dump = Run::new(tool("bbprof")).args(["dump", "libshelf.a"]).in_folder(&parcel.source()).ok().text();
        assert!(dump.contains("object libshelf.a(shelf.o)\n") && dump.contains("shelf_put"), "{dump}");
        compile(&parcel, &[&[&format!("-fuse-ld={linker}"), "-o", "parcel"], link].concat());
        let run = parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
        let exported = bbprof_tests::Exported::of(&[run.raw]);
        let whole = link.iter().any(|word| word.contains("whole-archive"));
        assert_eq!(exported.entries("shelf_unused"), whole.then_some(0), "{linker}: {link:?}: the member that nobody needs");
    }
}

#[test]
fn archives() {
    through_archive(&["rcs"], &["main.o", "-L.", "-lshelf"]);
}

#[test]
fn thin_archives() {
    through_archive(&["rcsT"], &["main.o", "libshelf.a"]);
}

#[test]
fn whole_archives() {
    through_archive(&["rcs"], &["main.o", "-Wl,--whole-archive", "libshelf.a", "-Wl,--no-whole-archive"]);
}

#[test]
fn groups_and_response_files() {
    let parcel = Parcel::new("group");
    for source in ["main", "shelf", "unused"] {
        compile(&parcel, &["-c", &format!("{source}.c")]);
    }
    parcel.run("ar").args(["rcs", "libshelf.a", "shelf.o", "unused.o"]).ok();
    parcel.sandbox.write("src/words", "-o \"parcel\" main.o\n-Wl,--start-group -L. -lshelf -Wl,--end-group\n");
    compile(&parcel, &["@words"]);
    parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
}

#[test]
fn relocatable_links() {
    for linker in LINKERS {
        let parcel = Parcel::new("relocatable");
        for source in ["shelf", "unused"] {
            compile(&parcel, &["-c", &format!("{source}.c")]);
        }
        let linker = format!("-fuse-ld={linker}");
        compile(&parcel, &[&linker, "-r", "-nostdlib", "-o", "both.o", "shelf.o", "unused.o"]);
        compile(&parcel, &[&linker, "-o", "parcel", "main.c", "both.o"]);
        parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
        // By the linker itself, without the shim.
        parcel.run("ld").args(["-r", "-o", "again.o", "both.o"]).ok();
        compile(&parcel, &[&linker, "-o", "parcel-again", "main.c", "again.o"]);
        parcel.check(&parcel.source().join("parcel-again"), None, &["parcel-again"]);
    }
}

/// A function that one program has from code without counters is another than the one of that name in another program.
#[test]
fn a_name_in_two_programs() {
    let sandbox = Sandbox::new("two-programs");
    let helper = sandbox.write("helper.c", "int helper(int x) {\n  return 3 * x;\n}\n");
    let main = "int helper(int);\nint main(void) {\n  int sum = 0;\n  for (int i = 0; i < 5; i++)\n    sum += helper(i);\n  return sum != 30;\n}\n";
    let main = sandbox.write("main.c", main);
    let plain = sandbox.join("plain.o");
    Run::new("clang-22").args(["-O1", "-c", "-o"]).arg(&plain).arg(&helper).ok();
    let mut raws = Vec::new();
    for (name, part) in [("with-plain", &plain), ("with-counted", &helper)] {
        let program = sandbox.join(name);
        Run::new(tool("bbprof-cc")).args(["-O1", "-o"]).arg(&program).arg(&main).arg(part).ok();
        raws.push(sandbox.join(format!("{name}.bbraw")));
        Run::new(&program).env("BBPROF_OUT", raws.last().unwrap()).ok();
    }
    let merged = sandbox.join("both.bbprof");
    Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&merged).args(&raws).ok();
    Run::new(tool("bbprof")).arg("verify").args(&raws).ok();
    Run::new(tool("bbprof")).arg("verify").arg(&merged).ok();
    let exported = bbprof_tests::Exported::of(&raws);
    assert!(exported.is_exact());
    assert_eq!(exported.entries("helper"), Some(5));
}

/// patchelf moves the notes by which the images of a process find each other.
#[test]
fn images_that_patchelf_edited() {
    let parcel = Parcel::new("patchelf");
    compile(&parcel, &["-fPIC", "-shared", "-o", "libshelf.so", "shelf.c", "unused.c"]);
    compile(&parcel, &WITH_LIBRARY);
    for (options, edited) in
        [(&["--add-needed", "libm.so.6"][..], "parcel"), (&["--set-soname", &"long".repeat(300)], "libshelf.so")]
    {
        let note = || {
            let headers = parcel.run("readelf").args(["-SW", edited]).ok().text();
            headers.lines().find(|line| line.contains(".note.bbprof")).map(str::to_owned)
        };
        let before = note();
        parcel.run("patchelf").args(options).arg(edited).ok();
        assert!(before.is_some() && note() != before, "it was moved");
        parcel.check(&parcel.source().join("parcel"), None, &["libshelf.so", "parcel"]);
    }
}

/// objcopy may change the names by which counters are found: the link says so, and works where it leaves them alone.
#[test]
fn symbols_that_objcopy_changed() {
    for pic in ["-fPIE", "-fPIC"] {
        let parcel = Parcel::new("objcopy");
        compile(&parcel, &[pic, "-c", "shelf.c"]);
        let objcopy = |options: &[&str]| {
            std::fs::copy(parcel.source().join("shelf.o"), parcel.source().join("changed.o")).unwrap();
            options.iter().for_each(|option| drop(parcel.run("objcopy").args(option.split(' ')).arg("changed.o").ok()));
        };
        let link = |linker: &str| {
            let linker = format!("-fuse-ld={linker}");
            parcel.run(tool("bbprof-cc")).args([CHECK, "-O2", &linker, "-o", "parcel", "main.c", "changed.o"])
        };
        for (options, said) in [
            (&["--prefix-symbols=own_"][..], "its counters were renamed (own___bbprof_c."),
            // As LLVM calls variables whose storage it emulates.
            (&["--prefix-symbols=__emutls_v."], "its counters are in thread-local storage that is emulated"),
            (&["--localize-hidden"], "its counters are local symbols now (__bbprof_c."),
            (&["--prefix-sections=.own"], "its manifest is gone (section .bbprof.manifest, while .own.bbprof.marker is there)"),
            (
                &["--remove-section=.bbprof.manifest"],
                "its manifest is gone (section .bbprof.manifest, while .bbprof.marker is there)",
            ),
        ] {
            objcopy(options);
            for linker in LINKERS {
                let refused = link(linker).outcome().expect_code(2).stderr;
                assert!(refused.contains("changed.o: ") && refused.contains(said), "{refused}");
            }
        }
        for options in [
            &["--localize-hidden", "--wildcard --globalize-symbol=__bbprof_*"][..],
            &["--wildcard --keep-global-symbol=shelf_* --keep-global-symbol=__bbprof_*"],
        ] {
            objcopy(options);
            for linker in LINKERS {
                link(linker).ok();
                parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
            }
        }
    }
}

/// A Rust cdylib, linked into a C program and opened by one.
#[test]
fn rust_cdylib_in_a_c_program() {
    let sandbox = Sandbox::new("cdylib");
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"rusty\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\ncrate-type = [\"cdylib\"]\n[workspace]\n",
    );
    sandbox.write(
        "src/lib.rs",
        "use std::sync::atomic::{AtomicU64, Ordering::Relaxed};\n\
         static CALLS: AtomicU64 = AtomicU64::new(0);\n\
         #[inline(never)]\nfn step(x: u64) -> u64 { if x % 3 == 0 { x / 3 } else { x * 2 + 1 } }\n\
         #[no_mangle]\npub extern \"C\" fn rusty(n: u64) -> u64 {\n    CALLS.fetch_add(1, Relaxed);\n\
         \x20   let words: Vec<String> = (0..n).map(|i| step(i).to_string()).collect();\n\
         \x20   std::panic::catch_unwind(|| if n == 5 { panic!(\"five\") }).is_err() as u64 + words.concat().len() as u64\n}\n\
         #[no_mangle]\npub extern \"C\" fn rusty_calls() -> u64 { CALLS.load(Relaxed) }\n",
    );
    Run::new(tool("cargo-bbprof"))
        .args(["bbprof", "build", "--release", "--counters", "check", "-q"])
        .in_folder(sandbox.path())
        .ok();
    let library = find(&sandbox.join("target"), "librusty.so");
    sandbox.write(
        "main.c",
        "#include <stdio.h>\nunsigned long rusty(unsigned long);\nunsigned long rusty_calls(void);\n\
         int main(void) {\n  unsigned long sum = 0;\n  for (unsigned long i = 0; i < 9; i++)\n    sum += rusty(i);\n\
         \x20 printf(\"%lu\\n\", sum);\n\
         \x20 fprintf(stderr, \"tally rusty %lu\\ntally rusty_calls 1\\ntally step 36\\n\", rusty_calls());\n  return 0;\n}\n",
    );
    let program = sandbox.join("program");
    Run::new(tool("bbprof-cc"))
        .args([CHECK, "-O2", "-o"])
        .arg(&program)
        .arg(sandbox.join("main.c"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()))
        .ok();
    let run = bbprof_tests::ProfiledRun::of(&program, &[], &sandbox);
    assert_eq!(run.outcome.clone().expect_code(0).text(), "41\n", "{}", run.outcome.stderr);
    assert_eq!(run.images(), ["librusty.so", "program"]);
    run.check();
}

/// A program that is not profiled, with handlers of a fork that stand between the library's, as it registers them
/// before it opens that. `$1` says what happens in which handler.
const FORKER: &str = "\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static long (*work)(long);
static const char *how;
static void *thread(void *x) { work(9); return x; }
static void *library;
static void open_library(void) { library = dlopen(\"./libwork.so\", RTLD_NOW); work = (long (*)(long))dlsym(library, \"work\"); }
static void *load(void *x) { open_library(); work(1); return x; }
/* It comes back at another address. */
static void reload(void) {
  Dl_info was;
  dladdr((void *)work, &was);
  dlclose(library);
  mmap(was.dli_fbase, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  open_library();
}
static void in_thread(void *run(void *)) { pthread_t made; pthread_create(&made, 0, run, 0); pthread_join(made, 0); }
static void prepare(void) { if (strchr(how, 'p')) work(20); if (strchr(how, 't')) in_thread(thread); }
static void parent(void) { if (strchr(how, 'q')) work(300); }
static void child(void) { if (strchr(how, 'c')) { usleep(50000); work(4000); } }
int main(int argc, char **argv) {
  how = argv[argc - 1];
  pthread_atfork(prepare, parent, child);
  /* Another profiled library stays, and with it the profile. */
  if (strchr(how, 'r')) dlopen(\"./libstay.so\", RTLD_NOW);
  if (strchr(how, 'l')) in_thread(load); else load(0);
  work(2);
  if (strchr(how, 'r')) reload();
  pid_t made = fork();
  if (made == 0) { work(50000); exit(0); }
  work(3);
  int status = 0;
  /* Or it ends before the child. */
  if (strchr(how, 'w')) waitpid(made, &status, 0);
  return status != 0;
}
";

#[test]
fn forks_of_a_program_that_is_not_profiled() {
    let sandbox = Sandbox::new("forker");
    sandbox.write(
        "work.c",
        "static volatile long sink;\n__attribute__((noinline)) static void turn(void) { if (sink++ == -1) sink = 0; }\n\
         long work(long n) { for (long i = 0; i < n; i++) turn(); return sink; }\n",
    );
    sandbox.write("stay.c", "long stay(long n) { return n > 1 ? n : 2; }\n");
    sandbox.write("forker.c", FORKER);
    let folder = sandbox.path();
    Run::new("clang-22").args(["-O1", "forker.c", "-o", "forker"]).in_folder(folder).ok();
    for options in [&[][..], &["--bbprof-counters=paths"], &["--bbprof-counters=paths", "--bbprof-path-array=0"]] {
        for name in ["work", "stay"] {
            let words = ["-O1", "-fPIC", "-shared", &format!("{name}.c"), "-o", &format!("lib{name}.so")];
            Run::new(tool("bbprof-cc")).args(words).args(options).in_folder(folder).ok();
        }
        // Turns in the parent's file, and in the child's.
        for (how, in_parent, in_child) in [
            ("w", 6, 50_000),
            ("rw", 6, 50_000),
            ("rpqcw", 326, 54_000),
            ("pqcw", 326, 54_000),
            ("pqc", 326, 54_000),
            ("lw", 6, 50_000),
            ("lpqcw", 326, 54_000),
        ] {
            let _ = std::fs::remove_dir_all(sandbox.join("raw"));
            std::fs::create_dir(sandbox.join("raw")).unwrap();
            Run::new(sandbox.join("forker")).arg(how).env("BBPROF_OUT", sandbox.join("raw/%p.bbraw")).in_folder(folder).ok();
            let raws: Vec<PathBuf> = std::fs::read_dir(sandbox.join("raw")).unwrap().map(|entry| entry.unwrap().path()).collect();
            let mut turns: Vec<u64> = raws
                .iter()
                .map(|raw| {
                    Run::new(tool("bbprof")).arg("verify").arg(raw).ok();
                    bbprof_tests::Exported::of(std::slice::from_ref(raw)).entries("turn").unwrap()
                })
                .collect();
            turns.sort_unstable();
            assert_eq!(turns, [in_parent, in_child], "{options:?} {how}");
        }
        // The handler waits for a thread that asks for its first counters, and gets its own.
        let raw = sandbox.join("waiting.bbraw");
        Run::new(sandbox.join("forker")).arg("tw").env("BBPROF_OUT", &raw).in_folder(folder).ok();
        Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
        let turns = bbprof_tests::Exported::of(std::slice::from_ref(&raw)).entries("turn");
        assert_eq!(turns, Some(6 + 9), "{options:?}");
    }
}

/// Program and library each have a `weigh` of their own: the one's is not instrumented, the
/// other's is hidden. Calls of the one are none of the other.
#[test]
fn functions_of_one_name_in_two_images() {
    let sandbox = Sandbox::new("one-name");
    for (name, text) in [
        (
            "main.c",
            "int weigh(int); int shelf(int);\nint main(void) { for (int i = 0; i < 10; i++) weigh(i); return shelf(2) - 1; }\n",
        ),
        ("weigh.c", "__attribute__((noinline)) int weigh(int x) { __asm__ volatile(\"\"); return x; }\n"),
        (
            "shelf.c",
            "__attribute__((noinline, visibility(\"hidden\"))) int weigh(int x) { __asm__ volatile(\"\"); return x; }\n\
             int shelf(int n) { int s = 0; for (int i = 0; i < n; i++) s += weigh(i); return s; }\n",
        ),
    ] {
        sandbox.write(name, text);
    }
    let cc = |words: &[&str]| Run::new(tool("bbprof-cc")).in_folder(sandbox.path()).arg("-O1").args(words).ok();
    cc(&["-fPIC", "-shared", "-o", "libshelf.so", "shelf.c"]);
    cc(&["--bbprof-exclude-file=weigh.c", "-o", "app", "main.c", "weigh.c", "-L.", "-lshelf", "-Wl,-rpath,$ORIGIN"]);
    let run = bbprof_tests::ProfiledRun::of(&sandbox.join("app"), &[], &sandbox);
    run.outcome.clone().expect_code(0);
    let verdict = Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok();
    assert!(verdict.text().contains("\nexact: 3 functions"), "{}", verdict.text());
}

/// What the others of a process counted can be read when a library was removed after the run, with its map.
#[test]
fn removed_libraries() {
    let parcel = Parcel::new("removed-library");
    let plugin = plugin(&parcel, &[]);
    compile(&parcel, &["-DPARCEL_DLOPEN", "-o", "parcel", "main.c", "shelf.c"]);
    let run = parcel.check(&parcel.source().join("parcel"), Some(&plugin), &["parcel", "plugin.so"]);
    let kept = parcel.sandbox.join("kept.bbmap");
    std::fs::rename(parcel.source().join("plugin.so.bbmap"), &kept).unwrap();
    let bbprof = |words: &[&str]| Run::new(tool("bbprof")).args(words).arg(&run.raw);
    let says = |words: &[&str], code: i32, messages: &[&str]| {
        let outcome = bbprof(words).outcome().expect_code(code);
        assert!(messages.iter().all(|message| outcome.stderr.contains(message)), "{words:?}: {}", outcome.stderr);
        outcome
    };
    // It is still there: its map has to be somewhere.
    says(&["verify"], 2, &["plugin.so: no build map", "--map"]);
    std::fs::remove_file(&plugin).unwrap();
    let left_out = ["left out the counts of", "plugin.so: no build map", "--map"];
    assert!(says(&["verify"], 4, &left_out).text().contains("exact: "));
    for reader in [&["report"][..], &["export", "json=-"], &["export", "lcov=-"]] {
        says(reader, 4, &left_out);
    }
    let sum = parcel.sandbox.join("sum.bbprof");
    let merge = ["merge", "-o", sum.to_str().unwrap()];
    says(&merge, 4, &left_out);
    let exported = bbprof_tests::Exported::of(std::slice::from_ref(&sum));
    assert_eq!((exported.entries("shelf_put"), exported.entries("plugin_weigh")), (Some(3000), None));
    says(&[&merge[..], &["--strict"]].concat(), 2, &["plugin.so: no build map"]);
    // The sum does not have all that its only input has.
    says(&["merge", "-o", run.raw.to_str().unwrap()], 2, &["would be lost"]);
    bbprof(&["verify", "--map", kept.to_str().unwrap()]).ok();
    for name in ["parcel", "parcel.bbmap"] {
        std::fs::remove_file(parcel.source().join(name)).unwrap();
    }
    assert!(says(&["verify"], 2, &["no build map"]).stdout.is_empty(), "nothing is left to read");
}

fn find(folder: &Path, name: &str) -> PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            match path.file_name() {
                Some(found) if found == name && !folder.ends_with("deps") => return path,
                _ if path.is_dir() && !path.is_symlink() => folders.push(path),
                _ => {}
            }
        }
    }
    panic!("{name} is not below {}", folder.display());
}

const COUNTED: &str =
    "int counted(int turns) {\n    int sum = 0;\n    for (int i = 0; i < turns; i++) sum += i & 3;\n    return sum;\n}\n";

const UNLOADS_IN_A_FORK: &str = r#"
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
enum { FORKS = 10 };
static void *library;
static volatile int is_forking;
static void wait_in_fork(void) {
    is_forking = 1;
    usleep(50000);
}
static void *unload(void *unused) {
    while (!is_forking) usleep(100);
    dlclose(library);
    return unused;
}
int main(void) {
    alarm(60);
    pthread_atfork(wait_in_fork, 0, 0);
    for (int i = 0; i < FORKS; i++) {
        library = dlopen("./counted.so", RTLD_NOW);
        if (library == 0) return 1;
        ((int (*)(int))dlsym(library, "counted"))(3);
        pthread_t thread;
        is_forking = 0;
        pthread_create(&thread, 0, unload, 0);
        int child = fork();
        if (child == 0) _exit(0);
        waitpid(child, 0, 0);
        pthread_join(thread, 0);
    }
    return 0;
}
"#;

/// One thread unloads a library while another forks, in a program that is not profiled:
/// it waits until the fork is over, and its handlers with it.
#[test]
fn unloaded_while_another_thread_forks() {
    let sandbox = Sandbox::new("come-and-go");
    let (source, library) = (sandbox.write("counted.c", COUNTED), sandbox.join("counted.so"));
    Run::new(tool("bbprof-cc")).args(["-O1", "-fPIC", "-shared", "-o"]).arg(&library).arg(&source).ok();
    let (main, program) = (sandbox.write("main.c", UNLOADS_IN_A_FORK), sandbox.join("main"));
    Run::new("clang-22").args(["-O1", "-pthread", "-o"]).arg(&program).arg(&main).ok();
    std::fs::create_dir(sandbox.join("raw")).unwrap();
    Run::new(&program).env("BBPROF_OUT", sandbox.join("raw/%p.bbraw")).in_folder(sandbox.path()).ok();
    // A profile for each time that the library was there, and one for each child, which begins from zero.
    assert_eq!(Exported::of(&sandbox.raw_profiles("raw")).entries("counted"), Some(10));
}
