//! Which compiler instruments the C and C++ parts of crates.

use crate::installation::Installation;
use crate::plugin::{Clang, PluginOptions, plugin_with_options, plus_plus_of};
use crate::roles::Role;
use crate::tools::CTools;
use anyhow::Result;
use std::ffi::OsString;

/// The user's own choice of compiler for this target, as the cc crate looks for it.
fn chosen(base: &str, triple: &str) -> Option<(String, OsString)> {
    [format!("{base}_{triple}"), format!("{base}_{}", triple.replace('-', "_")), base.to_owned()]
        .into_iter()
        .find_map(|name| std::env::var_os(&name).filter(|value| !value.is_empty()).map(|value| (name, value)))
        // `CC=bbprof-cc` asks for what is done anyway.
        .filter(|(_, value)| !matches!(Role::of(value), Role::Compiler(_)))
}

/// The compilers, when there is a clang for the job: the one that the user names, else the newest. If there is none, `say`
/// gets the reason and the C parts stay plain.
pub(crate) fn compilers(
    installation: &Installation,
    triple: &str,
    options: &PluginOptions,
    say: impl Fn(&str),
) -> Result<Option<CTools>> {
    let clang = match chosen("CC", triple) {
        Some((name, value)) => match Clang::find(Some(&value), false) {
            Ok(clang) => clang,
            Err(error) => {
                say(&format!("C parts of crates are not instrumented: {name}={}: {error}", value.to_string_lossy()));
                return Ok(None);
            }
        },
        None => match Clang::find(None, false) {
            Ok(clang) => clang,
            Err(error) => {
                say(&format!("C and C++ parts of crates are not instrumented: {error}"));
                return Ok(None);
            }
        },
    };
    let plugin = plugin_with_options(installation, clang.major, options, &say)?;
    let clangxx = match chosen("CXX", triple) {
        Some((name, value)) => match Clang::find(Some(&value), true) {
            Ok(found) if found.major == clang.major => Some(found.path),
            Ok(found) => {
                say(&format!(
                    "C++ parts of crates are not instrumented: {name} is clang {}, but the C compiler is {}",
                    found.major, clang.major
                ));
                None
            }
            Err(error) => {
                say(&format!("C++ parts of crates are not instrumented: {name}={}: {error}", value.to_string_lossy()));
                None
            }
        },
        None => match Clang::find(Some(plus_plus_of(&clang.path).as_os_str()), true) {
            Ok(found) => Some(found.path),
            Err(error) => {
                say(&format!("C++ parts of crates are not instrumented: {error}"));
                None
            }
        },
    };
    Ok(Some(CTools { plugin, clang: clang.path, clangxx }))
}
