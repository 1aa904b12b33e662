//! Which linker clang would have called.
//!
//! Clang itself says (`-print-prog-name`), which takes as long as a small link. So its answer is kept in `<cache>/linker/<digest of
//! the question>`; the question is clang's stamp, the name, and the folders and variables that it searches.

use super::arguments::Arguments;
use crate::cache;
use crate::exit::require;
use crate::plugin::CALLED_CLANG;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The linker that clang would have called.
pub(super) fn real_linker(clang: &Path, arguments: &Arguments) -> Result<PathBuf> {
    let name = match (&arguments.ld_path, &arguments.fuse_ld) {
        (Some(path), _) => {
            let Ok(linker) = which::which(path) else { require!("--ld-path={}: no such linker", path.to_string_lossy()) };
            return Ok(linker);
        }
        (None, Some(name)) if Path::new(name).is_absolute() => return Ok(name.into()),
        (None, Some(name)) if name == "ld" || name.is_empty() => "ld".to_owned(),
        (None, Some(name)) => format!("ld.{}", name.to_string_lossy()),
        (None, None) => "ld".to_owned(),
    };
    let Some(linker) = program_in(&arguments.prefixes, clang, &name)? else {
        require!("-fuse-ld: {name}: no such linker is installed; install it, or choose another");
    };
    Ok(linker)
}

/// The program that clang means by this name (`ld`, `ld.lld`, `llvm-ar`), if it is installed.
pub(crate) fn program_named(clang: &Path, name: &str) -> Result<Option<PathBuf>> {
    program_in(&[], clang, name)
}

/// Likewise, where clang is told to look in these folders (`-B`) first.
fn program_in(prefixes: &[OsString], clang: &Path, name: &str) -> Result<Option<PathBuf>> {
    let kept = kept_answer(prefixes, clang, name)?;
    if let Ok(program) = std::fs::read(&kept) {
        let program = PathBuf::from(OsString::from_vec(program));
        if program.is_file() {
            return Ok(Some(program));
        }
    }
    let mut words: Vec<OsString> = prefixes.iter().flat_map(|prefix| ["-B".into(), prefix.clone()]).collect();
    words.push(format!("-print-prog-name={name}").into());
    let question = duct::cmd(clang, words).env(CALLED_CLANG, clang);
    let answer = question.read().with_context(|| clang.display().to_string())?;
    let Ok(program) = which::which(answer.trim()) else { return Ok(None) };
    // Only to be quicker next time; a cache that cannot be written to is no reason to fail.
    let _ = cache::write_atomically(&kept, program.as_os_str().as_bytes());
    Ok(Some(program))
}

fn kept_answer(prefixes: &[OsString], clang: &Path, name: &str) -> Result<PathBuf> {
    let variable = |name| std::env::var_os(name).unwrap_or_default();
    let mut question: Vec<OsString> =
        vec![cache::stamp(clang)?, clang.into(), name.into(), variable("PATH"), variable("COMPILER_PATH")];
    question.extend_from_slice(prefixes);
    Ok(cache::root()?.join("linker").join(cache::name_of(&question)))
}
