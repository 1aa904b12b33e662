//! What users have set is respected: RUSTFLAGS, cargo's configuration, the linker, RUSTC_WRAPPER. And builds repeat:
//! whatever the folder and the number of jobs, the same bytes, and nothing is built again when nothing changed.
#![allow(clippy::unwrap_used)]

use bbprof_tests::{Cargo, Exported, Run, Sandbox, Verdict, is_long, tool, traced_files, verify};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A package whose program says which flags it was compiled with.
fn package(sandbox: &Sandbox) -> Cargo {
    sandbox.write("Cargo.toml", "[package]\nname = \"flags\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
    sandbox.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"flags\"\nversion = \"0.1.0\"\n");
    sandbox.write("build.rs", "fn main() {\n    println!(\"cargo::rustc-cfg=by_script\");\n}\n");
    sandbox.write(
        "src/main.rs",
        "#![allow(unexpected_cfgs)]\n\nfn main() {\n    println!(\"{} {} {}\", cfg!(by_script), cfg!(by_config), cfg!(by_env));\n}\n",
    );
    Cargo::new(sandbox.path(), sandbox.join("target"))
}

/// A script that notes its name and first words, and becomes the command that follows.
fn script(sandbox: &Sandbox, name: &str, becomes: &str) -> PathBuf {
    let text = format!("#!/bin/sh\necho {name} >> '{}'\nexec {becomes} \"$@\"\n", sandbox.join("calls").display());
    let path = sandbox.write(name, text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// The names of the scripts that were called.
fn calls(sandbox: &Sandbox) -> Vec<String> {
    let text = std::fs::read_to_string(sandbox.join("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn check(package: &Cargo, sandbox: &Sandbox, says: &str) {
    let plain = package.plain("run", &["--quiet"]).ok();
    assert_eq!(plain.text(), says);
    let _ = std::fs::remove_file(sandbox.join("calls"));
    let found = package.profiled("run", &["--quiet", "--no-report", "--counters", "check"], sandbox).ok();
    assert_eq!((found.text(), found.stderr), (plain.text(), plain.stderr));
    let profiles = sandbox.raw_profiles("raw");
    verify(&profiles, Verdict::Exact);
    assert_eq!(Exported::of(&profiles).entries("flags::main"), Some(1));
    // Symbols are mangled as they are without us.
    let symbols = |program: PathBuf| {
        let bytes = std::fs::read(program).unwrap();
        [&b"_RNvC"[..], b"_ZN5flags4main17h"].map(|start| bytes.windows(start.len()).any(|window| window == start))
    };
    let folder = sandbox.join("target");
    assert_eq!(symbols(folder.join("bbprof/build/x86_64-unknown-linux-gnu/debug/flags")), symbols(folder.join("debug/flags")));
}

#[test]
fn flags_of_the_environment() {
    let sandbox = Sandbox::new("env-flags");
    let package = package(&sandbox).env("RUSTFLAGS", "--cfg by_env -Clink-arg=-Wl,--build-id");
    check(&package, &sandbox, "true false true\n");
}

#[test]
fn mangling_of_symbols() {
    let sandbox = Sandbox::new("mangling");
    let package = package(&sandbox).env("RUSTFLAGS", "-C symbol-mangling-version=v0");
    check(&package, &sandbox, "true false false\n");
}

/// For its coverage, rustc mangles in a way of its own, and warns of another.
#[test]
fn mangling_with_rustcs_coverage() {
    let sandbox = Sandbox::new("coverage");
    let package = package(&sandbox).env("RUSTFLAGS", "-Cinstrument-coverage");
    check(
        &package.env("LLVM_PROFILE_FILE", &sandbox.join("coverage.profraw").display().to_string()),
        &sandbox,
        "true false false\n",
    );
}

/// The compiler's own name of a part of a crate says nobody anything: what has no place in the source is of its source, too.
#[test]
fn modules_of_functions_without_a_place() {
    let sandbox = Sandbox::new("modules");
    let package = package(&sandbox);
    package.profiled("run", &["--quiet", "--no-report", "--exclude-fn", "flags.*main"], &sandbox).ok();
    let exported = Run::new(tool("bbprof")).args(["export", "json=-"]).args(sandbox.raw_profiles("raw")).ok().text();
    let exported: serde_json::Value = serde_json::from_str(&exported).unwrap();
    for list in ["functions", "skipped"] {
        let modules: Vec<&str> = exported[list].as_array().unwrap().iter().map(|it| it["module"].as_str().unwrap()).collect();
        assert!(!modules.is_empty() && modules.iter().all(|module| *module == "src/main.rs"), "{list}: {modules:?}");
    }
}

/// LTO of code that is not optimised, or not all of it: what fat LTO makes the program's own is counted as without, and so is
/// optimised code in thin LTO that does not optimise.
#[test]
fn unoptimised_code_in_lto() {
    let sandbox = Sandbox::new("lto");
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"turns\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nstep = { path = \"step\" }\n\n[workspace]\n\
         members = [\"step\"]\n\n[profile.dev]\nlto = \"fat\"\n\n[profile.release]\nlto = true\n\n[profile.release.package.step]\nopt-level = 0\n\n\
         [profile.program]\ninherits = \"release\"\n\n[profile.program.package.turns]\nopt-level = 0\n\n\
         [profile.thin]\ninherits = \"dev\"\nlto = \"thin\"\n\n[profile.thin.package.step]\nopt-level = 3\n",
    );
    sandbox.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"step\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"turns\"\nversion = \"0.1.0\"\ndependencies = [\n \"step\",\n]\n",
    );
    sandbox.write("step/Cargo.toml", "[package]\nname = \"step\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    sandbox.write(
        "step/src/lib.rs",
        "use std::hint::black_box;\n\n#[inline(never)]\npub fn step(x: u64) -> u64 {\n    for part in [2, 3] {\n        if black_box(x) % part == 0 {\n            \
         black_box(part);\n        }\n    }\n    if black_box(x) % 5 == 0 {\n        black_box(5);\n    }\n    black_box(x) + 1\n}\n",
    );
    sandbox.write(
        "src/main.rs",
        "#[inline(never)]\nfn work(turns: u64) -> u64 {\n    (0..turns).fold(0, |x, _| step::step(x))\n}\n\nfn main() {\n    println!(\"{}\", work(4321));\n}\n",
    );
    let package = Cargo::new(sandbox.path(), sandbox.join("target"));
    // Of paths in hash tables, the runtime's function that counts them must not be taken for the program's own either.
    let ways = [
        ("edges", &["--counters", "check"][..]),
        ("hashed", &["--counters", "paths", "--path-array", "1", "--path-limit", "9999"]),
    ];
    for profile in ["dev", "release", "program", "thin"] {
        for (name, counters) in ways {
            let what = format!("{profile}-{name}");
            let raw = sandbox.join(&what);
            std::fs::create_dir(&raw).unwrap();
            let out = raw.join("%p.bbraw");
            let options = [&["--quiet", "--no-report", "--profile", profile], counters].concat();
            let run = package.bbprof("run", &options).env("BBPROF_OUT", &out).ok();
            assert_eq!(run.text(), "4321\n", "{what}");
            verify(std::slice::from_ref(&raw), Verdict::Exact);
            let exported = Exported::of(&[raw]);
            assert_eq!((exported.entries("turns::work"), exported.entries("step::step")), (Some(1), Some(4321)), "{what}");
        }
    }
}

/// What link-time optimisation inlines into the standard library, which is not counted, is told.
#[test]
fn allocators_inlined_by_lto() {
    let sandbox = Sandbox::new("lto-alloc");
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"pools\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[profile.release]\nlto = \"fat\"\n\n[profile.thin]\ninherits = \"release\"\nlto = \"thin\"\n\n[workspace]\n",
    );
    sandbox.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"pools\"\nversion = \"0.1.0\"\n");
    sandbox.write(
        "src/main.rs",
        "use std::alloc::{GlobalAlloc, Layout, System};\nstruct Pool;\nunsafe impl GlobalAlloc for Pool {\n    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {\n        \
         unsafe { System.alloc(std::hint::black_box(layout)) }\n    }\n    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {\n        unsafe { System.dealloc(at, layout) }\n    }\n}\n\
         #[global_allocator]\nstatic POOL: Pool = Pool;\n\nfn main() {\n    std::thread::spawn(|| println!(\"{:?}\", vec![1])).join().unwrap();\n}\n",
    );
    let package = Cargo::new(sandbox.path(), sandbox.join("target"));
    let told = |options: &[&str], out: &str| {
        let raw = sandbox.join(out);
        package.bbprof("run", &[&["--quiet", "--no-report"], options].concat()).env("BBPROF_OUT", &raw).ok();
        let verified = Run::new(tool("bbprof")).args(["verify", "--skipped"]).arg(raw).ok().text();
        verified.matches("of a crate that is not counted").count()
    };
    assert_eq!(told(&[], "debug.bbraw"), 0);
    assert!(told(&["--release"], "release.bbraw") > 0);
    assert!(told(&["--profile", "thin"], "thin.bbraw") > 0);
}

