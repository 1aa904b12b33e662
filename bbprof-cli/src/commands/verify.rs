//! `bbprof verify`: is it exact, and if not, what is not and why.

use super::inputs::{Images, Loaded, ProfileArgs, Take, each_input};
use super::look::ColourArgs;
use super::outcome::Outcome;
use super::output::to_stdout;
use anyhow::Result;
use bbprof_format::merged::{ImageCounters, MergedProfile};
use bbprof_profile::{Merger, Profile, demangle};
use bbprof_report::{Style, Verdict, write_interruptible, write_skipped};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Prove that each profile is exact, or name each exception with its reason (exit code 5)
#[derive(clap::Args, Debug)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    input: ProfileArgs,
    /// Also list the functions that were not instrumented, and why
    #[arg(long)]
    skipped: bool,
    /// Also list, for processes that ended while code was running, the functions and blocks where it may have been interrupted
    /// (fewest in raw profiles: a merged one does not tell which process counted what)
    #[arg(long)]
    interrupted: bool,
    /// Also compare every block and edge with this profile of the same code and input, counted in another way (repeatable: the sum)
    #[arg(long, value_name = "PROFILE")]
    against: Vec<PathBuf>,
    #[command(flatten)]
    colour: ColourArgs,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<Outcome> {
    // What cannot be read is told before anything is said to be exact.
    let (mut against, mut num_left_out) = (None, 0);
    if !args.against.is_empty() {
        let loaded = Loaded::read(&args.against, &args.input.maps, false)?;
        num_left_out = loaded.num_left_out;
        against = Some(loaded.solve()?);
    }
    // Its lines are never cut: each is an exception with its reason.
    let style = Style { width: usize::MAX, colour: args.colour.shows(&std::io::stdout()) };
    let mut one_by_one = OneByOne {
        args,
        images: Images::for_many(&args.input.maps),
        verdict: Verdict::new(style),
        written: Ok(()),
        sum: against.is_some().then(Merger::default),
    };
    let (summed, num_left_out_here) = each_input(&args.input.profiles, None, false, &mut one_by_one)?;
    let OneByOne { verdict, written, sum, mut images, .. } = one_by_one;
    written?;
    num_left_out += num_left_out_here;
    summed.tell_twice();
    to_stdout(|out: &mut dyn Write| verdict.finish(out))?;
    let agrees = match sum.zip(against) {
        Some((sum, against)) => compare(&images.solve(sum.finish())?, &against)?,
        None => true,
    };
    Ok(match (verdict.is_exact() && agrees, num_left_out) {
        (false, _) => Outcome::NotExact,
        (true, 0) => Outcome::Done,
        (true, _) => Outcome::DamagedSkipped,
    })
}

/// Verifies each profile by itself.
struct OneByOne<'a> {
    args: &'a VerifyArgs,
    images: Images,
    verdict: Verdict,
    /// Where there is no room for it, no input is to blame.
    written: Result<()>,
    /// Of all of them, where it is to be compared.
    sum: Option<Merger>,
}

impl Take for OneByOne<'_> {
    fn begin(&mut self, path: &Path) {
        self.images.look_beside(path);
    }

    fn find_map(&mut self, image: &ImageCounters) -> Result<()> {
        self.images.ensure_decoded(image)
    }

    fn take(&mut self, profile: MergedProfile) -> Result<()> {
        if let Some(sum) = &mut self.sum {
            sum.add(profile.clone())?;
        }
        let profile = self.images.solve(profile)?;
        let now = to_stdout(|out| {
            self.verdict.add(&profile, out)?;
            if self.args.interrupted {
                write_interruptible(&profile, out)?;
            }
            if self.args.skipped { write_skipped(&profile, out) } else { Ok(()) }
        });
        if self.written.is_ok() {
            self.written = now;
        }
        Ok(())
    }
}

/// Compares the sum of the profiles with the sum of the others; whether they agree.
fn compare(profile: &Profile, against: &Profile) -> Result<bool> {
    let comparison = profile.compare_with(against);
    to_stdout(|out| {
        for difference in &comparison.disagreements {
            writeln!(out, "differs: {}: {}", demangle(&difference.symbol), difference.what)?;
        }
        let differences = comparison.disagreements.len();
        writeln!(out, "compared: {} functions, {} edges, {differences} differences", comparison.functions, comparison.edges)
    })?;
    Ok(comparison.disagreements.is_empty())
}
