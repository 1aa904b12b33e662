//! `bbprof mix`: the instruction mix, of a run or of the code alone.

mod linked_file;

use super::inputs::{MapArgs, ProfileArgs, load};
use super::look::LookArgs;
use super::outcome::Outcome;
use super::output::to_stdout;
use crate::exit::{Requirement, require};
use crate::locate::MapFinder;
use crate::messages::tell;
use anyhow::{Context, Result};
use bbprof_format::map::{self, BuildMap};
use bbprof_profile::{Image, ImageCounters, Profile};
use bbprof_report::{MixBy, MixReport};
use linked_file::LinkedFile;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Print how often each opcode was executed, and how often it stands in the code
///
/// Opcodes are those of the generated LLVM IR; debug intrinsics are left out, calls of other intrinsics are `call`. A block that a
/// call left in its middle counts only what ran before. Each opcode is in one group: memory (getelementptr, too), arithmetic,
/// comparison, conversion, branch, call, return, vector (extractelement, insertelement, shufflevector: other opcodes on vectors are
/// in the groups of their opcodes, because types of operands are not kept), other.
#[derive(clap::Args, Debug)]
pub(crate) struct MixArgs {
    #[command(flatten)]
    input: ProfileArgs,
    /// What the numbers are of
    #[arg(long, value_enum, default_value_t = By::Program)]
    by: By,
    /// The mix of the code, without a run: PROFILE is a profiled program or library, or a build map
    #[arg(long = "static")]
    of_code: bool,
    /// As CSV, a line for each opcode
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// As JSON (schema bbprof-mix/1)
    #[arg(long)]
    json: bool,
    /// How many modules or functions the text shows, those of most instructions first
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    #[command(flatten)]
    look: LookArgs,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug)]
enum By {
    /// Everything together
    Program,
    /// Compilation units
    Module,
    /// Functions of the source, all instantiations together
    Function,
    /// Functions of the program
    Instantiation,
}

pub(crate) fn run(args: &MixArgs) -> Result<Outcome> {
    let by = match args.by {
        By::Program => MixBy::Program,
        By::Module => MixBy::Module,
        By::Function => MixBy::Function,
        By::Instantiation => MixBy::Instantiation,
    };
    if args.of_code {
        let profile = code(&args.input)?;
        write(args, &MixReport::of_code(&profile, by))?;
        return Ok(Outcome::Done);
    }
    let (profile, num_left_out) = load(&args.input.profiles, &args.input.maps)?;
    write(args, &MixReport::of_run(&profile, by))?;
    Ok(Outcome::without(num_left_out))
}

fn write(args: &MixArgs, report: &MixReport<'_>) -> Result<()> {
    to_stdout(|out| {
        if args.json {
            report.write_json(out)
        } else if args.csv {
            report.write_csv(out)
        } else {
            report.write_text(args.top, args.look.style(&std::io::stdout()), out)
        }
    })
}

/// A profile of the images in which nothing ran.
fn code(input: &ProfileArgs) -> Result<Profile> {
    if input.profiles.is_empty() {
        require!("--static: name a profiled program or library, or its build map (.bbmap)");
    }
    let mut parts = Vec::new();
    for path in &input.profiles {
        let (map, presence) = map_and_presence(path, &input.maps)?;
        let image = Image::decode(map).with_context(|| path.display().to_string())?;
        let presence = presence.filter(|presence| presence.len() == image.num_optional()).unwrap_or_else(|| {
            if image.num_optional() > 0 {
                tell!(
                    "{}: all {} members of archives are counted; which of them the linker took stands in the program, which is not beside this map",
                    path.display(),
                    image.num_optional()
                );
            }
            vec![true; image.num_optional()]
        });
        let counters = ImageCounters {
            build_id: image.build_id,
            layout: image.layout,
            path: path.display().to_string(),
            presence,
            tls: vec![0; image.tls_counters as usize],
            global: vec![0; image.global_counters as usize],
            hashed_paths: Vec::new(),
            map: None,
        };
        parts.push((Arc::new(image), counters));
    }
    Ok(Profile::of_images(Vec::new(), parts)?)
}

/// The build map of a program, library or build map, and which optional modules are linked, where the program tells.
fn map_and_presence(path: &Path, maps: &MapArgs) -> Result<(BuildMap<'static>, Option<Vec<bool>>)> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| Requirement(format!("{name}: {error}")))?;
    if bytes.starts_with(map::MAGIC) {
        let map = BuildMap::decode(&bytes).context(name)?;
        let linked = (path.extension().is_some_and(|extension| extension == map::EXTENSION))
            .then(|| std::fs::read(path.with_extension("")).ok())
            .flatten()
            .and_then(|bytes| LinkedFile::read(&bytes).ok().flatten());
        let presence = linked.filter(|linked| linked.build_id == map.build_id).map(|linked| linked.presence);
        return Ok((map, presence));
    }
    let Some(linked) = LinkedFile::read(&bytes).with_context(|| name.clone())? else {
        require!("{name}: expected a profiled program or library, or a build map; found neither (was it linked by bbprof?)");
    };
    let absolute: PathBuf = path.canonicalize().with_context(|| name.clone())?;
    let (map_path, map) = MapFinder::new(&maps.maps).find(linked.build_id, &absolute)?;
    Ok((BuildMap::decode(&map).with_context(|| map_path.display().to_string())?, Some(linked.presence)))
}
