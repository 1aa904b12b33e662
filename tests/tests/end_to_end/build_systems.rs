//! Build systems, as their users drive them: each builds the parcel with counters, and the program counts exactly.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_tests::{Exported, Parcel, ProfiledRun, Run, Sandbox, tool};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The first line of a command's stdout.
fn line_of(run: Run) -> String {
    run.ok().text().lines().next().unwrap_or_default().to_owned()
}

fn path_in_front(folder: &Path) -> String {
    format!("{}:{}", folder.display(), std::env::var("PATH").expect("PATH"))
}

#[test]
fn make() {
    let parcel = Parcel::new("make");
    let compiler = format!("CC={} --bbprof-counters=check", tool("bbprof-cc").display());
    parcel.run("make").args(["-j2", &compiler]).ok();
    parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
    parcel.check(&parcel.source().join("parcel-archive"), None, &["parcel-archive"]);
}

#[test]
fn one_step_and_many() {
    let parcel = Parcel::new("steps");
    let cc = tool("bbprof-cc");
    parcel.run(&cc).args(["-O2", "main.c", "shelf.c", "-o", "one"]).ok();
    parcel.check(&parcel.source().join("one"), None, &["one"]);
    parcel.run(&cc).args(["-O2", "-c", "main.c"]).ok();
    parcel.run(&cc).args(["-O1", "-c", "shelf.c", "-o", "other-name.o", "-MMD"]).ok();
    parcel.run(&cc).args(["main.o", "other-name.o", "-o", "many"]).ok();
    parcel.check(&parcel.source().join("many"), None, &["many"]);
    // The assembler in between, and a file that only lies in a pipe.
    parcel.run(&cc).args(["-O2", "-S", "shelf.c"]).ok();
    parcel.run(&cc).args(["-c", "shelf.s", "-o", "assembled.o"]).ok();
    parcel.run(&cc).args(["main.o", "assembled.o", "-o", "assembled"]).ok();
    parcel.check(&parcel.source().join("assembled"), None, &["assembled"]);
    parcel.run(&cc).args(["-O2", "main.c", "shelf.c"]).ok();
    parcel.check(&parcel.source().join("a.out"), None, &["a.out"]);
}

#[test]
fn cmake_with_ninja() {
    let parcel = Parcel::new("cmake");
    let toolchain = line_of(Run::new(tool("bbprof")).arg("cmake-toolchain"));
    for (folder, shared, images) in
        [("static", "OFF", &["parcel", "plugin.so"][..]), ("shared", "ON", &["libshelf.so", "parcel", "plugin.so"])]
    {
        parcel
            .run("cmake")
            .args(["-G", "Ninja", "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_POSITION_INDEPENDENT_CODE=ON"])
            .arg(format!("-DCMAKE_TOOLCHAIN_FILE={toolchain}"))
            .arg(format!("-DBUILD_SHARED_LIBS={shared}"))
            .args(["-DCMAKE_C_FLAGS=--bbprof-counters=check", "-DCMAKE_INSTALL_PREFIX=/nowhere", "."])
            .ok();
        parcel.run("ninja").args(["-C", folder]).ok();
        let built = parcel.source().join(folder);
        parcel.check(&built.join("parcel"), Some(&built.join("plugin.so")), images);
        // Installed: CMake changes the run path in the copy, the build id stays.
        let root = parcel.sandbox.join(format!("root-{folder}"));
        parcel.run("ninja").args(["-C", folder, "install"]).env("DESTDIR", &root).ok();
        let libraries = root.join("nowhere/lib");
        let run = Run::new(root.join("nowhere/bin/parcel")).env("LD_LIBRARY_PATH", libraries);
        let run = ProfiledRun::by(run, &parcel.sandbox);
        assert_eq!(run.outcome.clone().expect_code(4).text(), Parcel::expected_output(false));
        run.check();
    }
}

