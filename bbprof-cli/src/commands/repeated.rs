//! Files whose counts are in another of the files, too.
//!
//! A snapshot's are in whatever its process wrote later, up to the next reset. A process's own are in a pool if a kill came between adding it
//! there and removing its file.

use crate::messages::tell;
use bbprof_format::raw::{Extent, Head, Identity, ImageCounts, RawProfile};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What the header of a raw profile says; what cannot be read is told later.
fn head(path: &Path) -> Option<Head> {
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

/// The file of a process that has all the counts of a stretch, as far as any has them: the one that tells of its end; else the one with the greatest sum, of those with
/// the same the process's own, then the last.
fn latest(window: &[usize], files: &[PathBuf], is: impl Fn(&usize, Extent) -> bool) -> Option<usize> {
    let ended = window.iter().copied().find(|file| is(file, Extent::Ended));
    let counted = |file: &usize| Some((total(&files[*file])?, is(file, Extent::Unended), *file));
    ended.or_else(|| window.iter().filter_map(counted).max().map(|(.., file)| file))
}

/// Files of one process, each to its end: of the same counts.
fn of_one_process(
    windows: &HashMap<(Identity, u32), Vec<usize>>,
    files: &[PathBuf],
    heads: &[Option<Head>],
) -> BTreeSet<Vec<PathBuf>> {
    let ended = |file: &&usize| heads[**file].is_some_and(|head| head.extent == Extent::Ended);
    let of_window = |window: &Vec<usize>| window.iter().filter(ended).map(|file| files[*file].clone()).collect::<Vec<_>>();
    windows.values().map(of_window).filter(|ended| ended.len() > 1).collect()
}

/// Files to be summed.
#[derive(Debug)]
pub(crate) struct Files {
    pub paths: Vec<PathBuf>,
    /// Those of one process which are summed all the same: each is what was asked for.
    twice: BTreeSet<Vec<PathBuf>>,
}

impl Files {
    /// Says which counts were added more than once.
    pub(crate) fn tell_twice(&self) {
        for files in &self.twice {
            let (first, second) = (files[0].display(), files[1].display());
            tell!("{first} and {second} are of one process: its counts are added {} times", files.len());
        }
    }
}

/// Leaves out what would be summed twice, and says so.
pub(crate) fn without_repeated(files: Vec<PathBuf>) -> Files {
    let heads: Vec<Option<Head>> = files.iter().map(|path| head(path)).collect();
    let known = || heads.iter().enumerate().filter_map(|(file, head)| Some((file, (*head)?)));
    let pools = known().filter(|(_, head)| head.extent == Extent::Pool);
    let pools: HashMap<Identity, HashSet<u32>> = pools.map(|(file, head)| (head.run, resets_in(&files[file]))).collect();
    let is_in_pool = |head: &Head| {
        // A snapshot may be of a stretch that the pool does not have.
        pools.get(&head.run).is_some_and(|resets| head.extent != Extent::Snapshot || resets.iter().eq([&head.resets]))
    };
    let mut windows: HashMap<(Identity, u32), Vec<usize>> = HashMap::new();
    let mut left_out = vec![false; files.len()];
    for (file, head) in known().filter(|(_, head)| head.extent != Extent::Pool) {
        if is_in_pool(&head) {
            tell!("left out {}: its counts are in the pool already", files[file].display());
            left_out[file] = true;
        } else {
            windows.entry((head.run, head.resets)).or_default().push(file);
        }
    }
    // By the file that is kept, so that they are told in its order.
    let mut repeated: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let is = |file: &usize, extent: Extent| heads[*file].is_some_and(|head| head.extent == extent);
    for window in windows.values().filter(|window| window.len() > 1) {
        if let Some(latest) = latest(window, &files, is) {
            // A process's own file has less than a snapshot if it could not grow, and no end was seen.
            let earlier = |file: &usize| is(file, Extent::Snapshot) || is(&latest, Extent::Snapshot);
            repeated.entry(latest).or_default().extend(window.iter().copied().filter(|file| *file != latest && earlier(file)));
        }
    }
    let twice = of_one_process(&windows, &files, &heads);
    for (latest, earlier) in repeated.into_iter().filter(|(_, earlier)| !earlier.is_empty()) {
        let what = match earlier[..] {
            [one] => format!("{}: its counts are", files[one].display()),
            _ => format!("{} and {} more of its process: their counts are", files[earlier[0]].display(), earlier.len() - 1),
        };
        tell!("left out {what} in {}, too", files[latest].display());
        earlier.into_iter().for_each(|file| left_out[file] = true);
    }
    // A process that has not yet been added to its pool has a file of its own, which is the latest of its window.
    let may_be_in_pools =
        |head: &Head| head.extent == Extent::Snapshot && pools.values().any(|resets| resets.contains(&head.resets));
    let beside_pools: Vec<usize> =
        known().filter(|(file, head)| !left_out[*file] && may_be_in_pools(head)).map(|(file, _)| file).collect();
    if let Some(first) = beside_pools.first() {
        tell!(
            "left out {} snapshots of processes whose counts should be in the pools beside them: {}, ...; a profile that is named alone is read",
            beside_pools.len(),
            files[*first].display()
        );
    }
    beside_pools.into_iter().for_each(|file| left_out[file] = true);
    let paths = files.into_iter().zip(left_out).filter(|(_, left_out)| !left_out).map(|(path, _)| path).collect();
    Files { paths, twice }
}
