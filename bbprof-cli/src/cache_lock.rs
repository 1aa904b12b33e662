//! Who uses the cache now: each running build holds a shared lock on one file in it, and
//! `bbprof clean` an exclusive one while it removes the rest.

use crate::cache;
use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::fs::{self, File};
use std::path::Path;

const NAME: &str = "in-use";

/// A build's hold on the cache, until it is dropped, or until the last process that inherited it ends.
///
/// A cache that cannot be written to cannot be cleaned either, so there is nothing to hold then.
#[must_use]
pub(crate) struct InUse(Option<File>);

impl InUse {
    /// Holds the cache.
    pub(crate) fn now() -> Self {
        let Ok(root) = cache::root() else { return Self(None) };
        loop {
            let locked = opened(&root).filter(|file| flock(file, FlockOperation::LockShared).is_ok());
            let Some(file) = locked else { return Self(None) };
            if is_still_there(&file, &root) {
                return Self(Some(file));
            }
        }
    }

    /// Holds it to the end of this process, of the program that it becomes, and of those that that runs.
    pub(crate) fn until_all_end(self) -> Result<()> {
        if let Some(file) = self.0 {
            fcntl_setfd(&file, FdFlags::empty()).context("the lock of the cache")?;
            std::mem::forget(file);
        }
        Ok(())
    }
}

/// Removes the cache, unless a build uses it. Whether it was there.
pub(crate) fn remove_unless_in_use() -> Result<bool> {
    let root = cache::root()?;
    if !root.is_dir() {
        return Ok(false);
    }
    let cannot = || format!("{}: cannot be removed", root.display());
    let lock = File::options().create(true).append(true).open(root.join(NAME)).with_context(cannot)?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => anyhow::bail!(
            "{}: a build that runs now uses this cache; nothing of it was removed: wait for the end of all builds, or give --keep-cache",
            root.display()
        ),
        Err(error) => return Err(error).with_context(cannot),
    }
    // The lock goes last: whoever waits for it sees then that it is gone, and makes another.
    for entry in fs::read_dir(&root).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path).with_context(cannot)?;
        } else if path != root.join(NAME) {
            fs::remove_file(&path).with_context(cannot)?;
        }
    }
    fs::remove_dir_all(&root).with_context(cannot)?;
    Ok(true)
}

fn opened(root: &Path) -> Option<File> {
    fs::create_dir_all(root).ok()?;
    File::options().create(true).append(true).open(root.join(NAME)).ok()
}

fn is_still_there(file: &File, root: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata().map(identity), fs::metadata(root.join(NAME)).map(identity)) {
        (Ok(held), Ok(there)) => held == there,
        _ => false,
    }
}
