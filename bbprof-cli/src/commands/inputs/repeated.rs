//! Files whose counts are in another of the files, too.
//!
//! A snapshot's are in whatever its process wrote later, up to the next reset. A process's own are in a pool if a kill came between
//! adding it there and removing its file. What is asked for several times is told.

use crate::messages::tell;
use bbprof_format::merged::Process;
use bbprof_format::raw::{Extent, Head, Identity, ImageCounts, RawProfile};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What the header of a raw profile says; what cannot be read is told later.
pub(crate) fn head(path: &Path) -> Option<Head> {
    let mut header = [0; Head::BYTES];
    // Who reads from a pipe takes what is in it.
    let mut file = path.is_file().then(|| File::open(path).ok()).flatten()?;
    file.read_exact(&mut header).ok()?;
    Head::read(&header)
}

/// The sum of all counts of a raw profile; they grow from one snapshot to the next.
fn total(path: &Path) -> Option<u128> {
    let profile = RawProfile::read(&std::fs::read(path).ok()?).ok()?;
    let of_image = |image: &ImageCounts| {
        let counters = image.tls_counters.iter().chain(&image.global_counters).copied();
        counters.chain(image.hashed_paths.iter().map(|path| path.count)).map(u128::from).sum::<u128>()
    };
    Some(profile.images.iter().map(of_image).sum())
}

/// After how many resets the counts of the processes of a pool begin; a process is not told from the others.
fn resets_in(pool: &Path) -> HashSet<u32> {
    let profile = std::fs::read(pool).ok().and_then(|bytes| RawProfile::read(&bytes).ok());
    profile.into_iter().flat_map(|profile| profile.pooled).map(|(ending, _)| ending.resets).collect()
}

/// The file of a process that has all the counts of a stretch, as far as any has them: the one that tells of its end; else the one
/// with the greatest sum, of those with the same the process's own, then the last.
fn latest(window: &[(usize, Extent)], files: &[PathBuf]) -> Option<(usize, Extent)> {
    let ended = window.iter().find(|(_, extent)| *extent == Extent::Ended);
    let counted = |&(file, extent): &(usize, Extent)| Some((total(&files[file])?, extent == Extent::Unended, file, extent));
    let fullest = || window.iter().filter_map(counted).max_by_key(|&(total, is_own, file, _)| (total, is_own, file));
    ended.copied().or_else(|| fullest().map(|(.., file, extent)| (file, extent)))
}

/// A stretch of one process: its id, when it began, after how many resets.
type Stretch = (u32, u64, u32);

/// In which files the counts of each process are that were summed: those of raw profiles, and those that merged ones have in them.
#[derive(Debug, Default)]
pub(crate) struct Summed(BTreeMap<Stretch, Vec<PathBuf>>);

impl Summed {
    /// Takes note of what was summed; the processes of pools are not told apart.
    pub(crate) fn add(&mut self, path: &Path, stretches: Vec<Stretch>) {
        stretches.into_iter().for_each(|stretch| self.0.entry(stretch).or_default().push(path.to_owned()));
    }

    /// Forgets a file that was left out after all.
    pub(crate) fn leave_out(&mut self, path: &Path) {
        self.0.values_mut().for_each(|files| files.retain(|file| file != path));
    }

    /// Says which counts were added more than once: each file is what was asked for.
    pub(crate) fn tell_twice(&self) {
        let mut repeated = self.0.iter().filter(|(_, files)| files.len() > 1);
        let Some(((pid, ..), files)) = repeated.next() else { return };
        let (first, second) = (files[0].display(), files[1].display());
        let places = if files[0] == files[1] { first.to_string() } else { format!("{first} and {second}") };
        let more = match repeated.count() {
            0 => String::new(),
            1 => "; so it is with another process".to_owned(),
            more => format!("; so it is with {more} more processes"),
        };
        tell!("{places}: the counts of process {pid} are added {} times{more}", files.len());
    }
}

/// What [`Summed`] notes of processes.
pub(crate) fn stretches(processes: &[Process]) -> Vec<Stretch> {
    let single = processes.iter().filter(|process| process.pid != 0);
    single.map(|process| (process.pid, process.begun_ns, process.resets)).collect()
}

