//! Runs programs, showing what is run.

use anyhow::{Context, Result, bail};
use std::process::Command;

/// A command line, from words.
pub(crate) fn command<'a>(program: &str, words: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    command
}

/// The cargo that runs us, in the repository's root.
pub(crate) fn cargo<'a>(words: impl IntoIterator<Item = &'a str>) -> Command {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let mut command = command(&cargo, words);
    command.current_dir(crate::root());
    command
}

/// Runs it and expects success.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let shown = shown(command);
    eprintln!("xtask: {shown}");
    let status = command.status().with_context(|| format!("{shown}: cannot be run"))?;
    if !status.success() {
        bail!("{shown}: {status}");
    }
    Ok(())
}

fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}
