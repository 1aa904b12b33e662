//! Everything that can be on a link line: archives of all kinds, libraries, scripts,
//! `@file`s, `-r`; and what the linker leaves out.

use crate::support::module::TestModule;
use crate::support::{CLANG, LINKERS, Workshop, successful};
use bbprof_format::manifest::Storage;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};

/// Modules a, b and c with a function each; main calls b's only.
fn workshop() -> (Workshop, [TestModule; 3]) {
    let workshop = Workshop::new();
    let modules =
        [("a", &["a1"]), ("b", &["b1"]), ("c", &["c1"])].map(|(name, functions)| TestModule::new(name, Storage::Tls, functions));
    for module in &modules {
        workshop.object(module);
    }
    workshop.plain("main.o", "void b1(void); int main(void) { b1(); b1(); return 0; }");
    workshop.run("ar rcs libabc.a a.o b.o c.o");
    workshop.run("ar rcsT libthin.a a.o b.o c.o");
    fs::create_dir(workshop.path("lib")).unwrap();
    workshop.run("cp libabc.a lib/libdir.a");
    (workshop, modules)
}

/// Links with every linker and tells origin and presence of each module, b's count being right.
fn modules(workshop: &Workshop, b: &TestModule, arguments: &str, except: &[&str]) -> Vec<(String, bool)> {
    let mut results = Vec::new();
    for (linker, _) in LINKERS {
        if except.contains(&linker) {
            continue;
        }
        println!("{linker} {arguments}");
        successful(&mut workshop.clang(linker, &format!("{arguments} -o app")));
        let counted = workshop.counted("app");
        assert_eq!(counted.array(b.id()), [2], "{linker} {arguments}");
        results.push(counted.modules().into_iter().map(|(origin, kept)| (origin.to_owned(), kept)).collect::<Vec<_>>());
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{arguments}: {results:?}");
    results.remove(0)
}

fn named(names: [(&str, bool); 3]) -> Vec<(String, bool)> {
    names.into_iter().map(|(name, kept)| (name.to_owned(), kept)).collect()
}

#[test]
fn archives() {
    let (workshop, [_, b, _]) = workshop();
    let only_b = named([("libabc.a(a.o)", false), ("libabc.a(b.o)", true), ("libabc.a(c.o)", false)]);
    for arguments in [
        "main.o libabc.a",
        "main.o -L. -labc",
        "main.o -L . -l abc",
        "main.o -L. -l:libabc.a",
        "main.o -Wl,--start-group libabc.a -lc -Wl,--end-group",
        "main.o libabc.a libabc.a",
        "-no-pie main.o libabc.a",
        "-static main.o libabc.a",
        "main.o -Wl,--gc-sections libabc.a",
    ] {
        let found: Vec<_> =
            modules(&workshop, &b, arguments, &[]).into_iter().map(|(o, k)| (o.trim_start_matches("./").to_owned(), k)).collect();
        assert_eq!(found, only_b, "{arguments}");
    }
    let in_dir = named([("lib/libdir.a(a.o)", false), ("lib/libdir.a(b.o)", true), ("lib/libdir.a(c.o)", false)]);
    assert_eq!(modules(&workshop, &b, "main.o -Llib -ldir", &[]), in_dir);
}

#[test]
fn thin_archives() {
    let (workshop, [_, b, _]) = workshop();
    let only_b = named([("libthin.a(a.o)", false), ("libthin.a(b.o)", true), ("libthin.a(c.o)", false)]);
    assert_eq!(modules(&workshop, &b, "main.o libthin.a", &[]), only_b);
    let all = named([("libthin.a(a.o)", true), ("libthin.a(b.o)", true), ("libthin.a(c.o)", true)]);
    assert_eq!(modules(&workshop, &b, "main.o -Wl,--whole-archive libthin.a -Wl,--no-whole-archive", &[]), all);
}

/// GNU's ar names members of an archive by its name and their positions in it; other linkers than GNU's do not take that.
#[test]
fn thin_archives_of_archives() {
    let (workshop, [_, b, _]) = workshop();
    workshop.run("ar rcs lib/libinner.a b.o");
    workshop.run("ar rcsT libouter.a a.o lib/libinner.a c.o");
    let origins = ["libouter.a(a.o)", "libouter.a(libinner.a)(b.o)", "libouter.a(c.o)"];
    let only_b = named([(origins[0], false), (origins[1], true), (origins[2], false)]);
    assert_eq!(modules(&workshop, &b, "main.o libouter.a", &["lld", "mold"]), only_b);
    let whole = "main.o -Wl,--whole-archive libouter.a -Wl,--no-whole-archive";
    assert_eq!(modules(&workshop, &b, whole, &["lld", "mold"]), named(origins.map(|origin| (origin, true))));
    // What the inner archive got later is not in the outer one.
    workshop.run("ar rcs lib/libmore.a b.o c.o");
    workshop.run("ar rcsT libpart.a a.o lib/libmore.a");
    workshop.run("ar dP libpart.a c.o");
    let part = "main.o -Wl,--whole-archive libpart.a -Wl,--no-whole-archive";
    let expected = named([("libpart.a(a.o)", true), ("libpart.a(libmore.a)(b.o)", true), ("libpart.a(libmore.a)(c.o)", false)]);
    assert_eq!(modules(&workshop, &b, part, &["lld", "mold"]), expected);
}

#[test]
fn damaged_thin_archives_are_refused() {
    let (workshop, _) = workshop();
    let whole = fs::read(workshop.path("libthin.a")).unwrap();
    fs::write(workshop.path("libthin.a"), &whole[..whole.len() - 1]).unwrap();
    let output = workshop.clang("bfd", "main.o libthin.a -o app").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("libthin.a: ") && said.contains("member 3, "), "{said}");
}

