//! What `cargo xtask bench` runs: what profiling costs, ours and the peers' side by side in one run, as ratios to the plain build.
//!
//! Instructions are counted by valgrind and repeat; times are user times of interleaved rounds, as medians, and do not: rank
//! by instructions. Results go to the terminal and, as CSV and markdown, into `target/bench`.

mod archive;
mod build;
mod conditions;
mod measure;
mod python;
mod result;
mod runtime;
mod table;
mod variant;
mod way;
mod workload;

use anyhow::{Context, Result, bail};
use build::Builder;
use conditions::{command_lines, conditions};
use result::{Program, overview, results};
use std::path::{Path, PathBuf};
use variant::Variant;
use workload::Workload;

/// How often each program runs for its time, and is linked for the link time: interleaved rounds.
const ROUNDS: usize = 5;

/// How often each program is compiled for the compile time where nothing else is asked, the build that runs included; CPython once.
const COMPILES: usize = 3;

/// What takes this many times the plain build's time (callgrind, counters that threads share) does so in the first round alone.
const SLOW: f64 = 10.0;

/// The names by which the runtime's own costs, and a link against large archives, are asked for.
const RUNTIME: &str = "runtime";
const ARCHIVES: &str = "archives";

/// What is asked: everything, or some of it.
#[derive(Clone)]
struct Asked {
    root: PathBuf,
    folder: PathBuf,
    quick: bool,
    compiles: usize,
    /// Parts of names of the programs and of the variants that are wanted; empty: all.
    programs: Vec<String>,
    variants: Vec<String>,
}

impl Asked {
    fn parse(words: &[String]) -> Result<Self> {
        const USAGE: &str = "usage: cargo xtask bench [--quick] [--compiles N] [--program NAME]... [--variant NAME]...";
        let [root, folder, options @ ..] = words else { bail!(USAGE) };
        let (programs, variants) = (Vec::new(), Vec::new());
        let mut asked = Self { root: root.into(), folder: folder.into(), quick: false, compiles: COMPILES, programs, variants };
        let mut options = options.iter();
        while let Some(option) = options.next() {
            let mut value = || options.next().cloned().context(USAGE);
            match option.as_str() {
                "--quick" => asked.quick = true,
                "--compiles" => asked.compiles = value()?.parse().context(USAGE)?,
                "--program" => asked.programs.push(value()?),
                "--variant" => asked.variants.push(value()?),
                _ => bail!(USAGE),
            }
        }
        Ok(asked)
    }

    /// Which of these names are wanted: those that are given in whole, or, where none is, in part.
    fn wanted(given: &[String], names: &[&str]) -> Vec<bool> {
        let wants =
            |given: &String, name: &str| name == given || (!names.contains(&given.as_str()) && name.contains(given.as_str()));
        names.iter().map(|name| given.is_empty() || given.iter().any(|given| wants(given, name))).collect()
    }

    /// The plain build is always among them, because the others are compared with it, and so is what others are trained by.
    fn variants(&self) -> Vec<Variant> {
        let all = Variant::all(&self.root);
        let wanted = Self::wanted(&self.variants, &all.iter().map(|it| it.name).collect::<Vec<_>>());
        let trainers: Vec<&str> =
            all.iter().zip(&wanted).filter(|(_, wanted)| **wanted).filter_map(|(it, _)| it.trained_by).collect();
        let is_wanted = |(it, wanted): &(Variant, bool)| *wanted || it.name == "plain" || trainers.contains(&it.name);
        all.into_iter().zip(wanted).filter(is_wanted).map(|(it, _)| it).collect()
    }

    /// These have programs and variants of their own.
    fn wants(&self, special: &str) -> bool {
        self.programs.iter().any(|name| name == special) || (self.programs.is_empty() && self.variants.is_empty())
    }

    /// The names of programs besides those; none if there were only those.
    fn other_programs(&self) -> Option<Vec<String>> {
        let others: Vec<String> =
            self.programs.iter().filter(|name| ![RUNTIME, ARCHIVES].contains(&name.as_str())).cloned().collect();
        (self.programs.is_empty() || !others.is_empty()).then_some(others)
    }

    fn workloads(&self) -> Result<Vec<Workload>> {
        let all = Workload::all(self.quick && self.programs.is_empty(), &self.folder)?;
        let wanted = Self::wanted(&self.programs, &all.iter().map(|it| it.name.as_str()).collect::<Vec<_>>());
        let chosen: Vec<Workload> = all.into_iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(it, _)| it).collect();
        if chosen.is_empty() {
            bail!("no program has {} in its name", self.programs.join(" or "));
        }
        Ok(chosen)
    }
}

