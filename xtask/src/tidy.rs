//! `cargo xtask tidy`: rules of the source tree that no compiler checks.

use crate::{Usage, root};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Which crates of this workspace a crate may depend on (not counting dev-dependencies). `ARCHITECTURE.md` shows the same.
const ARROWS: [(&str, &[&str]); 8] = [
    ("bbprof-flow", &[]),
    ("bbprof-format", &["bbprof-flow"]),
    ("bbprof-profile", &["bbprof-flow", "bbprof-format"]),
    ("bbprof-report", &["bbprof-profile"]),
    ("bbprof-plugin", &["bbprof-flow", "bbprof-format"]),
    ("bbprof-rt", &[]),
    ("bbprof-shim-linker", &["bbprof-format"]),
    ("bbprof-cli", &["bbprof-report", "bbprof-profile", "bbprof-format"]),
];

/// A file longer than this has a second idea in it; past 500 one starts to look for it.
const LONGEST_LINES: usize = 600;

/// Comments and documents are as wide as code, whose width rustfmt looks after; tables are as wide as they need.
const WIDEST_PROSE: usize = 132;

/// The task.
pub(crate) fn run(words: &[String]) -> Result<()> {
    if let [word, ..] = words {
        return Usage::wrong(word);
    }
    let mut faults = Vec::new();
    check_arrows(&mut faults)?;
    check_architecture(&mut faults)?;
    check_glossary(&mut faults)?;
    for file in files(&["rs", "c", "h", "cpp"])? {
        check_source(&file, &mut faults)?;
    }
    for file in files(&["md"])? {
        check_document(&file, &mut faults)?;
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("the source tree is untidy:\n{}", faults.join("\n"))
}

fn check_arrows(faults: &mut Vec<String>) -> Result<()> {
    for (krate, allowed) in ARROWS {
        let path = root().join(krate).join("Cargo.toml");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        for used in workspace_dependencies(&text) {
            if !allowed.contains(&used) {
                faults.push(format!("{krate}/Cargo.toml: {krate} may not use {used}"));
            }
        }
    }
    Ok(())
}

/// The `bbprof-*` crates in the sections of dependencies but for tests, of all targets or of some.
fn workspace_dependencies(manifest: &str) -> Vec<&str> {
    let mut section = "";
    let mut used = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if line.starts_with("bbprof-") && section.ends_with("dependencies]") && !section.ends_with("dev-dependencies]") {
            used.extend(line.split(['.', ' ', '=']).next());
        }
    }
    used
}

/// Paths in backquotes in `ARCHITECTURE.md` exist: words with a slash or a file's ending.
fn check_architecture(faults: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    for path in named_paths(&text) {
        if !root().join(path).exists() {
            faults.push(format!("ARCHITECTURE.md names {path}, which does not exist"));
        }
    }
    Ok(())
}

fn named_paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|word| {
        let is_word = !word.contains([' ', '<', '*', '$', '(', ':', '~', '=']) && !word.starts_with(['-', '.', '/']);
        is_word && (word.contains('/') || [".rs", ".md", ".toml", ".c", ".h", ".cpp"].iter().any(|end| word.ends_with(end)))
    })
}

/// The words of `GLOSSARY.md` are in order.
fn check_glossary(faults: &mut Vec<String>) -> Result<()> {
    let text = fs::read_to_string(root().join("GLOSSARY.md")).context("GLOSSARY.md")?;
    faults.extend(out_of_order(&text).map(|word| format!("GLOSSARY.md: {word} is not behind the words before it in the alphabet")));
    Ok(())
}

/// The word of the first row of a table that does not come behind the one before.
fn out_of_order(text: &str) -> Option<String> {
    let rows = text.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let words: Vec<String> = rows.filter_map(|row| Some(row.split('|').nth(1)?.trim().to_lowercase())).collect();
    words.windows(2).find(|pair| pair[0] >= pair[1]).map(|pair| pair[1].clone())
}

