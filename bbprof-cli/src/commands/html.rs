//! `bbprof export html=...`: the explorer, as a folder or as one file, with the sources that are here.

use crate::exit::require;
use anyhow::{Context, Result};
use bbprof_profile::Profile;
use bbprof_report::{Earlier, SourceText, write_html_file, write_html_folder};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Written into folders that we made, so that a later report may replace an earlier one, and nothing else.
const OWN_MARK: &str = "data/bbprof-explorer";

/// Writes the explorer as one file.
pub(crate) fn write(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let linked = linked(profile);
    write_html_file(profile, None, |path| read(path, linked), out)
}

/// Writes the explorer to a folder; `earlier` is what the profile is compared with.
pub(crate) fn write_folder(profile: &Profile, earlier: Option<Earlier<'_>>, folder: &Path) -> Result<()> {
    if folder.as_os_str() == "-" {
        require!("html=-: a folder cannot go to stdout; add --single-file");
    }
    prepare(folder)?;
    let linked = linked(profile);
    let put = |name: &str, bytes: &[u8]| fs::write(folder.join(name), bytes);
    write_html_folder(profile, earlier, |path| read(path, linked), put)
        .with_context(|| format!("{}: cannot be written", folder.display()))
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

/// When the last of the images was linked, of those that are still there.
fn linked(profile: &Profile) -> Option<SystemTime> {
    profile.image_paths().filter_map(|path| fs::metadata(path).and_then(|image| image.modified()).ok()).max()
}

fn read(path: &str, linked: Option<SystemTime>) -> io::Result<SourceText> {
    let path = PathBuf::from(path);
    let modified = fs::metadata(&path)?.modified().ok();
    let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
    Ok(SourceText { text, is_newer: modified.zip(linked).is_some_and(|(modified, linked)| modified > linked) })
}
