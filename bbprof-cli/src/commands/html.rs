//! `bbprof export html=...` and `bbprof diff --html`: the explorer, as a folder or as one file, with the sources that are here.

use super::linked::{Linked, warning};
use super::sources::read_source;
use crate::exit::require;
use anyhow::{Context, Result};
use bbprof_profile::{Diff, Profile};
use bbprof_report::{Doubt, Earlier, ReadSource, SourceText, write_html_file, write_html_folder};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

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

/// Writes the explorer to a folder.
pub(crate) fn write_folder(profile: &Profile, compared: Option<&Compared<'_>>, folder: &Path) -> Result<()> {
    if folder.as_os_str() == "-" {
        require!("html=-: a folder cannot go to stdout; add --single-file");
    }
    prepare(folder)?;
    let put = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes);
    with_readers(profile, compared, |earlier, read| write_html_folder(profile, earlier, read, put))
        .with_context(|| format!("{}: cannot be written", folder.display()))
}

/// Hands on what reads the sources of each profile: they may have been linked at different times.
fn with_readers(
    profile: &Profile,
    compared: Option<&Compared<'_>>,
    write: impl FnOnce(Option<Earlier<'_>>, ReadSource<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let (now, before) = (Linked::of(profile), Linked::of(compared.map_or(profile, |compared| compared.earlier)));
    // Sources are read in any order.
    let newer = Mutex::new(BTreeSet::new());
    let read_before = |path: &str| read(path, &before, &newer);
    let earlier =
        compared.map(|&Compared { earlier: profile, diff, is_exact }| Earlier { profile, diff, is_exact, read: &read_before });
    let written = write(earlier, &|path| read(path, &now, &newer));
    newer.into_inner().unwrap_or_else(PoisonError::into_inner).iter().for_each(|warning| eprintln!("{warning}"));
    written
}

/// An empty folder with our mark in it; an earlier report in it goes.
fn prepare(folder: &Path) -> Result<()> {
    let cannot = || format!("{}: cannot be made", folder.display());
    if folder.is_file() {
        require!("{}: is a file; html= names a folder, unless --single-file is given", folder.display());
    }
    if folder.join(OWN_MARK).is_file() {
        fs::remove_dir_all(folder.join("data")).with_context(cannot)?;
    } else if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        require!("{}: holds files that are not a report of bbprof's; name another folder or empty it", folder.display());
    }
    fs::create_dir_all(folder.join("data")).with_context(cannot)?;
    fs::write(folder.join(OWN_MARK), "bbprof export html replaces the reports in folders that have this file.\n")
        .with_context(cannot)
}

/// Notes the sources that are newer than the program.
fn read(path: &str, linked: &Linked<'_>, newer: &Mutex<BTreeSet<String>>) -> io::Result<SourceText> {
    let modified = fs::metadata(path)?.modified().ok();
    let text = read_source(path)?;
    let doubt = linked.doubt(path, modified);
    if doubt == Some(Doubt::Modified) {
        newer.lock().unwrap_or_else(PoisonError::into_inner).insert(warning(path, Doubt::Modified));
    }
    Ok(SourceText { text, doubt })
}
