//! What each task needs besides Rust and a C compiler, and how to get it: Debian packages, through apt when we may.

use crate::command::{command, run};
use anyhow::Result;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A Debian package, and the file or program by which we know that it is there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    package: &'static str,
    /// A program in PATH, or an absolute path.
    proof: &'static str,
}

const fn need(package: &'static str, proof: &'static str) -> Need {
    Need { package, proof }
}

/// To compile the plugin and to profile C and C++.
pub(crate) const PROFILE: &[Need] =
    &[need("clang-22", "clang-22"), need("llvm-22-dev", "/usr/lib/llvm-22/include/llvm/IR/PassManager.h")];

/// To run every test: the build systems, linkers and independent tools that results are compared with.
pub(crate) const TEST: &[Need] = &[
    need("cmake", "cmake"),
    need("ninja-build", "ninja"),
    need("make", "make"),
    need("meson", "meson"),
    need("autoconf", "autoconf"),
    need("automake", "automake"),
    need("libtool", "libtoolize"),
    need("patchelf", "patchelf"),
    need("pkg-config", "pkg-config"),
    need("ccache", "ccache"),
    need("lld-22", "ld.lld-22"),
    need("mold", "mold"),
    need("lcov", "lcov"),
    need("valgrind", "valgrind"),
    need("graphviz", "dot"),
    need("libxml2-utils", "xmllint"),
    need("protobuf-compiler", "protoc"),
    need("python3", "python3"),
    need("g++", "g++"),
    need("libclang-rt-22-dev", "/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.asan-x86_64.a"),
    need("binutils-gold", "ld.gold"),
    need("chromium", "chromium"),
    need("musl-dev", "/usr/lib/x86_64-linux-musl/libc.a"),
    need("musl-tools", "musl-gcc"),
];

/// Something is missing that we may not install. Exit code 2.
#[derive(Debug)]
pub(crate) struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// Makes sure that all of these are there: installs what is missing when apt and the rights for it are, else says how.
pub(crate) fn ensure(needs: &[&[Need]]) -> Result<()> {
    let missing = missing(needs);
    if missing.is_empty() {
        return Ok(());
    }
    let by_hand = format!("apt-get install {}", missing.join(" "));
    if find("apt-get").is_none() {
        return Err(Missing(format!(
            "these are missing, by their names in Debian: {}; install them with this system's package manager",
            missing.join(" ")
        ))
        .into());
    }
    let Some(prefix) = rights() else {
        return Err(Missing(format!("packages are missing, and only root may install them; run: sudo {by_hand}")).into());
    };
    eprintln!("xtask: installing {}", missing.join(" "));
    if run(&mut apt(&prefix, "install", &missing)).is_err() {
        // The lists may be old, or not there at all on a fresh machine.
        run(&mut apt(&prefix, "update", &[]))?;
        run(&mut apt(&prefix, "install", &missing)).map_err(|error| {
            Missing(format!("{error:#}; the packages may be elsewhere (LLVM's: https://apt.llvm.org); needed: {by_hand}"))
        })?;
    }
    let still = self::missing(needs);
    if still.is_empty() { Ok(()) } else { Err(Missing(format!("installed, but not found: {}", still.join(" "))).into()) }
}

/// Makes sure that cargo has these subcommands, which are rustup's components of the same names.
pub(crate) fn ensure_components(names: &[&str]) -> Result<()> {
    let is_missing = |name: &&&str| {
        let asked = crate::command::cargo([*name, "--version"]).output();
        !asked.is_ok_and(|output| output.status.success())
    };
    let missing: Vec<&str> = names.iter().filter(is_missing).copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    // Cargo and rustup call rustfmt by another name.
    let components = missing.iter().map(|name| if *name == "fmt" { "rustfmt" } else { name });
    let words: Vec<&str> = ["component", "add"].into_iter().chain(components).collect();
    match find("rustup") {
        Some(_) => run(&mut command("rustup", words.iter().copied())),
        None => Err(Missing(format!(
            "cargo {} is missing; rustup would install it: rustup {}",
            missing.join(", cargo "),
            words.join(" ")
        ))
        .into()),
    }
}

fn missing(needs: &[&[Need]]) -> Vec<&'static str> {
    needs.iter().copied().flatten().filter(|need| find(need.proof).is_none()).map(|need| need.package).collect()
}

fn apt(prefix: &[&str], action: &str, packages: &[&str]) -> Command {
    let words = prefix.iter().copied().chain(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", action]);
    let mut words: Vec<&str> = words.collect();
    match action {
        "install" => words.extend(["--yes", "--no-install-recommends"]),
        _ => words.push("--quiet"),
    }
    words.extend(packages);
    command(words[0], words[1..].iter().copied())
}

/// How to become root without being asked: nothing to do, `sudo -n`, or not at all.
fn rights() -> Option<Vec<&'static str>> {
    let answer = |program: &str, words: &[&str]| Command::new(program).args(words).output().ok().filter(|out| out.status.success());
    if answer("id", &["-u"]).is_some_and(|out| out.stdout.trim_ascii() == b"0") {
        return Some(Vec::new());
    }
    answer("sudo", &["-n", "true"]).map(|_| vec!["sudo", "-n"])
}

/// A program in PATH, or the path itself if it exists.
fn find(program: &str) -> Option<PathBuf> {
    if program.starts_with('/') {
        return Some(PathBuf::from(program)).filter(|path| path.exists());
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path: &PathBuf| is_file(path))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}
