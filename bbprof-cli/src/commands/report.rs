//! `bbprof report`: the summary.

use super::inputs::{Loaded, MapArgs, ProfileArgs, load, tell_why_empty};
use super::look::LookArgs;
use super::outcome::Outcome;
use super::output::to_stdout;
use super::sizes::Sizes;
use crate::exit::require;
use anyhow::{Context, Result};
use bbprof_profile::Profile;
use bbprof_report::{GroupBy, SortBy, Style, SummaryOptions, write_bias, write_copies, write_ledger, write_summary};
use std::ffi::OsStr;
use std::io::Write;
use std::path::PathBuf;

/// Print the totals and the hottest functions, blocks and lines
#[derive(clap::Args, Debug)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    input: ProfileArgs,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// What the first table is sorted by
    #[arg(long, value_enum, default_value_t = Sort::Instructions)]
    sort: Sort,
    /// What its rows are
    #[arg(long, value_enum, default_value_t = By::Function)]
    by: By,
    /// Instead: which way branches go, the hardest ones, those that go one way only, and switches
    #[arg(long, conflicts_with_all = ["copies", "sort", "by"])]
    bias: bool,
    /// Instead: what became of functions of the source that have several copies
    /// (instantiations, inlined copies); or each copy of FUNCTION
    #[arg(long, value_name = "FUNCTION", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with_all = ["sort", "by"])]
    copies: Option<String>,
    #[command(flatten)]
    look: LookArgs,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum Sort {
    Instructions,
    Calls,
    Blocks,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum By {
    /// Functions of the source, all instantiations together
    Function,
    /// Files that define functions
    File,
    /// Compilation units
    Module,
    /// Functions of the program
    Instantiation,
}

pub(crate) fn run(args: &ReportArgs) -> Result<Outcome> {
    let (profile, num_left_out) = load(&args.input.profiles, &args.input.maps)?;
    let style = args.look.style(&std::io::stdout());
    let outcome = Outcome::without(num_left_out);
    if args.bias {
        to_stdout(|out| write_bias(&profile, args.top, style, out))?;
        return Ok(outcome);
    }
    if let Some(wanted) = &args.copies {
        write_copies_of(&profile, wanted, args.top, style)?;
        return Ok(outcome);
    }
    let options = SummaryOptions {
        top: args.top,
        sort: match args.sort {
            Sort::Instructions => SortBy::Instructions,
            Sort::Calls => SortBy::Calls,
            Sort::Blocks => SortBy::Blocks,
        },
        by: match args.by {
            By::Function => GroupBy::Function,
            By::File => GroupBy::File,
            By::Module => GroupBy::Module,
            By::Instantiation => GroupBy::Instantiation,
        },
        style,
    };
    to_stdout(|out| write_summary(&profile, &options, out))?;
    Ok(outcome)
}

/// The copy ledger, or the copies of the functions that are called so.
fn write_copies_of(profile: &Profile, wanted: &str, top: usize, style: Style) -> Result<()> {
    if wanted.is_empty() {
        return to_stdout(|out| write_ledger(profile, top, style, out));
    }
    let sizes = Sizes::default();
    let mut text = Vec::new();
    let found = write_copies(profile, wanted, top, style, &|function| sizes.of(function), &mut text)?;
    if found == 0 {
        require!("no function of the source is called {wanted:?}; `bbprof report --copies` lists those with several copies");
    }
    to_stdout(|out| out.write_all(&text))
}

/// The summary of a run's profiles, as `cargo bbprof run` prints it at the end.
pub(crate) fn write_run_summary(profiles: &[PathBuf], colour: Option<&OsStr>, out: &mut dyn Write) -> Result<()> {
    let profile = Loaded::read(profiles, &MapArgs::default(), false)?.solve()?;
    tell_why_empty(&profile);
    let options = SummaryOptions {
        top: 10,
        sort: SortBy::Instructions,
        by: GroupBy::Function,
        style: LookArgs::of_cargo(colour).style(&std::io::stderr()),
    };
    write_summary(&profile, &options, out).context("summary")
}