#[test]
fn configuration_with_flags_linker_and_wrapper() {
    let sandbox = Sandbox::new("config");
    let package = package(&sandbox);
    let linker = script(&sandbox, "my-cc", "cc");
    let wrapper = script(&sandbox, "my-wrapper", "");
    let config = format!(
        "[build]\nrustc-wrapper = '{}'\n\n[target.x86_64-unknown-linux-gnu]\nlinker = '{}'\nrustflags = ['--cfg', 'by_config']\n",
        wrapper.display(),
        linker.display()
    );
    sandbox.write(".cargo/config.toml", config);
    check(&package, &sandbox, "true true false\n");
    let calls = calls(&sandbox);
    assert!(["my-cc", "my-wrapper"].iter().all(|name| calls.iter().any(|call| call == name)), "{calls:?}");
}

/// What cargo would take instead of ours, or we would not find, is refused: nothing would
/// be instrumented, or not as it was asked for.
#[test]
fn configuration_that_is_not_looked_into() {
    let sandbox = Sandbox::new("config-words");
    let package = package(&sandbox);
    let refused = |options: &[&str]| package.bbprof("build", &[&["--quiet"], options].concat()).outcome().expect_code(2).stderr;
    let file = sandbox.write("ci.toml", "[build]\nrustc-wrapper = \"env\"\n");
    let said = refused(&["--config", file.to_str().unwrap()]);
    assert!(said.contains("set build.rustc-wrapper in cargo's configuration file"), "{said}");
    let said = refused(&["--config", "build.build-dir='elsewhere'"]);
    assert!(said.contains("set build.build-dir in cargo's configuration file"), "{said}");
    sandbox.write(".cargo/config.toml", "include = [\"../ci.toml\"]\n");
    let said = refused(&[]);
    assert!(said.contains("ci.toml: build.rustc-wrapper is not looked for"), "{said}");
    package.clone().env("RUSTC_WRAPPER", "env").bbprof("build", &["--quiet"]).ok();
}

