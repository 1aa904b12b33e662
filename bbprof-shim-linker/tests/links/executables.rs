//! Executables of every kind, by every linker: one copy of each counter, in page-aligned banks, increments landing there.

use crate::support::module::{TestModule, comdat_array};
use crate::support::{CLANG, LINKERS, Workshop, successful};
use bbprof_format::Digest;
use bbprof_format::image::{FLAG_DELTA, FLAG_STATIC};
use bbprof_format::manifest::{ArrayHeader, Manifest, Storage};
use bbprof_format::names::{GLOBAL_BANK_SYMBOL, TLS_BANK_SYMBOL, counter_array_symbol};
use object::elf::{FileHeader64, PT_TLS};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol};
use std::fs;
use std::os::unix::fs::symlink;

const MAIN: &str = "void a1(void); void a2(void); void b1(void); void a_calls_shared(void); void b_calls_shared(void);
    int main(void) { a1(); a2(); a2(); for (int i = 0; i < 5; i++) b1(); a_calls_shared(); b_calls_shared(); b_calls_shared(); return 0; }";

fn two_modules(storage: Storage) -> (TestModule, TestModule) {
    let a = TestModule { comdat_functions: &["shared"], ..TestModule::new("a", storage, &["a1", "a2"]) };
    let b = TestModule { comdat_functions: &["shared"], ..TestModule::new("b", storage, &["b1"]) };
    (a, b)
}

fn workshop(storage: Storage) -> (Workshop, TestModule, TestModule) {
    let workshop = Workshop::new();
    let (a, b) = two_modules(storage);
    workshop.object(&a);
    workshop.object(&b);
    workshop.plain("main.o", MAIN);
    (workshop, a, b)
}

/// Links with these options and looks at what was counted and at the file.
fn check(workshop: &Workshop, a: &TestModule, b: &TestModule, linker: &str, options: &str) {
    println!("{:?} {linker} {options}", a.storage);
    successful(&mut workshop.clang(linker, &format!("main.o a.o b.o -o app {options}")));
    let counted = workshop.counted("app");
    assert_eq!(counted.array(a.id()), [1, 2]);
    assert_eq!(counted.array(b.id()), [5]);
    assert_eq!(counted.array(comdat_array("shared")), [3]);
    assert_eq!(counted.modules(), [("a.o", true), ("b.o", true)]);
    assert_eq!(counted.flags & FLAG_STATIC != 0, options.contains("-static"));
    assert_eq!(counted.flags & FLAG_DELTA != 0, a.storage == Storage::Delta);
    let bytes = fs::read(workshop.path("app")).unwrap();
    let file = object::File::parse(&bytes[..]).unwrap();
    for array in [a.id(), b.id(), comdat_array("shared")] {
        let name = counter_array_symbol(array);
        let copies = file.symbols().filter(|symbol| symbol.name() == Ok(&name)).count();
        assert_eq!(copies, 1, "{name}");
    }
    assert!(file.section_by_name(".bbprof.manifest").is_none());
    let bank = |name: &str| file.symbols().find(|symbol| symbol.name() == Ok(name)).map(|symbol| symbol.address());
    if a.storage == Storage::Tls {
        let (address, align) = tls_segment(&bytes);
        let tls_bank = bank(TLS_BANK_SYMBOL).unwrap();
        assert!(align >= 4096 && (address + tls_bank) % 4096 == 0, "{address:x} {tls_bank:x} {align}");
        // The modules' own arrays are gone: the bank is all there is besides a little of libc's and the runtime's.
        let tls = file.sections().filter(|section| section.kind() == object::SectionKind::UninitializedTls);
        let size: u64 = tls.map(|section| section.size()).sum();
        assert!((4096..2 * 4096).contains(&size), "{size} bytes of thread-local storage");
    } else {
        assert_eq!(bank(GLOBAL_BANK_SYMBOL).unwrap() % 4096, 0);
    }
    let headers = String::from_utf8(workshop.run("readelf -lW app").stdout).unwrap();
    let stack = headers.lines().find(|line| line.contains("GNU_STACK")).unwrap();
    assert!(stack.contains(" RW ") && !stack.contains("RWE"), "{stack}");
}

/// Address and alignment of the thread-local segment.
fn tls_segment(bytes: &[u8]) -> (u64, u64) {
    let header = FileHeader64::<Endianness>::parse(bytes).unwrap();
    let endian = header.endian().unwrap();
    let segments = header.program_headers(endian, bytes).unwrap();
    let tls = segments.iter().find(|segment| segment.p_type(endian) == PT_TLS).unwrap();
    (tls.p_vaddr(endian), tls.p_align(endian))
}

