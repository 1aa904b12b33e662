//! The commands that work with profiles, one file each.

mod annotate;
mod diff;
mod dump;
mod export;
mod html;
pub(crate) mod inputs;
mod linked;
mod look;
mod merge;
mod mix;
mod outcome;
mod output;
mod paths;
mod progress;
mod report;
mod sizes;
mod sources;
mod verify;

pub(crate) use look::ColourArgs;
pub(crate) use outcome::Outcome;
pub(crate) use output::to_stdout;
pub(crate) use report::write_run_summary;

use anyhow::Result;
use std::sync::Arc;

/// `bbprof report ...` and its like; flattened into the command line of `bbprof`.
#[derive(clap::Subcommand, Debug)]
pub(crate) enum ProfileCommand {
    Report(report::ReportArgs),
    Annotate(annotate::AnnotateArgs),
    Export(export::ExportArgs),
    Merge(merge::MergeArgs),
    Diff(diff::DiffArgs),
    Mix(mix::MixArgs),
    Paths(paths::PathsArgs),
    Verify(verify::VerifyArgs),
    Dump(dump::DumpArgs),
}

/// Runs one of them.
///
/// # Errors
/// What keeps it from its result; [`crate::exit::Exit::of`] gives the exit code.
pub(crate) fn run(command: ProfileCommand) -> Result<Outcome> {
    // With a handler, a file that would be too large (`ulimit -f`) is an error of who writes it, as a full disk is.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default())?;
    match command {
        ProfileCommand::Report(args) => report::run(&args),
        ProfileCommand::Annotate(args) => annotate::run(&args),
        ProfileCommand::Export(args) => export::run(&args),
        ProfileCommand::Merge(args) => merge::run(&args),
        ProfileCommand::Diff(args) => diff::run(&args),
        ProfileCommand::Mix(args) => mix::run(&args),
        ProfileCommand::Paths(args) => paths::run(&args),
        ProfileCommand::Verify(args) => verify::run(&args),
        ProfileCommand::Dump(args) => dump::run(&args),
    }
}
