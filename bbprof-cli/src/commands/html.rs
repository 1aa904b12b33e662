//! `bbprof export html=...` and `bbprof diff --html`: the explorer, as a folder or as one file, with the sources that are here.

use super::linked::DoubtingReader;
use crate::exit::require;
use anyhow::{Context, Result};
use bbprof_profile::{Diff, Profile};
use bbprof_report::{Earlier, ReadSource, write_html_file, write_html_folder};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use tempfile::TempDir;

/// Written into folders that we made, so that a later report may replace an earlier one, and nothing else.
const OWN_MARK: &str = "data/bbprof-explorer";

/// Two profiles that are compared.
pub(crate) struct Compared<'p> {
    pub(crate) earlier: &'p Profile,
    pub(crate) diff: &'p Diff,
    /// Whether the earlier one is exact.
    pub(crate) is_exact: bool,
}

/// Writes the explorer as one file.
pub(crate) fn write(profile: &Profile, compared: Option<&Compared<'_>>, out: &mut dyn Write) -> io::Result<()> {
    with_readers(profile, compared, |earlier, read| write_html_file(profile, earlier, read, out))
}

/// Writes the explorer to a folder; an earlier report there stays until the new one is whole, and
/// where there was none, nothing is left of one that fails.
pub(crate) fn write_folder(profile: &Profile, compared: Option<&Compared<'_>>, folder: &Path) -> Result<()> {
    if folder.as_os_str() == "-" {
        require!("html=-: a folder cannot go to stdout; add --single-file");
    }
    let is_first = !holds_report(folder)?;
    let is_absent = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let made: Vec<&Path> = folder.ancestors().take_while(is_absent).collect();
    let written = prepare(folder).and_then(|report| {
        let put = |name: &str, bytes: &[u8]| fs::write(report.path().join(name), bytes);
        with_readers(profile, compared, |earlier, read| write_html_folder(profile, earlier, read, put))
            .and_then(|()| place(&report, folder))
            .with_context(|| format!("{}: cannot be written", folder.display()))
    });
    if written.is_err() && is_first {
        // What cannot be removed is no reason to say something else than why.
        let _ = fs::remove_dir_all(folder.join("data"));
        for folder in made {
            let _ = fs::remove_dir(folder);
        }
    }
    written
}

/// Hands on what reads the sources of each profile: they may have been linked at different times.
fn with_readers(
    profile: &Profile,
    compared: Option<&Compared<'_>>,
    write: impl FnOnce(Option<Earlier<'_>>, ReadSource<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let (now, before) = (DoubtingReader::of(profile), compared.map(|compared| DoubtingReader::of(compared.earlier)));
    let read_before = |path: &str| before.as_ref().unwrap_or(&now).read(path);
    let earlier =
        compared.map(|&Compared { earlier: profile, diff, is_exact }| Earlier { profile, diff, is_exact, read: &read_before });
    let written = write(earlier, &|path| now.read(path));
    now.tell();
    before.into_iter().for_each(DoubtingReader::tell);
    written
}

/// How the folders begin in which reports are made.
const NEW: &str = ".new-";

/// Whether an earlier report is there; if not, nothing is.
fn holds_report(folder: &Path) -> Result<bool> {
    if folder.is_file() {
        require!("{}: is a file; html= names a folder, unless --single-file is given", folder.display());
    }
    if folder.join(OWN_MARK).is_file() {
        return Ok(true);
    }
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(true) => {
            require!("{}: holds files that are not a report of bbprof's; name another folder or empty it", folder.display())
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{}: cannot be read", folder.display()))
        }
        _ => Ok(false),
    }
}

/// A folder within the one that is asked for, for the report to be made in. Both have our mark.
fn prepare(folder: &Path) -> Result<TempDir> {
    let cannot = || format!("{}: cannot be made", folder.display());
    if folder.is_dir() {
        remove_unfinished(folder).with_context(cannot)?;
    }
    mark(folder).with_context(cannot)?;
    let report = tempfile::Builder::new().prefix(NEW).tempdir_in(folder).with_context(cannot)?;
    mark(report.path()).with_context(cannot)?;
    Ok(report)
}

fn mark(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("data"))?;
    fs::write(folder.join(OWN_MARK), "bbprof export html replaces the reports in folders that have this file.\n")
}

/// What an export left that was killed.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(NEW) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The report, which is whole, takes the place of an earlier one.
fn place(report: &TempDir, folder: &Path) -> io::Result<()> {
    let made = |name: &str| report.path().join(name);
    fs::rename(folder.join("data"), made("replaced"))?;
    fs::rename(made("data"), folder.join("data"))?;
    fs::rename(made("index.html"), folder.join("index.html"))
}
