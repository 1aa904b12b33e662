//! Files whose counts are in a pool, too: a kill came between adding a process to the pool and removing its own file.

use bbprof_format::raw::Identity;
use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The process of a raw profile, and whether it is a pool; what cannot be read is told later.
fn identity(path: &Path) -> Option<(Identity, bool)> {
    let mut header = [0; Identity::BYTES];
    File::open(path).ok()?.read_exact(&mut header).ok()?;
    Identity::read(&header)
}

/// Leaves out the files of processes that were added to one of the pools among them, and says so.
pub(crate) fn without_pooled(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let identities: Vec<_> = files.iter().map(|path| identity(path)).collect();
    let in_pools: HashSet<Identity> = identities.iter().flatten().filter(|(_, pool)| *pool).map(|(last, _)| *last).collect();
    if in_pools.is_empty() {
        return files;
    }
    let keep = |(path, identity): (PathBuf, Option<(Identity, bool)>)| match identity {
        Some((process, false)) if in_pools.contains(&process) => {
            eprintln!("bbprof: left out {}: its counts are in the pool already", path.display());
            None
        }
        _ => Some(path),
    };
    files.into_iter().zip(identities).filter_map(keep).collect()
}
