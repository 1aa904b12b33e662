//! From the words of a command line to counters and profiles: raw, merged, folders of both, or the last run.

use super::progress::Progress;
use super::repeated::{Summed, stretches, without_repeated};
use crate::exit::Requirement;
use crate::last_run;
use crate::locate::{MapFinder, MissingMap};
use crate::messages::tell;
use anyhow::{Context, Result, anyhow, bail};
use bbprof_format::map::BuildMap;
use bbprof_format::merged::{self, ImageCounters, MergedProfile};
use bbprof_format::raw::{self, RawProfile};
use bbprof_format::{BuildId, FormatError};
use bbprof_profile::{ExceptionKind, Image, Merger, Profile, demangle, merged_from_raw};
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

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
    /// How many inputs were left out, as they are damaged or a build map of theirs is not found; each was named on stderr.
    pub(crate) num_damaged: usize,
    /// Knows where the maps are.
    finder: MapFinder,
}

/// Files that are read and decoded at once, before they are summed: bounds the memory.
const FILES_AT_ONCE: usize = 32;

impl Loaded {
    /// Reads and sums the inputs. Damaged ones, and those whose build maps are not found or cannot be read, are named and left out, unless `strict`.
    pub(crate) fn read(profiles: &[PathBuf], maps: &MapArgs, strict: bool) -> Result<Self> {
        let mut gathered = Gathered::new(maps);
        // Another input may have the map in it, or come from where the map is.
        let mut waiting: Vec<(PathBuf, Option<MergedProfile>)> = Vec::new();
        let (mut summed, mut num_damaged) = each_input(profiles, strict, |path, part| match gathered.check_maps(&part) {
            Ok(checked) => gathered.add(part, checked),
            Err(error) if error.is::<MissingMap>() => {
                // Files are read again, which bounds the memory; what came out of a pipe is gone.
                waiting.push((path.to_owned(), (!path.is_file()).then_some(part)));
                Ok(())
            }
            Err(error) => Err(error),
        })?;
        let mut refused = Vec::new();
        for (path, kept) in waiting {
            let taken = kept.map_or_else(|| read_profile(&path), Ok).and_then(|part| {
                let checked = gathered.check_maps(&part)?;
                gathered.add(part, checked)
            });
            if let Err(error) = taken {
                summed.leave_out(&path);
                refused.push(error.context(path.display().to_string()));
            }
        }
        let Gathered { finder, merger, .. } = gathered;
        num_damaged += skip(refused, strict || merger.is_empty())?;
        summed.tell_twice();
        Ok(Self { merged: merger.finish(), num_damaged, finder })
    }

    /// Reads the maps that are not in the inputs.
    pub(crate) fn read_maps(&mut self) -> Result<()> {
        for image in &mut self.merged.images {
            if image.map.is_none() {
                let (path, bytes) = self.finder.find(image.build_id, Path::new(&image.path))?;
                BuildMap::decode(&bytes).with_context(|| path.display().to_string())?;
                image.map = Some(bytes);
            }
        }
        Ok(())
    }

    /// Solves the counters.
    pub(crate) fn solve(self) -> Result<Profile> {
        Images { finder: self.finder, images: HashMap::new(), for_many: false }.solve(self.merged)
    }
}

/// Sums, and what is known of the maps of their images.
struct Gathered {
    finder: MapFinder,
    merger: Merger,
    /// Images whose maps can be read, here or in what was summed.
    readable: HashSet<BuildId>,
}

impl Gathered {
    /// Nothing; looks for maps in `maps` first.
    fn new(maps: &MapArgs) -> Self {
        Self { finder: MapFinder::new(&maps.maps), merger: Merger::default(), readable: HashSet::new() }
    }

    /// Makes sure that the maps of all images of a profile can be read; gives the images whose maps were not read before.
    fn check_maps(&mut self, profile: &MergedProfile) -> Result<Vec<BuildId>> {
        let mut checked = Vec::new();
        for image in profile.images.iter().filter(|image| !self.readable.contains(&image.build_id)) {
            let (name, bytes) = map_of(&mut self.finder, image)?;
            let map = BuildMap::decode(&bytes).with_context(|| name.clone())?;
            Image::check(&map).context(name)?;
            checked.push(image.build_id);
        }
        Ok(checked)
    }

    /// Adds a profile whose maps were checked.
    fn add(&mut self, profile: MergedProfile, checked: Vec<BuildId>) -> Result<()> {
        self.merger.add(profile)?;
        self.readable.extend(checked);
        Ok(())
    }
}

/// The map of an image, and what to call it: the one in the profile, or the one that is found.
fn map_of<'c>(finder: &mut MapFinder, counters: &'c ImageCounters) -> Result<(String, Cow<'c, [u8]>)> {
    match &counters.map {
        Some(bytes) => Ok((format!("build map in the profile of {}", counters.path), Cow::Borrowed(bytes))),
        None => {
            let (path, bytes) = finder.find(counters.build_id, Path::new(&counters.path))?;
            Ok((path.display().to_string(), Cow::Owned(bytes)))
        }
    }
}

