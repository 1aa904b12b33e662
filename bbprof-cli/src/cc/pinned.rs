//! Which clang and which plugin, for one compilation among thousands: looked up by files' sizes and times.
//!
//! `<cache>/plugin/index/<digest of the question>` holds the answer. The question is the compiler's, the library's and the
//! glue's stamps and the options; the slow way (asking clang for its version, hashing the library) is gone once.

use super::arguments::is_set;
use crate::cache;
use crate::installation::Installation;
use crate::plugin::{Clang, Plugin, PluginOptions, SUPPORTED_MAJORS, plugin_with_options, plus_plus_of, refuse_ourselves};
use crate::roles::Language;
use anyhow::Result;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A clang and the plugin for it.
pub(crate) struct Pinned {
    pub clang: PathBuf,
    /// Absent when clang is called as it is.
    pub plugin: Option<Plugin>,
}

/// The clang for this language, and its plugin unless `is_plain`.
pub(crate) fn clang_and_plugin(language: Language, options: &PluginOptions, is_plain: bool) -> Result<Pinned> {
    let chosen = chosen(language);
    if is_plain {
        // Only the program is wanted; that it is a supported clang was or will be found out by a compilation.
        if let Some(path) = first_by_name(chosen.as_ref(), language) {
            refuse_ourselves(&path)?;
            return Ok(Pinned { clang: path, plugin: None });
        }
        return Ok(Pinned { clang: Clang::find(chosen.as_deref(), language == Language::Cxx)?.path, plugin: None });
    }
    let Some(path) = first_by_name(chosen.as_ref(), language) else {
        return slow(chosen, language, options);
    };
    refuse_ourselves(&path)?;
    let installation = Installation::find()?;
    // Says in words when the plugin's sources are not there.
    let glue = installation.glue()?;
    let mut question: Vec<OsString> =
        vec![cache::stamp(&path)?, path.clone().into(), cache::stamp(&installation.plugin_library())?, options.text().into()];
    for file in glue {
        question.push(cache::stamp_in_place(&file)?);
    }
    let index = cache::root()?.join("plugin/index").join(cache::name_of(&question));
    let known = std::fs::read(&index).ok().and_then(|answer| serde_json::from_slice::<Plugin>(&answer).ok());
    if let Some(plugin) = known.filter(|plugin| plugin.path.is_file()) {
        return Ok(Pinned { clang: path, plugin: Some(plugin) });
    }
    let pinned = slow(chosen, language, options)?;
    if pinned.clang == path
        && let Some(answer) = pinned.plugin.as_ref().and_then(|plugin| serde_json::to_vec(plugin).ok())
    {
        // Only to be quicker next time; a cache that cannot be written to is no reason to fail.
        let _ = cache::write_atomically(&index, &answer);
    }
    Ok(pinned)
}

fn slow(chosen: Option<OsString>, language: Language, options: &PluginOptions) -> Result<Pinned> {
    let clang = Clang::find(chosen.as_deref(), language == Language::Cxx)?;
    let plugin = plugin_with_options(&Installation::find()?, clang.major, options, |_| ())?;
    Ok(Pinned { clang: clang.path, plugin: Some(plugin) })
}

/// `BBPROF_CC`, `BBPROF_CXX`; the one for C++ is derived from the one for C when only that is set.
pub(crate) fn chosen(language: Language) -> Option<OsString> {
    let cc = is_set(std::env::var_os("BBPROF_CC"));
    match language {
        Language::C => cc,
        Language::Cxx => is_set(std::env::var_os("BBPROF_CXX")).or_else(|| Some(plus_plus_of(Path::new(&cc?)).into_os_string())),
    }
}

/// The compiler that would be taken, told by names alone.
fn first_by_name(chosen: Option<&OsString>, language: Language) -> Option<PathBuf> {
    if let Some(chosen) = chosen {
        return which::which(chosen).ok();
    }
    let base = match language {
        Language::C => "clang",
        Language::Cxx => "clang++",
    };
    SUPPORTED_MAJORS
        .iter()
        .flat_map(|major| [format!("{base}-{major}"), format!("/usr/lib/llvm-{major}/bin/{base}")])
        .chain([base.to_owned()])
        .find_map(|name| which::which(name).ok())
}
