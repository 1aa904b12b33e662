//! `cargo xtask test`.

use crate::command::{cargo, run as execute};
use crate::install::{install, target_dir};
use crate::{Usage, explorer, setup, tidy};
use anyhow::Result;

/// The task `test`.
pub(crate) fn run(words: &[String]) -> Result<()> {
    let all = words.iter().any(|word| word == "--all");
    let filters: Vec<&str> = words.iter().map(String::as_str).filter(|word| *word != "--all").collect();
    if let Some(option) = filters.iter().find(|word| word.starts_with('-')) {
        return Usage::wrong(option);
    }
    setup::ensure(&[setup::PROFILE, setup::TEST])?;
    if filters.is_empty() {
        setup::ensure_components(&["fmt", "clippy"])?;
        execute(&mut cargo(["fmt", "--all", "--check"]))?;
        tidy::run(&[])?;
        explorer::check()?;
        execute(&mut cargo(["clippy", "--locked", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
        execute(&mut cargo(["test", "--locked", "--workspace", "--exclude", "bbprof-tests", "--quiet"]))?;
    }
    let root = target_dir().join("bbprof-root");
    install(&root)?;
    // Of the whole workspace, whose features are those of what was built before.
    let mut command = cargo(["test", "--locked", "--workspace", "--test", "end_to_end", "--no-fail-fast", "--"]);
    command.args(&filters).env("BBPROF_ROOT", &root);
    if all {
        command.env("BBPROF_LONG", "1");
    }
    execute(&mut command)
}
