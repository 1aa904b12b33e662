//! What `cargo xtask bench` runs: what profiling costs, ours and the peers' side by side in one run, as ratios to the plain build.
//!
//! Instructions are counted by valgrind and repeat; times are user times of interleaved rounds, as medians, and do not: rank
//! by instructions. Results go to the terminal and, as CSV and markdown, into `target/bench`.

mod archive;
mod measure;
mod table;
mod variant;

use anyhow::{Context, Result, bail};
use bbprof_tests::{CProgram, lua, sqlite, zstd};
use measure::{Cost, Instructions, median};
use std::path::{Path, PathBuf};
use table::Table;
use variant::Variant;

/// How often each program runs for its time: the median of that many interleaved rounds.
const QUICK_ROUNDS: usize = 5;
const FULL_ROUNDS: usize = 15;

/// What one variant of one program gave.
struct Measured {
    variant: &'static str,
    compile: Cost,
    link: Cost,
    text_bytes: u64,
    instructions: Instructions,
    run: Vec<Cost>,
    raw_bytes: Option<u64>,
    report: Option<Cost>,
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (root, folder, quick) = match &words[..] {
        [root, folder] => (root, folder, false),
        [root, folder, option] if option == "--quick" => (root, folder, true),
        _ => bail!("usage: cargo xtask bench [--quick]"),
    };
    let (root, folder) = (PathBuf::from(root), PathBuf::from(folder));
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;

    let programs = if quick { vec![lua(), sqlite()] } else { vec![lua(), sqlite(), zstd()] };
    let mut table = Table::new(&[
        "program",
        "variant",
        "instructions",
        "user time",
        "min-max",
        "compile",
        "link",
        "text",
        "raw profile",
        "report",
    ]);
    for program in &programs {
        let all = measure_program(program, &root, &folder, if quick { QUICK_ROUNDS } else { FULL_ROUNDS })?;
        let plain = all.iter().find(|measured| measured.variant == "plain").context("the plain build is always measured")?;
        for measured in &all {
            table.add(row(program.name, measured, plain));
        }
    }
    println!("{}", versions()?);
    println!("{}", table.terminal());
    let archives = archive::link_with_manifests(&root, &folder)?;
    println!("{archives}");
    std::fs::write(folder.join("results.csv"), table.csv())?;
    std::fs::write(folder.join("results.md"), format!("{}\n\n{}\n{archives}\n", versions()?, table.markdown()))?;
    eprintln!("bench: also in {}/results.csv and results.md", folder.display());
    Ok(())
}

fn measure_program(program: &CProgram, root: &Path, folder: &Path, rounds: usize) -> Result<Vec<Measured>> {
    let mut all = Vec::new();
    let mut built = Vec::new();
    for variant in Variant::all(root) {
        eprintln!("bench: {}: building {}", program.name, variant.name);
        let place = folder.join(program.name).join(variant.name);
        let Some((executable, compile, link)) = variant.build(program, &place)? else {
            eprintln!("bench: {}: {} left out: {}", program.name, variant.name, variant.requirement);
            continue;
        };
        let instructions = measure::instructions(&executable, program, &place)?;
        let text_bytes = measure::text_bytes(&executable)?;
        all.push(Measured {
            variant: variant.name,
            compile,
            link,
            text_bytes,
            instructions,
            run: Vec::new(),
            raw_bytes: None,
            report: None,
        });
        built.push((executable, place));
    }
    for round in 0..rounds {
        eprintln!("bench: {}: round {} of {rounds}", program.name, round + 1);
        for (measured, (executable, place)) in all.iter_mut().zip(&built) {
            measured.run.push(measure::run(executable, program, place)?);
        }
    }
    for (measured, (_, place)) in all.iter_mut().zip(&built) {
        let raw = place.join("run.bbraw");
        if raw.is_file() {
            measured.raw_bytes = Some(raw.metadata()?.len());
            measured.report = Some(measure::report(root, &raw)?);
        }
    }
    Ok(all)
}

fn row(program: &str, measured: &Measured, plain: &Measured) -> Vec<String> {
    let ratio = |a: f64, b: f64| if b > 0.0 { format!("{:.3}", a / b) } else { "-".to_owned() };
    let base = median(&plain.run);
    let times: Vec<f64> = measured.run.iter().map(|cost| cost.user_seconds / base).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(0.0, f64::max);
    vec![
        program.to_owned(),
        measured.variant.to_owned(),
        ratio(measured.instructions.0 as f64, plain.instructions.0 as f64),
        ratio(median(&measured.run), base),
        format!("{least:.2}-{most:.2}"),
        ratio(measured.compile.user_seconds, plain.compile.user_seconds),
        ratio(measured.link.user_seconds, plain.link.user_seconds),
        ratio(measured.text_bytes as f64, plain.text_bytes as f64),
        measured.raw_bytes.map_or("-".to_owned(), |bytes| format!("{bytes} B")),
        measured.report.map_or("-".to_owned(), |cost| format!("{:.3} s", cost.elapsed_seconds)),
    ]
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
