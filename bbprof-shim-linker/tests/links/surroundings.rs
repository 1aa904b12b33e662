//! The shim among its neighbours: exit codes, wrong inputs, saved links, dependency files, finding the real linker.

use crate::support::module::TestModule;
use crate::support::{CLANG, LINKERS, Workshop, successful};
use bbprof_format::bitcode::PLUGIN_MARK;
use bbprof_format::manifest::Storage;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;

fn workshop() -> (Workshop, TestModule) {
    let workshop = Workshop::new();
    let a = TestModule::new("a", Storage::Tls, &["a1"]);
    workshop.object(&a);
    workshop.plain("main.o", "void a1(void); int main(void) { a1(); return 0; }");
    (workshop, a)
}

fn refused(workshop: &Workshop, arguments: &[&str]) -> String {
    let output = workshop.command(workshop.path("shim-bfd/ld")).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn script(workshop: &Workshop, name: &str, text: &str) -> std::path::PathBuf {
    let path = workshop.path(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[test]
fn damaged_and_newer_manifests_are_named() {
    let (workshop, a) = workshop();
    let good = a.manifest();
    let changed = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    for (manifest, expected) in [
        (changed(70), "is damaged: checksum"),
        (changed(8), "has format version"),
        (changed(0), "not a bbprof manifest"),
        (good[..good.len() - 8].to_vec(), "is truncated"),
    ] {
        workshop.object_with_manifest(&a, &manifest, &[]);
        let said = refused(&workshop, &["main.o", "a.o"]);
        assert!(said.contains("a.o: ") && said.contains(expected) && said.contains("recompile"), "{said}");
        workshop.run("rm -f libw.a");
        workshop.run("ar rc libw.a main.o a.o");
        let said = refused(&workshop, &["main.o", "-L.", "-lw"]);
        assert!(said.contains("libw.a(a.o): ") && said.contains(expected), "{said}");
    }
}

/// Linkers with an index find what lies behind the damage.
#[test]
fn damaged_archives_are_named() {
    let (workshop, _) = workshop();
    workshop.plain("b.o", "void b1(void) {}");
    workshop.run("ar rcs libw.a b.o main.o a.o");
    let good = fs::read(workshop.path("libw.a")).unwrap();
    let header = |name: &[u8]| good.windows(name.len()).position(|bytes| bytes == name).unwrap();
    let (first, second) = (header(b"b.o/ "), header(b"main.o/ "));
    for (at, wrong, place) in
        [(first + 58, "?", "its beginning"), (first + 48, "99999", "member 1"), (second + 58, "?", "member 2")]
    {
        let mut bytes = good.clone();
        bytes[at..at + wrong.len()].copy_from_slice(wrong.as_bytes());
        fs::write(workshop.path("libw.a"), bytes).unwrap();
        let said = refused(&workshop, &["main.o", "libw.a", "-o", "app"]);
        assert!(said.contains(&format!("libw.a: the archive is damaged: {place}: ")) && said.contains("make it again"), "{said}");
    }
    // What no symbol leads to is read by nobody.
    fs::write(workshop.path("libw.a"), [&good[..], &[0; 100]].concat()).unwrap();
    successful(&mut workshop.clang("bfd", "main.o -L. -lw -o app"));
}

#[test]
fn foreign_machines_are_named() {
    let (workshop, a) = workshop();
    for (target, expected) in [("--target=aarch64-linux-gnu", "a.o: instrumented for"), ("--target=i686-linux-gnu", "32-bit code")]
    {
        let ir = a.ir(&a.manifest()).replace("x86_64-unknown-linux-gnu", &target["--target=".len()..]);
        fs::write(workshop.path("foreign.ll"), ir).unwrap();
        successful(workshop.command(CLANG).args([target, "-Wno-override-module", "-c", "foreign.ll", "-o", "a.o"]));
        let said = refused(&workshop, &["main.o", "a.o"]);
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn the_linkers_end_is_the_shims() {
    let (workshop, _) = workshop();
    let run = |text: &str| -> Output {
        let linker = script(&workshop, "fake", text);
        workshop
            .command(workshop.path("shim-bfd/ld"))
            .env("BBPROF_REAL_LD", linker)
            .args(["main.o", "a.o", "-o", "app"])
            .output()
            .unwrap()
    };
    fs::write(workshop.path("app.bbmap"), b"BBPROFMP of an earlier link").unwrap();
    assert_eq!(run("exit 7").status.code(), Some(7));
    assert!(!workshop.path("app.bbmap").exists(), "a map without its program");
    assert_eq!(run("kill -SEGV $$").status.signal(), Some(11));
    assert_eq!(run("kill -TERM $$").status.signal(), Some(15));
    assert_eq!(run("exit 0").status.code(), Some(0));
    assert!(!workshop.path("app.bbmap").exists(), "no output, no map");
    assert_eq!(fs::read_dir(workshop.temporary()).unwrap().count(), 0, "temporary files stay");
}

/// As the linker would have ended without the shim, and nothing stays.
#[test]
fn interrupted_links() {
    let (workshop, _) = workshop();
    let run = |text: &str| {
        let linker = script(&workshop, "fake", text);
        // Whatever the tests themselves were told to ignore.
        let mut command = workshop.command("env");
        command.arg("--default-signal").arg(workshop.path("shim-bfd/ld")).env("BBPROF_REAL_LD", linker);
        let status = command.args(["main.o", "a.o", "-o", "app"]).output().unwrap().status;
        assert_eq!(fs::read_dir(workshop.temporary()).unwrap().count(), 0, "{text}: temporary files stay");
        status
    };
    for (name, signal) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)] {
        let status = run(&format!("echo $$ > pid; kill -{name} $PPID; exec sleep 20"));
        assert_eq!(status.signal(), Some(signal), "{status}");
        let linker = fs::read_to_string(workshop.path("pid")).unwrap();
        assert!(!Path::new("/proc").join(linker.trim()).exists(), "{name}: the linker goes on");
    }
    let handled = "trap 'kill $!; exit 7' TERM; sleep 20 & kill -TERM $PPID; wait";
    assert_eq!(run(handled).code(), Some(7));
    let linker = script(&workshop, "fake", "kill -TERM $PPID; exit 9");
    let mut deaf = workshop.command("env");
    deaf.arg("--ignore-signal=TERM").arg(workshop.path("shim-bfd/ld")).env("BBPROF_REAL_LD", linker);
    assert_eq!(deaf.args(["main.o", "a.o"]).output().unwrap().status.code(), Some(9));
}

/// Neither while bitcode becomes native code, nor behind that, where the native objects are there until the end.
#[test]
fn interrupted_link_time_optimisation() {
    let (workshop, _) = workshop();
    let plugin = workshop.path("plugin.so");
    fs::write(&plugin, "").unwrap();
    let mark = format!("{PLUGIN_MARK}{}\n", plugin.display());
    fs::write(workshop.path("b.o"), [b"BC\xc0\xde".as_slice(), mark.as_bytes()].concat()).unwrap();
    let interrupt = "kill -TERM $PPID; exec sleep 20";
    for (optimizes, links) in [(interrupt, "exit 1"), ("exit 0", interrupt)] {
        let linker = script(&workshop, "fake-lld", &format!("case \"$*\" in *--lto-obj-path=*) {optimizes};; *) {links};; esac"));
        for product in ["-pie", "-r"] {
            let mut command = workshop.command("env");
            command.arg("--default-signal").arg(workshop.path("shim-bfd/ld")).env("BBPROF_REAL_LD", &linker);
            let status = command.args([product, "main.o", "a.o", "b.o", "-o", "app"]).output().unwrap().status;
            assert_eq!(status.signal(), Some(15), "{optimizes} {links} {product}: {status}");
            assert_eq!(
                fs::read_dir(workshop.temporary()).unwrap().count(),
                0,
                "{optimizes} {links} {product}: temporary files stay"
            );
        }
    }
}

/// Its own dependency file is a pipe that nobody reads.
#[test]
fn interrupted_behind_the_link() {
    let workshop = Workshop::new();
    workshop.object(&TestModule::new("l", Storage::Shared, &["l1"]));
    workshop.run("mkfifo deps");
    let text = "shim-bfd/ld -shared l.o --dependency-file=deps -o libl.so & link=$!
        until [ -e libl.so.bbmap ]; do kill -0 $link || exit 1; done
        kill -TERM $link; wait $link; exit $?";
    let ended = workshop.command("timeout").args(["-s", "KILL", "60", "bash", "-c", text]).output().unwrap();
    assert_eq!(ended.status.code(), Some(128 + 15), "{}", String::from_utf8_lossy(&ended.stderr));
    assert_eq!(fs::read_dir(workshop.temporary()).unwrap().count(), 0);
}

/// gcc and these linkers leave the earlier program alone when they fail.
#[test]
fn maps_stay_with_programs_that_stay() {
    let (workshop, a) = workshop();
    workshop.plain("lacking.o", "void a1(void), c1(void); int main(void) { a1(); c1(); return 0; }");
    for linker in ["lld", "mold"] {
        let link = |object: &str| {
            let mut driver = workshop.command("gcc");
            driver.arg("-B").arg(workshop.path(format!("shim-{linker}"))).args([object, "a.o", "-o", "app"]).output().unwrap()
        };
        assert!(link("main.o").status.success());
        assert!(!link("lacking.o").status.success());
        assert_eq!(workshop.counted("app").array(a.id()), [1], "{linker}");
    }
}

#[test]
fn arguments_go_through_untouched_between_what_is_added() {
    let (workshop, _) = workshop();
    let linker = script(&workshop, "fake", "printf '%s\\n' \"$@\" > arguments");
    let arguments = ["-o", "app", "--defsym", "x= 'y' ", "main.o", "a.o", "-lc", "@nothing"];
    successful(workshop.command(workshop.path("shim-bfd/ld")).env("BBPROF_REAL_LD", &linker).args(arguments));
    let passed = fs::read_to_string(workshop.path("arguments")).unwrap();
    let passed: Vec<&str> = passed.lines().collect();
    let ours: Vec<&str> =
        passed.iter().take_while(|word| word.contains("/bbprof-link-")).map(|word| word.rsplit('/').next().unwrap()).collect();
    assert_eq!(
        ours,
        ["bbprof.o", "interpose_dynamic.o", "interpose_dynamic_ends.o", "interpose_dynamic_leaving.o", "libbbprof_rt_exec.a"]
    );
    // The last word on where the linker lists what it reads is the shim's.
    let (listing, passed) = passed.split_last().unwrap();
    assert!(listing.starts_with("--dependency-file=/") && listing.contains("/bbprof-link-"), "{listing}");
    assert_eq!(passed[passed.len() - arguments.len()..], arguments);
    // Not a link, or nothing to do: nothing is added.
    for arguments in [&["--version"][..], &["-r", "main.o", "a.o"], &["main.o"]] {
        successful(workshop.command(workshop.path("shim-bfd/ld")).env("BBPROF_REAL_LD", &linker).args(arguments));
        assert_eq!(fs::read_to_string(workshop.path("arguments")).unwrap().lines().collect::<Vec<_>>(), arguments);
    }
    successful(workshop.command(workshop.path("shim-bfd/cc")).env("BBPROF_REAL_CC", &linker).args(["-c", "a.o"]));
    assert_eq!(fs::read_to_string(workshop.path("arguments")).unwrap(), "-c\na.o\n");
}

#[test]
fn finding_the_real_linker() {
    let (workshop, _) = workshop();
    let run = |shim: &str, path: &str| {
        let mut command = workshop.command(workshop.path(shim));
        command.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap())).arg("--version");
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
    };
    assert!(run("shim-gold/ld", "").1.contains("GNU gold"));
    assert!(run("shim-mold/ld", "").1.contains("mold"));
    // By its own name in PATH, the shim's folder being in PATH, too.
    let folder = workshop.path("in-path");
    fs::create_dir(&folder).unwrap();
    for name in ["ld.gold", "ld", "mold"] {
        symlink(env!("CARGO_BIN_EXE_bbprof-shim-linker"), folder.join(name)).unwrap();
    }
    let path = folder.to_string_lossy().into_owned();
    let (_, said) = run("in-path/ld.gold", &path);
    assert!(said.contains("GNU gold"), "{said}");
    assert!(run("in-path/mold", &path).1.contains("mold"));
    assert!(run("in-path/ld", &path).1.contains("GNU ld"));
    // A file for one name wins over the one for all.
    fs::write(folder.join("real-ld"), "mold").unwrap();
    fs::write(folder.join("real-ld.gold"), "ld.gold").unwrap();
    assert!(run("in-path/ld.gold", &path).1.contains("GNU gold"));
    assert!(run("in-path/ld", &path).1.contains("mold"));
    // Itself, and nothing.
    fs::write(folder.join("real-ld"), folder.join("mold").to_str().unwrap()).unwrap();
    let (code, said) = run("in-path/ld", &path);
    assert!(code == Some(2) && said.contains("is the shim itself"), "{said}");
    fs::write(folder.join("real-ld"), "no-such-linker").unwrap();
    let (code, said) = run("in-path/ld", &path);
    assert!(code == Some(2) && said.contains("no-such-linker cannot be run"), "{said}");
    // A wrapper that leads back.
    let wrapper = script(&workshop, "wrapper", &format!("exec {}/in-path/ld \"$@\"", workshop.path("").display()));
    fs::write(folder.join("real-ld"), wrapper.to_str().unwrap()).unwrap();
    let (code, said) = run("in-path/ld", &path);
    assert!(code == Some(2) && said.contains("calls the shim again"), "{said}");
}

#[test]
fn maps_are_found_by_build_id() {
    let (workshop, _) = workshop();
    successful(&mut workshop.clang("bfd", "main.o a.o -o app"));
    let id = workshop.map("app").build_id;
    let link = workshop.path(format!("cache/bbprof/maps/{id}.bbmap"));
    assert_eq!(fs::read_link(&link).unwrap(), fs::canonicalize(workshop.path("app.bbmap")).unwrap());
    // Again, and where no cache can be.
    successful(&mut workshop.clang("bfd", "main.o a.o -o app"));
    successful(workshop.clang("bfd", "main.o a.o -o app").env("XDG_CACHE_HOME", "/proc/none"));
    successful(&mut workshop.clang("bfd", "main.o a.o -o /dev/null"));
}

#[test]
fn other_files_in_the_place_of_a_map_are_kept() {
    let (workshop, a) = workshop();
    fs::write(workshop.path("app.bbmap"), "the user's own").unwrap();
    let said = refused(&workshop, &["main.o", "a.o", "-o", "app"]);
    assert!(said.contains("app.bbmap: ") && said.contains("not a build map") && said.contains("move it"), "{said}");
    assert_eq!(fs::read_to_string(workshop.path("app.bbmap")).unwrap(), "the user's own");
    assert!(!workshop.path("app").exists());
    // Nothing is lost with an empty one.
    fs::write(workshop.path("app.bbmap"), "").unwrap();
    successful(&mut workshop.clang("bfd", "main.o a.o -o app"));
    assert_eq!(workshop.counted("app").array(a.id()), [1]);
}

/// Who asks for a copy has no other, when the build's own folder goes; and it is for all that the umask lets read.
#[test]
fn copies_of_maps() {
    let (workshop, _) = workshop();
    let link = |folder: &str| {
        let mut command = workshop.clang("bfd", "main.o a.o -o app");
        command.env("BBPROF_KEEP_MAPS", folder).output().unwrap()
    };
    assert!(link("kept/maps").status.success());
    let kept: Vec<_> = fs::read_dir(workshop.path("kept/maps")).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(fs::read(kept[0].path()).unwrap(), fs::read(workshop.path("app.bbmap")).unwrap());
    let mode = kept[0].metadata().unwrap().permissions().mode();
    assert_eq!(mode, fs::metadata(workshop.path("app.bbmap")).unwrap().permissions().mode());
    let refused = link("main.o");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("BBPROF_KEEP_MAPS: main.o/"), "{said}");
    assert!(!workshop.path("app").exists());
}