/// As with cargo, the program's arguments need no `--` where the first of them is no option.
#[test]
fn arguments_without_dashes() {
    let sandbox = Sandbox::new("arguments");
    let package = package(&sandbox);
    sandbox.write("src/main.rs", "fn main() {\n    println!(\"{:?}\", std::env::args().skip(1).collect::<Vec<_>>());\n}\n");
    let words = ["--quiet", "serve", "--config", "app.toml", "--target", "arm", "-h", "--counters", "3", "--", "--ir"];
    let plain = package.plain("run", &words).ok().text();
    assert_eq!(package.bbprof("run", &[&["--no-report"], &words[..]].concat()).ok().text(), plain);
}

/// The C++ compiler is beside the C compiler, whatever the folders are called: LLVM's own packages unpack to `clang+llvm-22...`.
#[test]
fn cpp_parts_with_a_clang_in_any_folder() {
    let sandbox = Sandbox::new("clang+llvm");
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"parts\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[build-dependencies]\ncc = { path = \"cc\" }\n",
    );
    sandbox.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"cc\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"parts\"\nversion = \"0.1.0\"\ndependencies = [\n \"cc\",\n]\n",
    );
    sandbox.write("cc/Cargo.toml", "[package]\nname = \"cc\"\nversion = \"1.0.0\"\nedition = \"2024\"\n");
    sandbox.write(
        "cc/src/lib.rs",
        "pub fn compile(source: &str, object: &str) {\n    let cxx = std::env::var(\"CXX_x86_64_unknown_linux_gnu\").unwrap_or(\"c++\".into());\n    \
         assert!(std::process::Command::new(cxx).args([\"-O1\", \"-c\", source, \"-o\", object]).status().unwrap().success());\n}\n",
    );
    sandbox.write(
        "build.rs",
        "fn main() {\n    let object = format!(\"{}/part.o\", std::env::var(\"OUT_DIR\").unwrap());\n    cc::compile(\"part.cpp\", &object);\n    println!(\"cargo::rustc-link-arg={object}\");\n}\n",
    );
    sandbox.write("part.cpp", "extern \"C\" int part(int x) { return x + 1; }\n");
    sandbox.write(
        "src/main.rs",
        "unsafe extern \"C\" {\n    safe fn part(x: i32) -> i32;\n}\n\nfn main() {\n    println!(\"{}\", (0..5).fold(0, |x, _| part(x)));\n}\n",
    );
    let bin = sandbox.join("clang+llvm/bin");
    std::fs::create_dir_all(&bin).unwrap();
    for name in ["clang", "clang++"] {
        std::os::unix::fs::symlink(Path::new("/usr/lib/llvm-22/bin").join(name), bin.join(name)).unwrap();
    }
    let package = Cargo::new(sandbox.path(), sandbox.join("target")).env("CC", bin.join("clang").to_str().unwrap());
    assert_eq!(package.profiled("run", &["--quiet", "--no-report"], &sandbox).ok().text(), "5\n");
    assert_eq!(Exported::of(&sandbox.raw_profiles("raw")).entries("part"), Some(5));
    std::fs::remove_file(bin.join("clang++")).unwrap();
    let said = package.bbprof("build", &[]).outcome().stderr;
    assert!(said.contains("C++ parts of crates are not instrumented"), "{said}");
}

