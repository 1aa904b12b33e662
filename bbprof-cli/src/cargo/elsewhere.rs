//! The raw profiles of a run whose programs write where the user's `BBPROF_OUT` says: beside
//! those of other runs, from which their headers tell them.

use crate::commands::inputs::head;
use anyhow::{Context, Result, bail};
use bbprof_format::raw::Extent;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Refuses a pattern by which the processes of a program share a file, as those of later runs do.
pub(super) fn refuse_pools(pattern: &OsStr) -> Result<()> {
    if pattern.to_string_lossy().replace("%%", "").contains("%m") {
        bail!("BBPROF_OUT is {}: pools (%m) hold the counts of earlier runs, too; name them", pattern.display());
    }
    Ok(())
}

/// Those that were begun since, absolute, in order, but no pools: from each of the folders
/// that programs may start in, looks where this pattern leads.
pub(super) fn begun_since(begun: SystemTime, pattern: &OsStr, starts: &[&Path]) -> Result<Vec<PathBuf>> {
    let Some(folder) = folder_of_pattern(pattern) else {
        bail!("BBPROF_OUT is {}, whose folder each program has for itself: name the profiles", pattern.display());
    };
    let begun_ns = begun.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos());
    let is_of_run =
        |path: &PathBuf| head(path).is_some_and(|head| head.extent != Extent::Pool && u128::from(head.run.begun_ns()) >= begun_ns);
    let folders: Result<BTreeSet<PathBuf>, _> = starts.iter().map(|start| std::path::absolute(start.join(&folder))).collect();
    let mut found = Vec::new();
    for folder in folders?.into_iter().filter(|folder| folder.is_dir()) {
        let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        found.extend(entries.flatten().map(|entry| entry.path()).filter(is_of_run));
    }
    found.sort();
    Ok(found)
}

/// Where a pattern puts files, if that is one folder whatever the process.
fn folder_of_pattern(pattern: &OsStr) -> Option<PathBuf> {
    let folder = Path::new(pattern).parent()?;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    (!folder.as_os_str().as_encoded_bytes().contains(&b'%')).then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bbprof_format::raw::{Fate, ProcessInfo, RawProfile, State};
    use std::time::Duration;

    fn write(path: &Path, begun: u64, fate: Fate) {
        let process = ProcessInfo { pid: 7, begun_ns: begun * 1_000_000_000, ..ProcessInfo::default() };
        let profile =
            RawProfile { process, state: State::Complete, ending: fate.into(), threads: 1, images: vec![], pooled: vec![] };
        std::fs::write(path, profile.encode()).expect("written");
    }

    #[test]
    fn what_began_in_the_runs_time() {
        let sandbox = tempfile::tempdir().expect("a folder");
        let folder = sandbox.path().join("out");
        std::fs::create_dir(&folder).expect("a folder");
        let exit = Fate::Exit { status: Some(0) };
        write(&folder.join("before.bbraw"), 1, exit);
        write(&folder.join("b.bbraw"), 3, exit);
        write(&folder.join("a"), 4, exit);
        write(&folder.join("pool.bbraw"), 4, Fate::Pool);
        std::fs::write(folder.join("damaged.bbraw"), [1; 500]).expect("written");
        std::fs::write(folder.join("short.bbraw"), "").expect("written");
        let begun = UNIX_EPOCH + Duration::from_secs(2);
        let find = |pattern: &str| begun_since(begun, OsStr::new(pattern), &[sandbox.path(), &folder]);
        let expected = [folder.join("a"), folder.join("b.bbraw")];
        assert_eq!(find("out/%p%%m.bbraw").expect("found"), expected);
        assert_eq!(find("%p").expect("found"), expected, "from the folder itself");
        assert!(find("absent/%p.bbraw").expect("nothing").is_empty());
        assert!(find("%h/out.bbraw").is_err_and(|error| error.to_string().contains("%h/out.bbraw")));
    }

    #[test]
    fn patterns() {
        let folder = |pattern: &str| folder_of_pattern(OsStr::new(pattern)).map(|folder| folder.display().to_string());
        assert_eq!(folder("x-%p.bbraw").as_deref(), Some("."));
        assert_eq!(folder("/a/b/%m.bbraw").as_deref(), Some("/a/b"));
        assert_eq!(folder("/a/%h/x.bbraw"), None);
        assert!(refuse_pools(OsStr::new("a/%m.bbraw")).is_err() && refuse_pools(OsStr::new("a/%%m.bbraw")).is_ok());
    }
}