#[test]
fn whole_archives_and_lazy_objects() {
    let (workshop, [_, b, _]) = workshop();
    let all = named([("libabc.a(a.o)", true), ("libabc.a(b.o)", true), ("libabc.a(c.o)", true)]);
    assert_eq!(modules(&workshop, &b, "main.o -Wl,--whole-archive libabc.a -Wl,--no-whole-archive", &[]), all);
    // The debian's mold and gold know --push-state, too.
    assert_eq!(modules(&workshop, &b, "main.o -Wl,--push-state,--whole-archive libabc.a -Wl,--pop-state", &[]), all);
    let lazy = named([("a.o", false), ("b.o", true), ("c.o", true)]);
    assert_eq!(modules(&workshop, &b, "main.o -Wl,--start-lib a.o b.o -Wl,--end-lib c.o", &["bfd"]), lazy);
}

#[test]
fn response_files() {
    let (workshop, [_, b, _]) = workshop();
    fs::write(workshop.path("inner.rsp"), "-Wl,--start-group 'libabc.a'\n-Wl,--end-group").unwrap();
    fs::write(workshop.path("outer.rsp"), "main.o @inner.rsp").unwrap();
    let only_b = named([("libabc.a(a.o)", false), ("libabc.a(b.o)", true), ("libabc.a(c.o)", false)]);
    assert_eq!(modules(&workshop, &b, "@outer.rsp", &[]), only_b);
    // Handed to the driver as they are by the shim in the driver's place.
    successful(workshop.command(workshop.path("shim-bfd/cc")).args(["@outer.rsp", "-o", "app"]));
    assert_eq!(workshop.counted("app").array(b.id()), [2]);
    // For the linker alone, at both levels; and through a pipe.
    fs::write(workshop.path("for-linker.rsp"), "--gc-sections libabc.a").unwrap();
    let for_linker = ["-Wl,@for-linker.rsp", "main.o", "libabc.a", "-o", "app"];
    successful(workshop.command("gcc").arg("-B").arg(workshop.path("shim-bfd")).args(for_linker));
    assert_eq!(workshop.counted("app").array(b.id()), [2]);
    successful(workshop.command(workshop.path("shim-bfd/cc")).args(["main.o", "-Wl,@for-linker.rsp", "-o", "app"]));
    assert_eq!(workshop.counted("app").array(b.id()), [2]);
    successful(workshop.command("bash").args(["-c", "shim-bfd/cc @<(echo main.o libabc.a) -o app"]));
    assert_eq!(workshop.counted("app").array(b.id()), [2]);
}

#[test]
fn linker_scripts_as_inputs() {
    let (workshop, [_, b, _]) = workshop();
    fs::write(workshop.path("libscript.so"), "/* GNU ld script */\nINPUT(libabc.a AS_NEEDED(-lc))\n").unwrap();
    fs::write(workshop.path("group.ld"), "GROUP ( libabc.a )").unwrap();
    let only_b = named([("libabc.a(a.o)", false), ("libabc.a(b.o)", true), ("libabc.a(c.o)", false)]);
    assert_eq!(modules(&workshop, &b, "main.o -L. -lscript", &[]), only_b);
    assert_eq!(modules(&workshop, &b, "main.o group.ld", &[]), only_b);
}

