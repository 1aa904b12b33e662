//! Room for what a task builds: where the disk is nearly full, another place that has room, said aloud.

use anyhow::{Context, Result, bail};
use std::fs::DirBuilder;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// What the tasks `test` and `demo` fill at most beside the sources, and half of that again.
const NEEDED_BYTES: u64 = 6 << 30;

/// The variable that tells a task moved to another place not to look again.
const MOVED: &str = "BBPROF_XTASK_MOVED";

/// Where there may be room when the target directory's file system has none.
const ELSEWHERE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Runs the task again with its target directory and temporary files in a roomier place, if this one is too small and there is
/// one. `None`: it can run here.
pub(crate) fn run_elsewhere(target: &Path, words: &[String]) -> Result<Option<ExitCode>> {
    let temporary = std::env::temp_dir();
    let tight = [target, &temporary].into_iter().find(|place| free_bytes(place).is_some_and(|free| free < NEEDED_BYTES));
    let Some(tight) = tight.filter(|_| std::env::var_os(MOVED).is_none()) else { return Ok(None) };
    let tight_room = free_bytes(tight).unwrap_or(0) >> 20;
    let roomiest = ELSEWHERE.iter().filter_map(|place| Some((free_bytes(Path::new(place))? >> 20, *place))).max();
    let Some((room, place)) = roomiest.filter(|(room, _)| *room > tight_room) else {
        eprintln!(
            "xtask: warning: {} has {tight_room} MB free, no other place has more, and tasks may need {} MB",
            tight.display(),
            NEEDED_BYTES >> 20
        );
        return Ok(None);
    };
    let folder = own_folder(Path::new(place))?;
    eprintln!("xtask: {} has {tight_room} MB free: building in {} ({room} MB free)", tight.display(), folder.display());
    let status = Command::new(std::env::current_exe().context("own executable")?)
        .args(words)
        .env("CARGO_TARGET_DIR", &folder)
        .env("TMPDIR", folder.join("tmp"))
        .env(MOVED, "1")
        .status()
        .context("running again")?;
    Ok(Some(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)))
}

/// This checkout's folder there, the same each time, with one for temporary files in it. Nobody else's: a name that others can
/// guess in a place where others can write.
fn own_folder(place: &Path) -> Result<PathBuf> {
    let mut hasher = std::hash::DefaultHasher::new();
    crate::root().hash(&mut hasher);
    let folder = place.join(format!("bbprof-target-{:016x}", hasher.finish()));
    let made = DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.with_context(|| folder.display().to_string())?;
    let found = std::fs::symlink_metadata(&folder).with_context(|| folder.display().to_string())?;
    if !found.is_dir() || found.uid() != rustix::process::getuid().as_raw() {
        bail!("{}: not a folder of this user; remove it or set CARGO_TARGET_DIR and TMPDIR", folder.display());
    }
    std::fs::create_dir_all(folder.join("tmp")).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// Bytes that may be written where this path is or would be.
fn free_bytes(path: &Path) -> Option<u64> {
    let existing = path.ancestors().find(|ancestor| ancestor.exists())?;
    let room = rustix::fs::statvfs(existing).ok()?;
    Some(room.f_bavail.saturating_mul(room.f_frsize))
}