/// What projects ask of CMake for link-time optimisation is there, and so are counters.
#[test]
fn cmake_with_link_time_optimisation() {
    let parcel = Parcel::new("cmake-lto");
    let toolchain = line_of(Run::new(tool("bbprof")).arg("cmake-toolchain"));
    let list = std::fs::read_to_string(parcel.source().join("CMakeLists.txt")).unwrap();
    let asks = "include(CheckIPOSupported)\ncheck_ipo_supported(LANGUAGES C)\nset(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\n";
    let project = "project(parcel C)\n";
    std::fs::write(parcel.source().join("CMakeLists.txt"), list.replace(project, &format!("{project}{asks}"))).unwrap();
    let cmake = parcel.run("cmake").args([
        "-G",
        "Ninja",
        "-B",
        "lto",
        "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_POSITION_INDEPENDENT_CODE=ON",
    ]);
    cmake.arg(format!("-DCMAKE_TOOLCHAIN_FILE={toolchain}")).args(["-DCMAKE_C_FLAGS=--bbprof-counters=check", "."]).ok();
    let said = parcel.run("ninja").args(["-C", "lto"]).ok().text();
    assert!(!said.contains("bbprof"), "{said}");
    let built = parcel.source().join("lto");
    let object = std::fs::read(built.join("CMakeFiles/parcel.dir/main.c.o")).unwrap();
    assert!(object.starts_with(b"BC"), "no bitcode");
    parcel.check(&built.join("parcel"), Some(&built.join("plugin.so")), &["parcel", "plugin.so"]);
}

#[test]
fn meson() {
    let parcel = Parcel::new("meson");
    let prefix = parcel.sandbox.join("prefix");
    parcel
        .run("meson")
        .args(["setup", "build", "--libdir", "lib", "--prefix"])
        .arg(&prefix)
        .env("CC", format!("{} --bbprof-counters=check", tool("bbprof-cc").display()))
        .ok();
    parcel.run("ninja").args(["-C", "build"]).ok();
    let build = parcel.source().join("build");
    parcel.check(&build.join("parcel"), Some(&build.join("plugin.so")), &["libshelf.so", "parcel", "plugin.so"]);
    parcel.run("ninja").args(["-C", "build", "install"]).ok();
    parcel.check(&prefix.join("bin/parcel"), Some(&build.join("plugin.so")), &["libshelf.so", "parcel", "plugin.so"]);
}

/// Debian's libtool, made for gcc, links libraries in its own way; programs run through its wrapper scripts.
#[test]
fn autotools_with_libtool() {
    let parcel = Parcel::new("autotools");
    let prefix = parcel.sandbox.join("prefix");
    parcel.run("autoreconf").args(["--install"]).ok();
    let build = parcel.sandbox.join("build");
    std::fs::create_dir(&build).unwrap();
    Run::new(parcel.source().join("configure"))
        .arg(format!("--prefix={}", prefix.display()))
        .arg(format!("CC={} --bbprof-counters=check", tool("bbprof-cc").display()))
        .in_folder(&build)
        .ok();
    Run::new("make").args(["-j2"]).in_folder(&build).ok();
    let images = ["libshelf.so.0", "parcel", "plugin.so"];
    let plugin = build.join(".libs/plugin.so");
    // The wrapper script, then what it starts.
    parcel.check(&build.join("parcel"), Some(&plugin), &images);
    Run::new("make").arg("install").in_folder(&build).ok();
    let installed_plugin = prefix.join("lib/parcel/plugin.so");
    parcel.check(&prefix.join("bin/parcel"), Some(&installed_plugin), &images);
    parcel.check(&prefix.join("bin/parcel-static"), None, &["parcel-static"]);
    // A stripped installation counts, and finds its maps, all the same.
    Run::new("make").arg("install-strip").in_folder(&build).ok();
    parcel.check(&prefix.join("bin/parcel"), Some(&installed_plugin), &images);
}