#[test]
fn dependency_files_name_no_temporary_file() {
    let (workshop, _) = workshop();
    for linker in ["bfd", "lld"] {
        successful(&mut workshop.clang(linker, "main.o a.o -o app -Wl,--dependency-file=app.d"));
        let listing = fs::read_to_string(workshop.path("app.d")).unwrap();
        assert!(!listing.contains("bbprof-link") && listing.contains("a.o"), "{listing}");
        fs::write(workshop.path("Makefile"), "include app.d\n").unwrap();
        successful(workshop.command("make").args(["-q", "app"]));
    }
}

/// Names need not be text, and the folder for temporary files has many.
#[test]
fn dependency_files_by_any_name() {
    let (workshop, _) = workshop();
    let object = OsStr::from_bytes(b"\xe9.o");
    fs::rename(workshop.path("a.o"), workshop.path(object)).unwrap();
    let odd = workshop.temporary().join(OsStr::from_bytes(b"t \xe9"));
    fs::create_dir(&odd).unwrap();
    symlink(&odd, workshop.path("link")).unwrap();
    let named = |end: &str| workshop.path("tmp").into_os_string().into_string().unwrap() + end;
    for linker in ["bfd", "lld", "mold"] {
        for temporary in [
            named("").into(),
            named("//").into(),
            named("/.").into(),
            named("/../tmp").into(),
            odd.clone().into_os_string(),
            workshop.path("link").into(),
        ] {
            let mut command = workshop.clang(linker, "main.o -o app -Wl,--dependency-file=app.d");
            successful(command.arg(object).env("TMPDIR", &temporary));
            let listing = fs::read(workshop.path("app.d")).unwrap();
            let lists = |part: &[u8]| listing.windows(part.len()).any(|bytes| bytes == part);
            assert!(lists(b"\xe9.o:") && !lists(b"bbprof-link"), "{linker} {temporary:?}: {}", listing.escape_ascii());
        }
    }
}

