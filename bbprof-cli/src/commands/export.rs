//! `bbprof export`: the profile in formats that other tools read.

use super::inputs::{MapArgs, ProfileArgs, load};
use super::outcome::Outcome;
use super::output::{to_file, to_stdout};
use crate::exit::Requirement;
use anyhow::Result;
use bbprof_profile::Profile;
use bbprof_report::{write_json, write_lcov};
use std::io::{self, Write};
use std::path::PathBuf;

/// Write the profile in formats that other tools read: KIND is json or lcov
#[derive(clap::Args, Debug)]
pub(crate) struct ExportArgs {
    /// What to write and where (`-` = stdout), then profiles (see `bbprof report`)
    #[arg(value_name = "KIND=PATH... [PROFILE...]", required = true)]
    words: Vec<String>,
    #[command(flatten)]
    maps: MapArgs,
    /// With the IR text of each block, where the build kept it (json)
    #[arg(long)]
    ir: bool,
    /// Name of the test (lcov)
    #[arg(long, value_name = "NAME", default_value = "")]
    test_name: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Json,
    Lcov,
}

const KINDS: [(&str, Kind); 2] = [("json", Kind::Json), ("lcov", Kind::Lcov)];

impl Kind {
    fn write(self, profile: &Profile, args: &ExportArgs, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Json => write_json(profile, args.ir, out),
            Self::Lcov => write_lcov(profile, &args.test_name, out),
        }
    }
}

pub(crate) fn run(args: &ExportArgs) -> Result<Outcome> {
    let (exports, profiles) = split(&args.words)?;
    let input = ProfileArgs { profiles, maps: MapArgs { maps: args.maps.maps.clone() } };
    let (profile, num_damaged) = load(&input)?;
    for (kind, path) in exports {
        if path.as_os_str() == "-" {
            to_stdout(|out| kind.write(&profile, args, out))?;
        } else {
            to_file(&path, |out| kind.write(&profile, args, out))?;
        }
    }
    Ok(if num_damaged > 0 { Outcome::DamagedSkipped } else { Outcome::Done })
}

type Exports = Vec<(Kind, PathBuf)>;

/// `KIND=PATH` words are exports, the others profiles.
fn split(words: &[String]) -> Result<(Exports, Vec<PathBuf>)> {
    let (mut exports, mut profiles) = (Vec::new(), Vec::new());
    for word in words {
        let known = word.split_once('=').map(|(name, path)| (KINDS.iter().find(|(kind, _)| *kind == name), name, path));
        match known {
            Some((Some(_), name, "")) => return Err(Requirement(format!("{name}=: a path is missing; `-` is stdout")).into()),
            Some((Some((_, kind)), _, path)) => exports.push((*kind, PathBuf::from(path))),
            Some((None, name, _)) if !name.contains('/') && !PathBuf::from(word).exists() => {
                let kinds: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
                return Err(Requirement(format!("{word}: {name:?} is no kind of export; there are {}", kinds.join(", "))).into());
            }
            _ => profiles.push(PathBuf::from(word)),
        }
    }
    if exports.is_empty() {
        return Err(Requirement("nothing to export: give at least one KIND=PATH, such as json=profile.json".to_owned()).into());
    }
    Ok((exports, profiles))
}