#[test]
fn ccache_twice() {
    let parcel = Parcel::new("ccache");
    let cache = parcel.sandbox.join("ccache");
    let ccache = |words: &[&str]| parcel.run("ccache").args(words).env("CCACHE_DIR", &cache).ok().text();
    let statistic = |name: &str| -> u64 {
        let all = ccache(&["--print-stats"]);
        let line = all.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name} in {all}"));
        line.trim().parse().unwrap()
    };
    let build = |options: &str| {
        let compiler = format!("CC=ccache {} {options}", tool("bbprof-cc").display());
        parcel.run("make").args(["clean"]).ok();
        parcel.run("make").args(["-j2", &compiler]).env("CCACHE_DIR", &cache).ok();
        parcel.check(&parcel.source().join("parcel"), None, &["parcel"])
    };
    build("");
    assert_eq!((statistic("direct_cache_hit"), statistic("cache_miss")), (0, 3));
    build("");
    assert_eq!((statistic("direct_cache_hit"), statistic("cache_miss")), (3, 3), "the second build is all hits");
    // Other counters are another compilation.
    let run = build("--bbprof-counters=check");
    assert_eq!((statistic("direct_cache_hit"), statistic("cache_miss")), (3, 6));
    let verdict = Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok().text();
    assert!(verdict.contains("exact"), "{verdict}");
}

/// What `eval "$(bbprof env --sh)"; COMMAND` does.
fn with_environment(folder: &Path, command: &str) {
    Run::new("sh")
        .args(["-ec", &format!("eval \"$(bbprof env --sh --counters check)\"\n{command}")])
        .env("PATH", path_in_front(tool("bbprof").parent().unwrap()))
        .in_folder(folder)
        .ok();
}

#[test]
fn environment_for_make() {
    let parcel = Parcel::new("env-make");
    with_environment(&parcel.source(), "make -j2");
    parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
    // A Makefile that names its compiler: the flags alone do it.
    with_environment(&parcel.source(), "make clean; make -j2 CC=clang-22");
    parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
}

/// Where a compiler works, `bbprof-cc` does.
#[test]
fn a_working_directory_that_was_removed() {
    let sandbox = Sandbox::new("removed");
    let source = sandbox.write("main.c", "int main(void) {\n  return 7;\n}\n");
    let program = sandbox.join("main");
    let command = "mkdir removed; cd removed; rmdir ../removed; exec \"$@\"";
    Run::new("sh")
        .args(["-ec", command, "sh"])
        .arg(tool("bbprof-cc"))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .in_folder(sandbox.path())
        .ok();
    let raw = sandbox.join("main.bbraw");
    Run::new(&program).env("BBPROF_OUT", &raw).outcome().expect_code(7);
    assert_eq!(Exported::of(&[raw]).entries("main"), Some(1));
}

/// A crate that nobody names.
#[test]
fn environment_for_rustc() {
    let sandbox = Sandbox::new("env-rustc");
    sandbox.write("main.rs", "fn main() {\n    std::process::exit(7);\n}\n");
    with_environment(sandbox.path(), "$RUSTC $RUSTFLAGS -O main.rs; BBPROF_OUT=main.bbraw ./main || test $? = 7");
    let exported = Exported::of(&[sandbox.join("main.bbraw")]);
    assert!(exported.is_exact());
    assert_eq!(exported.entries("main::main"), Some(1));
}

