//! Compiles the runtime that profiled programs are linked with, one archive for each kind of image; the shim embeds them.
//!
//! `bbprof-rt/c/SOURCES` lists what each archive is made of, `FLAGS` what all are compiled with.

use std::path::Path;
use std::{env, fs};

/// Whatever the user's compiler does by default or by CFLAGS: this code runs before libc is ready and is never instrumented.
const GUARDS: &[&str] =
    &["-fno-tree-loop-distribute-patterns", "-fno-sanitize=all", "-fno-lto", "-fno-profile-arcs", "-fno-test-coverage"];

/// Name of the archive and what it is compiled with.
const ARCHIVES: &[(&str, &[&str])] = &[
    ("exec", &["-fPIE", "-ftls-model=local-exec", "-DBBPROF_RT_EXEC"]),
    ("static", &["-fPIE", "-ftls-model=local-exec", "-DBBPROF_RT_EXEC", "-DBBPROF_RT_STATIC"]),
    ("lib", &["-fPIC", "-ftls-model=initial-exec", "-DBBPROF_RT_LIB"]),
];

fn main() {
    let folder = Path::new("../bbprof-rt/c");
    println!("cargo::rerun-if-changed={}", folder.display());
    let read = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let (sources, common_flags) = (read("SOURCES"), read("FLAGS"));
    for (name, flags) in ARCHIVES {
        let files = sources.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let files = files.unwrap_or_else(|| panic!("{}/SOURCES: no line that begins with `{name}:`", folder.display()));
        compile(folder, name, files.split_whitespace(), common_flags.split_whitespace().chain(flags.iter().copied()));
    }
}

fn compile<'a>(folder: &Path, name: &str, files: impl Iterator<Item = &'a str>, flags: impl Iterator<Item = &'a str>) {
    let mut build = cc::Build::new();
    build.cargo_metadata(false).no_default_flags(true).warnings(true);
    // Each archive in its own folder: the objects' names are the same.
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let out = Path::new(&out).join(name);
    fs::create_dir_all(&out).unwrap_or_else(|e| panic!("{}: {e}", out.display()));
    build.out_dir(&out);
    for flag in flags {
        build.flag(flag);
    }
    for guard in GUARDS {
        build.flag_if_supported(guard);
    }
    build.files(files.map(|file| folder.join(file)));
    build.compile(&format!("bbprof_rt_{name}"));
}
