//! `bbprof merge`: one profile out of many.

use super::inputs::{Loaded, MapArgs, read_profile};
use super::outcome::Outcome;
use super::output::{to_file, to_stdout};
use crate::exit::require;
use anyhow::Result;
use bbprof_format::merged::MergedProfile;
use std::path::{Path, PathBuf};

/// Sum profiles into one that needs neither the inputs nor their build maps
///
/// How each process ended is kept. What else `verify` finds, it finds in a sum only as far as the
/// inputs do not make up for each other: verify them first.
#[derive(clap::Args, Debug)]
pub(crate) struct MergeArgs {
    /// The merged profile (.bbprof), `-` = stdout; takes the place of an earlier one, which is passed by in folders,
    /// and of raw profiles that are merged, of no other file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Stop at an input that is damaged, or whose build map is not found or cannot be read, instead of leaving it out
    #[arg(long)]
    strict: bool,
    /// Raw (.bbraw) or merged (.bbprof) profiles, or folders of them
    #[arg(value_name = "PROFILE", required = true)]
    profiles: Vec<PathBuf>,
    #[command(flatten)]
    maps: MapArgs,
}

pub(crate) fn run(args: &MergeArgs) -> Result<Outcome> {
    let mut loaded = Loaded::read_for(Some(&args.output), &args.profiles, &args.maps, args.strict)?;
    loaded.read_maps()?;
    if args.output.as_os_str() == "-" {
        to_stdout(|out| out.write_all(&loaded.merged.encode()))?;
    } else {
        keep_what_is_not_in(&loaded.merged, &args.output)?;
        to_file(&args.output, |out| out.write_all(&loaded.merged.encode()))?;
    }
    Ok(Outcome::without(loaded.num_left_out))
}

/// Makes sure that no file but an earlier sum is lost where this one is to be written.
fn keep_what_is_not_in(sum: &MergedProfile, output: &Path) -> Result<()> {
    let is_there = std::fs::metadata(output).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    let is_in_sum = |there: &MergedProfile| {
        let has_image = |build_id| sum.images.iter().any(|image| image.build_id == build_id);
        there.processes.iter().all(|process| sum.processes.contains(process))
            && there.images.iter().all(|image| has_image(image.build_id))
    };
    let may_go = || {
        let bytes = std::fs::read(output).unwrap_or_default();
        MergedProfile::is_merged(&bytes) || read_profile(output).is_ok_and(|there| is_in_sum(&there))
    };
    if is_there && !may_go() {
        require!(
            "{}: is no merged profile, and is not among what is merged: it would be lost; name another file behind -o, or remove it",
            output.display()
        );
    }
    Ok(())
}
