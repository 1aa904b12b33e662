//! `bbprof annotate`: source with counts.

use super::inputs::{MapArgs, ProfileArgs, load};
use super::outcome::Outcome;
use super::output::to_stdout;
use crate::exit::Requirement;
use anyhow::{Context, Result};
use bbprof_report::{annotate, find_subject};
use std::path::PathBuf;

/// Print the source of a function or file with the count of each line and the shares of each branch
#[derive(clap::Args, Debug)]
pub(crate) struct AnnotateArgs {
    /// Profiles (see `bbprof report`), then the function (name, end of the name, or linker symbol) or source file
    #[arg(value_name = "[PROFILE...] FUNCTION|FILE", required = true)]
    words: Vec<String>,
    #[command(flatten)]
    maps: MapArgs,
}

pub(crate) fn run(args: &AnnotateArgs) -> Result<Outcome> {
    let (wanted, profiles) = args.words.split_last().context("clap requires a word")?;
    let input =
        ProfileArgs { profiles: profiles.iter().map(PathBuf::from).collect(), maps: MapArgs { maps: args.maps.maps.clone() } };
    let (profile, num_damaged) = load(&input)?;
    let subject = find_subject(&profile, wanted).map_err(|error| Requirement(error.to_string()))?;
    let read = |path: &str| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    to_stdout(|out| annotate(&profile, &subject, read, out))?;
    Ok(if num_damaged > 0 { Outcome::DamagedSkipped } else { Outcome::Done })
}
