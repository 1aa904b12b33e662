//! One profile, raw or merged, out of one file.

use crate::locate::MapFinder;
use anyhow::{Result, anyhow, bail};
use bbprof_format::map::BuildMap;
use bbprof_format::merged::MergedProfile;
use bbprof_format::raw::{self, RawProfile};
use bbprof_format::{BuildId, FormatError};
use bbprof_profile::{Image, demangle, merged_from_raw};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A profile among those that are named, or in a folder. Who names a pipe wants what is
/// in it; one that lies in a folder may never be written.
pub(super) fn read_input(path: &Path, named: &[PathBuf]) -> Result<MergedProfile> {
    if let Some(Err(error)) = path.is_dir().then(|| std::fs::read_dir(path)) {
        bail!("a folder that cannot be listed: {error}");
    }
    let is_special = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
    if is_special && !named.iter().any(|word| word == path) {
        bail!("a pipe, socket or device: read from only where it is named itself");
    }
    read_profile(path)
}

/// One profile, raw or merged, by its first bytes.
pub(crate) fn read_profile(path: &Path) -> Result<MergedProfile> {
    let bytes = read_if_profile(path)?;
    if MergedProfile::is_merged(&bytes) {
        return MergedProfile::decode(&bytes).map_err(with_remedy);
    }
    if bytes.is_empty() {
        bail!("empty file: expected a raw or merged profile; run the program again, or leave the file out");
    }
    Ok(merged_from_raw(RawProfile::read(&bytes).map_err(with_functions)?))
}

/// The whole file, if its first bytes say that it is a profile; otherwise no more than them: it may be a device without an end.
fn read_if_profile(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(raw::MAGIC.len() as u64).read_to_end(&mut bytes)?;
    if MergedProfile::is_merged(&bytes) || bytes.starts_with(raw::MAGIC) {
        file.read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// What to do about a damaged file; what else it may be, the error itself says.
fn with_remedy(error: FormatError) -> anyhow::Error {
    match error {
        FormatError::Truncated { .. } | FormatError::Checksum { .. } | FormatError::Malformed { .. } => {
            anyhow!("{error}; copy it again, or run the program again, or leave the file out")
        }
        _ => error.into(),
    }
}

/// Functions that are named where a profile's records of hashed paths cannot be read.
const MOST_NAMED: usize = 5;

/// Damaged records of hashed paths: with the functions of which they may be, as far as there is a build map.
fn with_functions(error: FormatError) -> anyhow::Error {
    let FormatError::HashedPaths { build_id, image, .. } = &error else { return with_remedy(error) };
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
