//! Where results go: stdout, whose reader may leave early, or a file that is whole or not there.

use crate::exit::require;
use anyhow::{Context, Result, bail};
use bbprof_format::{map, merged, raw};
use std::fs::Permissions;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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

/// Writes a file by the side and puts it in place when it is whole; links are followed. Devices and pipes are written as they are, and so is what a
/// link into /proc stands for (`/dev/stdout`).
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
    // As any new file; the umask takes away what it should.
    let permissions = Permissions::from_mode(0o666);
    let file = tempfile::Builder::new().prefix(".bbprof-").permissions(permissions).tempfile_in(folder).with_context(cannot)?;
    let mut out = BufWriter::new(file);
    let value = write(&mut out).with_context(cannot)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(cannot)?;
    file.persist(path).map_err(|error| error.error).with_context(cannot)?;
    Ok(value)
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
