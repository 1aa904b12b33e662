//! `cargo xtask explorer`: builds the page of the HTML explorer from its sources, with npm, into the file that is checked in.
//! Rust builds need neither Node nor network for it; `--check` compares, and `cargo xtask test` does so wherever npm is.

use crate::command::{command, run as execute};
use crate::install::target_dir;
use crate::{Usage, root};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// The page that is checked in.
const PAGE: &str = "bbprof-report/assets/explorer.html";

/// The task.
pub(crate) fn run(words: &[String]) -> Result<()> {
    match words {
        [] => build(&root().join(PAGE)),
        [option] if option == "--check" => check(),
        [word, ..] => Usage::wrong(word),
    }
}

/// Compares the page with what its sources give, where npm is.
pub(crate) fn check() -> Result<()> {
    if command("npm", ["--version"]).output().is_err() {
        eprintln!("xtask: npm is not here: {PAGE} is not compared with its sources");
        return Ok(());
    }
    let built = target_dir().join("explorer.html");
    build(&built)?;
    let read = |path: &Path| fs::read(path).with_context(|| path.display().to_string());
    if read(&built)? != read(&root().join(PAGE))? {
        bail!("{PAGE} is not what explorer/ gives; rebuild it: cargo xtask explorer");
    }
    Ok(())
}

/// Builds in a copy, so that the source tree stays as it is.
fn build(output: &Path) -> Result<()> {
    let folder = target_dir().join("explorer");
    copy(&root().join("explorer"), &folder)?;
    let npm = |words: &[&str]| execute(command("npm", words.iter().copied()).current_dir(&folder));
    npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])?;
    npm(&["run", "--silent", "check"])?;
    let output = std::path::absolute(output)?.display().to_string();
    execute(command("node", ["build.mjs", &output]).current_dir(&folder))
}

/// Copies a folder over another, whose other files go, but for what npm installed.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let context = || format!("{} to {}", from.display(), to.display());
    let _ = fs::remove_dir_all(to.join("src"));
    fs::create_dir_all(to).with_context(context)?;
    for entry in fs::read_dir(from).with_context(context)? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).with_context(context)?;
        if path.is_file() {
            fs::copy(&path, to.join(&name)).with_context(context)?;
        } else if name != "node_modules" {
            copy(&path, &to.join(&name))?;
        }
    }
    Ok(())
}
