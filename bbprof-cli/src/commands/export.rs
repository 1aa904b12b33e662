//! `bbprof export`: the profile in formats that other tools read.

use super::html;
use super::inputs::{MapArgs, load, tell_inexact};
use super::linked::DoubtingReader;
use super::outcome::Outcome;
use super::output::{keep_counts, make_folder, to_file, to_stdout};
use crate::exit::{Requirement, require};
use crate::messages::tell;
use anyhow::{Context, Result};
use bbprof_profile::{FunctionView, Profile, is_of_doctests, is_of_toolchain};
use bbprof_report::{self as report, CoveredLines};
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Write the profile in formats that other tools read
#[derive(clap::Args, Debug)]
#[command(after_help = KINDS_HELP)]
pub(crate) struct ExportArgs {
    /// What to write and where (`-` = stdout), then profiles (see `bbprof report`)
    #[arg(value_name = "KIND=PATH... [PROFILE...]", required = true)]
    words: Vec<OsString>,
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
    /// With the sources of Rust's own libraries, of which inlined and generic code was counted (lcov, cobertura)
    #[arg(long)]
    toolchain_sources: bool,
    /// One file instead of a folder (html)
    #[arg(long)]
    single_file: bool,
    /// The DAG that numbers the paths of each function, instead of its control-flow graph
    /// (dot, of programs built with --counters paths)
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
    fn write(self, profile: &Profile, args: &ExportArgs, out: &mut dyn Write) -> io::Result<Option<CoveredLines>> {
        match self {
            Self::Lcov | Self::Cobertura => return self.write_coverage(profile, args, out).map(Some),
            Self::Html => html::write(profile, None, out),
            Self::Json => report::write_json(profile, args.ir, out),
            Self::Callgrind => report::write_callgrind(profile, out),
            Self::Pprof => report::write_pprof(profile, out),
            Self::Speedscope => report::write_speedscope(profile, out),
            Self::Folded => report::write_folded(profile, out),
            Self::Afdo => report::write_afdo(profile, out),
            Self::Csv => report::write_csv(profile, out),
            Self::Dot => profile.functions().try_for_each(|function| write_graph(profile, function, args, out)),
        }?;
        Ok(None)
    }