/// All our files with these endings, sorted; not what was built, and not the cases under test.
fn files(endings: &[&str]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![root()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                if !name.starts_with('.') && name != "target" && name != "node_modules" && !path.ends_with("tests/cases") {
                    pending.push(path);
                }
            } else if path.extension().is_some_and(|end| endings.iter().any(|known| end == *known)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn check_source(path: &Path, faults: &mut Vec<String>) -> Result<()> {
    let (shown, text) = read(path)?;
    if !has_head(&text, path) {
        faults.push(format!("{shown}: does not open with a comment that says what it is about"));
    }
    let lines = text.lines().count();
    if lines > LONGEST_LINES {
        faults.push(format!("{shown}: {lines} lines; look for the second idea in it"));
    }
    for (number, line) in text.lines().enumerate() {
        if let Some(found) = machine_path(line) {
            faults.push(format!("{shown}:{}: names a path of one machine: {found}", number + 1));
        }
        if is_comment(line) {
            faults.extend(width_fault(&shown, number, line));
        }
    }
    Ok(())
}

fn check_document(path: &Path, faults: &mut Vec<String>) -> Result<()> {
    let (shown, text) = read(path)?;
    let prose = text.lines().enumerate().filter(|(_, line)| !line.starts_with('|'));
    faults.extend(prose.filter_map(|(number, line)| width_fault(&shown, number, line)));
    Ok(())
}

/// A file's name in the tree, and its text.
fn read(path: &Path) -> Result<(String, String)> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Ok((path.strip_prefix(root()).unwrap_or(path).display().to_string(), text))
}

/// What is wrong with a line of prose that is too wide.
fn width_fault(shown: &str, number: usize, line: &str) -> Option<String> {
    let is_wide = line.chars().count() > WIDEST_PROSE;
    is_wide.then(|| format!("{shown}:{}: prose of more than {WIDEST_PROSE} columns", number + 1))
}

/// Whether a line holds nothing but a comment, or a part of one.
fn is_comment(line: &str) -> bool {
    ["//", "/*", "* ", "*/"].iter().any(|begin| line.trim_start().starts_with(begin))
}

/// Rust files open with `//!`, C and C++ files with a comment.
fn has_head(text: &str, path: &Path) -> bool {
    if path.extension().is_some_and(|end| end == "rs") {
        return text.starts_with("//!");
    }
    text.starts_with("/*") || text.starts_with("//")
}

/// Folders that exist on a developer's machine only, as absolute paths; the made-up users `u` and `me` are no one's.
fn machine_path(line: &str) -> Option<&'static str> {
    // Written in halves, so that this file does not name them itself.
    [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/Us", "ers/")].into_iter().find(|path| {
        line.match_indices(path).any(|(at, _)| {
            let is_absolute = !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-}>".contains(c));
            let rest = &line[at + path.len()..];
            is_absolute && !rest.starts_with("u/") && !rest.starts_with("me/")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_read_by_section() {
        let manifest =
            "[dependencies]\nbbprof-flow.workspace = true\nserde = \"1\"\n[dev-dependencies]\nbbprof-report.workspace = true\n";
        assert_eq!(workspace_dependencies(manifest), ["bbprof-flow"]);
        assert_eq!(workspace_dependencies("[build-dependencies]\nbbprof-rt = { path = \"x\" }\n"), ["bbprof-rt"]);
    }

    #[test]
    fn paths_are_told_from_other_code() {
        let text = "`bbprof-flow/src/plan.rs` and `README.md`, not `cargo xtask`, `-Clinker=a/b`, `~/.cache/x`, `a<b>/c`";
        assert_eq!(named_paths(text).collect::<Vec<_>>(), ["bbprof-flow/src/plan.rs", "README.md"]);
    }

    #[test]
    fn words_are_in_order() {
        assert_eq!(out_of_order("| word | meaning |\n|---|---|\n| a b | x |\n| X | y |\n"), None);
        assert_eq!(out_of_order("|---|---|\n| edge | x |\n| block | y |\n").as_deref(), Some("block"));
    }

    #[test]
    fn comments_are_told_from_code() {
        assert!(["/// x", " * x", "    // x", "/* x */", " */"].into_iter().all(is_comment));
        assert!(!["x(); // y", "*x = 1;", "let x = \"// y\";"].into_iter().any(is_comment));
    }

    #[test]
    fn heads_and_machine_paths_are_seen() {
        assert!(has_head("//! x\n", Path::new("a.rs")) && !has_head("use x;\n", Path::new("a.rs")));
        assert!(has_head("/* x */\n", Path::new("a.c")) && !has_head("int x;\n", Path::new("a.h")));
        assert!(machine_path(concat!("open(\"/ho", "me/ann/x\")")).is_some());
        assert!(machine_path(concat!("a/ho", "me/x")).is_none() && machine_path(concat!("\"/ho", "me/u/x")).is_none());
    }
}
