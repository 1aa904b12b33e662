//! Compiles the runtime that profiled programs are linked with, one archive for each kind of image; the shim embeds them.
//!
//! `bbprof-rt/c/SOURCES` lists what each archive is made of.

use std::path::Path;
use std::{env, fs};

/// For all archives. The runtime works without libc and before it is initialised, and is never instrumented itself.
const COMMON_FLAGS: &[&str] = &[
    "-std=gnu11",
    "-ffreestanding",
    "-fvisibility=hidden",
    "-fno-stack-protector",
    "-mgeneral-regs-only",
    "-fno-tree-loop-distribute-patterns",
    "-fasynchronous-unwind-tables",
    "-fcf-protection=none",
    "-fno-sanitize=all",
    "-fno-lto",
    "-U_FORTIFY_SOURCE",
];

/// Name of the archive and what it is compiled with.
const ARCHIVES: &[(&str, &[&str])] = &[
    ("exec", &["-fPIE", "-ftls-model=local-exec", "-DBBPROF_RT_EXEC"]),
    ("static", &["-fPIE", "-ftls-model=local-exec", "-DBBPROF_RT_EXEC", "-DBBPROF_RT_STATIC"]),
    ("lib", &["-fPIC", "-ftls-model=initial-exec", "-DBBPROF_RT_LIB"]),
];

fn main() {
    let folder = Path::new("../bbprof-rt/c");
    let folder = Path::new(&folder);
    println!("cargo::rerun-if-changed={}", folder.display());
    let list = folder.join("SOURCES");
    let sources = fs::read_to_string(&list).unwrap_or_else(|e| panic!("{}: {e}", list.display()));
    for (name, flags) in ARCHIVES {
        let files = sources.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let files = files.unwrap_or_else(|| panic!("{}: no line that begins with `{name}:`", list.display()));
        compile(folder, name, files.split_whitespace(), flags);
    }
}

fn compile<'a>(folder: &Path, name: &str, files: impl Iterator<Item = &'a str>, flags: &[&str]) {
    let mut build = cc::Build::new();
    build.cargo_metadata(false).cargo_warnings(true).debug(false).opt_level(2).pic(false).warnings(true);
    // Each archive in its own folder: the objects' names are the same.
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let out = Path::new(&out).join(name);
    fs::create_dir_all(&out).unwrap_or_else(|e| panic!("{}: {e}", out.display()));
    build.out_dir(&out);
    for flag in COMMON_FLAGS.iter().chain(flags) {
        build.flag_if_supported(flag);
    }
    build.files(files.map(|file| folder.join(file)));
    build.compile(&format!("bbprof_rt_{name}"));
}
