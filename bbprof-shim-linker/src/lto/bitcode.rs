//! Finds bitcode, and what it says of its plugin. Strings of metadata stand in it byte by byte, so that nobody has to read the
//! rest.

use crate::inputs::{FileKind, InputFile};
use crate::thin_archive;
use anyhow::{Result, bail};
use bbprof_format::bitcode::{PLUGIN_MARK, is_bitcode};
use bstr::ByteSlice;
use object::read::archive::ArchiveFile;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Whether bbprof selected functions of bitcode in this file.
pub(crate) fn is_selected(file: &InputFile) -> bool {
    pieces(file).any(|bitcode| plugins(bitcode).next().is_some())
}

/// Whether there is any bitcode in this file.
pub(super) fn has_any(file: &InputFile) -> bool {
    pieces(file).next().is_some()
}

/// The plugin that is to place the counters of what is linked.
pub(super) fn plugin(files: &[InputFile]) -> Result<Option<PathBuf>> {
    let mut found: BTreeMap<PathBuf, &str> = BTreeMap::new();
    for file in files {
        for plugin in pieces(file).flat_map(plugins) {
            found.entry(plugin).or_insert(&file.origin);
        }
    }
    let mut found = found.into_iter();
    let Some((plugin, origin)) = found.next() else { return Ok(None) };
    if let Some((_, other)) = found.next() {
        bail!(
            "{origin} and {other} were compiled with different options of bbprof, or different versions of clang, which -flto cannot mix; recompile both with the same"
        );
    }
    if !plugin.is_file() {
        bail!("{origin}: the plugin that it was compiled with is gone ({}); recompile it", plugin.display());
    }
    Ok(Some(plugin))
}

/// The members of an archive, as far as it is sound; those of a thin one are files of their own.
pub(super) fn members(file: &InputFile) -> impl Iterator<Item = (&[u8], &[u8])> {
    let bytes: &[u8] = &file.bytes;
    let archive = ArchiveFile::parse(bytes).ok().filter(|_| file.kind == FileKind::Archive && !thin_archive::is_thin(bytes));
    let members: Vec<_> = archive.iter().flat_map(ArchiveFile::members).map_while(Result::ok).collect();
    members.into_iter().filter_map(move |member| Some((member.name(), member.data(bytes).ok()?)))
}

fn pieces(file: &InputFile) -> impl Iterator<Item = &[u8]> {
    let whole = (file.kind == FileKind::Bitcode).then_some(&*file.bytes);
    whole.into_iter().chain(members(file).map(|(_, data)| data)).filter(|data| is_bitcode(data))
}

/// The plugins that a piece of bitcode names.
fn plugins(bitcode: &[u8]) -> impl Iterator<Item = PathBuf> {
    let after = bitcode.find_iter(PLUGIN_MARK).map(|at| &bitcode[at + PLUGIN_MARK.len()..]);
    after.filter_map(|path| path.split_once_str("\n")).map(|(path, _)| PathBuf::from(OsStr::from_bytes(path)))
}
