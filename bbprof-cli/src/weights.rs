//! `--weights PROFILE`: the frequencies of an earlier run, as the plugin reads them.
//!
//! They stand in `<cache>/weights/<digest>`, a name that tells their content: so the plugin's options, and with them the compiler's
//! command line, change when the profile does. `<cache>/weights/index` finds them by the profile's size and time, for one
//! compilation among thousands.

use crate::cache;
use crate::commands::inputs::{MapArgs, expand, load};
use crate::exit::require;
use crate::messages::tell;
use anyhow::{Context, Result};
use bbprof_format::Digest;
use bbprof_profile::CounterMode;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The file with the frequencies of this profile: a raw or merged one, or a folder of
/// them. `asked` names in errors what asked for it.
pub(crate) fn frequencies_file(profile: &Path, asked: &str) -> Result<PathBuf> {
    let profiles = &[profile.to_owned()];
    let place = cache::root()?.join("weights");
    if place.to_str().is_none_or(|path| path.contains('\n')) {
        require!("{}: the plugin reads this path as a line of UTF-8; set XDG_CACHE_HOME to another folder", place.display());
    }
    let files = expand(profiles).with_context(|| asked.to_owned())?;
    let stamps = files.iter().map(|file| cache::stamp(file)).collect::<Result<Vec<OsString>>>()?;
    let index = place.join("index").join(cache::name_of(&stamps));
    if let Ok(known) = std::fs::read(&index) {
        let known = PathBuf::from(OsString::from_vec(known));
        if known.is_file() {
            return Ok(known);
        }
    }
    let (profile_read, num_left_out) = load(profiles, &MapArgs::default()).with_context(|| asked.to_owned())?;
    let name = profile.display();
    if profile_read.functions().any(|function| matches!(function.mode(), CounterMode::Blocks | CounterMode::Patterns)) {
        require!(
            "{asked} {name}: recorded with --counters blocks or patterns, which leave edges open; record one with --counters edges"
        );
    }
    let frequencies = profile_read.frequencies();
    if frequencies.functions.is_empty() {
        require!("{asked} {name}: no function ran in it; record a run that does the usual work");
    }
    let bytes = frequencies.encode();
    let file = place.join(Digest::of(&bytes).to_string());
    cache::write(&file, &bytes)?;
    // What was left out may be there the next time: a map that is missing, for one.
    if num_left_out == 0 {
        cache::write(&index, file.as_os_str().as_bytes())?;
    } else {
        tell!(
            "{asked} {name} is read anew for each compilation, as what is left out may be there then; bbprof merge -o FILE {name} makes a profile that is read once"
        );
    }
    Ok(file)
}