/// As by `cargo bbprof`: nothing would be counted.
#[test]
fn environment_for_cargo_with_options_that_are_refused() {
    let sandbox = Sandbox::new("env-refused");
    sandbox.write("Cargo.toml", "[package]\nname = \"empty\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    sandbox.write("src/main.rs", "fn main() {}");
    let build = |flag: &str| {
        let command = format!(
            "eval \"$(bbprof env --sh)\"; RUSTFLAGS=\"$RUSTFLAGS {flag}\" exec cargo build --target x86_64-unknown-linux-gnu"
        );
        Run::new("sh")
            .args(["-ec", &command])
            .env("PATH", path_in_front(tool("bbprof").parent().unwrap()))
            .in_folder(sandbox.path())
            .outcome()
    };
    for (flag, says) in [
        ("-Cno-prepopulate-passes", "-Cno-prepopulate-passes leaves out the passes"),
        ("-Clinker-plugin-lto", "-Clinker-plugin-lto leaves optimisation to the linker"),
    ] {
        let said = build(flag).expect_code(101).stderr;
        assert!(said.contains(says), "{flag}: {said}");
    }
    build("-Copt-level=1").expect_code(0);
}

/// make would take the parts of such a path for words of their own.
#[test]
fn environment_with_spaces_in_paths() {
    let sandbox = Sandbox::new("env spaces");
    let base = sandbox.join("ca che's");
    copy_plugins(&base);
    let refused = Run::new(tool("bbprof")).args(["env", "--sh"]).env("XDG_CACHE_HOME", &base).in_folder(sandbox.path()).outcome();
    let said = refused.expect_code(2).stderr;
    assert!(said.contains("rustc cannot load a plugin") && said.contains("make and other build systems cannot use"), "{said}");
}

/// What cargo hands on to rustc is text.
#[test]
fn a_cache_whose_path_is_no_text_is_refused_by_name() {
    let sandbox = Sandbox::new("cache-bytes");
    let base = sandbox.path().join(OsStr::from_bytes(b"jos\xe9"));
    copy_plugins(&base);
    std::fs::create_dir_all(sandbox.join("src")).unwrap();
    std::fs::write(sandbox.join("Cargo.toml"), "[package]\nname = \"empty\"\nversion = \"0.1.0\"\nedition = \"2024\"\n").unwrap();
    std::fs::write(sandbox.join("src/main.rs"), "fn main() {}").unwrap();
    let build =
        Run::new(tool("cargo-bbprof")).args(["bbprof", "build"]).env("XDG_CACHE_HOME", &base).in_folder(sandbox.path()).outcome();
    let said = build.expect_code(2).stderr;
    assert!(said.contains("bbprof.so: rustc cannot load a plugin from a path that is not UTF-8; set XDG_CACHE_HOME"), "{said}");
}

/// What bbprof-cc is asked to do holds there, too, and paths are printed byte by byte; what needs text is refused.
#[test]
fn compilers_with_a_cache_whose_path_is_no_text() {
    let sandbox = Sandbox::new("cc-bytes");
    let base = sandbox.path().join(OsStr::from_bytes(b"jos\xe9"));
    copy_plugins(&base);
    let source = sandbox.write("a.c", "int hidden(int n) { return n; }\nint main(int n, char **words) { return hidden(n) - 1; }\n");
    let (program, raw) = (sandbox.join("a"), sandbox.join("a.bbraw"));
    let in_cache = |name: &str| Run::new(tool(name)).env("XDG_CACHE_HOME", &base).in_folder(sandbox.path());
    in_cache("bbprof-cc").args(["-O0", "--bbprof-exclude-fn=^hidden$", "-o"]).args([&program, &source]).ok();
    Run::new(&program).env("BBPROF_OUT", &raw).ok();
    assert_eq!(Exported::of(std::slice::from_ref(&raw)).entries("hidden"), None);
    let printed = in_cache("bbprof").arg("cmake-toolchain").ok().stdout;
    let file = Path::new(OsStr::from_bytes(printed.trim_ascii_end()));
    assert!(file.is_file(), "{}", file.display());
    let said = in_cache("bbprof").args(["env", "--sh"]).outcome().expect_code(2).stderr;
    assert!(said.contains("make and other build systems cannot use a path that is not UTF-8"), "{said}");
    let said = in_cache("bbprof-cc").args(["-c", "a.c", &format!("--bbprof-weights={}", raw.display())]).outcome().expect_code(2);
    assert!(said.stderr.contains("the plugin reads this path as a line of UTF-8; set XDG_CACHE_HOME"), "{}", said.stderr);
}

/// rustc gets it through the cache; make and others would get it itself.
#[test]
fn an_installation_whose_path_is_no_text() {
    let sandbox = Sandbox::new("root-bytes");
    let root = sandbox.path().join(OsStr::from_bytes(b"jos\xe9"));
    std::os::unix::fs::symlink(std::env::var_os("BBPROF_ROOT").unwrap(), &root).unwrap();
    let run = Run::new(tool("bbprof")).args(["env", "--sh"]).env("BBPROF_ROOT", &root).in_folder(sandbox.path()).ok();
    assert!(run.stderr.contains("C and C++ are not instrumented") && run.stderr.contains("that is not UTF-8"), "{}", run.stderr);
    assert!(run.text().contains("RUSTFLAGS='-Zllvm-plugins="), "{}", run.text());
    std::fs::create_dir_all(sandbox.join("src")).unwrap();
    std::fs::write(sandbox.join("Cargo.toml"), "[package]\nname = \"empty\"\nversion = \"0.1.0\"\nedition = \"2024\"\n").unwrap();
    std::fs::write(sandbox.join("src/main.rs"), "fn main() {}").unwrap();
    let run = Run::new(tool("cargo-bbprof")).args(["bbprof", "run"]).env("BBPROF_ROOT", &root).in_folder(sandbox.path()).ok();
    assert!(run.stderr.contains("counts            exact"), "{}", run.stderr);
}

/// Where the cache would be depends on where one is, so there is none.
#[test]
fn a_home_that_is_no_absolute_path() {
    let sandbox = Sandbox::new("home");
    sandbox.write("a.c", "int one(void) { return 1; }\n");
    for cache in ["", "near"] {
        let compile = Run::new(tool("bbprof-cc")).args(["-c", "a.c"]).in_folder(sandbox.path());
        let said = compile.env("HOME", "at/home").env("XDG_CACHE_HOME", cache).outcome().expect_code(2).stderr;
        assert!(said.contains("HOME is at/home, no absolute path; set XDG_CACHE_HOME to the absolute path of a folder"), "{said}");
    }
}

/// They would be lost without a word.
#[test]
fn environment_with_flags_that_are_no_text() {
    let sandbox = Sandbox::new("env-bytes");
    let flags = OsStr::from_bytes(b"-O2 -I/srv/jos\xe9");
    let run = Run::new(tool("bbprof")).args(["env", "--sh"]).env("CFLAGS", flags).in_folder(sandbox.path()).ok();
    assert!(run.stderr.contains("C and C++ are not instrumented: CFLAGS is not UTF-8"), "{}", run.stderr);
    assert!(!run.text().contains("CFLAGS") && !run.text().contains("CC="), "{}", run.text());
}

/// Puts the plugins that are compiled already into another cache; those that tests need are, if need be.
fn copy_plugins(base: &Path) {
    Run::new(tool("bbprof")).args(["env", "--sh"]).env("BBPROF_CC", "clang-22").ok();
    let usual =
        std::env::var_os("XDG_CACHE_HOME").map_or_else(|| Path::new(&std::env::var("HOME").unwrap()).join(".cache"), PathBuf::from);
    let cache = base.join("bbprof");
    std::fs::create_dir_all(&cache).unwrap();
    Run::new("cp").arg("-r").args([usual.join("bbprof/plugin"), cache]).ok();
}

/// Whichever linker `-fuse-ld` asks for.
#[test]
fn environment_for_other_linkers() {
    for linker in ["bfd", "gold", "lld", "mold"] {
        let parcel = Parcel::new("env-linker");
        with_environment(&parcel.source(), &format!("make -j2 CC=clang-22 \"LDFLAGS=$LDFLAGS -fuse-ld={linker}\""));
        parcel.check(&parcel.source().join("parcel"), None, &["parcel"]);
    }
}

#[test]
fn environment_for_doctests() {
    let sandbox = Sandbox::new("env-doctests");
    sandbox.write("Cargo.toml", "[package]\nname = \"tested\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n");
    sandbox.write(
        "src/lib.rs",
        "/// ```\n/// assert_eq!(tested::square(3), 9);\n/// ```\npub fn square(n: u32) -> u32 {\n    n * n\n}\n\n\
         #[test]\nfn two() {\n    assert_eq!(square(2), 4);\n}\n",
    );
    std::fs::create_dir(sandbox.join("raw")).unwrap();
    with_environment(sandbox.path(), "BBPROF_OUT=$PWD/raw/%p.bbraw cargo test --quiet --target \"$(rustc --print host-tuple)\"");
    let profiles = sandbox.raw_profiles("raw");
    assert_eq!(profiles.len(), 2);
    Run::new(tool("bbprof")).arg("verify").args(&profiles).ok();
    assert_eq!(Exported::of(&profiles).entries("tested::square"), Some(2));
}

#[test]
fn environment_for_cargo() {
    let sandbox = Sandbox::new("env-cargo");
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"plain\"\nversion = \"0.1.0\"\nedition = \"2021\"\nbuild = \"build.rs\"\n[workspace]\n",
    );
    sandbox.write("build.rs", "fn main() {\n    println!(\"cargo::rustc-env=FROM_BUILD_SCRIPT=7\");\n}\n");
    sandbox.write(
        "src/main.rs",
        "#[inline(never)]\nfn collatz(mut n: u64) -> u64 {\n    let mut steps = 0;\n    while n != 1 {\n        n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };\n        steps += 1;\n    }\n    steps\n}\n\
         fn main() {\n    let sum: u64 = (1..100).map(collatz).sum();\n    println!(\"{sum} {}\", env!(\"FROM_BUILD_SCRIPT\"));\n    eprintln!(\"tally collatz 99\");\n}\n",
    );
    let target = line_of(Run::new("rustc").args(["--print", "host-tuple"]));
    for (profile, folder) in [("", "debug"), ("--release", "release")] {
        with_environment(sandbox.path(), &format!("cargo build --quiet {profile} --target {target}"));
        let program: PathBuf = sandbox.join(format!("target/{target}/{folder}/plain"));
        let run = ProfiledRun::of(&program, &[], &sandbox);
        assert_eq!(run.outcome.clone().expect_code(0).text(), "3117 7\n");
        run.check();
    }
}

