//! Folders through which compilers reach the linker shim.
//!
//! A folder holds links to the shim under the names that compilers look for, because rustc infers the linker's flavour from
//! its name, and beside them a file that says which program is behind: `real-cc` for a compiler driver, `real-ld` for a linker.

use crate::cache;
use crate::exit::require;
use crate::installation::Installation;
use anyhow::{Context, Result};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What kind of program the shim stands before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Behind {
    /// A compiler driver that links: `cc`, `gcc`, `clang`.
    Driver,
    /// A linker: `ld`, `ld.lld`, `mold`.
    Linker,
}

impl Behind {
    /// What rustc would take a program of this name for.
    pub(crate) fn by_name(name: &OsStr) -> Self {
        let name = name.to_string_lossy();
        let is_linker = ["ld", "lld", "mold", "wild"].iter().any(|linker| {
            name == *linker
                || name.ends_with(&format!("-{linker}"))
                || name.starts_with(&format!("{linker}."))
                || name.starts_with(&format!("{linker}-"))
        });
        if is_linker { Self::Linker } else { Self::Driver }
    }
}

/// The shim under the name of `real` (a compiler driver or a linker, as a path or a name to find in PATH).
pub(crate) fn before(installation: &Installation, real: &OsStr) -> Result<PathBuf> {
    let Ok(found) = which::which(real) else {
        require!("{}: the linker is not there; install: apt-get install gcc, or name another", real.to_string_lossy());
    };
    let name = found.file_name().context("a program has a name")?.to_owned();
    let behind = Behind::by_name(&name);
    Ok(folder(installation, behind, &found, &[&name])?.join(name))
}

/// A folder with the shim as `ld` and under the names of the usual linkers, before the linker `real`.
pub(crate) fn linker_folder(installation: &Installation, real: &Path) -> Result<PathBuf> {
    folder(installation, Behind::Linker, real, &["ld".as_ref()])
}

fn folder(installation: &Installation, behind: Behind, real: &Path, names: &[&OsStr]) -> Result<PathBuf> {
    let shim = installation.shim()?;
    let file = match behind {
        Behind::Driver => "real-cc",
        Behind::Linker => "real-ld",
    };
    let shown: Vec<_> = [shim.as_os_str(), real.as_os_str(), file.as_ref()]
        .into_iter()
        .chain(names.iter().copied())
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    let folder = cache::root()?.join("shim").join(cache::name_of(shown.iter().map(String::as_str)));
    cache::folder_once(&folder, |folder| {
        for name in names {
            symlink(&shim, folder.join(name))?;
        }
        Ok(std::fs::write(folder.join(file), real.as_os_str().as_bytes())?)
    })?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkers_are_known_by_name() {
        for name in ["ld", "ld.lld", "ld.lld-22", "rust-lld", "mold", "lld", "x86_64-linux-gnu-ld", "ld.bfd"] {
            assert_eq!(Behind::by_name(name.as_ref()), Behind::Linker, "{name}");
        }
        for name in ["cc", "gcc-12", "clang", "clang-22", "x86_64-linux-gnu-gcc", "musl-gcc", "my-build"] {
            assert_eq!(Behind::by_name(name.as_ref()), Behind::Driver, "{name}");
        }
    }
}
