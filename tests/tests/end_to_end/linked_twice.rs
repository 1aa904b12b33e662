//! What is linked twice: one object, or a copy of it, or an inline function that not all objects count, in one link.

use bbprof_tests::{Exported, Parcel, ProfiledRun, Run, tool};

const CALLED: &str = "int called(int x) { return x % 3 == 0 ? x / 3 : 2 * x + 1; }\n";
const ALONE: &str = "int calls;\nint called(int);\nint main(void) { return called(3) - 1; }\n";
const BOTH: &str = "int calls;\nint called(int), copied(int);\nint main(void) { return called(3) + copied(6) - 3; }\n";
const BEGINS: &str = "extern int calls;\n__attribute__((constructor)) static void begins(void) { calls++; }\n";

fn parcel() -> Parcel {
    let parcel = Parcel::new("twice");
    for (name, text) in [("called.c", CALLED), ("alone.c", ALONE), ("both.c", BOTH), ("begins.c", BEGINS)] {
        parcel.sandbox.write(&format!("src/{name}"), text);
        parcel.run(tool("bbprof-cc")).args(["-O1", "-c", name]).ok();
    }
    parcel.run("objcopy").args(["--redefine-sym", "called=copied", "called.o", "copied.o"]).ok();
    parcel
}

/// Both would count in the same counters, under one name.
#[test]
fn copies_of_an_object_with_other_names() {
    let parcel = parcel();
    for (first, second, names) in
        [("called.o", "copied.o", "(copied, but no called)"), ("copied.o", "called.o", "(copied, but no called)")]
    {
        let link = parcel.run(tool("bbprof-cc")).args(["-o", "both", "both.o", first, second]);
        let refused = link.outcome().expect_code(2).stderr;
        let said = format!("{second}: is a copy of {first} in which functions have other names {names}");
        assert!(refused.contains(&said), "{refused}");
    }
    // One of them alone, and one without counters.
    parcel.run("clang-22").args(["-c", "called.c", "-Dcalled=copied", "-o", "plain.o"]).ok();
    parcel.run(tool("bbprof-cc")).args(["-o", "both", "both.o", "called.o", "plain.o"]).ok();
    parcel.run("./both").ok();
}

/// The same object is one module, however it is reached; copies of code that no other module sees count together.
#[test]
fn the_same_object() {
    let parcel = parcel();
    parcel.run("cp").args(["begins.o", "again.o"]).ok();
    for archive in ["libone.a", "libother.a"] {
        parcel.run("ar").args(["rcs", archive, "called.o"]).ok();
    }
    let link = parcel.run(tool("bbprof-cc")).args(["-o", "alone", "alone.o", "begins.o", "again.o", "begins.o"]);
    link.args(["libone.a", "libother.a"]).ok();
    let raw = ProfiledRun::of(&parcel.source().join("alone"), &[], &parcel.sandbox).raw;
    let exported = Exported::of(&[raw]);
    assert_eq!(["called", "begins"].map(|function| exported.entries(function)), [Some(1), Some(3)]);
}

/// Of an inline function the linker takes the first copy, the loader the program's, though a library has one, too. Where that is
/// not profiled, nothing is known of its executions, and no line of it has a count.
#[test]
fn inline_functions_of_code_that_is_not_profiled() {
    let parcel = Parcel::new("inline");
    let header = "__attribute__((noinline)) inline int shared(int x) {\n  return x % 3 == 0 ? x / 3 : 2 * x + 1;\n}\n";
    let main = "#include \"shared.h\"\nint other(int);\nint main() { return shared(3) + other(2) > 100; }\n";
    let other = "#include \"shared.h\"\nint other(int x) { return shared(x) + shared(x + 1); }\n";
    for (name, text) in [("shared.h", header), ("main.cpp", main), ("other.cpp", other)] {
        parcel.sandbox.write(&format!("src/{name}"), text);
    }
    let counted = |words: &[&str]| parcel.run(tool("bbprof-c++")).args(["-O1", "-g"]).args(words).ok();
    parcel.run("clang++-22").args(["-O1", "-c", "main.cpp", "-o", "plain.o"]).ok();
    counted(&["-c", "other.cpp"]);
    counted(&["plain.o", "other.o", "-o", "plain_first"]);
    counted(&["other.o", "plain.o", "-o", "counted_first"]);
    counted(&["-fPIC", "-shared", "other.cpp", "-o", "libother.so"]);
    parcel.run("clang++-22").args(["-O1", "plain.o", "./libother.so", "-o", "with_library"]).ok();
    for (program, entries) in [("plain_first", None), ("counted_first", Some(3)), ("with_library", None)] {
        let raw = parcel.sandbox.join(format!("{program}.bbraw"));
        parcel.run(format!("./{program}")).env("BBPROF_OUT", &raw).ok();
        let verified =
            Run::new(tool("bbprof")).arg("verify").arg(&raw).outcome().expect_code(if entries.is_none() { 5 } else { 0 });
        let why =
            "shared(int): called 2 times by profiled code, but entered 0 times: the linker or loader took a copy of it that is not";
        assert_eq!(verified.text().contains(why), entries.is_none(), "{program}: {}", verified.text());
        assert_eq!(Exported::of(std::slice::from_ref(&raw)).entries("_Z6sharedi"), entries, "{program}");
        let lcov = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(&raw).ok().text();
        assert_eq!(lcov.contains("shared.h\n"), entries.is_some(), "{program}: {lcov}");
    }
}
