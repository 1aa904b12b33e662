//! `bbprof diff`: what changed between two profiles, and why; and a gate for continuous integration.

use super::html::{self, Compared};
use super::inputs::{MapArgs, load};
use super::look::LookArgs;
use super::outcome::Outcome;
use super::output::{keep_counts, to_file, to_stdout};
use crate::exit::{Requirement, require};
use crate::messages::tell;
use anyhow::Result;
use bbprof_profile::{Diff, FunctionDiff, Profile};
use bbprof_report::{write_diff, write_diff_json};
use regex::Regex;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Say what changed in executed instructions between two profiles, and why
#[derive(clap::Args, Debug)]
#[command(after_help = WORDS)]
pub(crate) struct DiffArgs {
    /// The profile to compare with: raw, merged, or a folder of them
    a: PathBuf,
    /// The profile to look at
    b: PathBuf,
    /// As JSON (docs/schema/bbprof-diff-1.json)
    #[arg(long)]
    json: bool,
    /// Write a folder of pages, too: what changed and why, and both profiles in the explorer; open DIR/index.html
    #[arg(long, value_name = "DIR")]
    html: Option<PathBuf>,
    /// One file instead of a folder (--html)
    #[arg(long, requires = "html")]
    single_file: bool,
    /// Exit with code 3 when there are more than PERCENT more instructions (2, 2%, 0.1%): in all, or in the functions whose
    /// names match REGEX, together (repeatable)
    #[arg(long, value_name = "PERCENT[=REGEX]")]
    fail_above: Vec<Limit>,
    /// Rows of the table
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    #[command(flatten)]
    look: LookArgs,
    #[command(flatten)]
    maps: MapArgs,
}

const WORDS: &str = "Why instructions changed:
  ran       the same code ran more or less often
  code      it ran as often, with more or fewer instructions
  new       code of functions of the source that only B has
  vanished  code of those that only A has
  inlining  code that is now part of another function; in the sum nothing";

/// `2`, `2%`, `0.1%=regex`.
#[derive(Clone, Debug)]
struct Limit {
    /// The percentage, times 10 to the power of `decimals`.
    scaled: u128,
    decimals: u32,
    functions: Option<Regex>,
    text: String,
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (percent, functions) = text.split_once('=').map_or((text, None), |(percent, regex)| (percent, Some(regex)));
        let percent = percent.trim();
        let number = percent.strip_suffix('%').unwrap_or(percent).trim();
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        // More digits than this say no more, and would not fit.
        let is_number = |digits: &str| digits.len() <= 12 && digits.bytes().all(|digit| digit.is_ascii_digit());
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !is_number(whole) || !is_number(fraction) {
            return Err(format!("{percent:?} is no percentage; expected a number such as 2, 2% or 0.1%"));
        }
        let functions = functions.map(Regex::new).transpose().map_err(|error| error.to_string())?;
        let scaled = digits.parse().map_err(|error| format!("{number}: {error}"))?;
        Ok(Self { scaled, decimals: fraction.len() as u32, functions, text: text.to_owned() })
    }
}

impl Limit {
    fn applies_to(&self, function: &FunctionDiff) -> bool {
        self.functions.as_ref().is_none_or(|regex| {
            let symbols = [&function.a, &function.b].into_iter().flatten().any(|side| regex.is_match(&side.symbol));
            regex.is_match(&function.name) || symbols
        })
    }

    /// Says so when the limit is exceeded.
    fn check(&self, diff: &Diff) -> Result<Option<String>> {
        let matching: Vec<&FunctionDiff> = diff.functions.iter().filter(|function| self.applies_to(function)).collect();
        if matching.is_empty() && self.functions.is_some() {
            require!("--fail-above {}: no function of the two profiles has a name like that", self.text);
        }
        let sum = |side: fn(&FunctionDiff) -> u128| matching.iter().map(|function| side(function)).sum::<u128>();
        let a = sum(|function| function.a.as_ref().map_or(0, |side| side.instructions));
        let b = sum(|function| function.b.as_ref().map_or(0, |side| side.instructions));
        let Some(more) = b.checked_sub(a).filter(|more| *more > 0) else { return Ok(None) };
        // more / a > scaled / 10^decimals / 100; sums beyond 2^80 instructions are not met.
        let too_large = || Requirement(format!("--fail-above {}: {b} instructions are too many to compare", self.text));
        let left = more.checked_mul(100 * 10_u128.pow(self.decimals)).ok_or_else(too_large)?;
        let right = a.checked_mul(self.scaled).ok_or_else(too_large)?;
        let of = self.functions.as_ref().map_or_else(String::new, |regex| format!(" in functions that match {regex}"));
        Ok((left > right).then(|| {
            let percent = self.text.split('=').next().unwrap_or("").trim().trim_end_matches('%').trim_end();
            format!("regression: {a} -> {b} instructions{of}, more than {percent}% above")
        }))
    }
}

pub(crate) fn run(args: &DiffArgs) -> Result<Outcome> {
    let read = |path| load(std::slice::from_ref(path), &args.maps);
    let ((a, damaged_in_a), (b, damaged_in_b)) = (read(&args.a)?, read(&args.b)?);
    let exact = [&a, &b].map(|profile| profile.exceptions().is_empty());
    for (path, _) in [&args.a, &args.b].into_iter().zip(exact).filter(|(_, exact)| !exact) {
        tell!("{}: the counts are not exact, see bbprof verify", path.display());
    }
    let diff = Diff::new(&a, &b);
    if let Some(path) = &args.html {
        let compared = Compared { earlier: &a, diff: &diff, is_exact: exact[0] };
        write_html(&b, &compared, path, args.single_file)?;
    }
    let style = args.look.style(&std::io::stdout());
    to_stdout(|out: &mut dyn Write| match args.json {
        true => write_diff_json(&diff, exact, out),
        false => write_diff(&diff, args.top, style, out),
    })?;
    let mut regressions = Vec::new();
    for limit in &args.fail_above {
        regressions.extend(limit.check(&diff)?);
    }
    for regression in &regressions {
        tell!("{regression}");
    }
    Ok(match (regressions.is_empty(), damaged_in_a + damaged_in_b) {
        (false, _) => Outcome::Regression,
        (true, 0) => Outcome::Done,
        (true, _) => Outcome::DamagedSkipped,
    })
}

/// The tables go to stdout, so the pages do not.
fn write_html(profile: &Profile, compared: &Compared<'_>, path: &Path, is_file: bool) -> Result<()> {
    if path.as_os_str() == "-" {
        require!("--html -: stdout has the tables of the diff; name a folder, or a file with --single-file");
    }
    match is_file {
        true => {
            keep_counts(path)?;
            to_file(path, |out| html::write(profile, Some(compared), out))
        }
        false => html::write_folder(profile, Some(compared), path),
    }
}

#[cfg(test)]
mod tests {
    use super::Limit;

    #[test]
    fn limits() {
        for (text, scaled, decimals) in [("2", 2, 0), ("2%", 2, 0), ("0.1%", 1, 1), ("12.50 %", 1250, 2), ("0", 0, 0), (".5", 5, 1)]
        {
            let limit: Limit = text.parse().expect("a limit");
            assert_eq!((limit.scaled, limit.decimals), (scaled, decimals), "{text}");
        }
        assert!("2%=^parse::".parse::<Limit>().expect("a limit").functions.is_some());
        for text in ["", "%", "two", "-1", "1e3", "2=(", "1.2.3", "2%%"] {
            assert!(text.parse::<Limit>().is_err(), "{text}");
        }
    }
}
