//! The LLVM plugin: compiled on first use for each LLVM major version, then found in the cache.
//!
//! `<cache>/plugin/<digest of glue, library, LLVM, compiler>/bbprof.so` is the plugin; `<that folder>/<digest of options>/`
//! holds a link `bbprof.so` to it and a file `options`, which the plugin reads beside the path it was loaded from. So the
//! path that stands on a compiler's command line names everything that decides what is generated, and compiler caches, which
//! hash the command line, never mix two kinds of objects.

mod compile;
mod host;
mod llvm;
mod options;

pub(crate) use compile::{compiler_for, ensure_plugin};
pub(crate) use host::{CALLED_CLANG, Clang, INSTALL_RUST, Rustc, plus_plus_of, refuse_ourselves};
pub(crate) use llvm::{Llvm, SUPPORTED_MAJORS, install};
pub(crate) use options::{Counters, Extra, Filters, Part, PluginOptions, Storage, Tls, path_array, path_limit};

use crate::cache;
use crate::exit::require;
use crate::installation::Installation;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A plugin with its options: the path to hand to the compiler, and the major version of LLVM that it is for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plugin {
    pub path: PathBuf,
    pub major: u32,
}

/// The plugin for this LLVM major with these options. `say` gets one line if the plugin
/// must be compiled first.
pub(crate) fn plugin_with_options(
    installation: &Installation,
    major: u32,
    options: &PluginOptions,
    say: impl Fn(&str),
) -> Result<Plugin> {
    let plugin = ensure_plugin(installation, &Llvm::find(major)?, say)?;
    let text = options.text();
    let folder = plugin.parent().context("the plugin lies in a folder")?.join(cache::name_of([&*text]));
    cache::folder_once(&folder, |folder| {
        std::os::unix::fs::symlink("../bbprof.so", folder.join("bbprof.so"))?;
        std::fs::write(folder.join("options"), &text)?;
        Ok(())
    })?;
    Ok(Plugin { path: folder.join("bbprof.so"), major })
}

/// rustc parts the list behind `-Zllvm-plugins` at spaces, and what cargo hands on is text.
pub(crate) fn refuse_odd_paths(plugin: &Path) -> Result<()> {
    let what = match plugin.to_str() {
        Some(text) if text.contains(char::is_whitespace) => "with spaces",
        Some(_) => return Ok(()),
        None => "that is not UTF-8",
    };
    require!("{}: rustc cannot load a plugin from a path {what}; set XDG_CACHE_HOME to another folder", plugin.display());
}