/// Names inputs that are left out, and gives their number; or ends with the first of them, when one must not be left out or none is left.
fn skip(mut refused: Vec<anyhow::Error>, must_not: bool) -> Result<usize> {
    if must_not && !refused.is_empty() {
        return Err(refused.swap_remove(0));
    }
    refused.iter().for_each(|error| tell!("skipped {error:#}"));
    Ok(refused.len())
}

/// Reads the inputs one after the other and hands them on; gives where the counts of each process are, and the number of damaged ones, which are named and left out.
/// An input is damaged, too, when `take` refuses it. When `strict`, or when there is only one, the first such error ends it. Those whose build maps are
/// not found are named last, unless there are no others.
pub(crate) fn each_input(
    profiles: &[PathBuf],
    strict: bool,
    mut take: impl FnMut(&Path, MergedProfile) -> Result<()>,
) -> Result<(Summed, usize)> {
    let files = without_repeated(if profiles.is_empty() { profiles_of_last_run()? } else { expand(profiles)? });
    let mut summed = Summed::default();
    let mut num_damaged = 0;
    let mut without_map = Vec::new();
    let progress = Progress::new("profiles", files.len());
    for chunk in files.chunks(FILES_AT_ONCE) {
        let parts: Vec<Result<MergedProfile>> = chunk.par_iter().map(|path| read_input(path, profiles)).collect();
        for (path, part) in chunk.iter().zip(parts) {
            let taken = part.and_then(|part| {
                let stretches = stretches(&part.processes);
                progress.aside(|| take(path, part))?;
                summed.add(path, stretches);
                Ok(())
            });
            let taken = taken.with_context(|| path.display().to_string());
            progress.step();
            match taken {
                Ok(()) => {}
                Err(error) if strict || files.len() == 1 || error.is::<Requirement>() => return Err(error),
                Err(error) if error.is::<MissingMap>() => without_map.push(error),
                Err(error) => {
                    progress.aside(|| tell!("skipped {error:#}"));
                    num_damaged += 1;
                }
            }
        }
    }
    drop(progress);
    let is_none_left = num_damaged + without_map.len() == files.len();
    num_damaged += skip(without_map, is_none_left)?;
    if num_damaged == files.len() {
        bail!("none of the {num_damaged} inputs can be read");
    }
    Ok((summed, num_damaged))
}

/// Decoded images by build id, each looked for and decoded once.
#[derive(Debug)]
pub(crate) struct Images {
    finder: MapFinder,
    images: HashMap<BuildId, Arc<Image>>,
    /// Whether many processes of one image are to be solved.
    for_many: bool,
}

impl Images {
    /// To solve the counters of many processes one after the other; looks in `maps` first.
    pub(crate) fn for_many(maps: &MapArgs) -> Self {
        Self { finder: MapFinder::new(&maps.maps), images: HashMap::new(), for_many: true }
    }

    /// Solves the counters of a profile.
    pub(crate) fn solve(&mut self, merged: MergedProfile) -> Result<Profile> {
        let mut parts = Vec::with_capacity(merged.images.len());
        for mut counters in merged.images {
            let image = match self.images.get(&counters.build_id) {
                Some(image) => Arc::clone(image),
                None => {
                    let (name, bytes) = map_of(&mut self.finder, &counters)?;
                    let image = BuildMap::decode(&bytes).with_context(|| name.clone())?;
                    let image = Image::decode(image).context(name)?;
                    let image = Arc::new(if self.for_many { image.for_many() } else { image });
                    self.images.insert(counters.build_id, Arc::clone(&image));
                    image
                }
            };
            counters.map = None;
            parts.push((image, counters));
        }
        Ok(Profile::of_images(merged.processes, parts)?)
    }
}