#[test]
fn linkers_and_wrappers_of_the_environment() {
    let sandbox = Sandbox::new("env-tools");
    let linker = script(&sandbox, "my-cc", "cc");
    let wrapper = script(&sandbox, "my-wrapper", "");
    let package = package(&sandbox)
        .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", &linker.display().to_string())
        .env("RUSTC_WRAPPER", &wrapper.display().to_string());
    check(&package, &sandbox, "true false false\n");
    let calls = calls(&sandbox);
    assert!(["my-cc", "my-wrapper"].iter().all(|name| calls.iter().any(|call| call == name)), "{calls:?}");
}

#[test]
fn other_linkers() {
    for (name, flag) in
        [("mold", "-Clink-arg=-fuse-ld=mold"), ("bfd", "-Clink-arg=-fuse-ld=bfd"), ("static", "-Ctarget-feature=+crt-static")]
    {
        let sandbox = Sandbox::new(name);
        check(&package(&sandbox).env("RUSTFLAGS", flag), &sandbox, "true false false\n");
    }
}

/// Which is not in PATH, and asks for all that `cc` adds by itself.
#[test]
fn the_linker_that_comes_with_rustc() {
    let sandbox = Sandbox::new("rust-lld");
    let file = |name: &str| Run::new("gcc").arg(format!("-print-file-name={name}")).ok().text().trim().to_owned();
    let folder = |name: &str| format!("-L{}", Path::new(&file(name)).parent().unwrap().display());
    let mut flags = vec!["-Clinker=rust-lld".to_owned(), folder("libgcc.a"), folder("libc.so.6"), folder("libgcc_s.so.1")];
    flags.extend(["Scrt1.o", "crti.o", "crtn.o"].map(|name| format!("-Clink-arg={}", file(name))));
    flags.push("-Clink-arg=--dynamic-linker=/lib64/ld-linux-x86-64.so.2".to_owned());
    check(&package(&sandbox).env("RUSTFLAGS", &flags.join(" ")), &sandbox, "true false false\n");
}

/// The program that a build made.
fn built(target: &Path, name: &str) -> PathBuf {
    target.join("bbprof/build/x86_64-unknown-linux-gnu/release").join(name)
}

/// Its build map: cargo links programs in the folder `deps`, and names them with a hash.
fn map_of(program: &Path) -> PathBuf {
    let start = format!("{}-", program.file_name().unwrap().to_string_lossy());
    let maps = std::fs::read_dir(program.with_file_name("deps")).unwrap().map(|entry| entry.unwrap().path()).filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(&start) && name.ends_with(".bbmap")
    });
    let maps: Vec<PathBuf> = maps.collect();
    assert_eq!(maps.len(), 1, "{maps:?}");
    maps[0].clone()
}

