//! What the runtime itself costs: a start and an end, threads, dumps, memory, with few counters
//! and with a million; beside the plain build of the same run.

use crate::measure::{Cost, median, timed};
use crate::table::Table;
use crate::tool;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A million counters, for the paths of one function (2^20).
const MILLION: [&str; 3] = ["-O0", "--bbprof-counters=paths", "--bbprof-path-array=1048576"];

/// What the program does, see `runtime.c`; how often, and what is divided by that.
struct Deed {
    name: &'static str,
    word: &'static str,
    number: u32,
    /// Too long with a million counters in each of so many threads.
    few_only: bool,
}

const fn deed(name: &'static str, word: &'static str, number: u32) -> Deed {
    Deed { name, word, number, few_only: false }
}

const fn deed_with_few(name: &'static str, word: &'static str, number: u32) -> Deed {
    Deed { few_only: true, ..deed(name, word, number) }
}

const DEEDS: [Deed; 6] = [
    deed("start and end", "nothing", 1),
    deed_with_few("10,000 threads, 4 at once", "short-threads", 10_000),
    deed("8 threads at once", "threads", 8),
    deed("20 dumps", "dumps", 20),
    deed_with_few("100 M calls", "calls", 1),
    deed_with_few("100 M calls in each of 2 threads", "calls", 2),
];

/// A build of the program, and what its runs took and left, by deed and round.
struct Build {
    name: String,
    many: bool,
    place: PathBuf,
    runs: [Runs; DEEDS.len()],
}

#[derive(Default)]
struct Runs {
    costs: Vec<Cost>,
    raw_bytes: Option<u64>,
}

/// Builds and runs; a table of its own, and what follows from it in words.
pub(crate) fn runtime_costs(root: &Path, folder: &Path, rounds: usize) -> Result<(Table, String)> {
    let mut builds = Vec::new();
    for (amount, options) in [("", &["-O2"][..]), (", a million counters", &MILLION)] {
        for storage in ["plain", "thread", "shared", "atomic"] {
            builds.push(build(root, &folder.join("runtime"), storage, amount, options)?);
        }
    }
    for round in 0..rounds {
        eprintln!("bench: runtime: round {} of {rounds}", round + 1);
        for build in &mut builds {
            for (deed, runs) in DEEDS.iter().zip(&mut build.runs) {
                if build.many && deed.few_only {
                    continue;
                }
                let mut command = Command::new(build.place.join("runtime"));
                command.current_dir(&build.place).arg(deed.word).arg(deed.number.to_string()).env("BBPROF_OUT", "run.bbraw");
                runs.costs.push(timed(&mut command)?.expect_success()?);
                runs.raw_bytes = build.place.join("run.bbraw").metadata().map(|raw| raw.len()).ok();
            }
        }
    }
    Ok((table(&builds)?, relation(&builds)))
}

fn build(root: &Path, folder: &Path, storage: &str, amount: &str, options: &[&str]) -> Result<Build> {
    let place = folder.join(format!("{storage}{}", if amount.is_empty() { "" } else { "-million" }));
    std::fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/runtime/runtime.c");
    let mut command = match storage {
        "plain" => Command::new("clang-22"),
        _ => Command::new(tool(root, "bbprof-cc")),
    };
    let is_own = |option: &&&str| storage == "plain" && option.starts_with("--bbprof");
    command.args(options.iter().filter(|option| !is_own(option))).arg("-pthread").arg(source).arg("-o").arg(place.join("runtime"));
    if storage != "plain" {
        command.arg(format!("--bbprof-storage={storage}"));
    }
    timed(&mut command)?.expect_success()?;
    Ok(Build { name: format!("{storage}{amount}"), many: !amount.is_empty(), place, runs: Default::default() })
}

fn middle(costs: &[Cost], of: fn(&Cost) -> f64) -> Option<f64> {
    median(costs.iter().map(of))
}

fn table(builds: &[Build]) -> Result<Table> {
    let head = ["what", "build", "cpu time", "more than plain, each", "elapsed", "peak memory", "raw profile"];
    let mut table = Table::new(&head);
    for (position, deed) in DEEDS.iter().enumerate() {
        for build in builds {
            let Runs { costs, raw_bytes } = &build.runs[position];
            let Some(cpu) = middle(costs, |cost| cost.cpu_seconds) else { continue };
            let plain = builds.iter().find(|plain| plain.many == build.many && plain.name.starts_with("plain"));
            let plain = plain.and_then(|plain| middle(&plain.runs[position].costs, |cost| cost.cpu_seconds));
            let Some(plain) = plain else { bail!("{}: the plain build is always measured", deed.name) };
            let shown = |value: Option<f64>, unit: &str| value.map_or("-".to_owned(), |value| format!("{value:.1} {unit}"));
            table.add(vec![
                deed.name.to_owned(),
                build.name.clone(),
                shown(Some(cpu * 1e3), "ms"),
                shown(Some((cpu - plain) * 1e6 / f64::from(deed.number)).filter(|_| !build.name.starts_with("plain")), "us"),
                shown(middle(costs, |cost| cost.elapsed_seconds * 1e3), "ms"),
                shown(middle(costs, |cost| cost.peak_bytes as f64 / 1e6), "MB"),
                raw_bytes.map_or("-".to_owned(), |bytes| format!("{bytes} B")),
            ]);
        }
    }
    Ok(table)
}

/// User time with two threads against one, relative to the plain build's: 1 where counting costs the same in both.
fn relation(builds: &[Build]) -> String {
    let user = |build: &Build, number| {
        let position = DEEDS.iter().position(|deed| deed.word == "calls" && deed.number == number)?;
        middle(&build.runs[position].costs, |cost| cost.user_seconds)
    };
    let of = |build: &Build| Some((user(build, 1)?, user(build, 2)?));
    let Some(plain) = builds.first().and_then(of) else { return String::new() };
    let words = builds.iter().skip(1).filter_map(|build| {
        let (one, two) = of(build)?;
        Some(format!("{}: {:.3} of plain with one thread, {:.3} with two", build.name, one / plain.0, two / plain.1))
    });
    format!("user time of calls, {}", words.collect::<Vec<_>>().join("; "))
}