/// gcc links what clang compiled with counters: with the shim before its linker it counts; without, the program links and runs as
/// if nothing were, and reports nothing.
#[test]
fn gcc_as_linker_driver() {
    let parcel = Parcel::new("gcc");
    for options in [&[][..], &["-fPIC"]] {
        for source in ["main", "shelf"] {
            parcel
                .run(tool("bbprof-cc"))
                .args(["-O2", "--bbprof-counters=check", "-c"])
                .args(options)
                .arg(format!("{source}.c"))
                .ok();
        }
        for linker in ["bfd", "gold", "mold", "lld"] {
            if linker == "lld" && Run::new("gcc").args(["-fuse-ld=lld", "-Wl,--version"]).outcome().code != 0 {
                // Debian's gcc finds only an unversioned ld.lld.
                continue;
            }
            let plain = format!("unreported-{linker}");
            parcel.run("gcc").args([&format!("-fuse-ld={linker}"), "-o", &plain, "main.o", "shelf.o"]).ok();
            let outcome = parcel.run(parcel.source().join(&plain)).env("BBPROF_OUT", parcel.sandbox.join("none.bbraw")).outcome();
            assert_eq!(outcome.clone().expect_code(4).text(), Parcel::expected_output(false), "{linker}");
            assert!(!parcel.sandbox.join("none.bbraw").exists(), "{linker}: no runtime, no profile");
        }
        with_environment(&parcel.source(), "gcc $LDFLAGS -o counted main.o shelf.o");
        parcel.check(&parcel.source().join("counted"), None, &["counted"]);
    }
    // The same for a shared library that is linked without the shim, into a program that is linked with it.
    parcel.run("gcc").args(["-shared", "-o", "libshelf.so", "shelf.o"]).ok();
    parcel.run(tool("bbprof-cc")).args(["-o", "mixed", "main.o", "-L.", "-lshelf", "-Wl,-rpath,$ORIGIN"]).ok();
    let run = ProfiledRun::of(&parcel.source().join("mixed"), &[], &parcel.sandbox);
    assert_eq!(run.outcome.clone().expect_code(4).text(), Parcel::expected_output(false));
    assert_eq!(run.images(), ["mixed"]);
    Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok();
}

