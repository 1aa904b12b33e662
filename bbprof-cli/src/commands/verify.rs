//! `bbprof verify`: is it exact, and if not, what is not and why.

use super::inputs::{Images, ProfileArgs, each_input};
use super::outcome::Outcome;
use super::output::to_stdout;
use anyhow::Result;
use bbprof_report::{Verdict, write_skipped};
use std::io::Write;

/// Prove that each profile is exact, or name each exception with its reason (exit code 5)
#[derive(clap::Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    input: ProfileArgs,
    /// Also list the functions that were not instrumented, and why
    #[arg(long)]
    skipped: bool,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Outcome> {
    let mut images = Images::new(&args.input.maps);
    let mut verdict = Verdict::default();
    let num_damaged = each_input(&args.input.profiles, false, |part| {
        let profile = images.solve(part)?;
        to_stdout(|out| {
            verdict.add(&profile, out)?;
            if args.skipped { write_skipped(&profile, out) } else { Ok(()) }
        })
    })?;
    to_stdout(|out: &mut dyn Write| verdict.finish(out))?;
    Ok(match (verdict.is_exact(), num_damaged) {
        (false, _) => Outcome::NotExact,
        (true, 0) => Outcome::Done,
        (true, _) => Outcome::DamagedSkipped,
    })
}
