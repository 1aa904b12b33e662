//! The last run: noted in the target directory by `cargo bbprof`, when it begins and
//! again when it has ended, for commands without a profile.

use crate::cache;
use crate::exit::require;
use crate::messages::tell;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// In target directories: a line with the folder of the run's raw profiles, or what `BBPROF_OUT` was, and then each of its
/// files, with a zero behind each: names may be of several lines.
const NOTE: &str = "bbprof/last";
const PATTERN: &str = "BBPROF_OUT=";

/// Where raw profiles of a run go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A folder of its own.
    Folder(PathBuf),
    /// Where the user's `BBPROF_OUT` says, beside files of others, maybe.
    Pattern {
        /// What it says.
        pattern: OsString,
        /// This run's, as far as they were found.
        files: Vec<PathBuf>,
    },
}

impl Place {
    fn lines(&self) -> Vec<u8> {
        match self {
            Self::Folder(folder) => [folder.as_os_str().as_bytes(), b"\n"].concat(),
            Self::Pattern { pattern, files } => {
                let names = std::iter::once(pattern.as_os_str()).chain(files.iter().map(|file| file.as_os_str()));
                let each = names.flat_map(|name| [name.as_bytes(), b"\0"].concat());
                PATTERN.bytes().chain(each).collect()
            }
        }
    }

    /// What the lines in this file say. Target directories are moved and copied: a run
    /// that is beside the file is meant, wherever it was.
    fn of_lines(lines: &[u8], note: &Path) -> Self {
        let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        match lines.strip_prefix(PATTERN.as_bytes()) {
            Some(named) => {
                let mut each = named.strip_suffix(b"\0").unwrap_or(named).split(|byte| *byte == 0).map(text);
                Self::Pattern { pattern: each.next().unwrap_or_default(), files: each.map(PathBuf::from).collect() }
            }
            None => {
                let folder = PathBuf::from(text(lines.strip_suffix(b"\n").unwrap_or(lines)));
                let beside = folder.file_name().map(|run| note.with_file_name("runs").join(run));
                Self::Folder(beside.filter(|beside| beside.is_dir()).unwrap_or(folder))
            }
        }
    }
}

/// Notes the last run in its target directory, and where commands look from here, if that is another, be it with this
/// environment or without: they must not show the run before.
pub(crate) fn note(target_dir: &Path, place: &Place) -> Result<()> {
    let own = target_dir.join(NOTE);
    cache::write_atomically(&own, &place.lines())?;
    let is_other = |seen: &PathBuf| seen.canonicalize().ok() != own.canonicalize().ok();
    let mut others: Vec<PathBuf> = noted_here()?.into_iter().chain(noted_above()?).filter(is_other).collect();
    others.dedup();
    for seen in others {
        if let Err(error) = cache::write_atomically(&seen, &place.lines()) {
            tell!("{}: still names an earlier run, which commands without a profile show here: {error:#}", seen.display());
        }
    }
    Ok(())
}

/// The note that holds in the working directory: what cargo's environment and
/// configuration say wins over what lies there from earlier.
pub(crate) fn noted_here() -> Result<Option<PathBuf>> {
    let own_target = cargo_config2::Config::load().ok().and_then(|config| config.build.target_dir);
    match own_target.and_then(|target| note_in(&target)) {
        Some(note) => Ok(Some(note)),
        None => noted_above(),
    }
}

/// That of the nearest target directory.
fn noted_above() -> Result<Option<PathBuf>> {
    let here = std::env::current_dir().context("working directory")?;
    Ok(here.ancestors().find_map(|folder| note_in(&folder.join("target"))))
}

fn note_in(target: &Path) -> Option<PathBuf> {
    Some(target.join(NOTE)).filter(|note| note.is_file())
}

/// The folder or files with the raw profiles of the run that is noted there.
pub(crate) fn profiles_of(note: &Path) -> Result<Vec<PathBuf>> {
    let runs = || note.with_file_name("runs");
    match Place::of_lines(&std::fs::read(note).with_context(|| note.display().to_string())?, note) {
        Place::Folder(folder) if has_files(&folder) => Ok(vec![folder]),
        Place::Folder(folder) => require!(
            "{}: no profile is in this folder, which is the last run's: it wrote none, or could not be built; run the program again, or name a profile (those of earlier runs: {})",
            folder.display(),
            runs().display()
        ),
        Place::Pattern { files, .. } if !files.is_empty() => Ok(files),
        Place::Pattern { pattern, .. } if is_one_file(Path::new(&pattern)) => Ok(vec![pattern.into()]),
        Place::Pattern { pattern, .. } => require!(
            "the last run wrote its profiles where BBPROF_OUT said, {}: name them (those of earlier runs: {})",
            pattern.display(),
            runs().display()
        ),
    }
}

fn has_files(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// Whether all processes wrote to this file, wherever they ran.
fn is_one_file(pattern: &Path) -> bool {
    pattern.is_absolute() && !pattern.as_os_str().as_bytes().contains(&b'%') && pattern.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_were_noted() {
        let name = OsString::from_vec(b"/tmp/caf\xe9\n %p".to_vec());
        let note = Path::new("/absent/bbprof/last");
        let files = || vec!["/tmp/a b".into(), name.clone().into()];
        let with = |files| Place::Pattern { pattern: name.clone(), files };
        for place in [Place::Folder(name.clone().into()), with(Vec::new()), with(files())] {
            assert_eq!(Place::of_lines(&place.lines(), note), place);
        }
    }
}