/// Leaves out what would be summed twice, and says so.
pub(crate) fn without_repeated(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let heads: Vec<Option<Head>> = files.iter().map(|path| head(path)).collect();
    let known: Vec<(usize, Head)> = heads.iter().enumerate().filter_map(|(file, head)| Some((file, (*head)?))).collect();
    let mut repeated = Repeated { pools: pools(&known, &files), left_out: vec![false; files.len()], files, known };
    repeated.leave_out_pooled();
    repeated.leave_out_earlier();
    repeated.leave_out_snapshots_beside_pools();
    let Repeated { files, left_out, .. } = repeated;
    files.into_iter().zip(left_out).filter(|(_, left_out)| !left_out).map(|(path, _)| path).collect()
}

/// Who was first in each pool, and after how many resets the counts of its processes begin.
fn pools(known: &[(usize, Head)], files: &[PathBuf]) -> HashMap<Identity, HashSet<u32>> {
    let pools = known.iter().filter(|(_, head)| head.extent == Extent::Pool);
    pools.map(|(file, head)| (head.run, resets_in(&files[*file]))).collect()
}

/// Files of which some are left out. A file is its place among them.
struct Repeated {
    files: Vec<PathBuf>,
    /// Of raw profiles, what their headers say.
    known: Vec<(usize, Head)>,
    pools: HashMap<Identity, HashSet<u32>>,
    left_out: Vec<bool>,
}

impl Repeated {
    /// What is not left out so far, and is no pool.
    fn singles(&self) -> Vec<(usize, Head)> {
        let is_single = |(file, head): &&(usize, Head)| !self.left_out[*file] && head.extent != Extent::Pool;
        self.known.iter().filter(is_single).copied().collect()
    }

    /// Files of processes that a pool has in it.
    fn leave_out_pooled(&mut self) {
        for (file, head) in self.singles() {
            // A snapshot may be of a stretch that the pool does not have.
            let has_it = |resets: &HashSet<u32>| head.extent != Extent::Snapshot || resets.iter().eq([&head.resets]);
            if self.pools.get(&head.run).is_some_and(has_it) {
                tell!("left out {}: its counts are in the pool already", self.files[file].display());
                self.left_out[file] = true;
            }
        }
    }

    /// Snapshots of a process whose counts a later file has, too.
    fn leave_out_earlier(&mut self) {
        let mut windows: HashMap<(Identity, u32), Vec<(usize, Extent)>> = HashMap::new();
        for (file, head) in self.singles() {
            windows.entry((head.run, head.resets)).or_default().push((file, head.extent));
        }
        // By the file that is kept, so that they are told in its order.
        let mut earlier: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for window in windows.values().filter(|window| window.len() > 1) {
            let Some((kept, extent)) = latest(window, &self.files) else { continue };
            // A process's own file has less than a snapshot if it could not grow, and no end was seen.
            let is_earlier = |of: Extent| of == Extent::Snapshot || extent == Extent::Snapshot;
            let others = window.iter().filter(|(file, of)| *file != kept && is_earlier(*of));
            earlier.entry(kept).or_default().extend(others.map(|(file, _)| *file));
        }
        for (kept, earlier) in earlier.into_iter().filter(|(_, earlier)| !earlier.is_empty()) {
            let what = match earlier[..] {
                [one] => format!("{}: its counts are", self.files[one].display()),
                _ => {
                    format!("{} and {} more of its process: their counts are", self.files[earlier[0]].display(), earlier.len() - 1)
                }
            };
            tell!("left out {what} in {}, too", self.files[kept].display());
            earlier.into_iter().for_each(|file| self.left_out[file] = true);
        }
    }

    /// A process that has not yet been added to its pool has a file of its own, which is the latest of its window. Of a process
    /// that came to a later window, no earlier one is in a pool.
    fn leave_out_snapshots_beside_pools(&mut self) {
        let mut last_window: HashMap<Identity, u32> = HashMap::new();
        for (_, head) in &self.known {
            let last = last_window.entry(head.run).or_default();
            *last = head.resets.max(*last);
        }
        let may_be_in_pools = |head: &Head| {
            let ended_so = || self.pools.values().any(|resets| resets.contains(&head.resets));
            head.extent == Extent::Snapshot && last_window.get(&head.run) == Some(&head.resets) && ended_so()
        };
        let beside: Vec<usize> =
            self.singles().into_iter().filter(|(_, head)| may_be_in_pools(head)).map(|(file, _)| file).collect();
        let Some(first) = beside.first().map(|first| self.files[*first].display()) else { return };
        let what = match beside.len() {
            1 => format!("{first}: its counts should be in the pool beside it"),
            n => format!("{n} snapshots of processes whose counts should be in the pools beside them: {first}, ..."),
        };
        tell!("left out {what}; a profile that is named alone is read");
        beside.into_iter().for_each(|file| self.left_out[file] = true);
    }
}