    fn write_coverage(self, profile: &Profile, args: &ExportArgs, out: &mut dyn Write) -> io::Result<CoveredLines> {
        let sources = DoubtingReader::of(profile);
        let read = |path: &str| sources.read(path).map(|source| source.text);
        let markers = if args.no_markers { None } else { Some(&read as report::SourceReader<'_>) };
        let coverage = report::Coverage { markers, with_toolchain: args.toolchain_sources };
        let covered = if self == Self::Cobertura {
            // Where there is none any more, or it is no text, no path is below it.
            let here = std::env::current_dir().ok().and_then(|here| here.into_os_string().into_string().ok());
            report::write_cobertura(profile, here.as_deref().unwrap_or(""), coverage, out)
        } else {
            report::write_lcov(profile, &args.test_name, coverage, out)
        };
        sources.tell();
        covered
    }

    /// Writes to this path.
    fn write_to(self, profile: &Profile, args: &ExportArgs, path: &Path) -> Result<Option<CoveredLines>> {
        if self == Self::Html && !args.single_file {
            return html::write_folder(profile, None, path).map(|()| None);
        }
        if path.as_os_str() == "-" {
            return to_stdout(|out| self.write(profile, args, out));
        }
        if self != Self::Dot {
            keep_counts(path)?;
            return to_file(path, |out| self.write(profile, args, out));
        }
        make_folder(path)?;
        for (name, function) in report::dot_files(profile) {
            if !args.path_dag || function.num_paths().is_some() {
                to_file(&path.join(format!("{name}.dot")), |out| write_graph(profile, function, args, out))?;
            }
        }
        Ok(None)
    }
}

/// The graph of a function that is asked for.
fn write_graph(profile: &Profile, function: FunctionView<'_>, args: &ExportArgs, out: &mut dyn Write) -> io::Result<()> {
    if args.path_dag { report::write_path_dag(function, out) } else { report::write_dot(profile, function, out) }
}

/// What was left out of a coverage format.
fn tell_left_out(name: &str, profile: &Profile, args: &ExportArgs) {
    let number = |is_left_out: fn(&str) -> bool| profile.files.paths().iter().filter(|path| is_left_out(path)).count();
    let sources = |number| if number == 1 { "the source".to_owned() } else { format!("the {number} sources") };
    let of_doctests = number(is_of_doctests);
    if of_doctests > 0 {
        tell!("{name}: without {} that rustdoc made of doctests, which it removed again", sources(of_doctests));
    }
    let left_out = number(is_of_toolchain);
    if left_out > 0 && !args.toolchain_sources {
        tell!("{name}: without {} of Rust's own libraries; --toolchain-sources adds them", sources(left_out));
    }
}

/// Options that change nothing of what is asked for.
fn tell_unused(exports: &[(&str, Kind, PathBuf)], args: &ExportArgs) {
    let options = [
        ("--ir", args.ir, &["json"][..]),
        ("--test-name", !args.test_name.is_empty(), &["lcov"]),
        ("--no-markers", args.no_markers, &["lcov", "cobertura"]),
        ("--toolchain-sources", args.toolchain_sources, &["lcov", "cobertura"]),
        ("--single-file", args.single_file, &["html"]),
        ("--path-dag", args.path_dag, &["dot"]),
    ];
    for (option, is_given, kinds) in options {
        if is_given && !exports.iter().any(|(name, ..)| kinds.contains(name)) {
            tell!("{option} is for {}, and changes nothing here", kinds.join(" and "));
        }
    }
}

/// Its total, in the form that GitLab and others look for in what a job prints.
fn tell_total(name: &str, CoveredLines { hit, all, .. }: CoveredLines) {
    // In tenths of a percent, rounded down: 100 % is all of them.
    match (hit * 1000).checked_div(all) {
        Some(tenths) => tell!("{name}: TOTAL {hit} of {all} lines {}.{}%", tenths / 10, tenths % 10),
        None => {
            tell!("{name}: no source line is known: the program was compiled without debug information (-g0), or all are left out")
        }
    }
}

pub(crate) fn run(args: &ExportArgs) -> Result<Outcome> {
    let (exports, profiles) = split(&args.words)?;
    tell_unused(&exports, args);
    let (profile, num_left_out) = load(&profiles, &args.maps)?;
    tell_inexact(&profile);
    if args.path_dag && profile.functions().all(|function| function.num_paths().is_none()) {
        require!("--path-dag: no path was counted; build the program with --counters paths and run it again");
    }
    for (name, kind, path) in exports {
        let total = kind.write_to(&profile, args, &path).with_context(|| format!("{name} export"))?;
        if let Some(total) = total {
            tell_left_out(name, &profile, args);
            if total.open_branches > 0 {
                tell!(
                    "{name}: without {} branches whose ways the counters leave open; --counters edges counts them",
                    total.open_branches
                );
            }
            // Where there is something to read, the total is in it.
            if path.as_os_str() != "-" || total.all == 0 {
                tell_total(name, total);
            }
        }
    }
    Ok(Outcome::without(num_left_out))
}

type Exports = Vec<(&'static str, Kind, PathBuf)>;

/// The name and the path of `NAME=PATH`; paths may be any bytes.
fn split_word(word: &OsStr) -> Option<(&str, OsString)> {
    let bytes = word.as_encoded_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=')?;
    let name = std::str::from_utf8(&bytes[..at]).ok()?;
    Some((name, OsStr::from_bytes(&bytes[at + 1..]).to_owned()))
}

/// The file that a path leads to, or would: it may have many names.
fn place(path: &Path) -> PathBuf {
    let in_folder = || Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?));
    let found = path.canonicalize().ok().or_else(in_folder).or_else(|| std::path::absolute(path).ok());
    found.unwrap_or_else(|| path.to_owned())
}

/// `KIND=PATH` words are exports, the others profiles.
fn split(words: &[OsString]) -> Result<(Exports, Vec<PathBuf>)> {
    let kinds = || KINDS.map(|(name, _)| name).join(", ");
    let (mut exports, mut profiles) = (Exports::new(), Vec::new());
    for word in words {
        let known = split_word(word).map(|(name, path)| (KINDS.iter().find(|(kind, _)| *kind == name), name, path));
        match known {
            Some((Some(_), name, path)) if path.is_empty() => require!("{name}=: a path is missing; `-` is stdout"),
            Some((Some((name, kind)), _, path)) => {
                let path = PathBuf::from(path);
                let is_same = |known: &PathBuf| place(known) == place(&path) && path != Path::new("/dev/null");
                if let Some((other, ..)) = exports.iter().find(|(_, _, known)| is_same(known)) {
                    let place = if path.as_os_str() == "-" { "stdout".to_owned() } else { path.display().to_string() };
                    require!("{other} and {name} would both be written to {place}; give each a path of its own");
                }
                exports.push((name, *kind, path));
            }
            Some((None, name, _)) if !name.contains('/') && !PathBuf::from(word).exists() => {
                require!("{}: {name:?} is no kind of export; there are {}", word.display(), kinds());
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
