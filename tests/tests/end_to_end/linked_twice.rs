//! What is linked twice: one object, or a copy of it, in one link.

use bbprof_tests::{Exported, Parcel, ProfiledRun, tool};

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