#[test]
fn all_storages_and_linkers() {
    for storage in [Storage::Tls, Storage::Delta, Storage::Shared, Storage::Atomic] {
        let (workshop, a, b) = workshop(storage);
        for (linker, _) in LINKERS {
            for options in
                ["", "-no-pie", "-static", "-static-pie", "-Wl,--gc-sections", "-Wl,--icf=all -Wl,-O2", "-Wl,-z,now -Wl,-z,relro"]
            {
                // bfd folds no code; gold does not know `--no-dynamic-linker`, which clang says for -static-pie.
                if (linker, options) == ("gold", "-static-pie") || (linker == "bfd" && options.contains("icf")) {
                    continue;
                }
                check(&workshop, &a, &b, linker, options);
            }
        }
    }
}

#[test]
fn objects_link_and_run_without_the_shim() {
    for storage in [Storage::Tls, Storage::Delta, Storage::Shared] {
        let (workshop, ..) = workshop(storage);
        for linker in ["bfd", "gold", "lld", "mold"] {
            successful(workshop.command(CLANG).args([&format!("-fuse-ld={linker}"), "main.o", "a.o", "b.o", "-o", "plain"]));
            workshop.run("./plain");
        }
        successful(workshop.command("gcc").args(["main.o", "a.o", "b.o", "-o", "plain"]));
        workshop.run("./plain");
    }
}

#[test]
fn gcc_as_linker_driver() {
    let (workshop, a, _) = workshop(Storage::Tls);
    successful(workshop.command("gcc").arg("-B").arg(workshop.path("shim-bfd")).args(["main.o", "a.o", "b.o", "-o", "app"]));
    assert_eq!(workshop.counted("app").array(a.id()), [1, 2]);
    // collect2 and its plugin, main itself being in GCC's own intermediate language.
    successful(workshop.command("gcc").args(["-O1", "-flto", "-c", "main.o.c", "-o", "main.o"]));
    let mut command = workshop.command("gcc");
    command.arg("-B").arg(workshop.path("shim-bfd")).args(["-flto", "-static-pie", "main.o", "a.o", "b.o", "-o", "app"]);
    successful(&mut command);
    assert_eq!(workshop.counted("app").array(a.id()), [1, 2]);
}

#[test]
fn a_driver_itself_before_every_linker() {
    let (workshop, a, _) = workshop(Storage::Tls);
    for options in ["", "-fuse-ld=gold", "-fuse-ld=mold", "-static", "-static-pie", "-no-pie", "-Wl,--gc-sections"] {
        let mut command = workshop.command(workshop.path("shim-bfd/cc"));
        command.args(["-o", "app", "main.o", "-Wl,--as-needed", "a.o", "b.o"]).args(options.split_whitespace());
        successful(&mut command);
        assert_eq!(workshop.counted("app").array(a.id()), [1, 2], "{options}");
    }
    let mut command = workshop.command(workshop.path("shim-bfd/cc"));
    successful(command.env("BBPROF_REAL_CC", CLANG).args(["-fuse-ld=lld", "-o", "app", "main.o", "a.o", "b.o"]));
    assert_eq!(workshop.counted("app").array(a.id()), [1, 2]);
}

/// Its specs name the folder of its libc, which no option does; glibc's has functions that it lacks.
#[test]
fn a_driver_with_a_libc_of_its_own() {
    let (workshop, a, _) = workshop(Storage::Tls);
    let mut command = workshop.command(workshop.path("shim-bfd/cc"));
    successful(command.env("BBPROF_REAL_CC", "musl-gcc").args(["-static", "-o", "app", "main.o", "a.o", "b.o"]));
    assert_eq!(workshop.counted("app").array(a.id()), [1, 2]);
}

/// The driver's link has the generated object already when the linker below is the shim again.
#[test]
fn shims_at_both_levels_add_one_object() {
    let (workshop, a, _) = workshop(Storage::Tls);
    let mut command = workshop.command(workshop.path("shim-bfd/cc"));
    command.arg("-B").arg(workshop.path("shim-bfd")).args(["-o", "app", "main.o", "a.o", "b.o"]);
    successful(&mut command);
    assert_eq!(workshop.counted("app").array(a.id()), [1, 2]);
}

/// More arrays, and so more sections, than 16 bits can number; and none at all.
#[test]
fn very_many_counter_arrays_and_none() {
    let (workshop, a, _) = workshop(Storage::Tls);
    let array = |n: u32| ArrayHeader { name: Digest::of(&n.to_le_bytes()), len: 1 };
    let header = Manifest::read(&a.manifest()).unwrap().header;
    let arrays: Vec<ArrayHeader> = header.arrays[1..].iter().copied().chain((0..33_000).map(array)).collect();
    let module = Manifest::read(&a.manifest()).unwrap().module().unwrap();
    workshop.object_with_manifest(&a, &Manifest::encode(&module, a.storage, header.arrays[0].len, &arrays), &[]);
    for (linker, _) in LINKERS {
        successful(&mut workshop.clang(linker, "main.o a.o b.o -o app"));
        assert_eq!(workshop.counted("app").array(a.id()), [1, 2], "{linker}");
    }
    workshop.plain("empty_main.o", "int main(void) { return 0; }");
    for storage in [Storage::Tls, Storage::Delta, Storage::Shared] {
        let empty = TestModule::new("empty", storage, &[]);
        workshop.object(&empty);
        for (linker, _) in LINKERS {
            for options in ["", "-static", "-shared"] {
                if (storage, options) == (Storage::Tls, "-shared") {
                    continue;
                }
                println!("{storage:?} {linker} {options}");
                successful(&mut workshop.clang(linker, &format!("empty_main.o empty.o -o app {options}")));
                assert_eq!(workshop.map("app").body.modules.len(), 1);
                if options != "-shared" {
                    workshop.run("./app");
                }
            }
        }
    }
}