/// The shim reads a list of its own: what the user's goes to gives nothing back.
#[test]
fn dependency_files_that_cannot_be_read() {
    let (workshop, a) = workshop();
    fs::create_dir(workshop.path("far")).unwrap();
    workshop.run("mv a.o far/a.o");
    fs::write(workshop.path("far.ld"), "SEARCH_DIR(far) INPUT(-l:a.o)").unwrap();
    workshop.object(&TestModule::new("b", Storage::Tls, &["b1"]));
    for linker in ["bfd", "lld"] {
        let link = |listing: &str| {
            let words = format!("main.o b.o far.ld -o app -Wl,--dependency-file=first.d,--dependency-file={listing}");
            successful(&mut workshop.clang(linker, &words))
        };
        link("/dev/null");
        assert_eq!(workshop.counted("app").array(a.id()), [1], "{linker}");
        let printed = String::from_utf8(link("/dev/stdout").stdout).unwrap();
        assert!(printed.contains("far/a.o:") && !printed.contains("bbprof-link"), "{printed}");
        assert!(!workshop.path("first.d").exists(), "the last one counts");
    }
}

/// The last option counts with every linker.
#[test]
fn dependency_files_of_every_linker_and_driver() {
    let (workshop, _) = workshop();
    for (linker, _) in LINKERS {
        let mut driver = workshop.command("gcc");
        driver.arg("-B").arg(workshop.path(format!("shim-{linker}")));
        let mut itself = workshop.command(workshop.path(format!("shim-{linker}/cc")));
        itself.env("BBPROF_REAL_CC", CLANG).arg("-fuse-ld=".to_owned() + linker);
        fs::write(workshop.path("options"), "--dependency-file app.d").unwrap();
        for mut command in [workshop.clang(linker, ""), driver, itself] {
            successful(command.args(["main.o", "a.o", "-o", "app", "-Wl,--dependency-file,first.d", "-Wl,@options"]));
            let listing = fs::read_to_string(workshop.path("app.d")).unwrap();
            assert!(listing.contains("a.o:") && !listing.contains("bbprof-link"), "{command:?}: {listing}");
            fs::remove_file(workshop.path("app.d")).unwrap();
            assert!(!workshop.path("first.d").exists(), "{command:?}");
        }
    }
}