/// `bbprof clean` leaves the cache, which all builds share, to a compiler that runs, and says so; afterwards it removes it.
#[test]
fn a_cache_in_use_is_not_cleaned() {
    let sandbox = Sandbox::new("clean");
    let (base, project) = (sandbox.join("cache"), sandbox.join("project"));
    let cache = base.join("bbprof");
    std::fs::create_dir_all(project.join("target/bbprof")).unwrap();
    copy_plugins(&base);
    let compile = || {
        let mut command = std::process::Command::new(tool("bbprof-cc"));
        command.args(["-x", "c", "-c", "-", "-o", "unit.o"]).current_dir(&project).env("XDG_CACHE_HOME", &base);
        command.stdin(std::process::Stdio::piped()).spawn().unwrap()
    };
    let clean =
        || Run::new(tool("bbprof")).args(["clean", "--target-dir", "target"]).env("XDG_CACHE_HOME", &base).in_folder(&project);

    // It waits for its source, as clang: the plugin is there, and loaded or about to be.
    let mut compiler = compile();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while std::fs::read_link(format!("/proc/{}/exe", compiler.id())).unwrap().to_string_lossy().contains("bbprof") {
        assert!(std::time::Instant::now() < deadline, "the compiler did not start");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let refused = clean().outcome();
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("a build that runs now uses this cache"), "{}", refused.stderr);
    assert!(!project.join("target/bbprof").exists(), "the project's own folder goes");
    drop(compiler.stdin.take());
    assert!(compiler.wait().unwrap().success());
    assert!(project.join("unit.o").exists());

    let cleaned = clean().ok();
    assert!(cleaned.stderr.contains(&format!("removed {}", cache.display())), "{}", cleaned.stderr);
    assert!(!cache.exists());
    assert_eq!(clean().ok().stderr, "", "nothing is left to remove");
}

