//! `bbprof export`: the profile in formats that other tools read.

use super::html;
use super::inputs::{MapArgs, ProfileArgs, load};
use super::outcome::Outcome;
use super::output::{make_folder, to_file, to_stdout};
use crate::exit::{Requirement, require};
use anyhow::{Context, Result};
use bbprof_profile::Profile;
use bbprof_report as report;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Write the profile in formats that other tools read
#[derive(clap::Args, Debug)]
#[command(after_help = KINDS_HELP)]
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
    /// Show lines that LCOV_EXCL_.. and GCOV_EXCL_.. markers in the sources take out, too (lcov, cobertura)
    #[arg(long)]
    no_markers: bool,
    /// One file instead of a folder (html)
    #[arg(long)]
    single_file: bool,
    /// The DAG that numbers the paths of each function, instead of its control-flow graph (dot, of programs built with --counters paths)
    #[arg(long)]
    path_dag: bool,
}

const KINDS_HELP: &str = "Kinds:
  html        PATH is a folder: pages to click through, from the disk; see --single-file
  json        everything; its schema is docs/schema/bbprof-profile-1.json
  lcov        trace file for genhtml and lcov (1.16 and 2)
  cobertura   XML for Jenkins, GitLab and Azure
  callgrind   for KCachegrind and callgrind_annotate
  pprof       for pprof (protobuf, gzip)
  speedscope  for https://www.speedscope.app
  folded      stacks of inlined functions, for flamegraph.pl and inferno
  afdo        LLVM's sample profile as text, for clang -fprofile-sample-use
  csv         a row for each basic block
  dot         PATH is a folder: a control-flow graph for each function, for graphviz";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Html,
    Json,
    Lcov,
    Cobertura,
    Callgrind,
    Pprof,
    Speedscope,
    Folded,
    Afdo,
    Csv,
    Dot,
}

const KINDS: [(&str, Kind); 11] = [
    ("json", Kind::Json),
    ("lcov", Kind::Lcov),
    ("cobertura", Kind::Cobertura),
    ("callgrind", Kind::Callgrind),
    ("pprof", Kind::Pprof),
    ("speedscope", Kind::Speedscope),
    ("folded", Kind::Folded),
    ("afdo", Kind::Afdo),
    ("csv", Kind::Csv),
    ("dot", Kind::Dot),
    ("html", Kind::Html),
];

impl Kind {
    fn write(self, profile: &Profile, args: &ExportArgs, out: &mut dyn Write) -> io::Result<()> {
        let read: Option<report::SourceReader<'_>> = if args.no_markers { None } else { Some(&read_source) };
        match self {
            Self::Html => html::write(profile, None, out),
            Self::Json => report::write_json(profile, args.ir, out),
            Self::Lcov => report::write_lcov(profile, &args.test_name, read, out),
            Self::Cobertura => {
                let here = std::env::current_dir()?;
                report::write_cobertura(profile, here.to_str().unwrap_or(""), read, out)
            }
            Self::Callgrind => report::write_callgrind(profile, out),
            Self::Pprof => report::write_pprof(profile, out),
            Self::Speedscope => report::write_speedscope(profile, out),
            Self::Folded => report::write_folded(profile, out),
            Self::Afdo => report::write_afdo(profile, out),
            Self::Csv => report::write_csv(profile, out),
            Self::Dot if args.path_dag => {
                profile.functions().try_for_each(|function| report::write_path_dag(function, out).map(drop))
            }
            Self::Dot => profile.functions().try_for_each(|function| report::write_dot(profile, function, out)),
        }
    }

    /// Writes to this path.
    fn write_to(self, profile: &Profile, args: &ExportArgs, path: &Path) -> Result<()> {
        if self == Self::Html && !args.single_file {
            return html::write_folder(profile, None, path);
        }
        if path.as_os_str() == "-" {
            return to_stdout(|out| self.write(profile, args, out));
        }
        if self != Self::Dot {
            return to_file(path, |out| self.write(profile, args, out));
        }
        make_folder(path)?;
        if args.path_dag {
            for (name, function) in report::dot_files(profile).into_iter().filter(|(_, function)| function.num_paths().is_some()) {
                to_file(&path.join(format!("{name}.dot")), |out| report::write_path_dag(function, out))?;
            }
            return Ok(());
        }
        for (name, function) in report::dot_files(profile) {
            to_file(&path.join(format!("{name}.dot")), |out| report::write_dot(profile, function, out))?;
        }
        Ok(())
    }
}

/// The text of a source file, whatever its encoding.
pub(super) fn read_source(path: &str) -> io::Result<String> {
    std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn run(args: &ExportArgs) -> Result<Outcome> {
    let (exports, profiles) = split(&args.words)?;
    let input = ProfileArgs { profiles, maps: MapArgs { maps: args.maps.maps.clone() } };
    let (profile, num_damaged) = load(&input)?;
    if args.path_dag && profile.functions().all(|function| function.num_paths().is_none()) {
        require!("--path-dag: no path was counted; build the program with --counters paths and run it again");
    }
    for (name, kind, path) in exports {
        kind.write_to(&profile, args, &path).with_context(|| format!("{name} export"))?;
    }
    Ok(if num_damaged > 0 { Outcome::DamagedSkipped } else { Outcome::Done })
}

type Exports = Vec<(&'static str, Kind, PathBuf)>;

/// `KIND=PATH` words are exports, the others profiles.
fn split(words: &[String]) -> Result<(Exports, Vec<PathBuf>)> {
    let kinds = || KINDS.map(|(name, _)| name).join(", ");
    let (mut exports, mut profiles) = (Exports::new(), Vec::new());
    for word in words {
        let known = word.split_once('=').map(|(name, path)| (KINDS.iter().find(|(kind, _)| *kind == name), name, path));
        match known {
            Some((Some(_), name, "")) => require!("{name}=: a path is missing; `-` is stdout"),
            Some((Some((name, kind)), _, path)) => {
                let path = PathBuf::from(path);
                if let Some((other, ..)) = exports.iter().find(|(_, _, known)| *known == path && path != Path::new("/dev/null")) {
                    let place = if path.as_os_str() == "-" { "stdout".to_owned() } else { path.display().to_string() };
                    require!("{other} and {name} would both be written to {place}; give each a path of its own");
                }
                exports.push((name, *kind, path));
            }
            Some((None, name, _)) if !name.contains('/') && !PathBuf::from(word).exists() => {
                require!("{word}: {name:?} is no kind of export; there are {}", kinds());
            }
            _ => profiles.push(PathBuf::from(word)),
        }
    }
    if exports.is_empty() {
        return Err(Requirement(format!(
            "nothing to export: give at least one KIND=PATH, such as json=profile.json; kinds are {}",
            kinds()
        ))
        .into());
    }
    Ok((exports, profiles))
}
