//! Folders through which compilers reach the linker shim.
//!
//! A folder holds links to the shim under the names that compilers look for, because rustc infers the linker's flavour from
//! its name, and beside each a file that says which program is behind it: `real-cc` beside `cc`, `real-ld.lld` beside `ld.lld`.

use crate::cache;
use crate::exit::require;
use crate::installation::Installation;
use anyhow::{Context, Result};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// The shim under the name of `real` (a compiler driver or a linker, as a path or a name to find in PATH).
pub(crate) fn before(installation: &Installation, real: &OsStr) -> Result<PathBuf> {
    let Ok(found) = which::which(real) else {
        require!(
            "{}: the linker is not there; install it (gcc has cc, binutils has ld, lld has ld.lld), or name another",
            real.to_string_lossy()
        );
    };
    let name = found.file_name().context("a program has a name")?.to_owned();
    Ok(folder(installation, &[(&name, &found)])?.join(name))
}

/// The shim as `ld`, before the linker `real`.
pub(crate) fn as_ld(installation: &Installation, real: &Path) -> Result<PathBuf> {
    Ok(folder(installation, &[("ld".as_ref(), real)])?.join("ld"))
}

/// A folder with the shim under each name, before the program beside it.
pub(crate) fn folder(installation: &Installation, before: &[(&OsStr, &Path)]) -> Result<PathBuf> {
    let shim = installation.shim()?;
    let words = before.iter().flat_map(|(name, real)| [*name, real.as_os_str()]);
    let folder = cache::root()?.join("shim").join(cache::name_of(std::iter::once(shim.as_os_str()).chain(words)));
    cache::folder_once(&folder, |folder| {
        for (name, real) in before {
            symlink(&shim, folder.join(name))?;
            let mut file = OsString::from("real-");
            file.push(name);
            std::fs::write(folder.join(file), real.as_os_str().as_bytes())?;
        }
        Ok(())
    })?;
    Ok(folder)
}
