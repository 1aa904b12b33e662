//! Small sources whose lines have names: what a profile says of each.

use crate::{Cargo, Exported, Run, Sandbox, tool, traced_files};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Compiles and runs a source file; gives the trace file's lines of it, by a `//= NAME` at the end of each line that has one.
///
/// # Panics
/// When any of that fails.
#[must_use]
pub fn lines(sandbox: &Sandbox, compiler: &str, name: &str, text: &str, options: &[&str]) -> BTreeMap<String, u64> {
    let source = sandbox.write(name, text);
    let (binary, raw) = (sandbox.join("program"), sandbox.join("run.bbraw"));
    Run::new(tool(compiler)).args(options).arg(&source).arg("-o").arg(&binary).in_folder(sandbox.path()).ok();
    let _ = std::fs::remove_file(&raw);
    Run::new(&binary).env("BBPROF_OUT", &raw).in_folder(sandbox.path()).ok();
    named_lines(&raw, &source, text)
}

/// The same of a profile.
///
/// # Panics
/// When the source file is not in the trace.
#[must_use]
pub fn named_lines(raw: &Path, source: &Path, text: &str) -> BTreeMap<String, u64> {
    let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(raw).ok().text();
    let traced = &traced_files(&trace)[source.to_str().expect("text")];
    let named = (1_u32..).zip(text.lines()).filter_map(|(number, line)| Some((number, line.split_once("//= ")?.1.to_owned())));
    named.filter_map(|(number, name)| Some((name, *traced.lines.get(&number)?))).collect()
}

/// A package of one file; and that file.
#[must_use]
pub fn package(sandbox: &Sandbox, name: &str, text: &str) -> (Cargo, PathBuf) {
    sandbox.write("Cargo.toml", format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n"));
    sandbox.write("Cargo.lock", format!("version = 4\n\n[[package]]\nname = \"{name}\"\nversion = \"0.1.0\"\n"));
    (Cargo::new(sandbox.path(), sandbox.join("target")), sandbox.write("src/main.rs", text))
}

/// A program of which ThinLTO renames a function, `area`.
pub const RENAMED: &str = include_str!("../programs/renamed/main.rs");

/// Its package, and that file.
#[must_use]
pub fn renamed(sandbox: &Sandbox) -> (Cargo, PathBuf) {
    let (package, source) = package(sandbox, "renamed", RENAMED);
    // rustc makes small units then.
    (package.env("CARGO_PROFILE_RELEASE_INCREMENTAL", "true"), source)
}

/// The symbol that `area` has in its profile.
///
/// # Panics
/// When it has none.
#[must_use]
pub fn symbol_of_area(raw: &Path) -> String {
    let functions = Exported::of(&[raw.to_owned()]).functions();
    let mut symbols = functions.iter().filter_map(|function| function.value["symbol"].as_str());
    symbols.find(|symbol| symbol.contains("4area")).expect("area has code of its own").to_owned()
}

/// Runs the package's program, built with these options; gives its profile, which no earlier one is beside.
///
/// # Panics
/// When that fails.
#[must_use]
pub fn profile_of(package: &Cargo, sandbox: &Sandbox, options: &[&str]) -> PathBuf {
    let _ = std::fs::remove_dir_all(sandbox.join("raw"));
    package.profiled("run", &[&["--quiet", "--no-report"], options].concat(), sandbox).ok();
    sandbox.raw_profiles("raw").swap_remove(0)
}
