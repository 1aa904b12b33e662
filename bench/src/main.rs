//! What `cargo xtask bench` runs: what profiling costs, ours and the peers' side by side in one run, as ratios to the plain build.
//!
//! Instructions are counted by valgrind and repeat; times are user times of interleaved rounds, as medians, and do not: rank
//! by instructions. Results go to the terminal and, as CSV and markdown, into `target/bench`.

mod archive;
mod measure;
mod result;
mod table;
mod variant;
mod workload;

use anyhow::{Context, Result, bail};
use measure::Cost;
use result::{Measured, results};
use std::path::{Path, PathBuf};
use variant::Variant;
use workload::Workload;

/// How often each program runs for its time, and is linked for the link time: interleaved rounds.
const QUICK_ROUNDS: usize = 5;
const FULL_ROUNDS: usize = 15;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (root, folder, quick) = match &words[..] {
        [root, folder] => (root, folder, false),
        [root, folder, option] if option == "--quick" => (root, folder, true),
        _ => bail!("usage: cargo xtask bench [--quick]"),
    };
    let (root, folder) = (PathBuf::from(root), PathBuf::from(folder));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let rounds = if quick { QUICK_ROUNDS } else { FULL_ROUNDS };
    let mut all = Vec::new();
    for workload in Workload::all(quick) {
        all.push((workload.program.name, measure_workload(&workload, &root, &folder, rounds)?));
    }
    let table = results(&all)?;
    println!("{}", versions()?);
    println!("{}", table.terminal());
    let archives = archive::link_with_manifests(&root, &folder)?;
    println!("{archives}");
    std::fs::write(folder.join("results.csv"), table.csv())?;
    std::fs::write(folder.join("results.md"), format!("{}\n\n{}\n{archives}\n", versions()?, table.markdown()))?;
    eprintln!("bench: also in {}/results.csv and results.md", folder.display());
    Ok(())
}

fn measure_workload(workload: &Workload, root: &Path, folder: &Path, rounds: usize) -> Result<Vec<Measured>> {
    let program = &workload.program;
    let mut all = Vec::new();
    let mut built = Vec::new();
    for variant in Variant::all(root) {
        eprintln!("bench: {}: building {}", program.name, variant.name);
        let place = folder.join(program.name).join(variant.name);
        let (objects, compile) = variant.compile(program, &place)?;
        let Some((executable, _)) = variant.link(program, &objects, &place)? else {
            eprintln!("bench: {}: {} left out: {}", program.name, variant.name, variant.requirement);
            continue;
        };
        let instructions = measure::instructions(&executable, &workload.counted, &place)?;
        let text_bytes = measure::text_bytes(&executable)?;
        all.push(Measured {
            variant: variant.name,
            compile,
            links: Vec::new(),
            text_bytes,
            instructions,
            runs: Vec::new(),
            raw_bytes: None,
            report: None,
        });
        built.push((variant, executable, objects, place));
    }
    for round in 0..rounds {
        eprintln!("bench: {}: round {} of {rounds}", program.name, round + 1);
        for (measured, (variant, executable, objects, place)) in all.iter_mut().zip(&built) {
            measured.runs.push(measure::run(executable, &workload.timed, place)?);
            let (_, cost) = variant.link(program, objects, place)?.context("linked before, but not again")?;
            measured.links.push(cost);
        }
    }
    for (measured, (_, _, _, place)) in all.iter_mut().zip(&built) {
        // Links repeat byte for byte, so the last one's map has the build id of the last run.
        let raw = place.join("run.bbraw");
        if raw.is_file() {
            measured.raw_bytes = Some(raw.metadata()?.len());
            measured.report = Some(measure::report(root, &raw)?);
        }
    }
    Ok(all)
}

fn versions() -> Result<String> {
    let line = |program: &str| -> Result<String> {
        let output = std::process::Command::new(program).arg("--version").output().with_context(|| program.to_owned())?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
    };
    Ok(format!(
        "-O2; {}; {}; {}; ratios to the plain build of the same run; text = code and read-only data",
        line("clang-22")?,
        line("valgrind")?,
        line("ld")?
    ))
}

/// A path as text; ours are all UTF-8.
fn text(path: &Path) -> Result<&str> {
    path.to_str().with_context(|| format!("{}: not UTF-8", path.display()))
}

/// A tool of the installation.
fn tool(root: &Path, name: &str) -> PathBuf {
    root.join("bin").join(name)
}
