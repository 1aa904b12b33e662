//! Who the shim is called as, and which linker it stands in for.

use crate::command_line::Level;
use anyhow::{Context, Result, bail};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Base names that stand for linkers; every other name stands for a compiler driver.
const LINKER_NAMES: &[&str] =
    &["ld", "ld.lld", "ld.bfd", "ld.gold", "ld.mold", "ld.wild", "lld", "mold", "gold", "rust-lld", "wild"];

/// A driver that calls a linker nests twice, one with wrappers around both a few times more; beyond this the shim calls itself.
const MAX_DEPTH: u32 = 8;
const DEPTH_VARIABLE: &str = "BBPROF_SHIM_DEPTH";

/// The shim as it was called.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Role {
    /// Linker or driver.
    pub level: Level,
    /// The name it was called by.
    pub name: OsString,
    /// The folder of that name, when it was called by a path; links not followed.
    folder: Option<PathBuf>,
}

impl Role {
    /// The role that `argv[0]` says.
    pub(crate) fn of(program: &OsStr) -> Self {
        let path = Path::new(program);
        let name = path.file_name().unwrap_or(program).to_owned();
        let bare = name.to_string_lossy();
        // `clang-22` is a driver, `ld.lld-22` and `x86_64-linux-gnu-ld.bfd` are linkers.
        let bare = bare.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
        let last = bare.rsplit_once('-').map_or(bare, |(_, last)| last);
        let level = if LINKER_NAMES.contains(&bare) || LINKER_NAMES.contains(&last) { Level::Ld } else { Level::Cc };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).map(Path::to_owned);
        Self { level, name, folder }
    }

    /// The linker or driver that does the work: `BBPROF_REAL_LD` or `BBPROF_REAL_CC`; what the file `real-NAME` beside the shim
    /// says, then `real-ld` or `real-cc`; the same name elsewhere in PATH; plain `ld` or `cc` there.
    ///
    /// # Errors
    /// When there is none, or it is the shim itself.
    pub(crate) fn real_linker(&self) -> Result<PathBuf> {
        let (variable, file, plain) = match self.level {
            Level::Ld => ("BBPROF_REAL_LD", "real-ld", "ld"),
            Level::Cc => ("BBPROF_REAL_CC", "real-cc", "cc"),
        };
        if let Some(named) = env::var_os(variable).filter(|value| !value.is_empty()) {
            return checked(&named, &format!("{variable}={}", named.display()));
        }
        let mut own_file = OsString::from("real-");
        own_file.push(&self.name);
        if let Some(named) = self.named_in(&own_file)? {
            return Ok(named);
        }
        if let Some(named) = self.named_in(OsStr::new(file))? {
            return Ok(named);
        }
        in_path(&self.name).or_else(|| in_path(OsStr::new(plain))).with_context(|| {
            format!("no {} besides the shim itself in PATH; set {variable} to the linker to use", self.name.display())
        })
    }

    fn named_in(&self, file: &OsStr) -> Result<Option<PathBuf>> {
        let folder = self.folder.clone().or_else(|| which::which(&self.name).ok()?.parent().map(Path::to_owned));
        let Some(path) = folder.map(|folder| folder.join(file)) else { return Ok(None) };
        match fs::read(&path) {
            Ok(text) => checked(OsStr::from_bytes(text.trim_ascii()), &path.display().to_string()).map(Some),
            Err(_) => Ok(None),
        }
    }
}

/// A path, or a name to be found in PATH.
fn checked(named: &OsStr, source: &str) -> Result<PathBuf> {
    if !named.as_bytes().contains(&b'/')
        && let Some(path) = in_path(named)
    {
        return Ok(path);
    }
    let path = which::which(named).with_context(|| format!("{source}: {} cannot be run", named.display()))?;
    if is_this_shim(&path) {
        bail!("{source}: {} is the shim itself; name the real linker there", path.display());
    }
    Ok(path)
}

fn in_path(name: &OsStr) -> Option<PathBuf> {
    which::which_all(name).ok()?.find(|path| !is_this_shim(path))
}

/// The same file, by whatever links.
fn is_this_shim(path: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    env::current_exe().is_ok_and(|shim| identity(&shim) == identity(path))
}

/// Counts how deep the shim is called from itself, for the environment of the real linker.
///
/// # Errors
/// When the "real" linker leads back here for ever.
pub(crate) fn next_depth(linker: &Path) -> Result<(&'static str, String)> {
    let depth: u32 = env::var(DEPTH_VARIABLE).ok().and_then(|depth| depth.parse().ok()).unwrap_or(0);
    if depth >= MAX_DEPTH {
        bail!(
            "{} calls the shim again, {depth} times over; set BBPROF_REAL_LD or BBPROF_REAL_CC to a real linker",
            linker.display()
        );
    }
    Ok((DEPTH_VARIABLE, (depth + 1).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_by_name() {
        for (name, level) in [
            ("/x/ld", Level::Ld),
            ("ld.lld", Level::Ld),
            ("ld.lld-22", Level::Ld),
            ("mold", Level::Ld),
            ("rust-lld", Level::Ld),
            ("x86_64-linux-gnu-ld.bfd", Level::Ld),
            ("/x/cc", Level::Cc),
            ("clang-22", Level::Cc),
            ("x86_64-linux-gnu-gcc-12", Level::Cc),
            ("bbprof-shim-linker", Level::Cc),
        ] {
            assert_eq!(Role::of(OsStr::new(name)).level, level, "{name}");
        }
        assert_eq!(Role::of(OsStr::new("/x/ld")).folder, Some("/x".into()));
        assert_eq!(Role::of(OsStr::new("ld")).folder, None);
    }
}
