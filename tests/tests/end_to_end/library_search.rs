//! Where linkers look for a library: the shim finds the one that they take.

use bbprof_tests::{Parcel, tool};

/// Linkers but lld look on behind a library of another machine.
#[test]
fn libraries_of_other_machines() {
    for linker in ["bfd", "gold", "mold"] {
        let parcel = Parcel::new("machines");
        let linker = format!("-fuse-ld={linker}");
        let compile = |words: &[&str]| parcel.run(tool("bbprof-cc")).args(["--bbprof-counters=check", "-O2"]).args(words).ok();
        for source in ["main", "shelf", "unused"] {
            compile(&["-c", &format!("{source}.c")]);
        }
        parcel.run("ar").args(["rcs", "libshelf.a", "shelf.o", "unused.o"]).ok();
        parcel.sandbox.write("src/other/other.c", "int shelf_new;\n");
        parcel.run("clang-22").args(["-m32", "-c", "other/other.c", "-o", "other/other.o"]).ok();
        parcel.run("ar").args(["rcs", "other/libshelf.a", "other/other.o"]).ok();
        for library in ["-lshelf", "-l:libshelf.a"] {
            compile(&[&linker, "main.o", "-Lother", "-L.", library, "-o", "parcel"]);
            parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
        }
    }
}

/// What linkers find by ways of their own counts: the words of scripts, libraries that objects ask for, names that stand for
/// others. Code for shared libraries crashed, without the counters that are made for it at the link.
#[test]
fn inputs_that_the_command_line_does_not_name() {
    let parcel = Parcel::new("unseen");
    let compile = |words: &[&str]| parcel.run(tool("bbprof-cc")).args(["--bbprof-counters=check", "-O2"]).args(words).ok();
    parcel.sandbox.write("src/asking.c", "#pragma comment(lib, \"shelf\")\n#include \"main.c\"\n");
    compile(&["-c", "main.c"]);
    compile(&["-c", "asking.c"]);
    compile(&["-fPIC", "-c", "shelf.c"]);
    compile(&["-fPIC", "-c", "unused.c"]);
    std::fs::create_dir_all(parcel.source().join("far/off")).expect("a folder");
    parcel.run("ar").args(["rcs", "far/libshelf.a", "shelf.o", "unused.o"]).ok();
    parcel.run("ar").args(["rcsT", "far/off/libthin.a", "shelf.o", "unused.o"]).ok();
    parcel.run("cp").args(["shelf.o", "far/off/beside.o"]).ok();
    for (script, text) in [
        ("search.ld", "SEARCH_DIR(far)\nINPUT(-lshelf)\n"),
        ("include.ld", "INCLUDE far/off/included.ld\n"),
        ("far/off/included.ld", "INPUT(far/libshelf.a)\n"),
        ("thin.ld", "SEARCH_DIR(far/off)\nINPUT(-lthin)\n"),
        ("far/off/beside.ld", "INPUT(beside.o)\n"),
    ] {
        parcel.sandbox.write(&format!("src/{script}"), text);
    }
    for (linker, words) in [
        ("bfd", &["main.o", "search.ld"][..]),
        ("bfd", &["main.o", "include.ld", "-s"]),
        ("bfd", &["main.o", "thin.ld"]),
        ("lld", &["main.o", "search.ld", "-s"]),
        ("lld", &["main.o", "include.ld"]),
        ("lld", &["main.o", "thin.ld"]),
        ("lld", &["main.o", "far/off/beside.ld"]),
        ("lld", &["asking.o", "-Lfar"]),
        ("lld", &["asking.o", "-Lfar", "-static"]),
        ("lld", &["main.o", "-Wl,unused.o", "-Wl,--remap-inputs=unused.o=shelf.o"]),
    ] {
        compile(&[&[&format!("-fuse-ld={linker}"), "-o", "parcel"], words].concat());
        parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
    }
}