#[test]
fn dependency_files_of_links_that_fail() {
    let (workshop, _) = workshop();
    let fail = |linker: &str, listing: &str| {
        let mut command = workshop.clang(linker, &format!("main.o a.o -o app {listing}"));
        let output = command.output().unwrap();
        assert!(!output.status.success(), "{linker}");
        String::from_utf8(output.stderr).unwrap()
    };
    workshop.plain("main.o", "void a1(void), c1(void); int main(void) { a1(); c1(); return 0; }");
    for linker in ["bfd", "lld"] {
        fail(linker, "-Wl,--dependency-file=app.d");
        let listing = fs::read_to_string(workshop.path("app.d")).unwrap();
        assert!(listing.contains("a.o") && !listing.contains("bbprof-link"), "{listing}");
        fs::remove_file(workshop.path("app.d")).unwrap();
    }
    workshop.plain("main.o", "void a1(void); int main(void) { a1(); return 0; }");
    let said = fail("lld", "-Wl,--dependency-file=none/app.d");
    assert!(said.contains("none/app.d"), "{said}");
}

#[test]
fn saved_links_run_again_elsewhere() {
    let (workshop, a) = workshop();
    workshop.run("ar rcs liba.a a.o");
    fs::write(workshop.path("v.map"), "{ local: *; };").unwrap();
    for (linker, _) in LINKERS {
        let saved = workshop.path(format!("saved-{linker}"));
        let mut command = workshop.clang(linker, "main.o -L. -la -Wl,--version-script=v.map -Wl,-rpath,/x -o app");
        successful(command.env("BBPROF_SAVE_LINK", &saved));
        let original = fs::read(workshop.path("app")).unwrap();
        // Moved, and without what it was made from.
        let moved = workshop.path(format!("moved to {linker}"));
        fs::rename(saved.join("0001"), &moved).unwrap();
        fs::create_dir(workshop.path(format!("elsewhere-{linker}"))).unwrap();
        for name in ["liba.a", "main.o", "v.map"] {
            fs::rename(workshop.path(name), workshop.path(format!("{name}.away"))).unwrap();
        }
        successful(workshop.command(moved.join("run-with")).current_dir(workshop.path(format!("elsewhere-{linker}"))));
        let again = fs::read(workshop.path(format!("elsewhere-{linker}/app"))).unwrap();
        assert!(original == again, "{linker}: another program");
        for name in ["liba.a", "main.o", "v.map"] {
            fs::rename(workshop.path(format!("{name}.away")), workshop.path(name)).unwrap();
        }
    }
    // By a driver, numbered; and one that fails is there as well.
    let saved = workshop.path("saved");
    let cc = |arguments: &[&str]| {
        let mut command = workshop.command(workshop.path("shim-bfd/cc"));
        command.args(arguments).env("BBPROF_SAVE_LINK", &saved);
        command
    };
    successful(&mut cc(&["main.o", "a.o", "-o", "app"]));
    assert!(!cc(&["main.o", "-o", "app"]).output().unwrap().status.success());
    successful(workshop.command(saved.join("0001/run-with")).env("OUT", "app"));
    fs::copy(workshop.path("app"), workshop.path("again")).unwrap();
    successful(&mut cc(&["main.o", "a.o", "-o", "app"]));
    assert_eq!(workshop.counted("app").array(a.id()), [1]);
    assert!(fs::read(workshop.path("again")).unwrap() == fs::read(workshop.path("app")).unwrap());
    assert!(saved.join("0002/run-with").exists() && saved.join("0003/run-with").exists());
    assert!(!workshop.command(saved.join("0002/run-with")).output().unwrap().status.success());
}
