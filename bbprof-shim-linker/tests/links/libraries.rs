//! Shared libraries: each is an image of its own, with its own bank, map and runtime.

use crate::support::module::{TestModule, comdat_array};
use crate::support::{CLANG, LINKERS, Workshop, successful};
use bbprof_format::image::FLAG_LIBRARY;
use bbprof_format::manifest::Storage;
use std::fs;

fn workshop(library: Storage, program: Storage) -> (Workshop, TestModule, TestModule) {
    let workshop = Workshop::new();
    let in_library = TestModule { comdat_functions: &["shared"], ..TestModule::new("inlib", library, &["lib1", "lib2"]) };
    let in_program = TestModule { comdat_functions: &["shared"], ..TestModule::new("inapp", program, &["app1"]) };
    workshop.object(&in_library);
    workshop.object(&in_program);
    workshop.plain(
        "main.o",
        "void app1(void); void lib1(void); void lib2(void); void inlib_calls_shared(void); void inapp_calls_shared(void);
         int main(void) { app1(); lib1(); for (int i = 0; i < 7; i++) lib2(); inlib_calls_shared(); inapp_calls_shared(); inapp_calls_shared(); }",
    );
    (workshop, in_library, in_program)
}

#[test]
fn a_library_and_a_program() {
    for (library, program) in [(Storage::Delta, Storage::Tls), (Storage::Delta, Storage::Delta), (Storage::Shared, Storage::Tls)] {
        let (workshop, in_library, in_program) = workshop(library, program);
        for (linker, _) in LINKERS {
            println!("{library:?} {program:?} {linker}");
            successful(&mut workshop.clang(linker, "-shared inlib.o -o libx.so -Wl,-soname,libx.so -Wl,--gc-sections"));
            successful(&mut workshop.clang(linker, "main.o inapp.o libx.so -o app -Wl,-rpath,$ORIGIN"));
            let counted = workshop.counted_in("app", &["libx.so", "app"]);
            assert_eq!(counted[0].array(in_library.id()), [1, 7]);
            assert_eq!(counted[0].array(comdat_array("shared")), [1]);
            assert_eq!(counted[1].array(in_program.id()), [1]);
            assert_eq!(counted[1].array(comdat_array("shared")), [2]);
            assert_eq!(counted[0].flags & FLAG_LIBRARY, FLAG_LIBRARY);
            assert_eq!(counted[1].flags & FLAG_LIBRARY, 0);
        }
    }
}

#[test]
fn a_library_in_a_program_that_is_not_instrumented_loaded_by_dlopen() {
    let (workshop, in_library, _) = workshop(Storage::Delta, Storage::Tls);
    workshop.plain(
        "open.o",
        "#include <dlfcn.h>
         int main(void) { void *x = dlopen(\"./libx.so\", RTLD_NOW); if (!x) return 1; ((void (*)(void)) dlsym(x, \"lib1\"))(); }",
    );
    successful(workshop.command("gcc").args(["open.o", "-o", "open"]));
    for (linker, _) in LINKERS {
        successful(&mut workshop.clang(linker, "-shared inlib.o -o libx.so"));
        assert_eq!(workshop.counted_in("open", &["libx.so"])[0].array(in_library.id()), [1, 0]);
    }
}

/// Only references from the generated object pull the runtime's parts out of its archive: modules refer to it weakly.
#[test]
fn threads_in_library_code_and_the_api_called_weakly() {
    let (workshop, in_library, in_program) = workshop(Storage::Delta, Storage::Delta);
    workshop.plain(
        "threads.o",
        "#include <pthread.h>
         void app1(void); void lib1(void); int bbprof_dump(const char *) __attribute__((weak));
         static void *run(void *x) { app1(); lib1(); return x; }
         int main(void) {
             pthread_t t; run(0);
             for (int i = 0; i < 3; i++) { pthread_create(&t, 0, run, 0); pthread_join(t, 0); }
             return bbprof_dump ? bbprof_dump(\"dumped\") : 1;
         }",
    );
    for (linker, _) in LINKERS {
        println!("{linker}");
        successful(&mut workshop.clang(linker, "-shared inlib.o -o libx.so -Wl,-soname,libx.so"));
        successful(&mut workshop.clang(linker, "threads.o inapp.o libx.so -o app -Wl,-rpath,$ORIGIN"));
        let counted = workshop.counted_in("app", &["libx.so", "app"]);
        assert_eq!(counted[0].array(in_library.id()), [4, 0]);
        assert_eq!(counted[1].array(in_program.id()), [4]);
        assert!(workshop.path("dumped").exists());
        successful(&mut workshop.clang(linker, "-static threads.o inapp.o inlib.o -o app"));
        assert_eq!(workshop.counted("app").array(in_library.id()), [4, 0]);
    }
}

/// What rustc says for a cdylib.
#[test]
fn libraries_that_export_little() {
    let (workshop, in_library, _) = workshop(Storage::Delta, Storage::Tls);
    fs::write(workshop.path("exports"), "{ global: lib1; lib2; inlib_calls_shared; local: *; };").unwrap();
    for (linker, _) in LINKERS {
        let options = "-shared inlib.o -o libx.so -Wl,-soname,libx.so -Wl,--version-script=exports -Wl,--gc-sections -Wl,-z,defs";
        successful(&mut workshop.clang(linker, options));
        successful(workshop.command(CLANG).args(["main.o", "inapp.o", "libx.so", "-o", "app", "-Wl,-rpath,$ORIGIN"]));
        assert_eq!(workshop.counted_in("app", &["libx.so"])[0].array(in_library.id()), [1, 7], "{linker}");
        let exported = String::from_utf8(workshop.run("nm -D --defined-only libx.so").stdout).unwrap();
        // gold lists its hidden symbols, too, as local ones.
        assert!(exported.lines().all(|line| !line.contains("bbprof") || line.contains(" d ")), "{exported}");
    }
}

#[test]
fn libraries_from_archives_and_without_the_shim() {
    let (workshop, in_library, _) = workshop(Storage::Delta, Storage::Tls);
    workshop.run("ar rcs libin.a inlib.o");
    successful(
        &mut workshop.clang("bfd", "-shared -Wl,--whole-archive libin.a -Wl,--no-whole-archive -o libx.so -Wl,-soname,libx.so"),
    );
    successful(workshop.command(CLANG).args(["main.o", "inapp.o", "libx.so", "-o", "app", "-Wl,-rpath,$ORIGIN"]));
    assert_eq!(workshop.counted_in("app", &["libx.so"])[0].array(in_library.id()), [1, 7]);
    for linker in ["bfd", "gold", "lld", "mold"] {
        let driver = format!("-fuse-ld={linker}");
        successful(workshop.command(CLANG).args([&driver, "-shared", "inlib.o", "-o", "libx.so", "-Wl,-soname,libx.so"]));
        successful(workshop.command(CLANG).args([&driver, "main.o", "inapp.o", "libx.so", "-o", "app", "-Wl,-rpath,$ORIGIN"]));
        workshop.run("./app");
    }
}

#[test]
fn thread_local_counters_in_a_library_are_refused_in_words() {
    let (workshop, ..) = workshop(Storage::Delta, Storage::Tls);
    fs::write(workshop.path("libx.so.bbmap"), "other").unwrap();
    let output = workshop.clang("bfd", "-shared inlib.o inapp.o -o libx.so").output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("inapp.o: its counters are thread-local") && said.contains("-fPIC"), "{said}");
    let status = workshop.command(workshop.path("shim-bfd/ld")).args(["-shared", "inapp.o", "-o", "libx.so"]).status().unwrap();
    assert_eq!(status.code(), Some(2));
}
