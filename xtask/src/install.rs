//! `cargo xtask install`: one binary with its links, the shim, and what the plugin is compiled from.
//!
//! ```text
//! <root>/bin/         bbprof, cargo-bbprof -> bbprof, bbprof-cc -> bbprof, bbprof-c++ -> bbprof, bbprof-shim-linker
//! <root>/lib/bbprof/  libbbprof_plugin.a, glue/*.cpp, glue/*.h, include/bbprof.h
//! ```

use crate::command::{cargo, run as execute};
use crate::{Usage, setup};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The names that are links to the one binary.
const LINKS: [&str; 3] = ["cargo-bbprof", "bbprof-cc", "bbprof-c++"];

/// The task.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let root = match words {
        [] => cargo_home()?,
        [option, folder] if option == "--root" => std::path::absolute(folder)?,
        [option] if option.starts_with("--root=") => std::path::absolute(&option["--root=".len()..])?,
        [word, ..] => return Usage::wrong(word),
    };
    setup::ensure(&[setup::PROFILE])?;
    install(&root)?;
    let bin = root.join("bin");
    eprintln!("xtask: installed cargo-bbprof, bbprof, bbprof-cc, bbprof-c++ in {}", bin.display());
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder == bin) {
        eprintln!("xtask: {} is not in PATH", bin.display());
    }
    Ok(())
}

fn cargo_home() -> Result<PathBuf> {
    match std::env::var_os("CARGO_HOME") {
        Some(home) => Ok(home.into()),
        None => {
            Ok(std::env::home_dir().context("CARGO_HOME is not set, and there is no home folder; use --root DIR")?.join(".cargo"))
        }
    }
}

/// Builds everything, optimised, and installs it. Files that are already the same stay untouched, so that caches stay valid.
pub(crate) fn install(root: &Path) -> Result<()> {
    execute(&mut cargo(["build", "--release", "--locked", "-p", "bbprof-cli", "-p", "bbprof-shim-linker", "-p", "bbprof-plugin"]))?;
    let built = target_dir().join("release");
    let bin = root.join("bin");
    let lib = root.join("lib/bbprof");
    copy(&built.join("bbprof"), &bin.join("bbprof"))?;
    copy(&built.join("bbprof-shim-linker"), &bin.join("bbprof-shim-linker"))?;
    for link in LINKS {
        let link = bin.join(link);
        if fs::read_link(&link).ok().as_deref() != Some(Path::new("bbprof")) {
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink("bbprof", &link).with_context(|| link.display().to_string())?;
        }
    }
    copy(&built.join("libbbprof_plugin.a"), &lib.join("libbbprof_plugin.a"))?;
    copy(&crate::root().join("bbprof-rt/c/bbprof.h"), &lib.join("include/bbprof.h"))?;
    let glue = crate::root().join("bbprof-plugin/glue");
    let mut names = Vec::new();
    for entry in fs::read_dir(&glue).with_context(|| glue.display().to_string())? {
        let entry = entry?;
        copy(&entry.path(), &lib.join("glue").join(entry.file_name()))?;
        names.push(entry.file_name());
    }
    for entry in fs::read_dir(lib.join("glue"))? {
        let entry = entry?;
        if !names.contains(&entry.file_name()) {
            fs::remove_file(entry.path()).with_context(|| entry.path().display().to_string())?;
        }
    }
    Ok(())
}

/// Where cargo builds this workspace.
pub(crate) fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(&folder).unwrap_or_else(|_| folder.into()),
        None => crate::root().join("target"),
    }
}

/// Copies a file unless it is the same; a running program keeps its old file.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let new = fs::read(from).with_context(|| from.display().to_string())?;
    if fs::read(to).is_ok_and(|old| old == new) {
        return Ok(());
    }
    let folder = to.parent().context("a file has a folder")?;
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be made", folder.display()))?;
    let mut name = to.file_name().context("a file has a name")?.to_owned();
    name.push(".new");
    let temporary = to.with_file_name(name);
    fs::copy(from, &temporary).with_context(|| format!("{}: cannot be written", temporary.display()))?;
    fs::rename(&temporary, to).with_context(|| to.display().to_string())
}
