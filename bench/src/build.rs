//! Building a workload in one way.

use crate::measure::{Cost, timed};
use crate::variant::{CBuild, RustBuild, Variant};
use crate::workload::Source;
use crate::{python, text, tool};
use anyhow::{Context, Result, bail};
use bbprof_tests::CProgram;
use cargo_metadata::Message;
use std::collections::HashMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How much C and C++ are optimised.
pub(crate) const LEVEL: &str = "-O2";

/// What builds programs, and remembers the packages that it has built, by folder: their
/// binaries are made together, and cost together, in each round.
pub(crate) struct Builder {
    /// The installation of bbprof.
    pub(crate) root: PathBuf,
    packages: HashMap<PathBuf, Vec<Cost>>,
}

/// A program that was built.
pub(crate) struct Built {
    /// The executable.
    pub(crate) executable: PathBuf,
    /// What compiling cost; of a Rust program: of all programs of its package and what they depend on, with linking.
    pub(crate) compile: Cost,
    relink: Option<Relink>,
}

/// What a program was linked from, and the options for the compiler that its objects had beside the variant's own.
struct Relink {
    objects: Vec<PathBuf>,
    more: Vec<String>,
}

impl Builder {
    /// With this installation of bbprof, whose plugin is compiled now: its first use would do that at the expense of a program.
    pub(crate) fn new(root: PathBuf) -> Result<Self> {
        timed(Command::new(tool(&root, "bbprof")).args(["env", "--sh"]).env("BBPROF_CC", "clang-22"))?.expect_success()?;
        Ok(Self { root, packages: HashMap::new() })
    }

    /// Builds in this folder, with the weights of the profiles in another folder, if there is one. `None` where the variant has no
    /// such language, or a peer lacks its runtime, which is said.
    pub(crate) fn build(
        &mut self,
        variant: &Variant,
        source: &Source,
        weights: Option<&Path>,
        place: &Path,
    ) -> Result<Option<Built>> {
        std::fs::create_dir_all(place).with_context(|| place.display().to_string())?;
        let weights = weights.map(text).transpose()?;
        let for_compiler = options_for_compiler(weights);
        match source {
            Source::Files(program) => match &variant.c {
                Some(build) => built_from_files(build, program, &for_compiler, place),
                None => Ok(None),
            },
            Source::Package { folder, binary } => match &variant.rust {
                Some(build) => self.package(build, weights, folder, binary, place).map(Some),
                None => Ok(None),
            },
            Source::Python { folder } => match &variant.c {
                Some(build) => self.python(build, &for_compiler, folder, place).map(Some),
                None => Ok(None),
            },
        }
    }

    /// What it costs to compile in this round, 1 and up, with all else as when it was built; what was
    /// built stays. `None` for CPython, which takes minutes.
    pub(crate) fn compile_again(
        &mut self,
        round: usize,
        variant: &Variant,
        source: &Source,
        weights: Option<&Path>,
        place: &Path,
    ) -> Result<Option<Cost>> {
        let weights = weights.map(text).transpose()?;
        match (source, &variant.c, &variant.rust) {
            (Source::Files(program), Some(build), _) => {
                let again = place.join("again");
                std::fs::create_dir_all(&again).with_context(|| again.display().to_string())?;
                compile(build, program, &options_for_compiler(weights), &again).map(|(cost, _)| Some(cost))
            }
            (Source::Package { folder, .. }, _, Some(build)) => {
                let target = package_target(place)?;
                let known = self.packages.entry(target.clone()).or_default();
                if known.len() <= round {
                    let again = target.join("again");
                    known.push(timed(&mut package_command(&self.root, build, weights, folder, &again)?)?.expect_success()?);
                    std::fs::remove_dir_all(&again).with_context(|| again.display().to_string())?;
                }
                Ok(Some(known[round]))
            }
            _ => Ok(None),
        }
    }

    fn python(&mut self, build: &CBuild, more: &[String], folder: &Path, place: &Path) -> Result<Built> {
        let place = folder.join(place.file_name().context("a folder for each variant")?);
        let executable = place.join("python");
        let compile = match self.packages.get(&place) {
            Some(costs) => costs[0],
            None => {
                let cost = python::build(build, more, folder, &place)?;
                self.packages.insert(place, vec![cost]);
                cost
            }
        };
        Ok(Built { executable, compile, relink: None })
    }

