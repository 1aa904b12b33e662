//! Pipes that the linker reads (`--version-script=<(...)`): a second link would find them empty, or wait for ever.
#![allow(unsafe_code)]

use crate::command_line::{InputName, LinkCommand};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{self, Seek};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Puts a file with the same contents in the place of each pipe that the command names by its descriptor.
///
/// # Errors
/// When the contents cannot be read or kept.
pub(crate) fn keep(command: &LinkCommand) -> Result<()> {
    // When a pipe is named again, a file is there already.
    for (path, descriptor) in named(command).filter_map(|path| Some((path, descriptor(path)?))).filter(|(path, _)| is_pipe(path)) {
        put_file(path, descriptor).with_context(|| format!("{}: what the pipe gives cannot be kept", path.display()))?;
    }
    Ok(())
}

/// Makes sure that a second link reads what the first has read.
///
/// # Errors
/// When there is a pipe that has been read.
pub(crate) fn check_none_is_left(command: &LinkCommand) -> Result<()> {
    if let Some(pipe) = named(command).find(|path| is_pipe(path)) {
        bail!(
            "{}: is a pipe, which the linker has read, but it has to link again, with counters for files that it found by itself; give it \
             a file in the pipe's place",
            pipe.display()
        );
    }
    Ok(())
}

fn named(command: &LinkCommand) -> impl Iterator<Item = &Path> {
    let inputs = command.inputs.iter().filter_map(|input| match &input.name {
        InputName::File(path) => Some(path.as_path()),
        InputName::Library(_) | InputName::LibraryFile(_) => None,
    });
    inputs.chain(command.side_files.iter().map(std::path::PathBuf::as_path))
}

fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.file_type().is_fifo())
}

fn descriptor(path: &Path) -> Option<RawFd> {
    if path == Path::new("/dev/stdin") {
        return Some(0);
    }
    let name = path.strip_prefix("/dev/fd").or_else(|_| path.strip_prefix("/proc/self/fd")).ok()?;
    name.to_str()?.parse().ok()
}

/// The linker inherits the descriptor, and opens it by its name.
fn put_file(pipe: &Path, descriptor: RawFd) -> io::Result<()> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut File::open(pipe)?, &mut file)?;
    file.rewind()?;
    // SAFETY: it is open, as it was opened by its name just now, and is not closed here. Nothing in this process
    // owns it: it was given by who called us, for the linker.
    let mut descriptor = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(descriptor) });
    Ok(rustix::io::dup2(&file, &mut descriptor)?)
}