fn main() -> Result<()> {
    let asked = Asked::parse(&std::env::args().skip(1).collect::<Vec<_>>())?;
    let folder = &asked.folder;
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    if let Some(programs) = asked.other_programs() {
        measure_programs(&Asked { programs, ..asked.clone() })?;
    }
    if asked.wants(ARCHIVES) {
        let line = archive::link_with_manifests(&asked.root, folder)?;
        println!("{line}");
        std::fs::write(folder.join("archives.md"), line + "\n")?;
    }
    if asked.wants(RUNTIME) {
        let (table, relation) = runtime::runtime_costs(&asked.root, folder, ROUNDS)?;
        println!("{}\n{relation}", table.terminal());
        std::fs::write(folder.join("runtime.csv"), table.csv())?;
        std::fs::write(folder.join("runtime.md"), format!("{}\n{relation}\n", table.markdown()))?;
        eprintln!("bench: also in {}/runtime.csv and runtime.md", folder.display());
    }
    Ok(())
}

fn measure_programs(asked: &Asked) -> Result<()> {
    let folder = &asked.folder;
    let mut builder = Builder::new(asked.root.clone())?;
    let workloads = asked.workloads()?;
    let mut all = Vec::new();
    for (position, workload) in workloads.iter().enumerate() {
        eprintln!("bench: {} ({} of {})", workload.name, position + 1, workloads.len());
        all.push(measure_workload(workload, asked, &mut builder)?);
        // Hours may have gone by: what is measured is kept, whatever comes.
        write_results(&all, asked)?;
    }
    let table = results(&all)?;
    println!("{}", conditions()?);
    println!("{}", command_lines(&asked.variants()).terminal());
    println!("{}", table.terminal());
    for table in overview(&all)? {
        println!("{}", table.terminal());
    }
    eprintln!("bench: also in {}/results.csv and results.md", folder.display());
    Ok(())
}

fn write_results(all: &[Program], asked: &Asked) -> Result<()> {
    let folder = &asked.folder;
    let table = results(all)?;
    std::fs::write(folder.join("results.csv"), table.csv())?;
    let overview: String = overview(all)?.iter().map(|table| table.markdown() + "\n").collect();
    let (lines, all_results) = (command_lines(&asked.variants()).markdown(), table.markdown());
    std::fs::write(folder.join("results.md"), format!("{}\n\n{overview}{all_results}\n{lines}", conditions()?))?;
    Ok(())
}

fn measure_workload(workload: &Workload, asked: &Asked, builder: &mut Builder) -> Result<Program> {
    let mut ways = way::build_all(workload, asked.variants(), builder, &asked.folder)?;
    for round in 1..asked.compiles {
        eprintln!("bench: {}: compiling, round {} of {}", workload.name, round + 1, asked.compiles);
        for way in &mut ways {
            let cost = builder.compile_again(round, &way.variant, &workload.source, way.weights.as_deref(), &way.place)?;
            way.measured.compiles.extend(cost);
        }
    }
    way::count_all(workload, &mut ways)?;
    for round in 0..ROUNDS {
        eprintln!("bench: {}: round {} of {ROUNDS}", workload.name, round + 1);
        let mut plain = None;
        for way in &mut ways {
            if round == 0 || !way.measured.is_slower(SLOW, plain) {
                way.measured.runs.push(way.runs(workload, &workload.timed).time(way.variant.runner)?);
            }
            plain = plain.or(way.measured.runs.first().copied());
            way.measured.links.extend(way.built.link(&way.variant, &workload.source, &way.place)?);
        }
    }
    for way in &mut ways {
        // Links repeat byte for byte, so the last one's map has the build id of the last run.
        let raw = way.place.join("run.bbraw");
        if raw.is_file() {
            way.measured.raw_bytes = Some(raw.metadata()?.len());
            way.measured.report = Some(measure::report(&asked.root, &raw)?);
        }
    }
    let measured = ways.into_iter().map(|way| way.measured).collect();
    Ok(Program { name: workload.name.clone(), group: workload.group, measured })
}

/// A path as text; ours are all UTF-8.
fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{}: not UTF-8", path.display()))
}

/// A tool of the installation.
fn tool(root: &Path, name: &str) -> PathBuf {
    root.join("bin").join(name)
}