#[test]
fn relocatable_links_carry_the_manifests_on() {
    let (workshop, [a, b, c]) = workshop();
    for (first, _) in LINKERS {
        successful(&mut workshop.clang(first, "-r a.o b.o c.o -o abc.o -nostdlib"));
        assert!(!workshop.path("abc.o.bbmap").exists());
        for (linker, _) in LINKERS {
            // What mold 1.10 makes of any COMDAT group with -r, bfd and gold cannot read (an inline C++ function will do).
            if first == "mold" && (linker == "bfd" || linker == "gold") {
                continue;
            }
            println!("-r by {first}, linked by {linker}");
            successful(&mut workshop.clang(linker, "main.o abc.o -o app"));
            let counted = workshop.counted("app");
            assert_eq!(counted.modules(), [("abc.o", true); 3]);
            assert_eq!(counted.ids(), [a.id(), b.id(), c.id()]);
            assert_eq!(counted.array(b.id()), [2]);
        }
    }
}

#[test]
fn nothing_instrumented_is_linked_as_ever() {
    let workshop = Workshop::new();
    workshop.plain("main.o", "int main(void) { return 0; }");
    fs::write(workshop.path("app.bbmap"), [&b"BBPROFMP"[..], &[0; 60]].concat()).unwrap();
    for (linker, real) in LINKERS {
        successful(&mut workshop.clang(linker, "main.o -o app"));
        assert!(!workshop.path("app.bbmap").exists(), "the map of an earlier link stays");
        let mut plain = workshop.command(CLANG);
        let real = String::from_utf8(workshop.run(&format!("which {real}")).stdout).unwrap();
        successful(plain.arg(format!("--ld-path={}", real.trim())).args(["main.o", "-o", "plain"]));
        assert!(fs::read(workshop.path("app")).unwrap() == fs::read(workshop.path("plain")).unwrap(), "{linker}");
    }
}

/// How many links a command takes: each is saved.
fn num_links(workshop: &Workshop, command: &mut Command) -> usize {
    let saved = workshop.path("saved");
    successful(command.env("BBPROF_SAVE_LINK", &saved));
    let links = fs::read_dir(&saved).unwrap().count();
    fs::remove_dir_all(saved).unwrap();
    links
}

#[test]
fn links_whose_inputs_are_seen_are_done_once() {
    let (workshop, _) = workshop();
    fs::write(workshop.path("libscript.so"), "/* GNU ld script */\nINPUT(libabc.a AS_NEEDED(-lm))\n").unwrap();
    for (linker, _) in LINKERS {
        for arguments in [
            "main.o libabc.a -lm -o app",
            "main.o -L./lib/../. -lthin -pthread -o app",
            "main.o -L. -lscript -o app",
            "-static main.o libabc.a -o app",
            "main.o libabc.a -o app -Wl,--dependency-file=app.d",
            "main.o -L. -Wl,--whole-archive -labc -Wl,--no-whole-archive -o app",
            "main.o -L. -Wl,--whole-archive -lthin -Wl,--no-whole-archive -o app",
        ] {
            assert_eq!(num_links(&workshop, &mut workshop.clang(linker, arguments)), 1, "{linker} {arguments}");
        }
        let mut driver = workshop.command(workshop.path(format!("shim-{linker}/cc")));
        assert_eq!(num_links(&workshop, driver.args(["main.o", "-Wl,--whole-archive", "libabc.a", "-Wl,--no-whole-archive"])), 1);
    }
    // Data, whatever is in it.
    let mut blob = workshop.clang("bfd", "main.o b.o -Wl,--format=binary a.o -Wl,--format=default -o app");
    assert_eq!(num_links(&workshop, &mut blob), 1);
}