#[test]
fn builds_repeat() {
    let sandbox = Sandbox::new("repeat");
    let name = if is_long() { "text" } else { "mill" };
    let build = |folder: &str, jobs: &str| {
        let target = sandbox.join(folder);
        Cargo::new("rust", &target).package(name).profiled("build", &["--release", "--quiet", "--jobs", jobs], &sandbox).ok();
        let program = built(&target, name);
        (std::fs::read(&program).unwrap(), std::fs::read(map_of(&program)).unwrap())
    };
    let first = build("one", "1");
    let second = build("two", "2");
    assert!(first.0 == second.0, "the programs differ");
    assert!(first.1 == second.1, "the build maps differ");

    let program = built(&sandbox.join("one"), name);
    let modified = std::fs::metadata(&program).unwrap().modified().unwrap();
    let again = Cargo::new("rust", sandbox.join("one")).package(name).profiled("build", &["--release", "-v"], &sandbox).ok();
    assert!(again.stderr.contains("Fresh") && !again.stderr.contains("Compiling") && !again.stderr.contains("Running"));
    assert_eq!(std::fs::metadata(&program).unwrap().modified().unwrap(), modified);
}

#[test]
fn copied_programs_find_their_map() {
    let sandbox = Sandbox::new("copied");
    let package = package(&sandbox);
    package.profiled("build", &["--quiet", "--release"], &sandbox).ok();
    let copy = sandbox.join("copy");
    std::fs::copy(built(&sandbox.join("target"), "flags"), &copy).unwrap();
    let raw = sandbox.join("copy.bbraw");
    Run::new(&copy).env("BBPROF_OUT", &raw).in_folder(sandbox.path()).ok();
    verify(&[raw], Verdict::Exact);
}

/// A workspace of two packages: a program, and a library whose name begins as those of build scripts do.
fn workspace(sandbox: &Sandbox) -> Cargo {
    sandbox.write("Cargo.toml", "[workspace]\nmembers = [\"tools\", \"program\"]\nresolver = \"3\"\n");
    let lock = "version = 4\n\n[[package]]\nname = \"build-script-tools\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"program\"\nversion = \"0.1.0\"\ndependencies = [\n \"build-script-tools\",\n]\n";
    sandbox.write("Cargo.lock", lock);
    sandbox.write("tools/Cargo.toml", "[package]\nname = \"build-script-tools\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let library = "/// ```\n/// for i in 0..10 {\n///     assert_eq!(build_script_tools::square(i), i * i);\n/// }\n/// ```\n/// ```\n/// assert_eq!(build_script_tools::square(3), 9);\n/// assert_eq!(build_script_tools::size_of(3_u8), 1);\n/// ```\npub fn square(x: u64) -> u64 {\n    x * x\n}\n\npub fn size_of<T>(_: T) -> usize {\n    std::mem::size_of::<T>()\n}\n\n#[inline(never)]\npub fn step(x: u64) -> u64 {\n    x + 1\n}\n";
    sandbox.write("tools/src/lib.rs", library);
    let manifest = "[package]\nname = \"program\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nbuild-script-tools = { path = \"../tools\" }\n\n[package.metadata.bbprof]\ncounters = \"check\"\n";
    sandbox.write("program/Cargo.toml", manifest);
    sandbox.write(
        "program/src/main.rs",
        "fn main() {\n    println!(\"{}\", (0..234).fold(0, |x, _| build_script_tools::step(x)));\n}\n",
    );
    Cargo::new(sandbox.path(), sandbox.join("target"))
}

/// What build scripts make and run, be it that `configure` and CMake try it out and
/// remove it, or that it stays, is no part of the run.
#[test]
fn programs_that_build_scripts_try_out() {
    let sandbox = Sandbox::new("tried-out");
    sandbox.write(
        "Cargo.toml",
        "[package]\nname = \"tries\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[build-dependencies]\ncc = { path = \"cc\" }\n",
    );
    sandbox.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"cc\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"tries\"\nversion = \"0.1.0\"\ndependencies = [\n \"cc\",\n]\n",
    );
    sandbox.write("cc/Cargo.toml", "[package]\nname = \"cc\"\nversion = \"1.0.0\"\nedition = \"2024\"\n");
    sandbox.write("cc/src/lib.rs", "");
    sandbox.write(
        "build.rs",
        "fn main() {\n    let script = \"cd $OUT_DIR && mkdir probe && cd probe && echo 'int main(void) { return 0; }' > a.c && $CC_x86_64_unknown_linux_gnu a.c && ./a.out && cp a.out a.out.bbmap .. && ../a.out\";\n    \
         assert!(std::process::Command::new(\"sh\").args([\"-c\", script]).status().unwrap().success());\n    \
         std::fs::remove_dir_all(std::path::Path::new(&std::env::var_os(\"OUT_DIR\").unwrap()).join(\"probe\")).unwrap();\n}\n",
    );
    sandbox.write("src/main.rs", "fn main() {\n    println!(\"tried\");\n}\n");
    let run = Cargo::new(sandbox.path(), sandbox.join("target")).bbprof("run", &[]).ok();
    assert!(run.stderr.contains("without the profiles of programs that build scripts made and ran"), "{}", run.stderr);
    let verified = Run::new(tool("bbprof")).arg("verify").in_folder(sandbox.path()).ok().text();
    assert!(verified.contains("/tries: exit 0") && !verified.contains("a.out"), "{verified}");
}

