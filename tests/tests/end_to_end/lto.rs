//! Link-time optimisation of C and C++: what is counted is the code that the linker makes of bitcode.

use bbprof_tests::{Case, Exported, Outcome, Parcel, ProfiledRun, Run, tool};

const MAIN: &str = "#include <stdio.h>
int one(int), two(int), three(int), four(int);
int main(void) {
    int sum = 0;
    for (int i = 0; i < 100; i++) { sum += one(i); if (i % 3 == 0) sum += two(i); }
    printf(\"%d\\n\", sum + three(4) + four(3));
    return 0;
}
";
const ONE: &str = "int two(int);\nint one(int x) { return x & 1 ? two(x) : x; }\n";
const TWO: &str = "__attribute__((noinline)) int two(int x) { return x / 7; }\nint never(int x) { return x; }\n";
const THREE: &str =
    "static int n;\n__attribute__((constructor)) static void init(void) { n = 5; }\nint three(int x) { return n * x; }\n";
const FOUR: &str = ".globl four\n.type four, @function\nfour: lea 1(%rdi), %eax\nret\n.section .note.GNU-stack, \"\", @progbits\n";

const KINDS: [&str; 2] = ["-flto", "-flto=thin"];

/// Bitcode of the above, and an object of assembly.
fn parcel(kind: &str) -> Parcel {
    let parcel = Parcel::new("lto");
    for (name, text) in [("main.c", MAIN), ("one.c", ONE), ("two.c", TWO), ("three.c", THREE), ("four.s", FOUR)] {
        parcel.sandbox.write(&format!("src/{name}"), text);
    }
    for name in ["main", "one", "two", "three"] {
        cc(&parcel, &format!("-O2 --bbprof-counters=check {kind} -c {name}.c -o {name}.o")).expect_code(0);
        cc(&parcel, &format!("-O2 --bbprof-counters=check {kind} -fPIC -c {name}.c -o {name}.pic.o")).expect_code(0);
    }
    cc(&parcel, "-c four.s").expect_code(0);
    let object = std::fs::read(parcel.source().join("one.o")).expect("it was compiled");
    assert!(object.starts_with(b"BC"), "{kind}: no bitcode");
    parcel
}

fn cc(parcel: &Parcel, words: &str) -> Outcome {
    parcel.run(tool("bbprof-cc")).args(words.split_whitespace()).outcome()
}

/// Links and runs a program of these, all of which is exact, and in which `two` is entered as often as it is called.
fn check(parcel: &Parcel, kind: &str, words: &str) {
    let what = format!("{kind} {words}");
    let said = cc(parcel, &format!("-O2 {kind} {words} -o program")).expect_code(0).stderr;
    assert_eq!(said, "", "{what}");
    let run = ProfiledRun::of(&parcel.source().join("program"), &[], &parcel.sandbox);
    assert_eq!(run.outcome.text(), "3036\n", "{what}");
    let verdict = Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok().text();
    assert!(verdict.contains("edges compared with counters of their own"), "{what}: {verdict}");
    let exported = Exported::of(&[run.raw]);
    assert_eq!(["main", "two"].map(|function| exported.entries(function)), [Some(1), Some(84)], "{what}");
}

/// Whoever links: the code is lld's.
#[test]
fn linkers() {
    for kind in KINDS {
        let parcel = parcel(kind);
        for linker in ["", "-fuse-ld=lld", "-fuse-ld=gold", "-fuse-ld=mold"] {
            check(&parcel, kind, &format!("{linker} -Wl,--gc-sections main.o one.o two.o three.o four.o"));
            check(&parcel, kind, &format!("{linker} -static main.o one.o two.o three.o four.o"));
        }
    }
}

/// Archives of bitcode and other objects.
#[test]
fn archives() {
    for kind in KINDS {
        let parcel = parcel(kind);
        let members = ["one.o", "two.o", "four.o", "three.o"];
        parcel.run("/usr/lib/llvm-22/bin/llvm-ar").args(["rcs", "libmixed.a"]).args(members).ok();
        parcel.run("/usr/lib/llvm-22/bin/llvm-ar").args(["rcsT", "libthin.a"]).args(members).ok();
        parcel.run("/usr/lib/llvm-22/bin/llvm-ar").args(["rcs", "libpure.a", "one.o", "two.o", "three.o"]).ok();
        parcel.run("ar").args(["rc", "libblind.a"]).args(members).ok();
        let linkers: &[&str] = if kind == "-flto" { &["", "-fuse-ld=lld", "-fuse-ld=mold"] } else { &["-fuse-ld=mold"] };
        for linker in linkers {
            for archives in [
                "libmixed.a",
                "-L. -lmixed",
                "-L. -l:libmixed.a",
                "libthin.a",
                "libblind.a",
                "four.o -L. -lpure",
                "-Wl,--whole-archive libmixed.a -Wl,--no-whole-archive",
                "-Wl,--whole-archive libthin.a -Wl,--no-whole-archive",
            ] {
                check(&parcel, kind, &format!("{linker} main.o {archives}"));
            }
            if !linker.is_empty() {
                check(&parcel, kind, &format!("{linker} -Wl,--start-lib one.o two.o three.o four.o -Wl,--end-lib main.o"));
            }
        }
    }
}

/// What is linked in between, and what is not a program.
#[test]
fn objects_and_libraries() {
    for kind in KINDS {
        let parcel = parcel(kind);
        // The last level wins, and is the link's.
        check(&parcel, kind, "-O0 main.o one.o two.o three.o four.o");
        for linker in ["", "-fuse-ld=lld"] {
            cc(&parcel, &format!("-O2 {kind} {linker} -r -nostdlib one.o two.o -o both.o")).expect_code(0);
            check(&parcel, kind, &format!("{linker} main.o both.o three.o four.o"));
            check(&parcel, "", &format!("{linker} -fno-lto main.o one.o two.o three.o four.o -flto"));
            cc(&parcel, &format!("-O2 {kind} {linker} -shared one.pic.o two.pic.o three.pic.o four.o -o libshared.so"))
                .expect_code(0);
            check(&parcel, kind, &format!("{linker} main.o -L. -lshared -Wl,-rpath,{}", parcel.source().display()));
        }
    }
}

/// A library's files: one that is not for link-time optimisation, and two that are, the second of which says that a function of the
/// first is the library's own.
fn library(kind: &str) -> Parcel {
    let parcel = Parcel::new("lto-exports");
    for (name, text) in [
        ("native.c", "int inner(int); int api(int x) { return inner(x) - 2; }\n"),
        ("inner.c", "int inner(int x) { return x * 3; }\n"),
        ("own.c", "__attribute__((visibility(\"hidden\"))) int inner(int); int other(int x) { return inner(x) + 1; }\n"),
        (
            "main.c",
            "#include <stdio.h>\nint api(int);\nint inner(int x) { return 777; }\nint main(void) { printf(\"%d\\n\", api(5)); }\n",
        ),
    ] {
        parcel.sandbox.write(&format!("src/{name}"), text);
    }
    cc(&parcel, "-O2 -fPIC -c native.c").expect_code(0);
    cc(&parcel, &format!("-O2 -fPIC {kind} -c inner.c own.c")).expect_code(0);
    parcel.run("/usr/lib/llvm-22/bin/llvm-ar").args(["rcs", "libinner.a", "inner.o"]).ok();
    parcel
}

/// What a library exports is what it would export without counters.
#[test]
fn what_libraries_export() {
    for kind in KINDS {
        let parcel = library(kind);
        parcel.sandbox.write("src/versions", "V1 { global: api; absent; local: *; };\n");
        for linker in ["", "-fuse-ld=lld -Wl,--undefined-version"] {
            for files in [
                "native.o libinner.a -Wl,--exclude-libs,ALL",
                "native.o inner.o own.o",
                "native.o inner.o -Wl,--version-script=versions",
            ] {
                let what = format!("-O2 {kind} {linker} -shared {files} -o libexports.so");
                cc(&parcel, &what).expect_code(0);
                cc(&parcel, &format!("-O2 main.c -L. -lexports -Wl,-rpath,{} -o program", parcel.source().display()))
                    .expect_code(0);
                assert_eq!(parcel.run("./program").ok().text(), "13\n", "{what}");
                let exported = parcel.run("nm").args(["-D", "--defined-only", "libexports.so"]).ok().text();
                assert!(exported.contains(" T api") && !exported.contains("inner"), "{what}: {exported}");
            }
        }
    }
}

/// As lld and mold have it, constructors of what is optimised at the link run behind all others, but not with other linkers.
#[test]
fn constructors_run_in_their_order() {
    let parcel = Parcel::new("lto-order");
    for number in 1..=4 {
        let text = format!(
            "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) {{ write(1, \"{number}\", 1); }}\nint n{number};\n"
        );
        parcel.sandbox.write(&format!("src/k{number}.c"), text);
        let kind = if number % 2 == 1 { "-flto" } else { "" };
        cc(&parcel, &format!("-O2 {kind} -c k{number}.c")).expect_code(0);
    }
    parcel.sandbox.write("src/main.c", "int main(void) { return 0; }\n");
    for (linker, order) in [("", "1324"), ("-fuse-ld=lld", "2413"), ("-fuse-ld=mold", "2413")] {
        cc(&parcel, &format!("-flto {linker} k1.o k2.o k3.o k4.o main.c -o program")).expect_code(0);
        assert_eq!(parcel.run("./program").ok().text(), order, "{linker}");
    }
}

/// GNU ld's own options, and those of lld that would take modules apart.
#[test]
fn options_of_one_linker() {
    let parcel = parcel("-flto");
    for options in [
        "-Wl,--no-warn-rwx-segments -Wl,-Ttext-segment=0x400000 -Wl,--require-defined=two -Wl,--require-defined,main",
        "-Wl,-z,noexecstack,-b,binary,four.s,-b,elf64-x86-64 -Wl,--format=elf64-x86-64 -Wl,--demangle=gnu-v3",
        "-fuse-ld=lld -Wl,--lto-partitions=3",
    ] {
        check(&parcel, "-flto", &format!("{options} main.o one.o two.o three.o four.o"));
    }
    let said = cc(&parcel, "main.o one.o two.o three.o four.o -o program").expect_code(1).stderr;
    assert!(said.contains("main.o: bitcode is linked with -flto"), "{said}");
    // Bitcode that is not needed does not matter.
    parcel.run("ar").args(["rcs", "libunused.a", "four.o", "two.o"]).ok();
    parcel.sandbox.write("src/plain.c", "int four(int);\nint main(void) { return four(3) - 4; }\n");
    cc(&parcel, "plain.c libunused.a -o plain").expect_code(0);
    parcel.run("./plain").ok();
}

/// What make is told, what a response file says, and that nothing is left behind.
#[test]
fn dependencies_and_response_files() {
    let parcel = parcel("-flto");
    parcel.sandbox.write("src/objects", "main.o one.o 'two.o' three.o four.o");
    let temporary = parcel.sandbox.join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    for linker in ["", "-fuse-ld=lld"] {
        let words = format!("-O2 -flto {linker} @objects -Wl,--dependency-file=listing -o program");
        parcel.run(tool("bbprof-cc")).args(words.split_whitespace()).env("TMPDIR", &temporary).ok();
        let listing = std::fs::read_to_string(parcel.source().join("listing")).unwrap();
        for object in ["main.o", "one.o", "two.o", "three.o", "four.o"] {
            assert_eq!(listing.lines().filter(|line| *line == format!("{object}:")).count(), 1, "{listing}");
        }
        assert!(!listing.contains("bbprof"), "{listing}");
        assert!(std::fs::read_dir(&temporary).unwrap().next().is_none());
    }
    check(&parcel, "-flto", "@objects");
}

/// The same cases as without, where one file is all there is.
#[test]
fn cases() {
    for name in ["calls", "exceptions", "gotos", "longjmp", "loops", "tail_calls", "threads"] {
        Case::named(name).check(&["-flto"]);
    }
    for name in ["calls", "virtuals"] {
        Case::named(name).check(&["-flto=thin"]);
    }
    Case::named("loops").check(&["-flto", "-fPIC"]);
    Case::named("calls").check(&["-flto=thin", "--bbprof-storage=atomic", "-fuse-ld=lld"]);
}

/// Of code that is not optimised, paths are counted by a function of the runtime's, which it knows an empty one of.
#[test]
fn unoptimised_code_in_hash_tables() {
    let parcel = Parcel::new("lto-hashed");
    let walk = "__attribute__((noinline)) int NAME(unsigned x) {
        int s = 0;
        if (x & 1) s += 1;
        if (x & 2) s += 3;
        if (x & 4) s += 5;
        if (x & 8) s += 7;
        return s;
    }\n";
    let main = "#include <stdio.h>\nint there(unsigned);\nint main(void) {
        int s = 0;
        for (unsigned i = 0; i < 2000; i++) s += here(i * 2654435761u >> 7) + there(i);
        printf(\"%d\\n\", s);
        return 0;
    }\n";
    parcel.sandbox.write("src/walks.c", walk.replace("NAME", "here") + main);
    parcel.sandbox.write("src/there.c", walk.replace("NAME", "there"));
    let paths = |options: &str, link: &str| {
        for name in ["walks", "there"] {
            let counters = "--bbprof-counters=paths --bbprof-path-array=1 --bbprof-path-limit=9999";
            cc(&parcel, &format!("-O0 {options} {counters} -c {name}.c -o {name}.o")).expect_code(0);
        }
        cc(&parcel, &format!("{link} {options} walks.o there.o -o program")).expect_code(0);
        let raw = ProfiledRun::of(&parcel.source().join("program"), &[], &parcel.sandbox).raw;
        assert!(Run::new(tool("bbprof")).arg("verify").arg(&raw).ok().text().contains("exact"));
        Run::new(tool("bbprof")).arg("paths").arg(&raw).ok().text()
    };
    let expected = paths("", "-O0");
    assert!(expected.starts_with("35 paths taken, of "), "{expected}");
    for kind in KINDS {
        for model in ["", "-fPIC"] {
            for link in ["-O0", "-O2"] {
                assert_eq!(paths(&format!("{kind} {model}"), link), expected, "{kind} {model} {link}");
            }
        }
    }
}