#[test]
fn links_with_inputs_that_only_the_linker_finds_are_done_twice() {
    let (workshop, [_, b, _]) = workshop();
    let far = workshop.path("far, $# off");
    fs::create_dir(&far).unwrap();
    fs::copy(workshop.path("libabc.a"), far.join("libfar.a")).unwrap();
    fs::write(workshop.path("far.ld"), "SEARCH_DIR(\"far, $# off\") INPUT(-lfar)").unwrap();
    let instrumented = TestModule::new("main2", Storage::Tls, &["main2"]);
    workshop.object(&instrumented);
    let found = [
        ("main2.o", true),
        ("far, $# off/libfar.a(a.o)", false),
        ("far, $# off/libfar.a(b.o)", true),
        ("far, $# off/libfar.a(c.o)", false),
    ];
    for linker in ["bfd", "lld"] {
        for more in [&[][..], &["-Wl,-s"], &["-Wl,--dependency-file=app.d"]] {
            let words = [&["main.o", "main2.o", "far.ld", "-o", "app"], more].concat();
            // A temporary folder that is no word of -Wl.
            let temporary = workshop.path("t,m p");
            fs::create_dir_all(&temporary).unwrap();
            let mut driver = workshop.command("gcc");
            driver.arg("-B").arg(workshop.path(format!("shim-{linker}"))).args(&words);
            let mut itself = workshop.command(workshop.path(format!("shim-{linker}/cc")));
            itself.env("BBPROF_REAL_CC", CLANG).arg("-fuse-ld=".to_owned() + linker).args(&words);
            for command in [&mut driver, &mut itself] {
                assert_eq!(num_links(&workshop, command.env("TMPDIR", &temporary)), 2, "{command:?}");
                let counted = workshop.counted("app");
                assert_eq!(counted.modules(), found, "{command:?}");
                assert_eq!(counted.array(b.id()), [2], "{command:?}");
                assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0, "{command:?}");
            }
        }
        let listing = fs::read_to_string(workshop.path("app.d")).unwrap();
        assert!(listing.contains("libfar.a") && !listing.contains("bbprof-link"), "{listing}");
    }
}

/// `far.ld` names a library by a way that only linkers read, so that the link is done twice.
fn far(workshop: &Workshop) {
    fs::create_dir(workshop.path("far")).unwrap();
    workshop.run("mv libabc.a far/libfar.a");
    fs::write(workshop.path("far.ld"), "SEARCH_DIR(far) INPUT(-lfar)").unwrap();
    workshop.object(&TestModule::new("main2", Storage::Tls, &["main2"]));
}

#[test]
fn warnings_of_a_link_that_is_done_twice_come_once() {
    let (workshop, [_, b, _]) = workshop();
    far(&workshop);
    let said = |output: Output| String::from_utf8(output.stderr).unwrap();
    let mut link = workshop.clang("bfd", "main.o main2.o far.ld -Wl,-z,nonsense -o app");
    let warned = said(successful(&mut link));
    assert_eq!(num_links(&workshop, &mut link), 2);
    assert_eq!(warned.matches("-z nonsense ignored").count(), 1, "{warned}");
    assert_eq!(workshop.counted("app").array(b.id()), [2]);
    // Why the second fails is said.
    let wrapper = workshop.path("wrapper");
    fs::write(&wrapper, "#!/bin/sh\n[ -e first ] && echo no more >&2 && exit 9\n>first\nexec ld.bfd \"$@\"\n").unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let failed = link.env("BBPROF_REAL_LD", &wrapper).output().unwrap();
    assert!(!failed.status.success() && said(failed).contains("no more"));
}

/// Whatever the linker makes of a signal, it is not for a second link.
#[test]
fn interrupted_before_the_second_link() {
    let (workshop, _) = workshop();
    far(&workshop);
    let wrapper = workshop.path("wrapper");
    let text = "#!/bin/sh\n[ -e got ] && >twice\ntrap '>got' TERM\nkill -TERM $PPID\nuntil [ -e got ]; do :; done\nld.bfd \"$@\"\n";
    fs::write(&wrapper, text).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let mut link = workshop.clang("bfd", "main.o main2.o far.ld -o app");
    let ended = link.env("BBPROF_REAL_LD", &wrapper).output().unwrap();
    assert!(!ended.status.success() && workshop.path("got").exists());
    assert!(!workshop.path("twice").exists() && !workshop.path("app").exists());
}

#[test]
fn pipes_in_a_link_that_is_done_twice() {
    let (workshop, [_, b, _]) = workshop();
    far(&workshop);
    let exported = "SECRET { global: main; local: *; };";
    for linker in ["bfd", "lld"] {
        for link in [
            format!("env BBPROF_REAL_CC={CLANG} shim-{linker}/cc -fuse-ld={linker} -Wl,--version-script=<(echo '{exported}')"),
            format!("gcc -B shim-{linker} -Wl,--version-script,/dev/stdin"),
        ] {
            let text = format!("echo '{exported}' | {link} -rdynamic main.o main2.o far.ld -o app");
            assert_eq!(num_links(&workshop, workshop.command("bash").args(["-c", &text])), 2, "{text}");
            assert_eq!(workshop.counted("app").array(b.id()), [2], "{text}");
            let symbols = String::from_utf8(workshop.run("nm -D app").stdout).unwrap();
            assert!(symbols.contains("main@@SECRET"), "{text}: {symbols}");
        }
    }
    // A name gives no way to put it back.
    workshop.run("mkfifo named");
    let text = format!(
        "echo '{exported}' >named & exec timeout 60 gcc -B shim-bfd -Wl,--version-script=named main.o main2.o far.ld -o app"
    );
    let refused = workshop.command("bash").args(["-c", &text]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("named: is a pipe"), "{said}");
    assert!(!workshop.path("app").exists());
}