/// Nothing but the lack of `--target` makes a build script of a crate; and the settings
/// in a package's manifest hold wherever cargo is called.
#[test]
fn names_of_crates_and_settings_of_packages() {
    let sandbox = Sandbox::new("names");
    let workspace = workspace(&sandbox);
    std::fs::create_dir(sandbox.join("raw")).unwrap();
    let out = sandbox.join("raw/%p.bbraw");
    let run = workspace.bbprof("run", &["--quiet", "--no-report", "-p", "program"]).env("BBPROF_OUT", out).ok();
    assert_eq!(run.text(), "234\n");
    let profiles = sandbox.raw_profiles("raw");
    let verified = verify(&profiles, Verdict::Exact);
    assert!(verified.text().contains("edges compared with counters of their own"), "{}", verified.text());
    assert_eq!(Exported::of(&profiles).entries("build_script_tools::step"), Some(234));
}

/// Settings that do not hold are told, and read: of several packages, those of each would be others.
#[test]
fn settings_of_one_package_among_several() {
    let sandbox = Sandbox::new("several");
    let workspace = workspace(&sandbox);
    let told = |options: &[&str]| workspace.bbprof("build", &[&["--quiet"], options].concat()).ok().stderr;
    let does_not_hold = "[package.metadata.bbprof] of program does not hold";
    assert!(
        told(&["--workspace"]).contains(does_not_hold)
            && told(&["-p", "program", "-p", "build-script-tools"]).contains(does_not_hold)
            && told(&["-p", "prog*"]).contains(does_not_hold)
    );
    assert_eq!((told(&["-p", "program"]), told(&["-p", "program:0.1.0"])), (String::new(), String::new()));
    let run = |word: &str| workspace.bbprof("run", &[word, "program"]).env("BBPROF_OFF", "1").ok().stderr;
    assert_eq!((run("-qp"), run("-qrp")), (String::new(), String::new()), "-p and -q are seen behind and before other letters");
    // What does not hold is named by its place.
    let refused = |options: &[&str]| workspace.bbprof("build", options).outcome().expect_code(2).stderr;
    sandbox.write("bbprof.toml", "deps = [\"absent\"]\n");
    let (by_file, by_words) = (refused(&["--quiet"]), refused(&["--deps", "gone"]));
    assert!(by_file.contains(&format!("{}: deps absent: no dep", sandbox.join("bbprof.toml").display())), "{by_file}");
    assert!(by_words.contains("error: --deps gone: no dependency"), "{by_words}");
    std::fs::remove_file(sandbox.join("bbprof.toml")).unwrap();
    let manifest = std::fs::read_to_string(sandbox.join("program/Cargo.toml")).unwrap();
    sandbox.write("program/Cargo.toml", manifest.replace("counters =", "countres ="));
    let refused = workspace.bbprof("build", &["--quiet", "--workspace"]).outcome().expect_code(2).stderr;
    assert!(refused.contains("unknown field `countres`"), "{refused}");
}