/// `bbprof clean` removes what bbprof made, whatever else goes by its name.
#[test]
fn a_folder_of_others_is_not_cleaned() {
    let sandbox = Sandbox::new("clean-others");
    let theirs = sandbox.write("out/bbprof/notes.txt", "precious\n");
    let clean =
        |more: &[&str]| Run::new(tool("bbprof")).args(["clean", "--keep-cache"]).args(more).in_folder(sandbox.path()).outcome();
    let refused = clean(&["--target-dir", "out"]).expect_code(2);
    assert!(refused.stderr.contains("out/bbprof: is not removed") && theirs.exists(), "{}", refused.stderr);
    let nothing = clean(&[]).expect_code(0);
    assert!(nothing.stderr.contains("no target directory is cleaned"), "{}", nothing.stderr);

    sandbox.write("Cargo.toml", "[package]\nname = \"empty\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n");
    sandbox.write("src/main.rs", "fn main() {}\n");
    Run::new(tool("cargo-bbprof")).args(["bbprof", "build", "-q"]).in_folder(sandbox.path()).ok();
    assert!(sandbox.join("target/bbprof/CACHEDIR.TAG").exists());
    let cleaned = clean(&[]).expect_code(0);
    assert!(cleaned.stderr.contains("removed") && !sandbox.join("target/bbprof").exists(), "{}", cleaned.stderr);
}

