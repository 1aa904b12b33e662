//! Cargo's configuration, where it stands elsewhere than in the files and variables that `cargo_config2`
//! reads: in `--config`, and in files that another one includes.

use super::args::CargoWords;
use crate::exit::require;
use anyhow::{Context, Result};
use cargo_config2::{Config, Walk};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Keys that we set ourselves: what stands in `--config` would win, as the last one does.
const SET: [&str; 3] = ["build.rustc-wrapper", "build.rustdoc", "build.build-dir"];
/// Keys that decide what we do.
const READ: [&str; 3] = ["build.rustc-wrapper", "build.rustc", "build.rustdoc"];
/// The one that says where raw profiles go.
pub(super) const OUT: &str = "env.BBPROF_OUT";

/// Cargo's configuration as it is here.
///
/// # Errors
/// When it cannot be read, or what we need to know (and these `more` keys) stands in a file that is included.
pub(crate) fn load(more: &[&'static str]) -> Result<Config> {
    let here = std::env::current_dir().context("working directory")?;
    let mut keys: Vec<&str> = READ.iter().chain(more).copied().filter(|key| !is_in_environment(key)).collect();
    // The nearest first, which wins.
    for file in Walk::new(&here) {
        refuse_included(&file, &mut keys, &mut Vec::new())?;
    }
    Config::load().context("cargo's configuration")
}

/// What is chained from cargo's configuration, and these `more` keys, is not found on its command line.
pub(super) fn refuse_words(words: &CargoWords, more: &[&str]) -> Result<()> {
    let keys = [&SET, more].concat();
    for value in words.values("--config", None) {
        if let Some(key) = table_of(&value).and_then(|table| first_of(&table, &keys)) {
            require!(
                "--config {}: set {key} in cargo's configuration file or by its environment variable, where bbprof takes it from",
                value.display()
            );
        }
    }
    Ok(())
}

/// The `build.target` of a `--config`.
pub(super) fn build_target(value: &OsStr) -> Option<Vec<String>> {
    match table_of(value)?.get("build")?.get("target")? {
        Value::String(target) => Some(vec![target.clone()]),
        Value::Array(targets) => targets.iter().map(|target| target.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// The value of a `--config`: a line of TOML, or a file of it.
fn table_of(value: &OsStr) -> Option<Table> {
    std::fs::read_to_string(value).unwrap_or_else(|_| value.to_string_lossy().into_owned()).parse().ok()
}

/// The first of these keys that holds here.
fn first_of<'k>(table: &Table, keys: &[&'k str]) -> Option<&'k str> {
    keys.iter().copied().find(|key| {
        let (section, key) = key.split_once('.').expect("our keys are of two words");
        table.get(section).and_then(|section| section.get(key)).is_some_and(|value| section != "env" || is_taken(key, value))
    })
}

/// Whether programs get this value of `[env]`: a variable that is set stays, unless it is forced.
fn is_taken(name: &str, value: &Value) -> bool {
    !is_set(name) || value.get("force").and_then(Value::as_bool).unwrap_or(false)
}

/// Whether a variable says what this key of `[build]` would.
fn is_in_environment(key: &str) -> bool {
    let Some(key) = key.strip_prefix("build.") else { return false };
    let name = key.replace('-', "_").to_uppercase();
    is_set(&format!("CARGO_BUILD_{name}")) || name.starts_with("RUST") && is_set(&name)
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// Refuses these keys in files that this one includes, unless it has them itself; `above` are those
/// that lead here. What cannot be read is for cargo to tell.
fn refuse_included(file: &Path, keys: &mut Vec<&str>, above: &mut Vec<PathBuf>) -> Result<()> {
    let Some(table) = std::fs::read_to_string(file).ok().and_then(|text| text.parse::<Table>().ok()) else { return Ok(()) };
    if let Some(including) = above.first()
        && let Some(key) = first_of(&table, keys)
    {
        require!(
            "{}: {key} is not looked for in files that are included; set it in {}, or by its environment variable",
            file.display(),
            including.display()
        );
    }
    keys.retain(|key| first_of(&table, &[*key]).is_none());
    above.push(file.to_owned());
    for included in included(&table, file.parent().unwrap_or(file)) {
        // A circle is cargo's to tell.
        if !above.contains(&included) {
            refuse_included(&included, keys, above)?;
        }
    }
    above.pop();
    Ok(())
}

/// `include = "a.toml"`, `include = ["a.toml", { path = "b.toml", optional = true }]`.
fn included(table: &Table, folder: &Path) -> Vec<PathBuf> {
    let path = |entry: &Value| entry.as_str().or_else(|| entry.get("path")?.as_str()).map(|path| folder.join(path));
    match table.get("include") {
        Some(Value::Array(entries)) => entries.iter().filter_map(path).collect(),
        Some(entry) => path(entry).into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(words: &[&str]) -> bool {
        refuse_words(&CargoWords::new(words.iter().map(Into::into).collect()), &[]).is_err()
    }

    #[test]
    fn what_we_set_is_refused_in_words_and_files() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("ci.toml");
        std::fs::write(&file, "[build]\njobs = 1\n").unwrap();
        assert!(!refused(&["--config", file.to_str().unwrap(), "--config", "build.target-dir='x'"]));
        std::fs::write(&file, "[build]\nrustc-wrapper = \"sccache\"\n").unwrap();
        for value in [file.to_str().unwrap(), "build.rustc-wrapper='x'", "build.rustdoc='x'", "build.build-dir=\"x\""] {
            assert!(refused(&["--config", value]), "{value}");
        }
    }

    #[test]
    fn what_we_read_is_refused_in_files_that_are_included() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
        write("config.toml", "include = [\"a.toml\", { path = \"absent.toml\", optional = true }]\n[build]\nrustc = \"mine\"\n");
        write("a.toml", "include = \"b.toml\"\n[build]\njobs = 1\n");
        write("b.toml", "include = \"a.toml\"\n[term]\nquiet = true\n");
        let keys = [&READ[..], &["env.BBPROF_TEST_OUT", "env.PATH"]].concat();
        let check = || refuse_included(&place.path().join("config.toml"), &mut keys.clone(), &mut Vec::new());
        check().unwrap();
        write("b.toml", "[build]\nrustc = \"theirs\"\n");
        check().unwrap();
        write("b.toml", "[build]\nrustc-wrapper = \"sccache\"\n");
        let error = check().unwrap_err().to_string();
        assert!(error.contains("b.toml: build.rustc-wrapper") && error.contains("config.toml"), "{error}");
        // The environment's own wins.
        write("b.toml", "[env]\nPATH = \"/bin\"\n");
        check().unwrap();
        for (wins, name) in
            [("PATH = { value = \"/bin\", force = true }", "env.PATH"), ("BBPROF_TEST_OUT = \"x\"", "env.BBPROF_TEST_OUT")]
        {
            write("b.toml", &format!("[env]\n{wins}\n"));
            let error = check().unwrap_err().to_string();
            assert!(error.contains(&format!("b.toml: {name} is not looked for")), "{error}");
        }
    }
}
