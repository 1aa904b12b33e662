//! Puts native objects where the bitcode of a command was, and archives without bitcode where there was some in them.

use super::{bitcode, native, write};
use crate::command_line::{self, Input, Level, LinkCommand, Phrase};
use crate::inputs::{self, FileKind, InputFile};
use anyhow::{Context, Result, bail};
use ar_archive_writer::{ArchiveKind, DEFAULT_OBJECT_READER, NewArchiveMember, write_archive_to_stream};
use bbprof_format::bitcode::is_bitcode;
use std::ffi::{OsStr, OsString};
use std::io::Cursor;
use std::path::{Path, PathBuf};

/// The words of a command without bitcode, with native objects in its place.
pub(super) fn without_bitcode(
    words: &[OsString],
    phrases: &[Phrase<'_>],
    command: &LinkCommand,
    objects: Vec<PathBuf>,
    (linker, folder): (&Path, &Path),
) -> Result<Vec<OsString>> {
    let num_words: usize = phrases.iter().map(|phrase| phrase.words.len()).sum();
    // `-flavor NAME`, where there is one.
    let mut kept = words[..words.len() - num_words].to_vec();
    // lld and mold have them last, others where the first bitcode was. Constructors run in that order.
    let has_them_last = native::is_lld(linker) || native::is_called(linker, "mold");
    let (mut objects, last) = if has_them_last { (None, objects) } else { (Some(objects), Vec::new()) };
    for phrase in phrases {
        let files = match &phrase.input {
            Some(input) => inputs::load_one(command, Level::Ld, input)?,
            None => Vec::new(),
        };
        let Some(input) = phrase.input.as_ref().filter(|_| files.iter().any(bitcode::has_any)) else {
            kept.extend_from_slice(phrase.words);
            continue;
        };
        kept.extend(objects.take().into_iter().flat_map(|objects| in_place_of(input, objects)));
        match files[0].kind {
            FileKind::Bitcode => {}
            FileKind::Archive => kept.extend(archive_without_bitcode(&files, folder)?.map(OsString::from)),
            _ => bail!(
                "{}: names bitcode, which is counted only where the command line itself names it; do that, or compile without -flto",
                files[0].path.display()
            ),
        }
    }
    kept.extend(last.into_iter().map(OsString::from));
    Ok(kept)
}

/// The words of a command without `-plugin` and its options: nothing is left for one to read.
pub(super) fn without_plugins(words: &[OsString]) -> Vec<OsString> {
    let phrases = command_line::phrases(words);
    phrases.iter().filter(|phrase| !is_for_plugins(phrase)).flat_map(|phrase| phrase.words).cloned().collect()
}

/// `-plugin` and `-plugin-opt`.
pub(super) fn is_for_plugins(phrase: &Phrase<'_>) -> bool {
    let word = phrase.words[0].to_string_lossy();
    let name = word.trim_start_matches('-').split('=').next();
    word.starts_with('-') && ["plugin", "plugin-opt"].map(Some).contains(&name)
}

/// Between `--start-lib` and `--end-lib` they would only be linked if somebody asked for them.
fn in_place_of(input: &Input, objects: Vec<PathBuf>) -> impl Iterator<Item = OsString> {
    let around = |word: &'static str| (input.mode.lazy && !objects.is_empty()).then(|| OsString::from(word));
    let (before, behind) = (around("--end-lib"), around("--start-lib"));
    before.into_iter().chain(objects.into_iter().map(Into::into)).chain(behind)
}

/// An archive of what else is in one, and in the files that it names if it is thin; none if there is nothing else.
fn archive_without_bitcode(files: &[InputFile], folder: &Path) -> Result<Option<PathBuf>> {
    let [archive, named @ ..] = files else { return Ok(None) };
    let own = bitcode::members(archive).map(|(name, data)| (String::from_utf8_lossy(name).into_owned(), data));
    let named = named.iter().filter(|file| file.kind == FileKind::Object).map(|file| {
        let name = file.path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        (name.into_owned(), &*file.bytes)
    });
    let rest = own.chain(named).filter(|(_, data)| !is_bitcode(data));
    let members: Vec<_> = rest.map(|(name, data)| NewArchiveMember::new(data, &DEFAULT_OBJECT_READER, name)).collect();
    if members.is_empty() {
        return Ok(None);
    }
    let mut bytes = Cursor::new(Vec::new());
    let why = || format!("{}: cannot be made anew without its bitcode", archive.path.display());
    write_archive_to_stream(&mut bytes, &members, ArchiveKind::Gnu, false, None).with_context(why)?;
    // Several archives may have one name, which messages and the map have.
    let parent = tempfile::Builder::new().prefix("archive-").tempdir_in(folder).with_context(why)?.keep();
    let path = parent.join(archive.path.file_name().unwrap_or_default());
    write(&path, bytes.get_ref())?;
    Ok(Some(path))
}
