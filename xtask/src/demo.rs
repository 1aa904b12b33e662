//! `cargo xtask demo`: profiles a real program, a note collection in SQLite that renders markdown, and shows where it spends
//! its instructions.

use crate::command::{command, run as execute};
use crate::install::{install, target_dir};
use crate::setup;
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;

/// The task.
pub(crate) fn run(words: &[String]) -> Result<()> {
    if !words.is_empty() {
        bail!("usage: cargo xtask demo");
    }
    setup::ensure(&[setup::PROFILE])?;
    let root = target_dir().join("bbprof-root");
    install(&root)?;
    let bin = root.join("bin");
    let program = crate::root().join("tests/programs/notes");
    let at = |command: &mut Command| -> Result<()> { execute(within(command, &program, &bin)) };

    headline("build and run tests/programs/notes with counters in it, SQLite (C) and its crates");
    at(&mut command("cargo", ["bbprof", "run", "--release", "--locked"]))?;
    headline("the hottest functions, by LLVM instructions executed");
    at(&mut command("bbprof", ["report", "--top", "15"]))?;
    headline("is every count exact?");
    at(&mut command("bbprof", ["verify"]))?;
    headline("next");
    println!("cd {}   # then, with {} in PATH:", program.display(), bin.display());
    println!("bbprof annotate FUNCTION        # source lines with counts");
    println!("bbprof export json=notes.json lcov=notes.info");
    Ok(())
}

fn headline(text: &str) {
    println!("\n== {text}");
}

/// In the program's folder, with our tools first in PATH and our target directory.
fn within<'a>(command: &'a mut Command, program: &Path, bin: &Path) -> &'a mut Command {
    let old = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(bin.to_owned()).chain(std::env::split_paths(&old));
    if let Ok(path) = std::env::join_paths(folders) {
        command.env("PATH", path);
    }
    command.current_dir(program).env("CARGO_TARGET_DIR", target_dir().join("notes"))
}
