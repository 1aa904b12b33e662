//! From the words of a command line to counters and profiles.

mod family;
mod files;
mod images;
mod read;
mod repeated;

use super::progress::Progress;
use crate::exit::Requirement;
use crate::locate::MissingMap;
use crate::messages::tell;
use anyhow::{Context, Result, bail};
use bbprof_format::BuildId;
use bbprof_format::merged::{ImageCounters, MergedProfile};
use bbprof_profile::{ExceptionKind, Merger, Profile};
pub(crate) use files::{expand, stands_for_profiles};
use files::{expand_without, profiles_of_last_run};
pub(crate) use images::Images;
use rayon::prelude::*;
use read::read_input;
pub(crate) use read::read_profile;
pub(crate) use repeated::head;
use repeated::{Summed, stretches, without_repeated};
use std::collections::HashSet;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Which maps to use.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct MapArgs {
    /// Build map, or folder of build maps, to look at first (repeatable; also BBPROF_MAPS)
    #[arg(long = "map", value_name = "FILE|FOLDER")]
    pub(crate) maps: Vec<PathBuf>,
}

/// Which profiles.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct ProfileArgs {
    /// Raw (.bbraw) or merged (.bbprof) profiles, or folders of them; without any, the last run's
    #[arg(value_name = "PROFILE")]
    pub(crate) profiles: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) maps: MapArgs,
}

/// Counters of all inputs that could be read.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// The sums; of every image the build map is in it or was found.
    pub(crate) merged: MergedProfile,
    /// How many inputs were left out, or an image of theirs was, as they are damaged or a build
    /// map of theirs is not found; each was named on stderr.
    pub(crate) num_damaged: usize,
    images: Images,
}

/// Files that are read and decoded at once, before they are summed: bounds the memory.
const FILES_AT_ONCE: usize = 32;

impl Loaded {
    /// Reads and sums the inputs. Damaged ones, and those whose build maps are not found or
    /// cannot be read, are named and left out, unless `strict`.
    pub(crate) fn read(profiles: &[PathBuf], maps: &MapArgs, strict: bool) -> Result<Self> {
        Self::read_for(None, profiles, maps, strict)
    }

    /// Likewise, to write the sum to `output`, which is passed by in folders.
    pub(crate) fn read_for(output: Option<&Path>, profiles: &[PathBuf], maps: &MapArgs, strict: bool) -> Result<Self> {
        let mut gathered = Gathered::new(maps);
        let (summed, num_damaged) = each_input(profiles, output, strict, &mut gathered)?;
        let Gathered { images, merger, .. } = gathered;
        summed.tell_twice();
        Ok(Self { merged: merger.finish(), num_damaged, images })
    }

    /// Reads the maps that are not in the inputs.
    pub(crate) fn read_maps(&mut self) -> Result<()> {
        for image in &mut self.merged.images {
            if image.map.is_none() {
                image.map = Some(self.images.find(image)?);
            }
        }
        Ok(())
    }

    /// Solves the counters.
    pub(crate) fn solve(mut self) -> Result<Profile> {
        self.images.solve(self.merged)
    }
}

/// Who takes profiles one after the other.
pub(crate) trait Take {
    /// Begins with the profile that is at `path`.
    fn begin(&mut self, path: &Path);

    /// Makes sure that the build map of an image of it is there.
    fn find_map(&mut self, image: &ImageCounters) -> Result<()>;

    /// Takes the profile whose maps were found last.
    fn take(&mut self, profile: MergedProfile) -> Result<()>;
}

/// Makes sure that the build maps of a profile are there; `path` is where the profile is.
fn find_maps(taker: &mut impl Take, path: &Path, profile: &MergedProfile) -> Result<()> {
    taker.begin(path);
    profile.images.iter().try_for_each(|image| taker.find_map(image))
}

/// Leaves out images that are gone from where they ran, and their maps with them (a test builds a library, loads it and
/// removes it): the counts of the others, in a pool those of many processes, are whole without them. Gives for each
/// what there is to say. None is left out when all would be.
fn leave_out_removed(taker: &mut impl Take, path: &Path, profile: &mut MergedProfile) -> Vec<anyhow::Error> {
    taker.begin(path);
    let mut removed: Vec<(BuildId, anyhow::Error)> = Vec::new();
    for image in &profile.images {
        match taker.find_map(image) {
            // A library that was loaded from two places may be there in one.
            Ok(()) => removed.retain(|(build_id, _)| *build_id != image.build_id),
            Err(error) if error.is::<MissingMap>() && !Path::new(&image.path).exists() => removed.push((image.build_id, error)),
            // What else is wrong is said where all maps have to be there.
            Err(_) => {}
        }
    }
    let is_removed = |image: &ImageCounters| removed.iter().any(|(build_id, _)| *build_id == image.build_id);
    if profile.images.iter().all(is_removed) {
        return Vec::new();
    }
    profile.images.retain(|image| !is_removed(image));
    removed.into_iter().map(|(_, error)| error).collect()
}

/// Sums, and what is known of the maps of their images.
struct Gathered {
    images: Images,
    merger: Merger,
    /// Images whose maps can be read, here or in what was summed.
    readable: HashSet<BuildId>,
    /// Those of the profile to come whose maps were not read before.
    checked: Vec<BuildId>,
}

impl Gathered {
    /// Nothing; looks for maps in `maps` first.
    fn new(maps: &MapArgs) -> Self {
        Self { images: Images::new(maps), merger: Merger::default(), readable: HashSet::new(), checked: Vec::new() }
    }
}

impl Take for Gathered {
    fn begin(&mut self, path: &Path) {
        self.images.look_beside(path);
        self.checked.clear();
    }

