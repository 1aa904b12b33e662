//! Compiles the runtime that profiled programs are linked with, one archive for each kind of image; the shim embeds them.
//!
//! `bbprof-rt/c/SOURCES` lists what each archive is made of, `FLAGS` what all are compiled with. What is in every image is linked
//! into one object (`core`), so that a link reads one member, not thirty.

use std::path::{Path, PathBuf};
use std::process::Command;
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
    let files = |name: &str| {
        let files = sources.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let files = files.unwrap_or_else(|| panic!("{}/SOURCES: no line that begins with `{name}:`", folder.display()));
        files.split_whitespace().map(|file| folder.join(file)).collect::<Vec<_>>()
    };
    for (name, flags) in ARCHIVES {
        let flags: Vec<&str> = common_flags.split_whitespace().chain(flags.iter().copied()).collect();
        // Each archive in its own folder: the objects' names are the same.
        let out = Path::new(&env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join(name);
        fs::create_dir_all(&out).unwrap_or_else(|e| panic!("{}: {e}", out.display()));
        let core = link_core(&compiler(&flags, &out), &files("core"), out.join("core.o"));
        compiler(&flags, &out).files(files(name)).object(core).compile(&format!("bbprof_rt_{name}"));
    }
}

/// The compiler of the runtime, whose objects go to `out`.
fn compiler(flags: &[&str], out: &Path) -> cc::Build {
    let mut build = cc::Build::new();
    build.cargo_metadata(false).no_default_flags(true).warnings(true).out_dir(out);
    for flag in flags {
        build.flag(flag);
    }
    for guard in GUARDS {
        build.flag_if_supported(guard);
    }
    build
}

/// Compiles these files and links them into one object.
fn link_core(build: &cc::Build, files: &[PathBuf], core: PathBuf) -> PathBuf {
    let objects = build.clone().files(files).compile_intermediates();
    let mut link: Command = build.get_compiler().to_command();
    link.args(["-r", "-nostdlib", "-o"]).arg(&core).args(objects);
    let status = link.status().unwrap_or_else(|e| panic!("{link:?}: {e}"));
    assert!(status.success(), "{link:?}: {status}");
    core
}
