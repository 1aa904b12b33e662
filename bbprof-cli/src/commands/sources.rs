//! The sources that are here.

use std::io;

/// The text of a source file, whatever its encoding. What the compiler read from a pipe, or from the terminal as `/dev/stdin`, is not there to be read again.
///
/// # Errors
/// When it cannot be read, or is no regular file.
pub(super) fn read_source(path: &str) -> io::Result<String> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
