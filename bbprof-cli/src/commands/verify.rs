//! `bbprof verify`: is it exact, and if not, what is not and why.

use super::inputs::{ProfileArgs, load};
use super::outcome::Outcome;
use super::output::to_stdout;
use anyhow::Result;
use bbprof_report::write_verdict;

/// Prove that the profile is exact, or name each exception with its reason (exit code 5)
#[derive(clap::Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    input: ProfileArgs,
    /// Also list the functions that were not instrumented, and why
    #[arg(long)]
    skipped: bool,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Outcome> {
    let (profile, num_damaged) = load(&args.input)?;
    to_stdout(|out| write_verdict(&profile, args.skipped, out).map(drop))?;
    Ok(match (profile.exceptions().is_empty(), num_damaged) {
        (false, _) => Outcome::NotExact,
        (true, 0) => Outcome::Done,
        (true, _) => Outcome::DamagedSkipped,
    })
}
