//! Input files, mapped read-only: a link reads few of their bytes.
#![allow(unsafe_code)]

use memmap2::Mmap;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The bytes of a file.
#[derive(Debug)]
pub(crate) struct MappedFile {
    /// None of an empty file.
    map: Option<Mmap>,
    /// Device and inode: the same by whatever name.
    pub identity: (u64, u64),
}

impl MappedFile {
    /// Maps a regular file.
    ///
    /// # Errors
    /// When it cannot be opened or mapped, or is something else than a regular file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        let identity = identity(&metadata);
        if metadata.len() == 0 {
            return Ok(Self { map: None, identity });
        }
        // SAFETY: the mapping is read-only and private to this process. As for the linker itself, whoever rewrites an input
        // in place during the link makes the link fail; nothing here relies on the bytes staying the same.
        let map = unsafe { Mmap::map(&file)? };
        Ok(Self { map: Some(map), identity })
    }

    /// What the identity of a file there would be.
    pub(crate) fn identity_at(path: &Path) -> Option<(u64, u64)> {
        std::fs::metadata(path).ok().as_ref().map(identity)
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }
}
