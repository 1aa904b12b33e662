//! `bbprof report`: the summary.

use super::inputs::{Loaded, MapArgs, ProfileArgs, load};
use super::outcome::Outcome;
use super::output::to_stdout;
use anyhow::{Context, Result};
use bbprof_report::{GroupBy, SortBy, SummaryOptions, write_summary};
use std::io::Write;
use std::path::Path;

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
    /// Columns of the output; without it, those of the terminal, else 80
    #[arg(long, value_name = "COLUMNS")]
    width: Option<usize>,
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
    let (profile, num_damaged) = load(&args.input)?;
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
        width: args.width.unwrap_or_else(terminal_width),
    };
    to_stdout(|out| write_summary(&profile, &options, out))?;
    Ok(if num_damaged > 0 { Outcome::DamagedSkipped } else { Outcome::Done })
}

/// The summary of all profiles in `folder`, as `cargo bbprof run` prints it at the end.
pub(crate) fn write_run_summary(folder: &Path, out: &mut dyn Write) -> Result<()> {
    let profile = Loaded::read(&[folder.to_owned()], false)?.solve(&MapArgs::default())?;
    let options = SummaryOptions { top: 10, sort: SortBy::Instructions, by: GroupBy::Function, width: terminal_width() };
    write_summary(&profile, &options, out).context("summary")
}

/// Columns of the terminal; 80 where there is none.
fn terminal_width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).or_else(columns).unwrap_or(80)
}
