//! `bbprof merge`: one profile out of many.

use super::inputs::{Loaded, MapArgs};
use super::outcome::Outcome;
use super::output::to_file;
use anyhow::Result;
use std::path::PathBuf;

/// Sum profiles into one that needs neither the inputs nor their build maps
///
/// How each process ended is kept. What else `verify` finds, it finds in a sum only as far as the inputs do not make up for each other: verify them
/// first.
#[derive(clap::Args, Debug)]
pub(crate) struct MergeArgs {
    /// The merged profile (.bbprof)
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Stop at an input that is damaged, or whose build map is not found, instead of leaving it out
    #[arg(long)]
    strict: bool,
    /// Raw (.bbraw) or merged (.bbprof) profiles, or folders of them
    #[arg(value_name = "PROFILE", required = true)]
    profiles: Vec<PathBuf>,
    #[command(flatten)]
    maps: MapArgs,
}

pub(crate) fn run(args: &MergeArgs) -> Result<Outcome> {
    let mut loaded = Loaded::read(&args.profiles, &args.maps, args.strict)?;
    loaded.read_maps()?;
    to_file(&args.output, |out| out.write_all(&loaded.merged.encode()))?;
    Ok(if loaded.num_damaged > 0 { Outcome::DamagedSkipped } else { Outcome::Done })
}
