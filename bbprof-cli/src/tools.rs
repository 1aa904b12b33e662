//! Tool folders: what cargo, rustc wrappers and build scripts are pointed at.
//!
//! `<cache>/tools/<digest of the settings>/` holds `bbprof-settings.json` and links to this binary whose names say the role. A role
//! finds its settings beside the name it was called by. The digest also stands in the compilers' names, because ccache hashes
//! a compiler's name but not its folder.

use crate::cache;
use crate::installation::Installation;
use crate::plugin::Plugin;
use crate::roles::RUSTC_WRAPPER;
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Which of the crates that cargo compiles are instrumented.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Selection {
    /// Every crate that is compiled for the target.
    All,
    /// Packages with these folders (of their `Cargo.toml`).
    Packages(Vec<PathBuf>),
}

/// What the roles in a tool folder know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ToolSettings {
    /// The root of the installation: a path, which serde takes only as text.
    pub root: OsString,
    /// The plugin for rustc's LLVM, with its options.
    pub rustc_plugin: PathBuf,
    /// The real rustc, rustdoc, and the user's own wrapper.
    pub rustc: OsString,
    pub rustdoc: OsString,
    pub user_wrapper: Option<OsString>,
    /// What goes with `RUSTC_BOOTSTRAP`; none where rustc accepts `-Z` without it.
    pub bootstrap: Option<Vec<String>>,
    pub selection: Selection,
    /// Where the build maps of doctests are kept, whose programs rustdoc removes.
    pub doctest_maps: PathBuf,
    /// The plugin and compilers for C and C++, when there is a clang for them.
    pub c: Option<CTools>,
}

/// What instruments the C and C++ parts of crates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CTools {
    pub plugin: Plugin,
    pub clang: PathBuf,
    /// Absent when there is a clang, but no clang++.
    pub clangxx: Option<PathBuf>,
}

/// A tool folder.
#[derive(Clone, Debug)]
pub(crate) struct Tools {
    pub folder: PathBuf,
    digest: String,
}

impl Tools {
    /// The tool folder with these settings.
    pub(crate) fn with(settings: &ToolSettings) -> Result<Self> {
        let text = serde_json::to_string_pretty(settings)?;
        let program = Installation::program()?;
        let digest = cache::name_of([OsStr::new(&text), program.as_os_str()]);
        let folder = cache::root()?.join("tools").join(&digest);
        let tools = Self { folder, digest };
        cache::folder_once(&tools.folder, |folder| {
            std::fs::write(folder.join(SETTINGS), &text)?;
            for name in [RUSTC_WRAPPER.into(), "rustc".into(), "rustdoc".into(), tools.name("bbprof-cc"), tools.name("bbprof-c++")]
            {
                std::os::unix::fs::symlink(&program, folder.join(name))?;
            }
            Ok(())
        })?;
        Ok(tools)
    }

    fn name(&self, role: &str) -> String {
        format!("{role}-{}", self.digest)
    }

    /// The C compiler.
    pub(crate) fn cc(&self) -> PathBuf {
        self.folder.join(self.name("bbprof-cc"))
    }

    /// The C++ compiler.
    pub(crate) fn cxx(&self) -> PathBuf {
        self.folder.join(self.name("bbprof-c++"))
    }
}

/// No other program's file beside a link to the compiler is called so.
const SETTINGS: &str = "bbprof-settings.json";

impl ToolSettings {
    /// The settings beside the name that this process was called by, if it was called through a tool folder.
    pub(crate) fn beside(argv0: &Path) -> Result<Option<Self>> {
        let Some(folder) = argv0.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(None) };
        let path = folder.join(SETTINGS);
        match std::fs::read(&path) {
            Ok(text) => {
                let settings = serde_json::from_slice(&text)
                    .with_context(|| format!("{}: not settings of this bbprof; run `bbprof clean`", path.display()))?;
                Ok(Some(settings))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }
}
