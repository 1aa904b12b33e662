//! `cargo xtask demo`: profiles a real program, a note collection in SQLite that renders markdown, and shows where it spends
//! its instructions.

use crate::command::{command, run as execute};
use crate::install::{install, target_dir};
use crate::{Usage, setup};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The task.
pub(crate) fn run(words: &[String]) -> Result<()> {
    if let [word, ..] = words {
        return Usage::wrong(word);
    }
    setup::ensure(&[setup::PROFILE])?;
    let root = target_dir().join("bbprof-root");
    install(&root)?;
    let bin = root.join("bin");
    let program = crate::root().join("tests/programs/notes");
    let at = |command: &mut Command| -> Result<()> { execute(within(command, &program, &bin)) };

    headline("build and run tests/programs/notes with counters in it, SQLite (C) and its crates");
    at(&mut command("cargo", ["bbprof", "run", "--release", "--locked", "--no-report"]))?;
    headline("where it spends its instructions (LLVM's, executed): functions, blocks, lines");
    at(&mut command("bbprof", ["report"]))?;
    headline("one of these functions, line by line");
    at(&mut command("bbprof", ["annotate", "lengthFunc"]))?;
    headline("is every count exact?");
    at(&mut command("bbprof", ["verify"]))?;

    let target = demo_target();
    let last = target.join("bbprof/last");
    let run = fs::read_to_string(&last).with_context(|| last.display().to_string())?;
    let profile = target.join("notes.bbprof");
    let kept = profile.display().to_string();
    at(&mut command("bbprof", ["merge", "-o", &kept, run.trim_end()]))?;
    let report = target.join("report");
    at(&mut command("bbprof", ["export", &format!("html={}", report.display()), &kept]))?;
    headline("next");
    println!("Open {}/index.html in a browser to click through all of it.", report.display());
    println!("The profile is {kept}; the tools are in {}:", bin.display());
    println!("  bbprof report --by file {kept}");
    println!("  bbprof annotate {kept} FUNCTION");
    println!("  bbprof export json=notes.json lcov=notes.info {kept}");
    println!("`cargo xtask install` puts them in PATH.");
    Ok(())
}

/// The target directory of the profiled program.
fn demo_target() -> PathBuf {
    target_dir().join("notes")
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
    // The user's own settings would take the profile elsewhere, or leave it out.
    for (setting, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("BBPROF_")) {
        command.env_remove(setting);
    }
    command.current_dir(program).env("CARGO_TARGET_DIR", demo_target())
}