/// Reads, sums and solves; says how many inputs were damaged, and when nothing was counted. The profile is left to the end of the
/// process: to free it piece by piece takes a tenth of a report's time.
pub(crate) fn load(args: &ProfileArgs) -> Result<(ManuallyDrop<Profile>, usize)> {
    let loaded = Loaded::read(&args.profiles, &args.maps, false)?;
    let num_damaged = loaded.num_damaged;
    if loaded.merged.images.is_empty() {
        tell!("the profile is empty: no image of its processes has counters; were they built with bbprof?");
    }
    let profile = loaded.solve()?;
    if !profile.functions().any(|function| function.is_executed()) {
        if profile.exceptions().iter().any(|exception| exception.kind == ExceptionKind::Unsolved) {
            tell!("of all that was executed no count is known, see bbprof verify");
        } else if profile.functions().next().is_some() {
            tell!("nothing was executed: all counts are 0");
        }
    }
    Ok((ManuallyDrop::new(profile), num_damaged))
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

/// A profile among those that are named, or in a folder. Who names a pipe wants what is in it; one that lies in a folder may never be written.
fn read_input(path: &Path, named: &[PathBuf]) -> Result<MergedProfile> {
    let is_special = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    if is_special && !named.iter().any(|word| word == path) {
        bail!("a pipe, socket or device: read from only where it is named itself");
    }
    read_profile(path)
}

/// One profile, raw or merged, by its first bytes.
pub(crate) fn read_profile(path: &Path) -> Result<MergedProfile> {
    let bytes = std::fs::read(path)?;
    if MergedProfile::is_merged(&bytes) {
        return Ok(MergedProfile::decode(&bytes)?);
    }
    if bytes.is_empty() {
        bail!("empty file: expected a raw or merged profile");
    }
    Ok(merged_from_raw(RawProfile::read(&bytes).map_err(with_functions)?))
}

/// Functions that are named where a profile's records of hashed paths cannot be read.
const MOST_NAMED: usize = 5;

/// Damaged records of hashed paths: with the functions of which they may be, as far as there is a build map.
fn with_functions(error: FormatError) -> anyhow::Error {
    let FormatError::HashedPaths { build_id, image, .. } = &error else { return error.into() };
    let Ok(names) = counted_by_hashes(*build_id, Path::new(image)) else { return error.into() };
    let more = names.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    anyhow!("{error}: functions with paths there: {}{more}", names[..names.len().min(MOST_NAMED)].join(", "))
}

/// The functions of an image whose paths are counted in hash tables.
fn counted_by_hashes(build_id: BuildId, image: &Path) -> Result<Vec<String>> {
    let (_, bytes) = MapFinder::new(&[]).find(build_id, image)?;
    let image = Image::decode(BuildMap::decode(&bytes)?)?;
    let functions = image.modules.iter().flat_map(|linked| linked.module.functions.iter().map(|it| (&linked.module, it)));
    let hashed = functions.filter(|(_, function)| function.is_hashed());
    Ok(hashed.map(|(module, function)| demangle(module.string(function.symbol))).collect())
}

/// The files behind the words; folders are looked through to the bottom.
pub(crate) fn expand(profiles: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in profiles {
        let metadata = std::fs::metadata(path).map_err(|error| Requirement(format!("{}: {error}", path.display())))?;
        if metadata.is_dir() {
            let before = files.len();
            collect(path, &mut files)?;
            if files.len() == before {
                return Err(Requirement(format!("{}: no profile (*.bbraw, *.bbprof) is in this folder", path.display())).into());
            }
            let is_merged = |path: &PathBuf| path.extension().is_some_and(|extension| extension == merged::EXTENSION);
            if files[before..].iter().any(is_merged) && !files[before..].iter().all(is_merged) {
                tell!(
                    "{} holds raw and merged profiles; all are summed, so what was merged out of these counts twice",
                    path.display()
                );
            }
        } else {
            files.push(path.clone());
        }
    }
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let context = || format!("{}: cannot be listed", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(context)? {
        let entry = entry.with_context(context)?;
        paths.push((entry.path(), entry.file_type().with_context(context)?.is_dir()));
    }
    paths.sort();
    for (path, is_folder) in paths {
        if is_folder {
            collect(&path, files)?;
        } else if is_profile(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == raw::EXTENSION || extension == merged::EXTENSION)
}

/// The last run: the folder that `cargo bbprof` noted in the nearest target directory, or the newest raw profile in the working
/// directory, whichever is newer. A merged profile is no run: it is taken where there is nothing else, and said.
fn profiles_of_last_run() -> Result<Vec<PathBuf>> {
    let here = std::env::current_dir().context("working directory")?;
    let written = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut entries: Vec<PathBuf> = std::fs::read_dir(&here).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.retain(|path| is_profile(path));
    entries.sort();
    let (runs, merged): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.into_iter().partition(|path| path.extension().is_some_and(|extension| extension == raw::EXTENSION));
    let newest = runs.iter().max_by_key(|path| written(path));
    if let Some(note) = last_run::noted_here()?
        && newest.is_none_or(|file| written(file) <= written(&note))
    {
        return expand(&[last_run::profiles_of(&note)?]).with_context(|| format!("{}: names the last run", note.display()));
    }
    if let Some(file) = newest {
        if runs.len() > 1 {
            tell!("{}, the newest of {} profiles here", file.display(), runs.len());
        }
        return Ok(vec![file.clone()]);
    }
    match merged.iter().max_by_key(|path| written(path)) {
        Some(file) => {
            tell!("{}, a merged profile: no run is noted, and no raw profile is here", file.display());
            Ok(vec![file.clone()])
        }
        None => Err(Requirement(format!(
            "no profile: {} has no .bbraw or .bbprof file, and no run of `cargo bbprof` is noted in a target directory above; run the program first, or name a profile",
            here.display()
        ))
        .into()),
    }
}
