//! Inputs, read one after the other and handed on.

use super::files::{expand_without, profiles_of_last_run};
use super::read::{read_input, read_profile};
use super::repeated::{Summed, stretches, without_repeated};
use crate::commands::progress::Progress;
use crate::exit::Requirement;
use crate::locate::MissingMap;
use crate::messages::tell;
use anyhow::{Context, Result, bail};
use bbprof_format::BuildId;
use bbprof_format::merged::{ImageCounters, MergedProfile};
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Files that are read and decoded at once, before they are summed: bounds the memory.
const FILES_AT_ONCE: usize = 32;

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
    let mut inputs = Inputs { taker, strict, num_files: files.len(), summed: Summed::default(), num_left_out: 0 };
    let mut without_map = Vec::new();
    let progress = Progress::new("profiles", files.len());
    for chunk in files.chunks(FILES_AT_ONCE) {
        let parts: Vec<Result<MergedProfile>> = chunk.par_iter().map(|path| read_input(path, profiles)).collect();
        for (path, part) in chunk.iter().zip(parts) {
            without_map.extend(inputs.hand_on(path, part, &progress)?);
            progress.step();
        }
    }
    drop(progress);
    inputs.try_again(without_map)?;
    Ok((inputs.summed, inputs.num_left_out))
}

/// What became of the inputs so far.
struct Inputs<'a, T> {
    taker: &'a mut T,
    strict: bool,
    num_files: usize,
    summed: Summed,
    /// Whole ones, and such of which an image was left out.
    num_left_out: usize,
}

/// One whose build map is not found. Files are read again, which bounds the memory; what came out of a pipe is kept.
struct WithoutMap<'p> {
    path: &'p Path,
    kept: Option<MergedProfile>,
}

impl<T: Take> Inputs<'_, T> {
    /// Hands an input on, or gives it back to be tried again, or names it as left out.
    fn hand_on<'p>(&mut self, path: &'p Path, part: Result<MergedProfile>, progress: &Progress) -> Result<Option<WithoutMap<'p>>> {
        let handed_on = part.and_then(|part| {
            let stretches = stretches(&part.processes);
            let without_map = match find_maps(self.taker, path, &part) {
                Ok(()) => progress.aside(|| self.taker.take(part)).map(|()| None)?,
                Err(error) if error.is::<MissingMap>() => Some(WithoutMap { path, kept: (!path.is_file()).then_some(part) }),
                Err(error) => return Err(error),
            };
            self.summed.add(path, stretches);
            Ok(without_map)
        });
        let error = match handed_on.with_context(|| path.display().to_string()) {
            Ok(without_map) => return Ok(without_map),
            Err(error) => error,
        };
        if self.strict || self.num_files == 1 || error.is::<Requirement>() {
            return Err(error);
        }
        progress.aside(|| tell!("skipped {error:#}"));
        self.num_left_out += 1;
        Ok(None)
    }

    /// Hands on, behind all others, those that had no map; without the images that are gone, if need be.
    fn try_again(&mut self, without_map: Vec<WithoutMap<'_>>) -> Result<()> {
        let mut refused = Vec::new();
        let mut num_partial = 0;
        for WithoutMap { path, kept } in without_map {
            match self.hand_on_rest(path, kept) {
                Ok(is_whole) => num_partial += usize::from(!is_whole),
                Err(error) => {
                    self.summed.leave_out(path);
                    refused.push(error.context(path.display().to_string()));
                }
            }
        }
        self.num_left_out += refused.len();
        let is_none_left = self.num_left_out == self.num_files;
        if (self.strict || is_none_left) && !refused.is_empty() {
            return Err(refused.swap_remove(0));
        }
        refused.iter().for_each(|error| tell!("skipped {error:#}"));
        if is_none_left {
            bail!("none of the {} inputs can be read", self.num_files);
        }
        self.num_left_out += num_partial;
        Ok(())
    }

    /// Whether nothing of the input had to be left out.
    fn hand_on_rest(&mut self, path: &Path, kept: Option<MergedProfile>) -> Result<bool> {
        let mut part = kept.map_or_else(|| read_profile(path), Ok)?;
        let removed = if self.strict { Vec::new() } else { leave_out_removed(self.taker, path, &mut part) };
        find_maps(self.taker, path, &part)?;
        self.taker.take(part)?;
        removed.iter().for_each(|error| tell!("{}: left out the counts of {error:#}", path.display()));
        Ok(removed.is_empty())
    }
}
