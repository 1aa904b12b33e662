//! The sources that are here.

use std::io;
use std::time::SystemTime;

/// A source file as it is here.
#[derive(Debug)]
pub(super) struct Source {
    pub bytes: Vec<u8>,
    /// When it was modified, if the file system knows.
    pub modified: Option<SystemTime>,
}

impl Source {
    /// What the compiler read from a pipe, or from the terminal as `/dev/stdin`, is not there to be read again.
    ///
    /// # Errors
    /// When it cannot be read, or is no regular file.
    pub(super) fn read(path: &str) -> io::Result<Self> {
        let metadata = match std::fs::metadata(path) {
            // Compilers write names as they are, and we keep text.
            Err(error) if error.kind() == io::ErrorKind::NotFound && path.contains(char::REPLACEMENT_CHARACTER) => {
                return Err(io::Error::new(error.kind(), "the name is not UTF-8"));
            }
            metadata => metadata?,
        };
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Self { bytes: std::fs::read(path)?, modified: metadata.modified().ok() })
    }

    /// Its text, whatever its encoding.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}
