//! The cache folder (`$XDG_CACHE_HOME/bbprof`, else `~/.cache/bbprof`): folders named after their content.
//!
//! A folder is filled under a temporary name and renamed; when two processes race, either result is the same. What takes long is
//! filled by one while the others wait. Removing the cache is locked, too (`cache_lock`).

use crate::exit::require;
use anyhow::{Context, Result, bail};
use bbprof_format::Digest;
use rustix::fs::{FlockOperation, flock};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const CHOOSE: &str = "set XDG_CACHE_HOME to a folder that can be written to";
const CHOOSE_ABSOLUTE: &str = "set XDG_CACHE_HOME to the absolute path of a folder that can be written to";

/// The cache folder.
pub(crate) fn root() -> Result<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    // Without HOME, the user's entry in /etc/passwd, as for cargo.
    let base = match (base, std::env::home_dir()) {
        (Some(base), _) => base,
        (None, Some(home)) if home.is_absolute() => home.join(".cache"),
        (None, Some(home)) if !home.as_os_str().is_empty() => {
            require!("no folder for the cache: HOME is {}, no absolute path; {CHOOSE_ABSOLUTE}", home.display())
        }
        (None, _) => require!("no folder for the cache: the user has no home, and HOME is not set; {CHOOSE_ABSOLUTE}"),
    };
    Ok(base.join("bbprof"))
}

/// Fills `folder` with `fill`, unless it is there: under a temporary name, then renamed.
pub(crate) fn folder_once(folder: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = folder.parent().context("a cache folder has a parent")?;
    let temporary = fs::create_dir_all(parent).and_then(|()| tempfile::Builder::new().prefix(".new-").tempdir_in(parent));
    let temporary = match temporary {
        Ok(temporary) => temporary,
        Err(error) => require!("{}: cannot be made in the cache: {error}; {CHOOSE}", folder.display()),
    };
    fill(temporary.path())?;
    let temporary = temporary.keep();
    match fs::rename(&temporary, folder) {
        Ok(()) => Ok(()),
        Err(_) if folder.is_dir() => {
            // Another process was quicker; its folder has the same content.
            fs::remove_dir_all(&temporary).with_context(|| temporary.display().to_string())
        }
        Err(error) => bail!("{}: cannot rename to {}: {error}", temporary.display(), folder.display()),
    }
}

/// Likewise, for what takes long: by one process at a time, while those that want the same wait.
pub(crate) fn folder_once_by_one(folder: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let (parent, name) = folder.parent().zip(folder.file_name()).context("a cache folder has a parent")?;
    let mut lock_name = OsString::from(".lock-");
    lock_name.push(name);
    let lock = parent.join(lock_name);
    // Where files cannot be locked, several may do the same. Who ends, however it does, lets go of it.
    let made = fs::create_dir_all(parent).and_then(|()| fs::File::create(&lock));
    let held = made.and_then(|file| Ok(flock(&file, FlockOperation::LockExclusive).map(|()| file)?));
    let filled = folder_once(folder, fill);
    drop(held);
    filled
}

/// Writes a file so that readers see the old or the new content, never a part.
pub(crate) fn write_atomically(path: &Path, content: &[u8]) -> Result<()> {
    let parent = path.parent().context("a file has a folder")?;
    fs::create_dir_all(parent).with_context(|| parent.display().to_string())?;
    // As any new file, whose readers may be others than who made it (a container's root); the umask takes away what it should.
    let permissions = fs::Permissions::from_mode(0o666);
    let mut file =
        tempfile::Builder::new().permissions(permissions).tempfile_in(parent).with_context(|| parent.display().to_string())?;
    file.write_all(content).with_context(|| path.display().to_string())?;
    file.persist(path).with_context(|| path.display().to_string())?;
    Ok(())
}

/// Writes a file in the cache so, or says what to do.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<()> {
    match write_atomically(path, content) {
        Ok(()) => Ok(()),
        Err(error) => require!("{}: cannot be made in the cache: {error:#}; {CHOOSE}", path.display()),
    }
}

/// Makes `link` point at `target`, replacing an earlier link atomically.
pub(crate) fn link_atomically(target: &Path, link: &Path) -> Result<()> {
    let parent = link.parent().context("a link has a folder")?;
    let temporary = tempfile::Builder::new().prefix(".new-").tempdir_in(parent).with_context(|| parent.display().to_string())?;
    let fresh = temporary.path().join("link");
    symlink(target, &fresh).with_context(|| fresh.display().to_string())?;
    fs::rename(&fresh, link).with_context(|| link.display().to_string())
}

/// A cheap fingerprint of a file: path without links, size, time of last change.
pub(crate) fn stamp(path: &Path) -> Result<OsString> {
    stamp_in_place(&path.canonicalize().with_context(|| path.display().to_string())?)
}

/// The same of a file whose path has no links, or lies beside one whose stamp tells them: of
/// many files, to find the links takes longer than all else.
pub(crate) fn stamp_in_place(path: &Path) -> Result<OsString> {
    let meta = path.metadata().with_context(|| path.display().to_string())?;
    let mut stamp = path.as_os_str().to_owned();
    stamp.push(format!("\0{}\0{}.{}", meta.size(), meta.mtime(), meta.mtime_nsec()));
    Ok(stamp)
}

/// The digest of a file's content.
pub(crate) fn content(path: &Path) -> Result<Digest> {
    Ok(Digest::of(&fs::read(path).with_context(|| path.display().to_string())?))
}

/// The digest of texts and paths, as a folder's name: 16 hexadecimal digits are enough among a user's few.
pub(crate) fn name_of<'a, P: AsRef<OsStr> + ?Sized + 'a>(parts: impl IntoIterator<Item = &'a P>) -> String {
    let mut name = Digest::of_parts(parts.into_iter().map(|part| part.as_ref().as_encoded_bytes())).to_string();
    name.truncate(16);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_folder_is_filled_once() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("a/b");
        folder_once(&folder, |path| Ok(fs::write(path.join("x"), "1")?)).unwrap();
        folder_once(&folder, |_| bail!("filled twice")).unwrap();
        assert_eq!(fs::read_to_string(folder.join("x")).unwrap(), "1");
        assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn paths_that_differ_only_in_what_is_no_text() {
        let name = |path: &[u8]| name_of([OsStr::from_bytes(path)]);
        assert_ne!(name(b"/opt/jos\xe9"), name(b"/opt/jos\xe8"));
        assert_eq!(name(b"/opt/jose"), name_of(["/opt/jose"]));
    }

    #[test]
    fn files_are_for_all_that_the_umask_lets_read() {
        let place = tempfile::tempdir().unwrap();
        let [plain, ours] = ["plain", "ours"].map(|name| place.path().join(name));
        fs::write(&plain, "1").unwrap();
        write_atomically(&ours, b"1").unwrap();
        assert_eq!(plain.metadata().unwrap().mode(), ours.metadata().unwrap().mode());
    }

    #[test]
    fn nothing_is_left_when_filling_fails() {
        let place = tempfile::tempdir().unwrap();
        assert!(folder_once(&place.path().join("a"), |_| bail!("no")).is_err());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
