//! Where results go: stdout, whose reader may leave early, or a file that is whole or not there.

use crate::exit::require;
use anyhow::{Context, Result, bail};
use bbprof_format::{map, merged, raw};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Writes data to stdout. A reader that closed the pipe (`| head`) has what it wanted: no error.
pub(crate) fn to_stdout<T: Default>(write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> Result<T> {
    let mut out = BufWriter::new(io::stdout().lock());
    let result = write(&mut out).and_then(|value| out.flush().map(|()| value));
    if result.is_err() {
        // What is left in the buffer has nowhere to go.
        let _ = out.into_parts();
    }
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(T::default()),
        result => result.context("stdout: cannot be written"),
    }
}

/// Writes a file by the side and puts it in place when it is whole; links are followed. Devices and pipes are written as they are,
/// and so is what a link into /proc stands for (`/dev/stdout`).
pub(crate) fn to_file<T>(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> Result<T> {
    let cannot = || format!("{}: cannot be written", path.display());
    let link = std::fs::read_link(path).ok();
    if link.as_ref().is_some_and(|target| target.starts_with("/proc"))
        || std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
    {
        let mut out = BufWriter::new(std::fs::OpenOptions::new().append(true).open(path).with_context(cannot)?);
        let value = write(&mut out).with_context(cannot)?;
        out.flush().with_context(cannot)?;
        return Ok(value);
    }
    let followed = followed(path);
    if followed.is_symlink() {
        bail!("{}: cannot be written: too many links", path.display());
    }
    let path = followed.as_path();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!("{}: cannot be written: {} is no folder", path.display(), folder.display());
    }
    let aside = Aside::in_folder(folder).with_context(cannot)?;
    // Who keeps the old file from others' eyes keeps the new one, too.
    if let Ok(old) = std::fs::metadata(path) {
        aside.set_permissions(old.permissions()).with_context(cannot)?;
    }
    let mut out = BufWriter::new(aside);
    let value = write(&mut out).with_context(cannot)?;
    out.into_inner().map_err(io::IntoInnerError::into_error).and_then(|file| file.persist(path)).with_context(cannot)?;
    Ok(value)
}

/// By which a file that is open gets a name.
const OWN_FILES: &str = "/proc/self/fd";

/// What becomes a file when it is whole.
enum Aside {
    /// The system forgets it with this process, however that ends.
    Nameless(File),
    /// For file systems that know only files with names.
    Named(NamedTempFile),
}

impl Aside {
    fn in_folder(folder: &Path) -> io::Result<Self> {
        // As any new file; the umask takes away what it should.
        let mode = 0o666;
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        match rustix::fs::open(folder, flags, Mode::from_raw_mode(mode)) {
            Ok(file) if Path::new(OWN_FILES).exists() => Ok(Self::Nameless(file.into())),
            _ => Self::named().permissions(Permissions::from_mode(mode)).tempfile_in(folder).map(Self::Named),
        }
    }

    fn named<'a>() -> tempfile::Builder<'a, 'a> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".bbprof-");
        builder
    }

    fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        match self {
            Self::Nameless(file) => file.set_permissions(permissions),
            Self::Named(file) => file.as_file().set_permissions(permissions),
        }
    }

    /// Puts it in place. Only what has a name can take the place of another file, so it has one for a moment.
    fn persist(self, path: &Path) -> io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match self {
            Self::Nameless(file) => {
                let own = format!("{OWN_FILES}/{}", file.as_raw_fd());
                let link = |name: &Path| Ok(rustix::fs::linkat(CWD, &*own, CWD, name, AtFlags::SYMLINK_FOLLOW)?);
                Self::named().make_in(folder, link)?.into_temp_path().persist(path).map_err(|error| error.error)
            }
            Self::Named(file) => file.persist(path).map(drop).map_err(|error| error.error),
        }
    }
}

impl Write for Aside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Nameless(file) => file.write(bytes),
            Self::Named(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Nameless(file) => file.flush(),
            Self::Named(file) => file.flush(),
        }
    }
}

/// What a link leads to in the end, be it there or not yet.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // As many as the kernel follows; a circle leads to a link.
    for _ in 0..40 {
        let Ok(target) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

/// Makes sure that no report takes the place of a profile or build map: they may be all that there is of the counts.
pub(crate) fn keep_counts(path: &Path) -> Result<()> {
    let mut magic = [0; 8];
    let is_ours = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && [raw::MAGIC, merged::MAGIC, map::MAGIC].contains(&&magic);
    if is_ours {
        require!("{}: is a profile or build map, which would be lost; name another file, or remove it", path.display());
    }
    Ok(())
}

/// Makes sure that a folder is there to write into.
pub(crate) fn make_folder(path: &Path) -> Result<()> {
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir()) {
        require!("{}: is a file; this export needs a folder", path.display());
    }
    std::fs::create_dir_all(path).with_context(|| format!("{}: cannot be made", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the file system can, there is nothing to leave behind before the result is
    /// whole; where it cannot, nothing in the result's place.
    #[test]
    fn the_old_file_stands_until_the_new_one_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result");
        let names =
            || std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|entry| entry.file_name()).collect::<Vec<_>>();
        let can_be_nameless = matches!(Aside::in_folder(folder.path()).expect("a place"), Aside::Nameless(_));
        for text in ["old", "new"] {
            let before = std::fs::read_to_string(&path).ok();
            to_file(&path, |out| {
                out.write_all(text.as_bytes())?;
                out.flush()?;
                assert_eq!(std::fs::read_to_string(&path).ok(), before);
                assert!(!can_be_nameless || names().len() == usize::from(before.is_some()), "{:?}", names());
                Ok(())
            })
            .expect("written");
            assert_eq!((std::fs::read_to_string(&path).expect("there"), names()), (text.to_owned(), vec!["result".into()]));
        }
        let mode = || std::fs::metadata(&path).expect("there").permissions().mode() & 0o7777;
        assert_ne!(mode(), 0o640);
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("ours");
        to_file(&path, |out| out.write_all(b"new")).expect("written");
        assert_eq!(mode(), 0o640);
        let failed = to_file(&path, |_| Err::<(), _>(io::Error::other("no more")));
        assert!(failed.is_err() && names() == ["result"]);
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "new");
    }
}
