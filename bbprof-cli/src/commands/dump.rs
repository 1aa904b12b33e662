//! `bbprof dump`: any bbprof file in words.

mod counters;
mod frequencies;
mod manifest;
mod map;

use super::outcome::Outcome;
use super::output::to_stdout;
use crate::exit::Requirement;
use anyhow::{Context, Result, bail};
use bbprof_format::bitcode::is_bitcode;
use bbprof_format::frequencies::Frequencies;
use bbprof_format::map::BuildMap;
use bbprof_format::merged::{self, MergedProfile};
use bbprof_format::raw::{self, RawProfile};
use bbprof_format::{frequencies as frequencies_format, manifest as manifest_format, map as map_format, names};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Print a bbprof file in words: object or archive with manifests, build map, raw or merged profile, frequencies
#[derive(clap::Args, Debug)]
pub(crate) struct DumpArgs {
    /// The file
    file: PathBuf,
    /// Also every node, edge and counter of each function, or every counter of a profile
    #[arg(long)]
    full: bool,
}

/// What may be dumped, in words.
const ANY_FILE: &str = "a build map, raw or merged profile, manifest, object or archive";

pub(crate) fn run(args: &DumpArgs) -> Result<Outcome> {
    let name = args.file.display().to_string();
    let bytes = std::fs::read(&args.file).map_err(|error| Requirement(format!("{name}: {error}")))?;
    if bytes.is_empty() {
        bail!("{name}: empty file: expected {ANY_FILE}; make it anew");
    }
    if bytes.starts_with(map_format::MAGIC) {
        let map = BuildMap::decode(&bytes).context(name)?;
        to_stdout(|out| map::write(&map, args.full, out))?;
    } else if bytes.starts_with(merged::MAGIC) {
        let merged = MergedProfile::decode(&bytes).context(name)?;
        to_stdout(|out| counters::write_merged(&merged, args.full, out))?;
    } else if bytes.starts_with(raw::MAGIC) {
        let raw = RawProfile::read(&bytes).context(name)?;
        to_stdout(|out| counters::write_raw(&raw, args.full, out))?;
    } else if bytes.starts_with(frequencies_format::MAGIC) {
        let found = Frequencies::decode(&bytes).context(name)?;
        to_stdout(|out| frequencies::write(&found, args.full, out))?;
    } else if bytes.starts_with(manifest_format::MAGIC) {
        let modules = decode(&bytes).context(name)?;
        to_stdout(|out| modules.iter().try_for_each(|module| manifest::write(module, args.full, out)))?;
    } else {
        let objects = objects(&name, &bytes)?;
        to_stdout(|out| {
            objects.iter().try_for_each(|(object, modules)| {
                writeln!(out, "object {object}")?;
                modules.iter().try_for_each(|module| manifest::write(module, args.full, out))
            })
        })?;
    }
    Ok(Outcome::Done)
}

/// The modules of each object in the file that has any.
fn objects(name: &str, bytes: &[u8]) -> Result<Vec<(String, Vec<manifest::Decoded>)>> {
    let mut objects = Vec::new();
    if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
        let archive = ArchiveFile::parse(bytes).with_context(|| name.to_owned())?;
        for member in archive.members() {
            let member = member.with_context(|| name.to_owned())?;
            let member_name = format!("{name}({})", String::from_utf8_lossy(member.name()));
            let data = if archive.is_thin() {
                // Its members are files beside it.
                let file = Path::new(name).with_file_name(OsStr::from_bytes(member.name()));
                Cow::Owned(std::fs::read(file).with_context(|| member_name.clone())?)
            } else {
                Cow::Borrowed(member.data(bytes).with_context(|| member_name.clone())?)
            };
            if data.starts_with(b"\x7fELF") {
                objects.push((member_name.clone(), modules_of(&data).context(member_name)?));
            }
        }
        objects.retain(|(_, modules)| !modules.is_empty());
    } else if bytes.starts_with(b"\x7fELF") {
        objects.push((name.to_owned(), modules_of(bytes).with_context(|| name.to_owned())?));
    } else if is_bitcode(bytes) {
        let what = "bitcode for link-time optimisation: its counters and manifest are made where it is linked";
        return Err(Requirement(format!("{name}: {what}; what was linked is in the program's build map (.bbmap)")).into());
    } else {
        return Err(Requirement(format!("{name}: not a bbprof file: expected {ANY_FILE}")).into());
    }
    if objects.iter().all(|(_, modules)| modules.is_empty()) {
        let what = "manifests are in objects and archives compiled with bbprof; a linked program's is in its build map (.bbmap)";
        return Err(Requirement(format!("{name}: holds no bbprof manifest; {what}")).into());
    }
    Ok(objects)
}

fn modules_of(object: &[u8]) -> Result<Vec<manifest::Decoded>> {
    let file = object::File::parse(object)?;
    let mut modules = Vec::new();
    for section in file.sections() {
        if section.name_bytes()? == names::MANIFEST_SECTION.as_bytes() {
            modules.extend(decode(section.data()?)?);
        }
    }
    Ok(modules)
}

fn decode(section: &[u8]) -> Result<Vec<manifest::Decoded>> {
    manifest_format::split(section)?.into_iter().map(|found| Ok((found.header.clone(), found.module()?))).collect()
}