    fn find_map(&mut self, image: &ImageCounters) -> Result<()> {
        if !self.readable.contains(&image.build_id) {
            self.images.check(image)?;
            self.checked.push(image.build_id);
        }
        Ok(())
    }

    fn take(&mut self, profile: MergedProfile) -> Result<()> {
        self.merger.add(profile)?;
        self.readable.extend(self.checked.drain(..));
        Ok(())
    }
}

/// Names inputs that are left out, and gives their number; or ends with the first of
/// them, when one must not be left out or none is left.
fn skip(mut refused: Vec<anyhow::Error>, must_not: bool) -> Result<usize> {
    if must_not && !refused.is_empty() {
        return Err(refused.swap_remove(0));
    }
    refused.iter().for_each(|error| tell!("skipped {error:#}"));
    Ok(refused.len())
}

/// Reads the inputs one after the other and hands them on; gives where the counts of each process are, and the number of those left
/// out: damaged ones, which are named, those that `taker` refuses, and those whose build maps are not found, be it of images alone
/// that are gone. When `strict`, or when there is only one, the first such error ends it. Those without a map are tried again
/// behind the others, which may have it in them or come from where it is, and named last; unless there are no others.
pub(crate) fn each_input(
    profiles: &[PathBuf],
    output: Option<&Path>,
    strict: bool,
    taker: &mut impl Take,
) -> Result<(Summed, usize)> {
    let files = if profiles.is_empty() { profiles_of_last_run()? } else { expand_without(profiles, output)? };
    let files = without_repeated(files);
    let mut summed = Summed::default();
    let mut num_damaged = 0;
    let mut without_map: Vec<(&Path, Option<MergedProfile>)> = Vec::new();
    let progress = Progress::new("profiles", files.len());
    for chunk in files.chunks(FILES_AT_ONCE) {
        let parts: Vec<Result<MergedProfile>> = chunk.par_iter().map(|path| read_input(path, profiles)).collect();
        for (path, part) in chunk.iter().zip(parts) {
            let taken = part.and_then(|part| {
                let stretches = stretches(&part.processes);
                match find_maps(taker, path, &part) {
                    Ok(()) => progress.aside(|| taker.take(part))?,
                    // Files are read again, which bounds the memory; what came out of a pipe is gone.
                    Err(error) if error.is::<MissingMap>() => without_map.push((path, (!path.is_file()).then_some(part))),
                    Err(error) => return Err(error),
                }
                summed.add(path, stretches);
                Ok(())
            });
            progress.step();
            match taken.with_context(|| path.display().to_string()) {
                Ok(()) => {}
                Err(error) if strict || files.len() == 1 || error.is::<Requirement>() => return Err(error),
                Err(error) => {
                    progress.aside(|| tell!("skipped {error:#}"));
                    num_damaged += 1;
                }
            }
        }
    }
    drop(progress);
    let mut refused = Vec::new();
    let mut num_partial = 0;
    for (path, kept) in without_map {
        let taken = kept.map_or_else(|| read_profile(path), Ok).and_then(|mut part| {
            let removed = if strict { Vec::new() } else { leave_out_removed(taker, path, &mut part) };
            find_maps(taker, path, &part)?;
            taker.take(part)?;
            removed.iter().for_each(|error| tell!("{}: left out the counts of {error:#}", path.display()));
            num_partial += usize::from(!removed.is_empty());
            Ok(())
        });
        if let Err(error) = taken {
            summed.leave_out(path);
            refused.push(error.context(path.display().to_string()));
        }
    }
    let is_none_left = num_damaged + refused.len() == files.len();
    num_damaged += skip(refused, strict || is_none_left)?;
    if num_damaged == files.len() {
        bail!("none of the {num_damaged} inputs can be read");
    }
    Ok((summed, num_damaged + num_partial))
}

/// Reads, sums and solves; says how many inputs were damaged, and when nothing was counted. The profile is left to the end of the
/// process: to free it piece by piece takes a tenth of a report's time.
pub(crate) fn load(profiles: &[PathBuf], maps: &MapArgs) -> Result<(ManuallyDrop<Profile>, usize)> {
    let loaded = Loaded::read(profiles, maps, false)?;
    let num_damaged = loaded.num_damaged;
    if loaded.merged.images.is_empty() {
        tell!("the profile is empty: no image of its processes has counters; were they built with bbprof?");
    }
    let profile = loaded.solve()?;
    tell_why_empty(&profile);
    Ok((ManuallyDrop::new(profile), num_damaged))
}

/// Says why no function is executed, if none is.
pub(crate) fn tell_why_empty(profile: &Profile) {
    if profile.functions().any(|function| function.is_executed()) {
        return;
    }
    if profile.exceptions().iter().any(|exception| exception.kind == ExceptionKind::Unsolved) {
        tell!("of all that was executed no count is known, see bbprof verify");
    } else if profile.functions().next().is_some() {
        tell!("nothing was executed: all counts are 0");
    } else if !profile.skipped().is_empty() {
        tell!("no function has counters: all are left out, see bbprof verify --skipped");
    }
}

/// Says on stderr what the output does not: that counts are not exact, or missing.
pub(crate) fn tell_inexact(profile: &Profile) {
    let exceptions = profile.exceptions();
    let unsolved = exceptions.iter().filter(|exception| exception.kind == ExceptionKind::Unsolved).count();
    let left_out = match unsolved {
        0 => String::new(),
        n => format!("; functions without counts, which are left out: {n}"),
    };
    match exceptions.len() {
        0 => {}
        1 => tell!("counts are NOT exact: 1 exception, see bbprof verify{left_out}"),
        n => tell!("counts are NOT exact: {n} exceptions, see bbprof verify{left_out}"),
    }
}