/// What doctests inline or instantiate of their package is code of their own crates, at every level.
#[test]
fn doctests_are_counted() {
    let sandbox = Sandbox::new("doctests");
    let workspace = workspace(&sandbox);
    for profile in ["dev", "release"] {
        let raw = sandbox.join(profile);
        std::fs::create_dir(&raw).unwrap();
        let options = ["--quiet", "--no-report", "--profile", profile, "--doc", "-p", "build-script-tools"];
        workspace.bbprof("test", &options).env("BBPROF_OUT", raw.join("%p.bbraw")).ok();
        verify(std::slice::from_ref(&raw), Verdict::Exact);
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(&raw).ok().text();
        let library = sandbox.join("tools/src/lib.rs");
        let lines = &traced_files(&trace)[library.to_str().unwrap()].lines;
        assert_eq!((lines.get(&11), lines.get(&16)), (Some(&11), Some(&1)), "{profile}: {trace}");
    }
}

/// The last run is found where cargo's configuration puts it, not where an older one
/// lies; and cargo's `--color` holds for the summary.
#[test]
fn the_last_run_is_that_of_the_configured_target_directory() {
    let sandbox = Sandbox::new("last-run");
    let _ = workspace(&sandbox);
    let bbprof = |words: &[&str]| Run::new(tool("cargo-bbprof")).arg("bbprof").args(words).in_folder(sandbox.path());
    let run =
        |options: &[&str]| bbprof(&[&["run", "--quiet", "-p", "program"], options].concat()).env("CARGO_TERM_COLOR", "always").ok();
    assert!(run(&["--color", "never"]).stderr.contains("Hottest functions"), "a summary");
    assert!(!run(&["--color", "never"]).stderr.contains('\u{1b}'), "without colours");
    assert!(run(&[]).stderr.contains('\u{1b}'), "with colours");
    let source = std::fs::read_to_string(sandbox.join("program/src/main.rs")).unwrap();
    sandbox.write("program/src/main.rs", source.replace("234", "777"));
    sandbox.write(".cargo/config.toml", "[build]\ntarget-dir = \"elsewhere\"\n");
    run(&[]);
    let counted = bbprof(&["export", "json=-"]).ok().text();
    let exported: serde_json::Value = serde_json::from_str(&counted).unwrap();
    let functions = exported["functions"].as_array().unwrap();
    let step =
        functions.iter().find(|function| function["name"].as_str().unwrap().starts_with("build_script_tools::step")).unwrap();
    assert_eq!(step["entries"], 777);
}

/// Whose last run wrote no profile is told so, and not shown the run before.
#[test]
fn the_last_run_without_a_profile() {
    let sandbox = Sandbox::new("no-profile");
    let workspace = workspace(&sandbox);
    let bbprof = |words: &[&str]| {
        Run::new(tool("bbprof")).args(words).in_folder(sandbox.path()).env("CARGO_TARGET_DIR", sandbox.join("target"))
    };
    workspace.bbprof("run", &["--quiet", "--no-report"]).ok();
    bbprof(&["verify"]).ok();
    workspace.bbprof("run", &["--quiet", "--no-report"]).env("BBPROF_OFF", "1").ok();
    let said = bbprof(&["verify"]).outcome().expect_code(2).stderr;
    assert!(said.contains("no profile"), "{said}");
}

/// Nothing would be counted, and the build says so.
#[test]
fn builds_without_passes_are_refused() {
    let sandbox = Sandbox::new("no-passes");
    let workspace = workspace(&sandbox);
    for flag in ["-Cno-prepopulate-passes", "-Cno_prepopulate_passes"] {
        let build = workspace.bbprof("build", &["--quiet"]).env("RUSTFLAGS", flag).outcome();
        assert!(build.code != 0 && build.stderr.contains("-Cno-prepopulate-passes leaves out the passes"), "{}", build.stderr);
    }
    let backend = ["-Zcodegen-backend", "--config", "profile.dev.codegen-backend=\"cranelift\""];
    let said = workspace.bbprof("build", &backend).env("RUSTC_BOOTSTRAP", "1").outcome().expect_code(101).stderr;
    assert!(said.contains("-Zcodegen-backend=cranelift makes code without LLVM"), "{said}");
}

