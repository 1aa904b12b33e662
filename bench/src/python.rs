//! CPython 3.11 from Debian's source package, with pyperformance's scripts from PyPI, in the groups of its documentation.

use crate::measure::{Cost, timed};
use crate::text;
use crate::variant::CBuild;
use crate::workload::{Group, Source, Workload};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A script with arguments of its own, and how often it does its work for one value: for a quarter
/// of a second or so, as an interpreter starts in a twelfth.
struct Script {
    name: &'static str,
    arguments: &'static [&'static str],
    loops: u32,
}

const fn script(name: &'static str, loops: u32) -> Script {
    Script { name, arguments: &[], loops }
}

/// Each group with scripts that need nothing but the standard library.
const GROUPS: [(&str, &[Script]); 5] = [
    ("python math", &[script("float", 4), script("nbody", 4), script("pidigits", 2)]),
    ("python regex", &[script("regex_compile", 3), script("regex_dna", 2), script("regex_effbot", 20), script("regex_v8", 15)]),
    ("python scimark", &[script("scimark", 1)]),
    (
        "python serialize",
        &[
            script("json_dumps", 30),
            script("json_loads", 700),
            Script { arguments: &["pickle"], ..script("pickle", 2000) },
            Script { arguments: &["unpickle"], ..script("pickle", 2000) },
        ],
    ),
    ("python apps", &[script("deltablue", 100), script("hexiom", 60), script("pyflate", 1), script("richards", 8)]),
];

/// Wheels from PyPI, with their versions.
const WHEELS: [&str; 2] = ["pyperf==2.10.0", "pyperformance==1.14.0"];

/// A list of sources for apt, beside those of the machine, which may have no source packages.
const DEBIAN_SOURCES: &str = "Types: deb-src
URIs: http://deb.debian.org/debian
Suites: bookworm
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
";

/// The groups as workloads. A value of each script, once, in the process itself; time is taken of two.
pub(crate) fn workloads(folder: &Path) -> Result<Vec<Workload>> {
    let folder = folder.join("python");
    let scripts = folder.join("site/pyperformance/data-files/benchmarks");
    let run = |script: &Script, values: u32| -> Result<Vec<String>> {
        let path = scripts.join(format!("bm_{}/run_benchmark.py", script.name));
        let amount = [format!("--loops={}", script.loops), "--warmups=0".to_owned(), format!("--values={values}")];
        let own = script.arguments.iter().copied().map(str::to_owned);
        Ok([text(&path)?.to_owned(), "--worker".to_owned()].into_iter().chain(amount).chain(own).collect())
    };
    let environment = vec![("PYTHONPATH", text(&folder.join("site"))?.to_owned()), ("PYTHONHASHSEED", "0".to_owned())];
    let every = GROUPS.iter().flat_map(|(_, scripts)| *scripts).map(|script| Ok((None, run(script, 1)?)));
    let training = every.collect::<Result<Vec<_>>>()?;
    let group = |(name, scripts): &(&str, &[Script])| {
        Ok(Workload {
            name: (*name).to_owned(),
            group: Group::Python,
            source: Source::Python { folder: folder.clone() },
            counted: scripts.iter().map(|script| run(script, 1)).collect::<Result<_>>()?,
            timed: scripts.iter().map(|script| run(script, 2)).collect::<Result<_>>()?,
            training: training.clone(),
            environment: environment.clone(),
            exit_code: 0,
        })
    };
    GROUPS.iter().map(group).collect()
}

/// Fetches the sources and the scripts, unless they are there.
fn fetch(folder: &Path) -> Result<PathBuf> {
    let (lists, site) = (folder.join("apt"), folder.join("site"));
    for place in [lists.join("lists/partial"), lists.join("cache/archives/partial"), lists.join("parts"), site.clone()] {
        std::fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
    }
    let archive = || -> Result<Option<PathBuf>> {
        let mut found = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path()));
        Ok(found.find(|path| path.to_string_lossy().contains(".orig.tar.")))
    };
    if archive()?.is_none() {
        eprintln!("bench: fetching python3.11's source package from Debian");
        std::fs::write(lists.join("parts/source.sources"), DEBIAN_SOURCES)?;
        let option = |key: &str, value: &Path| -> Result<String> { Ok(format!("{key}={}", text(value)?)) };
        for words in [&["update"][..], &["source", "--download-only", "python3.11"]] {
            let mut command = Command::new("apt-get");
            command.current_dir(folder).args(["-o", "Dir::Etc::sourcelist=/dev/null"]);
            command.arg("-o").arg(option("Dir::Etc::sourceparts", &lists.join("parts"))?);
            command.arg("-o").arg(option("Dir::State::lists", &lists.join("lists"))?);
            command.arg("-o").arg(option("Dir::Cache", &lists.join("cache"))?).args(words);
            timed(&mut command)?.expect_success()?;
        }
    }
    for wheel in WHEELS {
        let name = wheel.split("==").next().unwrap_or(wheel);
        if site.join(name).is_dir() {
            continue;
        }
        eprintln!("bench: fetching {wheel} from PyPI");
        let wheels = folder.join("wheels").join(name);
        let mut command = Command::new("python3");
        command.args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"]).arg(&wheels).arg(wheel);
        timed(&mut command)?.expect_success()?;
        for entry in std::fs::read_dir(&wheels)? {
            let mut command = Command::new("python3");
            timed(command.args(["-m", "zipfile", "-e"]).arg(entry?.path()).arg(&site))?.expect_success()?;
        }
    }
    archive()?.with_context(|| format!("{}: apt-get left no source archive", folder.display()))
}

/// Builds the interpreter and its modules in a folder of the variant's own, with these options besides.
pub(crate) fn build(build: &CBuild, more: &[String], folder: &Path, place: &Path) -> Result<Cost> {
    let archive = fetch(folder)?;
    let _ = std::fs::remove_dir_all(place);
    std::fs::create_dir_all(place).with_context(|| place.display().to_string())?;
    let mut unpack = Command::new("tar");
    timed(unpack.arg("xf").arg(&archive).args(["--strip-components=1", "-C"]).arg(place))?.expect_success()?;
    let words = std::iter::once(text(&build.compiler)?).chain(build.options.iter().copied()).chain(more.iter().map(String::as_str));
    let compiler = words.collect::<Vec<_>>().join(" ");
    // Programs that the build itself runs write no profiles anywhere.
    let quiet = |mut command: Command| {
        command.current_dir(place).env("CC", &compiler).env("OPT", "-O2 -DNDEBUG").env("BBPROF_OFF", "1");
        command.env("LLVM_PROFILE_FILE", "/dev/null");
        command
    };
    timed(&mut quiet(Command::new("./configure")))?.expect_success()?;
    let mut make = quiet(Command::new("make"));
    let cost = timed(make.args(["-s", "-j2"]))?.expect_success()?;
    // Valgrind 3.19 gives up at the debug information of clang 22, in modules, too.
    let mut strip = Command::new("find");
    strip.args(["build", "-name", "*.so", "-exec", "strip", "-g", "{}", "+"]).current_dir(place);
    timed(&mut strip)?.expect_success()?;
    Ok(cost)
}
