//! Finds build maps by build id.
//!
//! In this order: `--map` (files and folders), `BBPROF_MAPS` (a path list of the same), beside the image where it ran
//! (`<image>.bbmap`, then every map in that folder, in `deps` below it and in `deps` beside it), in the folder of the
//! profile, among those that `cargo bbprof` kept of its runs, where it kept them and where the profiles are now, in the
//! map cache (`$XDG_CACHE_HOME/bbprof/maps/<build id>.bbmap`), and where newer cargos link
//! (`build/<package>/<hash>/out` beside the image). Only headers are read while looking.

use crate::cache;
use crate::exit::Requirement;
use anyhow::{Context, Result};
use bbprof_format::BuildId;
use bbprof_format::map::{self, BuildMap, EXTENSION};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// There is no map with the build id of an image. Like [`Requirement`], the user's to solve.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct MissingMap(String);

/// In our folder of a target directory: a folder for each run, with its raw profiles.
const RUNS: &str = "runs";
/// Beside it: the maps of programs that ran.
const KEPT: &str = "maps";

/// Finds the map of each image; folders are looked through once.
#[derive(Debug, Default)]
pub(crate) struct MapFinder {
    /// `--map`, then `BBPROF_MAPS`.
    given: Vec<PathBuf>,
    /// Where profiles are.
    profiles: Vec<PathBuf>,
    /// Where maps were kept of the runs that profiles are of.
    kept: Vec<PathBuf>,
    cache: Option<PathBuf>,
    folders: HashMap<PathBuf, Vec<(BuildId, PathBuf)>>,
    located: HashMap<BuildId, PathBuf>,
}

impl MapFinder {
    /// Looks in `maps` first, then where the environment says.
    pub(crate) fn new(maps: &[PathBuf]) -> Self {
        let mut given = maps.to_vec();
        if let Some(list) = std::env::var_os("BBPROF_MAPS") {
            // As in PATH, what is not there is no error.
            given.extend(std::env::split_paths(&list).filter(|path| path.exists()));
        }
        let cache = cache::root().ok().map(|cache| cache.join("maps"));
        Self { given, profiles: Vec::new(), kept: Vec::new(), cache, folders: HashMap::new(), located: HashMap::new() }
    }

    /// Looks, from now on, beside this profile, too, and among the maps that were kept of its run: all may
    /// have been moved together, or come from another machine.
    pub(crate) fn look_beside(&mut self, profile: &Path) {
        let Some(folder) = profile.canonicalize().ok().and_then(|profile| Some(profile.parent()?.to_owned())) else { return };
        if self.profiles.contains(&folder) {
            return;
        }
        let kept = folder.parent().filter(|runs| runs.ends_with(RUNS)).map(|runs| runs.with_file_name(KEPT));
        self.kept.extend(kept.filter(|kept| !self.kept.contains(kept)));
        self.profiles.push(folder);
    }

    /// The bytes of the map with this build id, and their path.
    ///
    /// # Errors
    /// As [`Self::locate`], and when it cannot be read.
    pub(crate) fn find(&mut self, build_id: BuildId, image: &Path) -> Result<(PathBuf, Vec<u8>)> {
        let path = self.locate(build_id, image)?;
        let bytes = std::fs::read(&path).with_context(|| format!("{}: cannot be read", path.display()))?;
        Ok((path, bytes))
    }

    /// The path of the map with this build id; `image` is where the program or library was.
    ///
    /// # Errors
    /// A [`MissingMap`] when there is none; another error when one that must be there cannot be read.
    pub(crate) fn locate(&mut self, build_id: BuildId, image: &Path) -> Result<PathBuf> {
        if let Some(path) = self.located.get(&build_id) {
            return Ok(path.clone());
        }
        let path = self.look_for(build_id, image)?;
        self.located.insert(build_id, path.clone());
        Ok(path)
    }

