//! From the words of a command line to counters and profiles.

mod family;
mod files;
mod images;
mod one_by_one;
mod read;
mod repeated;

use crate::messages::tell;
use anyhow::Result;
use bbprof_format::BuildId;
use bbprof_format::merged::{ImageCounters, MergedProfile};
use bbprof_profile::{ExceptionKind, Merger, Profile};
pub(crate) use files::{expand, stands_for_profiles, without_profile};
pub(crate) use images::Images;
pub(crate) use one_by_one::{Take, each_input};
pub(crate) use read::read_profile;
pub(crate) use repeated::head;
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
    pub(crate) num_left_out: usize,
    images: Images,
}

impl Loaded {
    /// Reads and sums the inputs. Damaged ones, and those whose build maps are not found or
    /// cannot be read, are named and left out, unless `strict`.
    pub(crate) fn read(profiles: &[PathBuf], maps: &MapArgs, strict: bool) -> Result<Self> {
        Self::read_for(None, profiles, maps, strict)
    }

    /// Likewise, to write the sum to `output`, which is passed by in folders.
    pub(crate) fn read_for(output: Option<&Path>, profiles: &[PathBuf], maps: &MapArgs, strict: bool) -> Result<Self> {
        let mut gathered = Gathered::new(maps);
        let (summed, num_left_out) = each_input(profiles, output, strict, &mut gathered)?;
        let Gathered { images, merger, .. } = gathered;
        summed.tell_twice();
        Ok(Self { merged: merger.finish(), num_left_out, images })
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

/// Reads, sums and solves; says how many inputs were damaged, and when nothing was counted. The profile is left to the end of the
/// process: to free it piece by piece takes a tenth of a report's time.
pub(crate) fn load(profiles: &[PathBuf], maps: &MapArgs) -> Result<(ManuallyDrop<Profile>, usize)> {
    let loaded = Loaded::read(profiles, maps, false)?;
    let num_left_out = loaded.num_left_out;
    if loaded.merged.images.is_empty() {
        tell!("the profile is empty: no image of its processes has counters; were they built with bbprof?");
    }
    let profile = loaded.solve()?;
    tell_why_empty(&profile);
    Ok((ManuallyDrop::new(profile), num_left_out))
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