/// Code of others that comes in is not counted, nor is anything asked of a link that has nothing else.
#[test]
fn bitcode_that_was_not_selected() {
    let parcel = parcel("-flto");
    parcel.run("clang-22").args(["-O2", "-flto", "-c", "two.c", "-o", "plain.o"]).ok();
    cc(&parcel, "-O2 -flto main.o one.o plain.o three.o four.o -o program").expect_code(0);
    let run = ProfiledRun::of(&parcel.source().join("program"), &[], &parcel.sandbox);
    let exported = Exported::of(&[run.raw]);
    assert_eq!(["main", "two"].map(|function| exported.entries(function)), [Some(1), None]);
    for name in ["main", "one", "three"] {
        parcel.run("clang-22").args(["-O2", "-flto", "-c", &format!("{name}.c"), "-o", &format!("plain-{name}.o")]).ok();
    }
    cc(&parcel, "-O2 -flto plain-main.o plain-one.o plain.o plain-three.o four.o -o plain").expect_code(0);
    assert!(!parcel.source().join("plain.bbmap").exists());
    parcel.run("./plain").ok();
}

#[test]
fn what_cannot_be_linked_is_said() {
    let parcel = parcel("-flto");
    cc(&parcel, "-O2 -flto -c one.c -o other.o").expect_code(0);
    let said = cc(&parcel, "-flto main.o other.o two.o three.o four.o -o program").expect_code(2).stderr;
    assert!(said.contains("were compiled with different options of bbprof"), "{said}");
    let said = cc(&parcel, "-flto main.o one.o two.o three.o -o program").expect_code(1).stderr;
    assert!(said.contains("four") && said.contains("undefined"), "{said}");
    parcel.sandbox.write("src/list.ld", "INPUT(one.o two.o)\n");
    let said = cc(&parcel, "-flto main.o list.ld three.o four.o -o program").expect_code(2).stderr;
    assert!(said.contains("list.ld: names bitcode"), "{said}");
    let said = cc(&parcel, "-O2 -flto -ffat-lto-objects main.c one.c two.c three.c four.s -o program").expect_code(0).stderr;
    assert!(said.contains("-flto is not supported with counters and -ffat-lto-objects"), "{said}");
    let said = parcel.run("clang-22").args(["-flto", "-fuse-ld=lld", "-Wl,--lto-emit-llvm", "main.o", "-o", "whole.bc"]).ok();
    assert_eq!(said.stderr, "");
}

/// Interprocedural optimisation sees through files: what it inlines is counted where it is executed.
#[test]
fn inlined_across_files() {
    for kind in KINDS {
        let parcel = parcel(kind);
        cc(&parcel, &format!("-O2 {kind} main.o one.o two.o three.o four.o -o program")).expect_code(0);
        let run = ProfiledRun::of(&parcel.source().join("program"), &[], &parcel.sandbox);
        let entered = Exported::of(std::slice::from_ref(&run.raw)).entries("one").unwrap_or(0);
        assert_eq!(entered, 0, "{kind}: called, not inlined");
        let lines = Run::new(tool("bbprof")).args(["annotate"]).arg(&run.raw).arg("one.c").ok().text();
        assert!(lines.contains("100 *     2  int one(int x)"), "{kind}: {lines}");
        let lcov = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(&run.raw).ok().text();
        let of_one = lcov.split("end_of_record").find(|record| record.contains("one.c")).unwrap_or_default();
        assert!(of_one.contains("\nDA:2,100\n"), "{kind}: {lcov}");
    }
}
