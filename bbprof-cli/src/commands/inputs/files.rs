//! From the words of a command line to the files of profiles: named, in folders, or of the last run.

use super::family::{Member, family};
use super::repeated::head;
use crate::exit::Requirement;
use crate::last_run;
use crate::messages::tell;
use anyhow::{Context, Result};
use bbprof_format::{merged, raw};
use std::fs::{DirEntry, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The files behind the words; folders are looked through to the bottom. Those without profiles are named and passed by, as long as
/// something else has any: runs that could not be built leave such folders.
pub(crate) fn expand(profiles: &[PathBuf]) -> Result<Vec<PathBuf>> {
    expand_without(profiles, None)
}

/// Likewise, but in folders this file is passed by, which is to be written anew: what it was made of is there, too.
pub(super) fn expand_without(profiles: &[PathBuf], output: Option<&Path>) -> Result<Vec<PathBuf>> {
    let output = output.and_then(|output| output.canonicalize().ok());
    let mut files = Vec::new();
    let mut empty = Vec::new();
    for path in profiles {
        let metadata = std::fs::metadata(path).map_err(|error| Requirement(format!("{}: {error}", path.display())))?;
        if metadata.is_dir() {
            let before = files.len();
            collect(path, &mut files);
            if let Some(output) = &output
                && files[before..].iter().any(|path| is_same(path, output))
            {
                tell!("left out {}: this merge writes it anew", output.display());
                let kept: Vec<PathBuf> = files.drain(before..).filter(|path| !is_same(path, output)).collect();
                files.extend(kept);
            }
            if files.len() == before {
                empty.push(path);
                continue;
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
    match empty.first() {
        Some(first) if files.is_empty() => return Err(Requirement(without_profile(first)).into()),
        _ => empty.into_iter().for_each(|folder| tell!("left out {}", without_profile(folder))),
    }
    Ok(files)
}

/// Whether `path` leads to the file of this canonical name.
fn is_same(path: &Path, canonical: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| path == canonical)
}

/// What is said of a folder without profiles.
pub(crate) fn without_profile(folder: &Path) -> String {
    format!("{}: no profile (*.bbraw, *.bbprof) is in this folder", folder.display())
}

/// A folder that cannot be listed stands among the files, as an input that cannot be read.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(mut paths) = listed(folder) else {
        files.push(folder.to_owned());
        return;
    };
    paths.sort();
    for (path, is_folder) in paths {
        if is_folder {
            collect(&path, files);
        } else if is_profile(&path) {
            files.push(path);
        }
    }
}

/// What is in a folder, and whether that is a folder.
fn listed(folder: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let entry = |entry: io::Result<DirEntry>| entry.and_then(|entry| Ok((entry.path(), entry.file_type()?.is_dir())));
    std::fs::read_dir(folder)?.map(entry).collect()
}

fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == raw::EXTENSION || extension == merged::EXTENSION)
}

/// Whether a word stands for profiles: a folder, or a file by name or content. A function may be called
/// as a program beside it, or as a folder without profiles.
pub(crate) fn stands_for_profiles(path: &Path) -> bool {
    if path.is_dir() {
        return path.as_os_str().as_encoded_bytes().contains(&b'/') || expand(&[path.to_owned()]).is_ok();
    }
    if is_profile(path) {
        return true;
    }
    let mut magic = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && (magic == *raw::MAGIC || magic == *merged::MAGIC)
}

/// The last run: the folder that `cargo bbprof` noted in the nearest target directory, or the newest raw profile
/// in the working directory with those of the processes that belong to it, whichever is newer. A merged profile is
/// no run: it is taken where there is nothing else, and said.
pub(super) fn profiles_of_last_run() -> Result<Vec<PathBuf>> {
    let here = std::env::current_dir().context("working directory")?;
    let written = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut entries: Vec<PathBuf> = std::fs::read_dir(&here).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.retain(|path| is_profile(path));
    entries.sort();
    let (runs, merged): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.into_iter().partition(|path| path.extension().is_some_and(|extension| extension == raw::EXTENSION));
    let newest = (0..runs.len()).max_by_key(|position| written(&runs[*position]));
    if let Some(note) = last_run::noted_here()?
        && newest.is_none_or(|newest| written(&runs[newest]) <= written(&note))
    {
        return expand(&last_run::profiles_of(&note)?).with_context(|| format!("{}: names the last run", note.display()));
    }
    if let Some(newest) = newest {
        let members: Vec<Option<Member>> =
            runs.iter().map(|path| Some(Member { head: head(path)?, written: written(path) })).collect();
        let of_run = family(&members, newest);
        if runs.len() > 1 {
            let others = of_run.len() - 1;
            let related =
                if others == 0 { String::new() } else { format!(", with {others} more of its process, its children and parents") };
            tell!("{}, the newest of {} profiles here{related}", runs[newest].display(), runs.len());
        }
        return Ok(of_run.into_iter().map(|position| runs[position].clone()).collect());
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
