//! Profiles of what build scripts try out: C programs that `configure` or CMake compile, run and remove while cargo builds. They are no part of the run; and
//! nobody could read them, as their build maps are gone with them.

use anyhow::{Context, Result};
use bbprof_format::raw::RawProfile;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Takes them out of a run's raw profiles; `ours` is our folder of the target directory.
pub(super) fn take_out(profiles: &mut Vec<PathBuf>, ours: &Path) -> Result<Vec<PathBuf>> {
    let ours = ours.canonicalize().with_context(|| ours.display().to_string())?;
    Ok(profiles.extract_if(.., |profile| is_tried_out(profile, &ours)).collect())
}

/// Whether a raw profile is of a program that a build script made in its `OUT_DIR`, and that is gone. One that cannot be read is told of by who reads it.
fn is_tried_out(profile: &Path, ours: &Path) -> bool {
    let Some(profile) = std::fs::read(profile).ok().and_then(|bytes| RawProfile::read(&bytes).ok()) else { return false };
    let executable = PathBuf::from(OsString::from_vec(profile.process.executable));
    is_in_out_dir(&executable, ours) && !executable.exists()
}

/// Cargo calls an `OUT_DIR` `build/PACKAGE-HASH/out`, or, with its new layout of build folders, `build/PACKAGE/HASH/out`.
fn is_in_out_dir(program: &Path, ours: &Path) -> bool {
    let Ok(inside) = program.strip_prefix(ours) else { return false };
    let folders: Vec<_> = inside.iter().collect();
    let is_out_dir = |folders: &[&OsStr]| folders.first() == Some(&"build".as_ref()) && folders.last() == Some(&"out".as_ref());
    folders.windows(3).chain(folders.windows(4)).any(is_out_dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_dirs_are_known() {
        let is_in = |program: &str| is_in_out_dir(program.as_ref(), "/target/bbprof".as_ref());
        assert!(is_in("/target/bbprof/0a1b/x86_64-unknown-linux-gnu/debug/build/jemalloc-0a1b/out/build/conftest"));
        assert!(is_in("/target/bbprof/0a1b/release/build/jemalloc-0a1b/out/conftest"));
        assert!(is_in("/target/bbprof/0a1b/x86_64-unknown-linux-gnu/debug/build/jemalloc/0a1b/out/build/conftest"));
        assert!(
            !is_in("/target/bbprof/0a1b/x86_64-unknown-linux-gnu/debug/deps/app-0a1b") && !is_in("/target/build/a/out/conftest")
        );
    }
}