/// A script in front of the linker gives it another copy of an object each time, whether the command names it or not.
#[test]
fn modules_that_are_linked_already_are_not_linked_again() {
    let (workshop, [_, b, _]) = workshop();
    let wrapper = workshop.path("wrapper");
    let text = r#"#!/bin/sh
echo >> calls
[ $(wc -l < calls) -lt 9 ] || exit 9
for word; do shift; [ "$word" = b.o ] || set -- "$@" "$word"; done
copy=$(mktemp ./XXXXXX.o)
cp b.o $copy
exec ld.bfd "$@" $copy
"#;
    fs::write(&wrapper, text).unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    for (arguments, links) in [("main.o a.o b.o c.o -o app", 1), ("main.o a.o c.o -o app", 2)] {
        let mut command = workshop.clang("bfd", arguments);
        assert_eq!(num_links(&workshop, command.env("BBPROF_REAL_LD", &wrapper)), links, "{arguments}");
        assert_eq!(workshop.counted("app").array(b.id()), [2], "{arguments}");
        fs::remove_file(workshop.path("calls")).unwrap();
    }
}

#[test]
fn files_that_the_linker_takes_others_for_are_not_in_the_program() {
    let (workshop, [a, _, c]) = workshop();
    fs::create_dir(workshop.path("far")).unwrap();
    fs::rename(workshop.path("c.o"), workshop.path("far/c.o")).unwrap();
    fs::copy(workshop.path("a.o"), workshop.path("c.o")).unwrap();
    fs::write(workshop.path("far/c.ld"), "INPUT(c.o)").unwrap();
    for words in [
        "far/c.ld",
        "-Wl,--remap-inputs=c.o=far/c.o c.o",
        "-Wl,--whole-archive,--remap-inputs=libc_.a=far/c.o libc_.a -Wl,--no-whole-archive",
    ] {
        workshop.run("ar rcs libc_.a a.o");
        successful(&mut workshop.clang("lld", &format!("main.o b.o {words} -o app")));
        let counted = workshop.counted("app");
        let kept: Vec<_> = counted.ids().into_iter().zip(counted.modules()).map(|(id, (_, kept))| (id, kept)).collect();
        assert_eq!(kept[1..], [(a.id(), false), (c.id(), true)], "{words}");
    }
}

/// A script in front of the linker has it look elsewhere first.
#[test]
fn whole_archives_of_another_folder_than_seen() {
    let (workshop, [a, b, c]) = workshop();
    fs::create_dir(workshop.path("far")).unwrap();
    workshop.run("ar rcs far/libdir.a b.o c.o");
    let wrapper = workshop.path("wrapper");
    fs::write(&wrapper, "#!/bin/sh\nexec ld.bfd -Lfar \"$@\"\n").unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();
    let mut link = workshop.clang("bfd", "main.o -Llib -Wl,--whole-archive -ldir -Wl,--no-whole-archive -o app");
    successful(link.env("BBPROF_REAL_LD", &wrapper));
    let counted = workshop.counted("app");
    let kept: Vec<_> = counted.ids().into_iter().zip(counted.modules()).map(|(id, (_, kept))| (id, kept)).collect();
    assert_eq!(kept, [(a.id(), false), (b.id(), true), (c.id(), true)]);
}

#[test]
fn inputs_that_only_the_linker_finds_are_refused_as_others() {
    let (workshop, [a, ..]) = workshop();
    workshop.object_with_manifest(&a, &a.manifest()[..64], &[]);
    fs::create_dir(workshop.path("far")).unwrap();
    workshop.run("ar rcs far/libfar.a a.o");
    fs::write(workshop.path("far.ld"), "SEARCH_DIR(far) INPUT(-lfar)").unwrap();
    let output = workshop.clang("bfd", "main.o b.o far.ld -o app").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("libfar.a(a.o): "), "{said}");
    assert!(!workshop.path("app").exists(), "a program with uncounted code stays");
}