/// `bbprof.toml` holds for `bbprof-cc`, too; its command line wins; and what stands in response files is seen.
#[test]
fn settings_of_the_compiler_driver() {
    let parcel = Parcel::new("settings");
    let cc = |words: &[&str]| parcel.run(tool("bbprof-cc")).args(words);
    let verified = |program: &str| {
        let run = ProfiledRun::of(&parcel.source().join(program), &[], &parcel.sandbox);
        Run::new(tool("bbprof")).arg("verify").arg(&run.raw).ok().text()
    };
    std::fs::write(parcel.source().join("bbprof.toml"), "counters = \"check\"\n").unwrap();
    cc(&["-O2", "main.c", "shelf.c", "-o", "checked"]).ok();
    assert!(verified("checked").contains("edges compared with counters of their own"));
    cc(&["-O2", "--bbprof-counters=edges", "main.c", "shelf.c", "-o", "counted"]).ok();
    assert!(!verified("counted").contains("edges compared with counters of their own"));
    std::fs::write(parcel.source().join("flags.rsp"), "-O2 -flto -ffat-lto-objects\n").unwrap();
    let linked = cc(&["@flags.rsp", "main.c", "shelf.c", "-o", "from-file"]).ok();
    assert!(linked.stderr.contains("-flto is not supported"), "{}", linked.stderr);
    assert!(verified("from-file").contains("exact"));
    let refused = cc(&["-c", "@flags.rsp", "-fvisibility=hidden", "-fsanitize=cfi-icall", "main.c"]).outcome().expect_code(1);
    assert!(refused.stderr.contains("leave -fsanitize=cfi-icall out"), "{}", refused.stderr);
    // A response file may name another one, and a linker.
    std::fs::write(parcel.source().join("outer.rsp"), "@flags.rsp --ld-path=/usr/bin/ld main.c shelf.c -o outer").unwrap();
    assert!(cc(&["@outer.rsp"]).ok().stderr.contains("-flto is not supported"));
    assert!(verified("outer").contains("exact"));
    // So may one of clang's configuration files.
    std::fs::write(parcel.source().join("lto.cfg"), "# As usual.\n-O2\n-flto\n-ffat-lto-objects\n").unwrap();
    assert!(cc(&["--config=./lto.cfg", "main.c", "shelf.c", "-o", "by-config"]).ok().stderr.contains("-flto is not supported"));
    assert!(verified("by-config").contains("exact"));
    // What does not hold is not looked for.
    let usual = ProfiledRun::of(&parcel.source().join("counted"), &[], &parcel.sandbox).raw;
    std::fs::write(parcel.source().join("bbprof.toml"), "weights = \"absent.bbprof\"\n").unwrap();
    cc(&["-c", &format!("--bbprof-weights={}", usual.display()), "main.c"]).ok();
    assert!(cc(&["-c", "main.c"]).outcome().expect_code(2).stderr.contains("absent.bbprof"));
    std::fs::write(parcel.source().join("bbprof.toml"), "counter = \"check\"\n").unwrap();
    let refused = cc(&["-c", "main.c"]).outcome().expect_code(2);
    assert!(refused.stderr.contains("bbprof.toml") && refused.stderr.contains("counter"), "{}", refused.stderr);
}

/// `-v` says what clang does, and clang does it all the same; what `-Xlinker` and `-Xclang`
/// hand on is not for the driver. `-B` says where linkers are.
#[test]
fn words_that_only_look_like_questions() {
    let sandbox = Sandbox::new("verbose");
    let source = sandbox.write("a.c", "int main(void) { return 0; }\n");
    let script = sandbox.write("linkers/ld", "#!/bin/sh\necho linked by ours >&2\nexec ld \"$@\"\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    for words in [&["-v"][..], &["-Xlinker", "-v"], &["-Xclang", "-v"], &["-dumpdir", "x"], &["-Blinkers"], &["-B", "linkers"]] {
        let (program, raw) = (sandbox.join("a"), sandbox.join("a.bbraw"));
        let cc = Run::new(tool("bbprof-cc")).args(words).arg(&source).arg("-o").arg(&program).in_folder(sandbox.path()).ok();
        assert_eq!(cc.stderr.contains("linked by ours"), words[0].starts_with("-B"), "{words:?}: {}", cc.stderr);
        Run::new(&program).env("BBPROF_OUT", &raw).ok();
        std::fs::remove_file(&raw).unwrap_or_else(|error| panic!("{words:?}: no profile: {error}"));
    }
}
