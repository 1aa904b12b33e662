//! `bbprof clean`: removes our folders in the target directory, and the cache.

use crate::exit::require;
use crate::messages::tell;
use crate::{cache, cache_lock};
use anyhow::{Context, Result};
use cargo_metadata::MetadataCommand;
use clap::Args;
use std::path::{Path, PathBuf};

/// Remove bbprof's target directory of this project, and its cache
#[derive(Args, Clone, Debug)]
pub(crate) struct CleanOptions {
    /// Path to Cargo.toml
    #[arg(long, value_name = "PATH")]
    manifest_path: Option<PathBuf>,
    /// Cargo's target directory, when it is not where cargo's configuration says
    #[arg(long, value_name = "DIR")]
    target_dir: Option<PathBuf>,
    /// Keep the cache (compiled plugin, tool folders), which all builds of this user share
    #[arg(long)]
    keep_cache: bool,
}

/// Removes, and says what.
pub(crate) fn clean(options: &CleanOptions) -> Result<()> {
    if let Some(target) = target_directory(options)? {
        remove(&target.join("bbprof"))?;
    }
    if !options.keep_cache && cache_lock::remove_unless_in_use()? {
        tell!("removed {}", cache::root()?.display());
    }
    Ok(())
}

/// In each folder of ours within a target directory, by a name that backup programs know (bford.info/cachedir).
pub(crate) const TAG: (&str, &str) = (
    "CACHEDIR.TAG",
    "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is made by bbprof; `cargo bbprof clean` removes it.\n",
);

/// Cargo's target directory; absent outside a cargo project, unless a manifest was named.
fn target_directory(options: &CleanOptions) -> Result<Option<PathBuf>> {
    if let Some(target) = &options.target_dir {
        return Ok(Some(target.clone()));
    }
    let mut command = MetadataCommand::new();
    command.no_deps();
    if let Some(path) = &options.manifest_path {
        command.manifest_path(path);
    }
    match command.exec() {
        Ok(metadata) => Ok(Some(metadata.target_directory.into_std_path_buf())),
        Err(error) if options.manifest_path.is_some() => Err(error).context("cargo metadata"),
        Err(_) => {
            tell!("no target directory is cleaned: cargo knows of no package here; name it by --manifest-path or --target-dir");
            Ok(None)
        }
    }
}

/// Removes a folder, if it is ours or empty.
fn remove(folder: &Path) -> Result<()> {
    let (tag, text) = TAG;
    let is_tagged = || std::fs::read(folder.join(tag)).is_ok_and(|found| found == text.as_bytes());
    let is_empty = || std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if folder.exists() && !is_tagged() && !is_empty() {
        require!(
            "{}: is not removed, as bbprof did not make it (its {tag} is not there); if nobody needs it, remove it yourself",
            folder.display()
        );
    }
    match std::fs::remove_dir_all(folder) {
        Ok(()) => tell!("removed {}", folder.display()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).with_context(|| format!("{}: cannot be removed", folder.display())),
    }
    Ok(())
}
