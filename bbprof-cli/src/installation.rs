//! Where bbprof itself is installed.
//!
//! ```text
//! <root>/bin/      bbprof (cargo-bbprof, bbprof-cc, bbprof-c++ are links to it), bbprof-shim-linker
//! <root>/lib/bbprof/   libbbprof_plugin.a, glue/*.cpp, glue/*.h, include/bbprof.h
//! ```

use crate::exit::require;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The files of one installation.
#[derive(Clone, Debug)]
pub(crate) struct Installation {
    /// The folder that holds `bin` and `lib`.
    pub root: PathBuf,
}

impl Installation {
    /// The installation that this process belongs to; `BBPROF_ROOT` names another.
    pub(crate) fn find() -> Result<Self> {
        let root = match std::env::var_os("BBPROF_ROOT").filter(|root| !root.is_empty()) {
            Some(root) => PathBuf::from(root),
            None => Self::program()?.parent().and_then(Path::parent).context("bbprof itself lies in no folder")?.to_owned(),
        };
        Ok(Self { root })
    }

    /// This binary, without links.
    pub(crate) fn program() -> Result<PathBuf> {
        std::env::current_exe().and_then(|path| path.canonicalize()).context("where is bbprof itself?")
    }

    /// The static library with the plugin's Rust part.
    pub(crate) fn plugin_library(&self) -> PathBuf {
        self.root.join("lib/bbprof/libbbprof_plugin.a")
    }

    /// The plugin's C++ sources and headers, sorted by name.
    pub(crate) fn glue(&self) -> Result<Vec<PathBuf>> {
        let folder = self.root.join("lib/bbprof/glue");
        let mut files = Vec::new();
        if let Ok(entries) = std::fs::read_dir(&folder) {
            for entry in entries {
                let path = entry.with_context(|| folder.display().to_string())?.path();
                if path.extension().is_some_and(|e| e == "cpp" || e == "h") {
                    files.push(path);
                }
            }
        }
        files.sort();
        if files.is_empty() || !self.plugin_library().is_file() {
            require!(
                "{}: the plugin's sources are not there (expected libbbprof_plugin.a and glue/*.cpp); run `cargo xtask install`, or set BBPROF_ROOT",
                self.root.join("lib/bbprof").display()
            );
        }
        Ok(files)
    }

    /// The folder of `bbprof.h`.
    pub(crate) fn headers(&self) -> PathBuf {
        self.root.join("lib/bbprof/include")
    }

    /// The linker shim.
    pub(crate) fn shim(&self) -> Result<PathBuf> {
        let path = self.root.join("bin/bbprof-shim-linker");
        if !path.is_file() {
            require!("{}: the linker shim is not there; run `cargo xtask install`, or set BBPROF_ROOT", path.display());
        }
        Ok(path)
    }
}