#[test]
fn without_a_libc() {
    let workshop = Workshop::new();
    let a = TestModule::new("a", Storage::Shared, &["a1"]);
    workshop.object(&a);
    let start =
        "void a1(void); void _start(void) { a1(); __asm__ volatile(\"syscall\" :: \"a\"(60), \"D\"(0)); __builtin_unreachable(); }";
    workshop.plain("start.o", start);
    for (linker, _) in LINKERS {
        for options in ["-static", "-static -no-pie", "-pie"] {
            println!("{linker} {options}");
            successful(&mut workshop.clang(linker, &format!("-nostdlib start.o a.o -o app {options}")));
            workshop.run("./app");
        }
    }
    // Nobody sets up what thread-local counters need; no word of it where there are none, or a libc.
    let warning = "counters in thread-local storage, but no C library";
    let said = |options: &str| String::from_utf8(workshop.clang(LINKERS[0].0, options).output().unwrap().stderr).unwrap();
    assert_eq!(said("-nostdlib -static start.o a.o -o app"), "");
    workshop.object(&TestModule::new("a", Storage::Tls, &["a1"]));
    assert!(said("-nostdlib -static start.o a.o -o app").contains(warning));
    workshop.plain("main.o", "void a1(void); int main(void) { a1(); return 0; }");
    assert_eq!(said("-static main.o a.o -o app"), "");
    // By whatever way the linker finds it: its functions are wrapped, too.
    let libc = workshop.run("gcc -print-file-name=libc.a").stdout;
    fs::create_dir(workshop.path("far")).unwrap();
    symlink(String::from_utf8(libc).unwrap().trim(), workshop.path("far/libfar.a")).unwrap();
    fs::write(workshop.path("far.ld"), "SEARCH_DIR(far) GROUP(-lfar -lgcc -lgcc_eh)").unwrap();
    assert_eq!(said("-static -nodefaultlibs main.o a.o far.ld -o app"), "");
    assert!(String::from_utf8(workshop.run("nm app").stdout).unwrap().contains("__wrap_fork"));
    assert_eq!(workshop.counted("app").modules(), [("a.o", true)]);
}

/// A libc, like dietlibc, that has C11's threads in another archive than what they are made by.
#[test]
fn a_libc_in_parts() {
    let workshop = Workshop::new();
    workshop.object(&TestModule::new("a", Storage::Shared, &["a1"]));
    let start =
        "void a1(void); void _start(void) { a1(); __asm__ volatile(\"syscall\" :: \"a\"(60), \"D\"(0)); __builtin_unreachable(); }";
    workshop.plain("start.o", start);
    workshop.plain("threads.o", "int thrd_create(void *t, int (*f)(void *), void *a) { return 2; }");
    workshop.run("ar rcs libc11.a threads.o");
    for (linker, _) in LINKERS {
        successful(&mut workshop.clang(linker, "-nostdlib -static start.o a.o libc11.a -o app"));
        workshop.run("./app");
    }
}

/// No warning either.
#[test]
fn warnings_that_are_errors() {
    let (workshop, a, _) = workshop(Storage::Tls);
    for (linker, _) in LINKERS {
        successful(&mut workshop.clang(linker, "-Wl,--fatal-warnings -Wl,-z,defs -Wl,-z,text main.o a.o b.o -o app"));
        assert_eq!(workshop.counted("app").array(a.id()), [1, 2], "{linker}");
    }
}

#[test]
fn two_links_are_identical_and_leave_nothing_behind() {
    let (workshop, ..) = workshop(Storage::Tls);
    for (linker, _) in LINKERS {
        let link = |folder: &str| {
            fs::create_dir_all(workshop.path(folder)).unwrap();
            successful(&mut workshop.clang(linker, &format!("main.o a.o b.o -g -Wl,--build-id -o {folder}/app")));
            let read = |name: &str| fs::read(workshop.path(folder).join(name)).unwrap();
            (read("app"), read("app.bbmap"))
        };
        assert!(link("one") == link("two"), "{linker}");
    }
    assert_eq!(fs::read_dir(workshop.temporary()).unwrap().count(), 0);
}
