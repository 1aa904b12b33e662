//! `bbprof annotate`: source with counts.

use super::inputs::{MapArgs, ProfileArgs, load};
use super::look::LookArgs;
use super::outcome::Outcome;
use super::output::to_stdout;
use crate::exit::{Requirement, require};
use anyhow::{Context, Result};
use bbprof_report::{Subject, annotate, find_subject, write_ir};
use std::path::PathBuf;

/// Print the source of a function or file with the count of each line and the shares of each branch
#[derive(clap::Args, Debug)]
pub(crate) struct AnnotateArgs {
    /// Profiles (see `bbprof report`), then the function (name, end of the name, or linker symbol) or source file
    #[arg(value_name = "[PROFILE...] FUNCTION|FILE", required = true)]
    words: Vec<String>,
    /// The generated code of the function instead, block by block, where the build kept its IR (--bbprof-ir)
    #[arg(long)]
    ir: bool,
    #[command(flatten)]
    look: LookArgs,
    #[command(flatten)]
    maps: MapArgs,
}

pub(crate) fn run(args: &AnnotateArgs) -> Result<Outcome> {
    let (wanted, profiles) = args.words.split_last().context("clap requires a word")?;
    let input =
        ProfileArgs { profiles: profiles.iter().map(PathBuf::from).collect(), maps: MapArgs { maps: args.maps.maps.clone() } };
    let (profile, num_damaged) = load(&input)?;
    let subject = find_subject(&profile, wanted).map_err(|error| Requirement(error.to_string()))?;
    let read = super::export::read_source;
    let style = args.look.style(&std::io::stdout());
    if args.ir {
        let Subject::Functions(functions) = &subject else {
            require!("{wanted:?} is a file; --ir shows functions");
        };
        to_stdout(|out| functions.iter().try_for_each(|function| write_ir(&profile, *function, style, out)))?;
    } else {
        to_stdout(|out| annotate(&profile, &subject, read, style, out))?;
    }
    Ok(if num_damaged > 0 { Outcome::DamagedSkipped } else { Outcome::Done })
}
