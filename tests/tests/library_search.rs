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