const DOCUMENTED: &str = "\
/// Squares.
/// ```
/// for i in 0..5 {
///     assert_eq!(documented::square(i), i * i);
/// }
/// ```
pub fn square(n: u32) -> u32 {
    n * n
}

/// Twice as much.
///
/// ```
/// fn main() {
///     assert_eq!(documented::double(7), 14);
/// }
/// ```
pub fn double(n: u32) -> u32 {
    n + n
}

/// Of no crate.
///
/// ```
/// let x = [1, 2];
/// assert!(x.iter().sum::<u32>() == 3);
/// ```
pub fn nothing() {}
";

/// Doctests have the lines at which they stand; those that rustdoc puts together into a file of its own are in no coverage, nor
/// are those with a `main`, whose lines rustdoc does not tell.
#[test]
fn lines_of_doctests() {
    for (edition, of_the_test) in [("2021", [Some(&6), Some(&5), Some(&1), Some(&1)]), ("2024", [None; 4])] {
        let sandbox = Sandbox::new("doctest-lines");
        let manifest = format!("[package]\nname = \"documented\"\nversion = \"0.1.0\"\nedition = \"{edition}\"\n[workspace]\n");
        sandbox.write("Cargo.toml", manifest);
        sandbox.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"documented\"\nversion = \"0.1.0\"\n");
        let source = sandbox.write("src/lib.rs", DOCUMENTED);
        let raw = sandbox.join("raw");
        std::fs::create_dir(&raw).unwrap();
        let test = Cargo::new(sandbox.path(), sandbox.join("target")).bbprof("test", &["--quiet", "--no-report", "--doc"]);
        test.env("BBPROF_OUT", raw.join("%p.bbraw")).ok();
        let export = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(&raw).ok();
        assert!(!export.stderr.contains("is not the text"), "{}", export.stderr);
        let traced = traced_files(&export.text());
        assert_eq!(traced.keys().collect::<Vec<_>>(), [source.to_str().unwrap()], "{edition}");
        let lines = &traced[source.to_str().unwrap()].lines;
        assert_eq!([3, 4, 25, 26].map(|line| lines.get(&line)), of_the_test, "{edition}: {lines:?}");
        assert_eq!([14, 15, 16].map(|line| lines.get(&line)), [None; 3], "{edition}: {lines:?}");
        assert_eq!((lines.get(&18), lines.get(&19)), (Some(&1), Some(&1)), "{edition}: {lines:?}");
        assert_eq!((lines.get(&7), lines.get(&8)), (Some(&5), Some(&5)), "{edition}: {lines:?}");
    }
}

/// Incrementally, rustc takes over what it compiled from an earlier text where no line
/// has moved: the source is what was compiled all the same.
#[test]
fn sources_of_incremental_builds() {
    let sandbox = Sandbox::new("incremental");
    let text = "fn main() {\n    println!(\"2\");\n}\n";
    let source = sandbox.write("src/main.rs", text);
    sandbox.write("Cargo.toml", "[package]\nname = \"texts\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n");
    let raw = sandbox.join("rust.bbraw");
    let profile = || {
        let run = Run::new(tool("cargo-bbprof")).args(["bbprof", "run", "--quiet", "--no-report"]).in_folder(sandbox.path());
        run.env("BBPROF_OUT", &raw).env("CARGO_INCREMENTAL", "1").ok();
    };
    let annotate = || Run::new(tool("bbprof")).arg("annotate").arg(&raw).arg("texts::main").ok().stderr;
    profile();
    assert_eq!(annotate(), "");
    std::fs::write(&source, format!("{text}// More.\n")).unwrap();
    profile();
    assert_eq!(annotate(), "");
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options().append(true).open(&source).unwrap().set_modified(later).unwrap();
    assert!(annotate().contains("was modified after the program was linked"), "{}", annotate());
}

/// Beside a program's `main` there is one that rustc makes, which has no source.
#[test]
fn which_main() {
    let sandbox = Sandbox::new("which-main");
    package(&sandbox).profiled("run", &["--quiet", "--no-report"], &sandbox).ok();
    let shown = Run::new(tool("bbprof")).arg("annotate").args(sandbox.raw_profiles("raw")).arg("main").ok().text();
    assert!(shown.ends_with("others that may be called so: flags::main\n"), "{shown}");
}
