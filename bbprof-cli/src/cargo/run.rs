//! Runs cargo, and shows what the programs that it ran have counted.

use super::Subcommand;
use super::args::CargoOptions;
use super::context::Context;
use super::killed::{self, Child};
use crate::cache;
use crate::cache_lock::InUse;
use crate::commands;
use crate::messages::tell;
use anyhow::{Context as _, Result};
use bbprof_format::raw::signal_name;
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs cargo; the exit code is cargo's, which passes its program's on.
pub(crate) fn run(subcommand: Subcommand, options: CargoOptions) -> Result<u8> {
    let _in_use = InUse::now();
    let context = Context::resolve(subcommand, options)?;
    prepare(&context)?;
    let mut command = command(&context);
    let runs = if subcommand.runs_programs() { Some(run_folder(&context, &mut command)?) } else { None };
    // Ctrl-C is for the program; we live on to show what it counted.
    signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false))).context("SIGINT")?;
    let cannot = || format!("{}: cannot be run", context.cargo.to_string_lossy());
    let mut child = command.spawn().with_context(cannot)?;
    // `cargo run` executes the program in its own place.
    let process = Child::of(child.id());
    let status = child.wait().with_context(cannot)?;
    if let Some(folder) = runs {
        if let (Some(process), Some(signal)) = (process, status.signal().and_then(|signal| u8::try_from(signal).ok())) {
            record_signal(process, &folder, signal);
        }
        show(&context, &folder, status.success())?;
        if let Some(signal) = status.signal() {
            let name = u8::try_from(signal).ok().and_then(signal_name).unwrap_or_else(|| "a signal".to_owned());
            tell!("process {}, cargo or the program in its place, was ended by {name} ({signal})", child.id());
        }
    } else if status.success() && !context.words.is_quiet() {
        tell!("programs are in {}", shown(&context));
    }
    Ok(exit_code(status))
}

/// A profile does not know who killed its process; it is told.
fn record_signal(process: Child, runs: &Path, signal: u8) {
    let set = std::env::var_os("BBPROF_OUT").filter(|pattern| !pattern.is_empty());
    let folder = set.map_or_else(|| Some(runs.to_owned()), |pattern| killed::folder_of_pattern(&pattern));
    let recorded = folder.as_deref().map(|folder| process.record_signal(folder, signal).map_err(|error| (folder, error)));
    if let Some(Err((folder, error))) = recorded {
        tell!("{}: the signal is not in the profile: {error}", folder.display());
    }
}

/// Target directory, its tag, and the stable name of the last one used.
fn prepare(context: &Context) -> Result<()> {
    let ours = context.target_dir.join("bbprof");
    std::fs::create_dir_all(&ours).with_context(|| format!("{}: cannot make the target directory", ours.display()))?;
    let tag = ours.join("CACHEDIR.TAG");
    if !tag.exists() {
        let text =
            "Signature: 8a477f597d28d172789f06886806bc55\n# This folder is made by bbprof; `cargo bbprof clean` removes it.\n";
        cache::write_atomically(&tag, text.as_bytes())?;
    }
    let name = context.our_dir.file_name().context("our directory has a name")?;
    cache::link_atomically(Path::new(name), &ours.join("build"))
}

fn shown(context: &Context) -> String {
    context.target_dir.join("bbprof/build").join(&context.targets[0]).display().to_string()
}

/// The cargo command.
fn command(context: &Context) -> Command {
    let mut command = Command::new(&context.cargo);
    command.arg(context.subcommand.name());
    let mut options = context.words.options.clone();
    if context.subcommand == Subcommand::Nextest {
        // `cargo bbprof nextest X` is `cargo nextest run X`, unless X starts with one of nextest's own subcommands.
        let first = options.first().and_then(|word| word.to_str());
        if first.is_some_and(|word| ["run", "r", "list", "archive"].contains(&word)) {
            command.arg(options.remove(0));
        } else {
            command.arg("run");
        }
    }
    if context.words.values("--target", None).is_empty() {
        for target in &context.targets {
            command.args(["--target", target]);
        }
    }
    command.arg("--target-dir").arg(&context.our_dir);
    let mut config = |key: &str, path: &Path| {
        let mut word = OsString::from(format!("{key}="));
        word.push(quoted(path));
        command.arg("--config").arg(word);
    };
    config("build.rustc-wrapper", &context.tools.folder.join(crate::roles::RUSTC_WRAPPER));
    if context.has_build_dir {
        config("build.build-dir", &context.our_dir);
    }
    if context.subcommand == Subcommand::Test {
        config("build.rustdoc", &context.tools.folder.join("rustdoc"));
    }
    command.args(options).args(&context.words.rest);
    // These variables win over --config; their values are among the tools' settings.
    command.env_remove("RUSTC_WRAPPER");
    if std::env::var_os("RUSTDOC").is_some() {
        command.env("RUSTDOC", context.tools.folder.join("rustdoc"));
    }
    for target in &context.targets {
        let target = target.replace('-', "_");
        if context.has_c_tools {
            command.env(format!("CC_{target}"), context.tools.cc());
        }
        if context.has_cxx_tools {
            command.env(format!("CXX_{target}"), context.tools.cxx());
        }
    }
    command
}

/// A path as a TOML string.
fn quoted(path: &Path) -> String {
    toml::Value::String(path.display().to_string()).to_string()
}

/// Makes the folder for this run's raw profiles and tells the programs, unless the user tells them something else.
fn run_folder(context: &Context, command: &mut Command) -> Result<PathBuf> {
    let runs = context.target_dir.join("bbprof/runs");
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
    let folder = runs.join(format!("{seconds}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).with_context(|| format!("{}: cannot make the folder for raw profiles", folder.display()))?;
    if std::env::var_os("BBPROF_OUT").is_none() {
        let escaped = folder.display().to_string().replace('%', "%%");
        command.env("BBPROF_OUT", format!("{escaped}/%e-%p.bbraw"));
    }
    Ok(folder)
}

/// Says where the raw profiles are, notes the run as the last one, and prints the summary.
fn show(context: &Context, folder: &Path, success: bool) -> Result<()> {
    let profiles = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?.count();
    if profiles == 0 {
        // Who asks for the last run must not get the one before.
        if success && std::env::var_os("BBPROF_OUT").is_none() && !context.words.has("--no-run") {
            note_last(context, folder)?;
        } else {
            std::fs::remove_dir(folder).with_context(|| folder.display().to_string())?;
        }
        let says_why = success && context.report && !context.words.is_quiet() && !context.words.has("--no-run");
        match std::env::var_os("BBPROF_OUT") {
            Some(_) if says_why => tell!("no summary: BBPROF_OUT is set, and profiles are where it says"),
            None if says_why => tell!("no profile was written: no instrumented program ran"),
            _ => {}
        }
        return Ok(());
    }
    note_last(context, folder)?;
    if context.report {
        let colour = context.words.values("--color", None).pop();
        let mut stderr = std::io::stderr().lock();
        let begun = writeln!(stderr).context("stderr");
        if let Err(error) = begun.and_then(|()| commands::write_run_summary(folder, colour.as_deref(), &mut stderr)) {
            tell!("no summary: {error:#}");
        }
        tell!("raw profiles are in {}", folder.display());
    }
    Ok(())
}

fn note_last(context: &Context, folder: &Path) -> Result<()> {
    cache::write_atomically(&context.target_dir.join("bbprof/last"), format!("{}\n", folder.display()).as_bytes())
}

/// As a shell would say it: 128 + signal for a process that a signal ended.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code & 0xff).unwrap_or(1)
}
