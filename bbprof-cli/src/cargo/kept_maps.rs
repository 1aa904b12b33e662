//! The build maps of programs that ran. The next build takes the place of the map beside the program, and the raw profiles of
//! earlier runs stay: to compare with, or to place counters by.

use crate::cache;
use crate::locate::{MapFinder, kept_map};
use anyhow::{Context, Result};
use bbprof_format::BuildId;
use bbprof_format::raw::RawProfile;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Keeps the maps of all programs and libraries in `ours`, our folder of a target directory, that these raw profiles are of.
pub(super) fn keep(profiles: &[PathBuf], ours: &Path) -> Result<()> {
    let ours = ours.canonicalize().with_context(|| ours.display().to_string())?;
    let mut finder = MapFinder::new(&[]);
    for (build_id, image) in images(profiles) {
        let Some(kept) = kept_map(build_id, &image).filter(|kept| kept.starts_with(&ours) && !kept.exists()) else { continue };
        // Without a map it is told what is missing when the profile is read.
        let Ok(map) = finder.locate(build_id, &image).and_then(|map| Ok(map.canonicalize()?)) else { continue };
        let folder = kept.parent().context("a map has a folder")?;
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        // Maps are replaced, never changed.
        if std::fs::hard_link(&map, &kept).is_err() {
            cache::write_atomically(&kept, &std::fs::read(&map).with_context(|| map.display().to_string())?)?;
        }
    }
    Ok(())
}

/// Of all raw profiles that can be read: the others are told of by who reads them.
fn images(profiles: &[PathBuf]) -> BTreeSet<(BuildId, PathBuf)> {
    let profiles = profiles.iter().filter_map(|path| RawProfile::read(&std::fs::read(path).ok()?).ok());
    profiles.flat_map(|profile| profile.images).map(|image| (image.build_id, OsString::from_vec(image.path).into())).collect()
}
