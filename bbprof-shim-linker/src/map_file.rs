//! Puts the build map beside the output, and a link to it where maps are looked up by build id.

use crate::link::setting;
use anyhow::{Context, Result, bail};
use bbprof_format::{BuildId, map};
use std::borrow::Cow;
use std::io::{BufWriter, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Removes the map of an earlier link: it does not belong to what is at `output` from now on. Other files of that name stay.
pub(crate) fn remove_stale(output: &Path) {
    let path = map::path_beside(output);
    if is_map(&path) {
        // Should it stay after all, its build id tells that it is another link's.
        let _ = fs::remove_file(path);
    }
}

/// Makes sure that no file of another kind is lost by the map.
///
/// # Errors
/// When there is one.
pub(crate) fn check_place(output: &Path) -> Result<()> {
    let path = map::path_beside(output);
    if fs::metadata(&path).is_ok_and(|file| file.is_file() && file.len() > 0) && !is_map(&path) {
        bail!(
            "{}: is not a build map, but stands where the link has to write one; move it, or link to another name",
            path.display()
        );
    }
    Ok(())
}

fn is_map(path: &Path) -> bool {
    let mut magic = [0; map::MAGIC.len()];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok_and(|()| magic == *map::MAGIC)
}

/// Writes an encoded map (its pieces in order) beside the output, in one step, and the link in the cache, when that is possible.
///
/// # Errors
/// When the map cannot be written.
pub(crate) fn write(build_id: BuildId, map: &[Cow<'_, [u8]>], output: &Path) -> Result<()> {
    if !output.is_file() {
        // `-o /dev/null`: nothing that could be run.
        return Ok(());
    }
    let path = map::path_beside(output);
    put(map, &path).with_context(|| format!("{}: cannot write the build map", path.display()))?;
    let kept = keep(build_id, map)?;
    // A convenience for binaries that are moved away from their map.
    let _ = link_in_cache(build_id, &kept.unwrap_or(path));
    Ok(())
}

/// Puts the file in place as any new one: the umask takes away what it should.
fn put(map: &[Cow<'_, [u8]>], path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let permissions = fs::Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().prefix(".bbmap-").permissions(permissions).tempfile_in(folder)?;
    let mut out = BufWriter::new(file);
    map.iter().try_for_each(|piece| out.write_all(piece))?;
    out.into_inner()?.persist(path)?;
    Ok(())
}

/// Where a copy of the map is, when `BBPROF_KEEP_MAPS` names a folder for copies: rustdoc removes a doctest's output, and what
/// is beside it, as soon as it has run.
fn keep(build_id: BuildId, map: &[Cow<'_, [u8]>]) -> Result<Option<PathBuf>> {
    let Some(folder) = setting("BBPROF_KEEP_MAPS") else { return Ok(None) };
    let path = Path::new(&folder).join(map::file_name(build_id));
    let what = || format!("BBPROF_KEEP_MAPS: {}: cannot write the copy of the build map", path.display());
    fs::create_dir_all(&folder).with_context(what)?;
    put(map, &path).with_context(what)?;
    Ok(Some(path))
}

fn link_in_cache(build_id: BuildId, path: &Path) -> Option<()> {
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let cache = cache.or_else(|| Some(env::home_dir().filter(|home| home.is_absolute())?.join(".cache")))?;
    let folder = cache.join("bbprof").join("maps");
    fs::create_dir_all(&folder).ok()?;
    let link = folder.join(map::file_name(build_id));
    let target = fs::canonicalize(path).ok()?;
    if fs::read_link(&link).is_ok_and(|old| old == target) {
        return Some(());
    }
    let new = tempfile::Builder::new().prefix(".link-").make_in(&folder, |name| symlink(&target, name)).ok()?;
    new.into_temp_path().persist(link).ok()
}