    fn package(&mut self, build: &RustBuild, weights: Option<&str>, folder: &Path, binary: &str, place: &Path) -> Result<Built> {
        let target = package_target(place)?;
        let command = || package_command(&self.root, build, weights, folder, &target);
        let compile = match self.packages.get(&target) {
            Some(costs) => costs[0],
            None => {
                let _ = std::fs::remove_dir_all(&target);
                let cost = timed(&mut command()?)?.expect_success()?;
                self.packages.insert(target.clone(), vec![cost]);
                cost
            }
        };
        let output = command()?.arg("--message-format=json").stderr(Stdio::null()).output().context("cargo")?;
        for message in Message::parse_stream(BufReader::new(&*output.stdout)) {
            if let Message::CompilerArtifact(artifact) = message?
                && artifact.target.name == binary
                && let Some(executable) = artifact.executable
            {
                return Ok(Built { executable: executable.into(), compile, relink: None });
            }
        }
        bail!("{}: cargo names no executable {binary}", folder.display())
    }
}

impl Built {
    /// Links once more. `None` for programs that cargo links.
    pub(crate) fn link(&self, variant: &Variant, source: &Source, place: &Path) -> Result<Option<Cost>> {
        let (Some(relink), Source::Files(program), Some(build)) = (&self.relink, source, &variant.c) else { return Ok(None) };
        Ok(Some(timed(&mut link_command(build, program, relink, place))?.expect_success()?))
    }
}

fn options_for_compiler(weights: Option<&str>) -> Vec<String> {
    weights.map(|folder| format!("--bbprof-weights={folder}")).into_iter().collect()
}

/// The target folder of all binaries of a package, in one variant.
fn package_target(place: &Path) -> Result<PathBuf> {
    let all = place.parent().and_then(Path::parent).context("a folder for each program and variant")?;
    Ok(all.join("rust").join(place.file_name().context("a folder for each variant")?))
}

fn package_command(root: &Path, build: &RustBuild, weights: Option<&str>, folder: &Path, target: &Path) -> Result<Command> {
    let mut command = Command::new("cargo");
    command.args(build.command).args(["--locked", "--release", "--target-dir"]).arg(target).current_dir(folder);
    command.args(weights.map(|weights| format!("--weights={weights}")));
    command.env_remove("RUSTFLAGS").env("BBPROF_CC", "clang-22");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(root.join("bin")).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(path)?);
    if !build.flags.is_empty() {
        command.env("RUSTFLAGS", build.flags.replace("=.", &format!("={}", text(target)?)));
    }
    Ok(command)
}

/// The program's objects in this folder, and what they cost.
fn compile(build: &CBuild, program: &CProgram, more: &[String], place: &Path) -> Result<(Cost, Vec<PathBuf>)> {
    let mut cost = Cost::default();
    let mut objects = Vec::new();
    for (position, source) in program.sources.iter().enumerate() {
        let object = place.join(format!("{position}.o"));
        let mut command = Command::new(&build.compiler);
        command.current_dir(place).args([LEVEL, "-c", "-o"]).arg(&object).args(build.options).args(more);
        command.args(&program.options).arg(source);
        cost += timed(&mut command)?.expect_success()?;
        objects.push(object);
    }
    Ok((cost, objects))
}

/// `None` where a peer lacks its runtime.
fn built_from_files(build: &CBuild, program: &CProgram, more: &[String], place: &Path) -> Result<Option<Built>> {
    let (compile, objects) = compile(build, program, more, place)?;
    let relink = Relink { objects, more: more.to_vec() };
    let link = timed(&mut link_command(build, program, &relink, place))?;
    if !link.status.success() && build.may_lack_runtime {
        return Ok(None);
    }
    link.expect_success()?;
    Ok(Some(Built { executable: place.join(program.name), compile, relink: Some(relink) }))
}

fn link_command(build: &CBuild, program: &CProgram, relink: &Relink, place: &Path) -> Command {
    let mut command = Command::new(&build.compiler);
    command.current_dir(place).arg("-o").arg(place.join(program.name)).args(build.options).args(&relink.more);
    command.args(&relink.objects).args(&program.libraries);
    command
}