    fn look_for(&mut self, build_id: BuildId, image: &Path) -> Result<PathBuf> {
        let mut others: Vec<(BuildId, PathBuf)> = Vec::new();
        for given in self.given.clone() {
            if given.is_dir() {
                if let Some(path) = self.in_folder(&given, build_id) {
                    return Ok(path);
                }
            } else {
                if !given.exists() {
                    return Err(Requirement(format!("--map {}: there is no such file or folder", given.display())).into());
                }
                match build_id_of(&given).with_context(|| format!("{}: cannot be used as a build map", given.display()))? {
                    found if found == build_id => return Ok(given),
                    other if is_of(&given, image) => others.push((other, given)),
                    // Of another image of the process.
                    _ => {}
                }
            }
        }
        let beside = map::path_beside(image);
        if beside.exists() {
            match build_id_of(&beside) {
                Ok(found) if found == build_id => return Ok(beside),
                Ok(other) => others.push((other, beside)),
                Err(error) => return Err(error.context(format!("{}: cannot be used as a build map", beside.display()))),
            }
        }
        if let Some(folder) = image.parent().filter(|folder| folder.is_absolute()) {
            let folders = [Some(folder.to_owned()), Some(folder.join("deps")), folder.parent().map(|up| up.join("deps"))];
            for folder in folders.into_iter().flatten() {
                if let Some(path) = self.in_folder(&folder, build_id) {
                    return Ok(path);
                }
            }
        }
        for folder in self.profiles.clone() {
            if let Some(path) = self.in_folder(&folder, build_id) {
                return Ok(path);
            }
        }
        let by_name = self.kept.iter().chain(&self.cache).map(|folder| folder.join(map::file_name(build_id)));
        let mut stored = kept_map(build_id, image).into_iter().chain(by_name);
        if let Some(path) = stored.find(|path| build_id_of(path).is_ok_and(|found| found == build_id)) {
            return Ok(path);
        }
        for folder in image.ancestors().skip(1).take(2).filter(|folder| folder.is_absolute()).flat_map(out_folders) {
            if let Some(path) = self.in_folder(&folder, build_id) {
                return Ok(path);
            }
        }
        Err(MissingMap(missing(build_id, image, &others)).into())
    }

    fn in_folder(&mut self, folder: &Path, build_id: BuildId) -> Option<PathBuf> {
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_owned(), maps_of(folder));
        }
        self.folders[folder].iter().find(|(id, _)| *id == build_id).map(|(_, path)| path.clone())
    }
}

/// The folders in which cargo, by its new layout of build folders, links what it then puts into this one, or into one below.
fn out_folders(folder: &Path) -> Vec<PathBuf> {
    let within = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let packages = within(&folder.join("build")).flat_map(|package| within(&package));
    let mut folders: Vec<PathBuf> = packages.map(|unit| unit.join("out")).collect();
    folders.sort();
    folders
}

/// Where `cargo bbprof` keeps the map of a program that ran, in our folder of its target
/// directory; `None` when the image is in none.
pub(crate) fn kept_map(build_id: BuildId, image: &Path) -> Option<PathBuf> {
    let ours = image.ancestors().find(|folder| folder.ends_with("bbprof"))?;
    Some(ours.join(KEPT).join(map::file_name(build_id)))
}

fn missing(build_id: BuildId, image: &Path, others: &[(BuildId, PathBuf)]) -> String {
    let image = if image.as_os_str().is_empty() { "the program".to_owned() } else { image.display().to_string() };
    match others.first() {
        Some((other, path)) => format!(
            "{image}: build id {build_id} of the counts does not match {} ({other}); it was built again since: run it again, or pass the map of that build with --map (a profile that `bbprof merge` wrote before the build keeps it)",
            path.display()
        ),
        None => format!(
            "{image}: no build map with build id {build_id} is beside it, beside the profile, in BBPROF_MAPS or in the map cache; pass --map FILE or --map FOLDER, or build and run again (with \
             BBPROF_KEEP_MAPS=FOLDER where the build's own folder goes, as those of go and sandboxes do)"
        ),
    }
}

/// Whether a map is of an image of this name.
fn is_of(map: &Path, image: &Path) -> bool {
    let beside = |image: &OsStr| map.file_stem() == Some(image) && map.extension() == Some(OsStr::new(EXTENSION));
    let linked = || BuildMap::decode(&std::fs::read(map).ok()?).ok().map(|map| PathBuf::from(map.body.output));
    image.file_name().is_none_or(|image| beside(image) || linked().is_some_and(|output| output.file_name() == Some(image)))
}

fn build_id_of(path: &Path) -> Result<BuildId> {
    let mut head = Vec::with_capacity(BuildMap::HEADER_BYTES);
    File::open(path)?.take(BuildMap::HEADER_BYTES as u64).read_to_end(&mut head)?;
    Ok(BuildMap::read_build_id(&head)?)
}

/// The maps of a folder, by name; what is no map is not one of them.
fn maps_of(folder: &Path) -> Vec<(BuildId, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension() == Some(OsStr::new(EXTENSION))).collect();
    paths.sort();
    paths.into_iter().filter_map(|path| Some((build_id_of(&path).ok()?, path))).collect()
}
