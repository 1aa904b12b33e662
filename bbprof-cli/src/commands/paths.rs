//! `bbprof paths`: the hottest paths.

use super::inputs::{MapArgs, load, stands_for_profiles, tell_inexact, without_profile};
use super::look::LookArgs;
use super::outcome::Outcome;
use super::output::to_stdout;
use crate::exit::require;
use crate::messages::tell;
use anyhow::Result;
use bbprof_report::{PathOptions, Subject, SubjectError, find_subject, write_paths};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Print the hottest paths through functions, from programs built with --counters paths
///
/// A path runs from the function's entry, or from where another path ended, to where the function is
/// left, to the end of a turn of a loop, or to a call from which the activation did not come back. `...`
/// stands for what was before; `goes on at` for what comes then.
#[derive(clap::Args, Debug)]
pub(crate) struct PathsArgs {
    /// Profiles (see `bbprof report`), then the function whose paths are wanted (as for `bbprof annotate`); without it, all
    #[arg(value_name = "[PROFILE...] [FUNCTION]")]
    words: Vec<OsString>,
    #[command(flatten)]
    maps: MapArgs,
    /// How many paths, at most
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Say how few paths cover this share of the executed instructions, and print no others
    #[arg(long, value_name = "PERCENT")]
    coverage: Option<String>,
    #[command(flatten)]
    look: LookArgs,
}

pub(crate) fn run(args: &PathsArgs) -> Result<Outcome> {
    let coverage_thousandths = args.coverage.as_deref().map(thousandths).transpose()?;
    let (function, profiles) = match args.words.split_last() {
        Some((last, before)) if !stands_for_profiles(Path::new(last)) => (Some(last), before),
        _ => (None, &args.words[..]),
    };
    let profiles: Vec<PathBuf> = profiles.iter().map(PathBuf::from).collect();
    let (profile, num_left_out) = load(&profiles, &args.maps)?;
    tell_inexact(&profile);
    let functions = match function {
        None => profile.functions().collect(),
        Some(wanted) => match find_subject(&profile, &wanted.to_string_lossy()) {
            Ok(Subject::Functions(functions, _)) => functions,
            Ok(Subject::Inlined(..)) => {
                require!("{}: has no paths of its own: it is inlined wherever it is called", wanted.display())
            }
            Ok(Subject::File(_)) => require!("{}: is a source file; name a function", wanted.display()),
            // A folder, then, and one that stands for no profiles.
            Err(SubjectError::NotFound { .. }) if Path::new(wanted).is_dir() => {
                let why = without_profile(Path::new(wanted));
                if profiles.is_empty() {
                    require!("{why}");
                }
                tell!("left out {why}");
                profile.functions().collect()
            }
            Err(error) => require!("{error}"),
        },
    };
    if functions.iter().all(|function| function.num_paths().is_none()) {
        require!(
            "no path was counted; build the program with --counters paths (bbprof-cc: --bbprof-counters=paths) and run it again"
        );
    }
    let without: Vec<_> = functions.iter().filter(|function| function.num_paths().is_none() && function.is_executed()).collect();
    if !without.is_empty() {
        let instructions: u128 = without.iter().flat_map(|function| function.blocks()).map(|block| block.instructions()).sum();
        tell!("{} functions that ran have no paths: their {instructions} instructions are in no share", without.len());
    }
    let options = PathOptions { top: args.top, coverage_thousandths, style: args.look.style(&std::io::stdout()) };
    to_stdout(|out| write_paths(&profile, &functions, &options, out))?;
    Ok(Outcome::without(num_left_out))
}

/// `90`, `90%` or `99.5%` in thousandths.
fn thousandths(text: &str) -> Result<u32> {
    let number = text.strip_suffix('%').unwrap_or(text);
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    let is_number =
        |digits: &str, most: usize| (1..=most).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number(whole, 3) && is_number(tenth, 1) {
        let share: u32 = format!("{whole}{tenth}").parse()?;
        if share <= 1000 {
            return Ok(share);
        }
    }
    require!("--coverage {text}: expected a percentage from 0 to 100, with one decimal at most, such as 90%");
}

#[cfg(test)]
mod tests {
    use super::thousandths;

    #[test]
    fn shares() {
        for (text, share) in [("90", 900), ("90%", 900), ("99.5%", 995), ("0", 0), ("100%", 1000)] {
            assert_eq!(thousandths(text).unwrap(), share);
        }
        for text in ["", "%", "101", "100.1", "-1", "9.55", "ninety", "1e2", "+5"] {
            assert!(thousandths(text).is_err(), "{text}");
        }
    }
}
