//! `bbprof annotate`: source with counts.

use super::inputs::{MapArgs, load, stands_for_profiles, tell_inexact};
use super::linked::{Linked, warning};
use super::look::LookArgs;
use super::outcome::Outcome;
use super::output::to_stdout;
use super::sources::Source;
use crate::exit::{Requirement, require};
use crate::messages::tell;
use anyhow::{Context, Result};
use bbprof_profile::Profile;
use bbprof_report::{Subject, annotate, find_subject, write_ir};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Print the source of a function or file with the count of each line and the shares of each branch
#[derive(clap::Args, Debug)]
pub(crate) struct AnnotateArgs {
    /// Profiles (see `bbprof report`), then the function (name, with or without arguments and parameters,
    /// its end behind `::`, or linker symbol) or source file
    #[arg(value_name = "[PROFILE...] FUNCTION|FILE", required = true)]
    words: Vec<OsString>,
    /// The generated code of the function instead, block by block, where the build kept its IR (--ir, or --bbprof-ir of bbprof-cc)
    #[arg(long)]
    ir: bool,
    #[command(flatten)]
    look: LookArgs,
    #[command(flatten)]
    maps: MapArgs,
}

/// A function or file by what it is called in the profile; or a file by its path from here.
fn find<'p>(profile: &'p Profile, wanted: &str) -> Result<Subject<'p>> {
    let unknown = match find_subject(profile, wanted) {
        Ok(subject) => return Ok(subject),
        Err(error) => Requirement(error.to_string()),
    };
    // Names in profiles have neither `..` nor, mostly, links; the file may not be there.
    let paths = [std::path::absolute(wanted).ok().map(|path| without_dots(&path)), Path::new(wanted).canonicalize().ok()];
    let found = paths.iter().flatten().find_map(|path| find_subject(profile, path.to_str()?).ok());
    found.ok_or_else(|| unknown.into())
}

/// The path without `.` and `..`, as text: links are not followed.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

pub(crate) fn run(args: &AnnotateArgs) -> Result<Outcome> {
    let (wanted, profiles) = args.words.split_last().context("clap requires a word")?;
    if stands_for_profiles(Path::new(wanted)) {
        require!("{}: stands for profiles; the function or source file comes last, behind them", wanted.display());
    }
    let profiles: Vec<PathBuf> = profiles.iter().map(PathBuf::from).collect();
    let (profile, num_left_out) = load(&profiles, &args.maps)?;
    tell_inexact(&profile);
    let wanted = wanted.to_string_lossy();
    let subject = find(&profile, &wanted)?;
    let linked = Linked::of(&profile);
    let read = |path: &str| {
        let source = Source::read(path)?;
        if let Some(doubt) = linked.doubt(path, &source) {
            tell!("{}", warning(path, doubt));
        }
        Ok(source.text())
    };
    let style = args.look.style(&std::io::stdout());
    if args.ir {
        let functions = match &subject {
            Subject::Functions(functions, _) => functions,
            Subject::Inlined(..) => require!("{wanted:?} has no code of its own: it is inlined wherever it is called"),
            Subject::File(_) => require!("{wanted:?} is a file; --ir shows functions"),
        };
        to_stdout(|out| functions.iter().try_for_each(|function| write_ir(&profile, *function, style, out)))?;
    } else {
        to_stdout(|out| annotate(&profile, &subject, read, style, out))?;
    }
    Ok(Outcome::without(num_left_out))
}
