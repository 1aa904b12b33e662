//! Runs cargo, and shows what the programs that it ran have counted.

use super::Subcommand;
use super::args::{CargoOptions, CargoWords};
use super::context::{self, Context};
use super::elsewhere;
use super::kept_maps;
use super::killed::Child;
use super::signals::ForChild;
use super::tried_out;
use crate::cache;
use crate::cache_lock::InUse;
use crate::clean::TAG;
use crate::commands;
use crate::last_run::{self, Place};
use crate::messages::tell;
use anyhow::{Context as _, Result};
use bbprof_format::raw::{self, signal_name};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs cargo; the exit code is cargo's, which passes its program's on.
pub(crate) fn run(subcommand: Subcommand, options: CargoOptions) -> Result<u8> {
    if only_asks(subcommand, &options) {
        return Err(pass_on(subcommand, options));
    }
    let _in_use = InUse::now();
    let context = Context::resolve(subcommand, options)?;
    prepare(&context)?;
    let mut command = command(&context);
    let runs = if runs_programs(&context) { Some(Runs::begin(&context, &mut command)?) } else { None };
    if runs.is_none() && subcommand == Subcommand::Nextest {
        // It asks the programs for their tests all the same.
        command.env("BBPROF_OFF", "1");
    }
    let signals = ForChild::take(&mut command)?;
    let cannot = || format!("{}: cannot be run", context.cargo.to_string_lossy());
    let mut child = command.spawn().with_context(cannot)?;
    // `cargo run` executes the program in its own place.
    let process = Child::of(child.id());
    let status = signals.wait(&mut child).with_context(cannot)?;
    if let Some(runs) = runs {
        let profiles = runs.profiles(&context);
        // A profile does not know who killed its process; it is told.
        if let (Some(process), Some(signal), Ok(profiles)) =
            (process, status.signal().and_then(|signal| u8::try_from(signal).ok()), &profiles)
            && let Err(error) = process.record_signal(profiles, signal)
        {
            tell!("the signal is not in the profile: {error}");
        }
        runs.show(profiles, &context, status.success());
        if let Some(signal) = status.signal() {
            let name = u8::try_from(signal).ok().and_then(signal_name).unwrap_or_else(|| "a signal".to_owned());
            tell!("process {}, cargo or the program in its place, was ended by {name} ({signal})", child.id());
        }
    } else if status.success() && !context.words.is_quiet() {
        tell!("programs are in {}", shown(&context));
    }
    Ok(exit_code(status))
}

/// Whether it is cargo's list of unstable flags that is asked for, which it prints in place
/// of whatever else it is to do, or nextest's configuration.
fn only_asks(subcommand: Subcommand, options: &CargoOptions) -> bool {
    let words = CargoWords::new(options.cargo.clone());
    let is_configuration = subcommand == Subcommand::Nextest && words.of_nextest() == Some("show-config");
    is_configuration || words.values("-Z", Some('Z')).iter().any(|flag| flag == "help")
}

/// Cargo itself, in our place; an error if it cannot be.
fn pass_on(subcommand: Subcommand, options: CargoOptions) -> anyhow::Error {
    let (cargo, words) = (context::cargo(), CargoWords::new(options.cargo));
    let (mut command, options) = begin_command(&cargo, subcommand, &words);
    let error = command.args(options).args(&words.rest).exec();
    anyhow::Error::new(error).context(format!("{}: cannot be run", cargo.to_string_lossy()))
}

/// Whether anything is to be counted, not only compiled, or listed.
fn runs_programs(context: &Context) -> bool {
    let only_lists = context.subcommand == Subcommand::Nextest && matches!(context.words.of_nextest(), Some("list" | "archive"));
    context.subcommand.runs_programs() && !context.words.has("--no-run") && !only_lists
}

/// Whether nextest runs, or lists, what was built before: it takes no options about builds then.
fn reuses_build(context: &Context) -> bool {
    // `nextest archive` writes the archive.
    let is_archive = context.words.of_nextest() == Some("archive");
    let names = |option| !context.words.values(option, None).is_empty();
    context.subcommand == Subcommand::Nextest && !is_archive && (names("--archive-file") || names("--binaries-metadata"))
}

/// Target directory, its tag, and the stable name of the last one used.
fn prepare(context: &Context) -> Result<()> {
    let ours = context.target_dir.join("bbprof");
    std::fs::create_dir_all(&ours).with_context(|| format!("{}: cannot make the target directory", ours.display()))?;
    let (name, text) = TAG;
    let tag = ours.join(name);
    if !tag.exists() {
        cache::write_atomically(&tag, text.as_bytes())?;
    }
    let name = context.our_dir.file_name().context("our directory has a name")?;
    cache::link_atomically(Path::new(name), &ours.join("build"))
}

fn shown(context: &Context) -> String {
    context.target_dir.join("bbprof/build").join(&context.targets[0]).display().to_string()
}

/// Cargo with its subcommand, and the options behind it. `cargo bbprof nextest X` is `cargo nextest run
/// X`, unless X starts with one of nextest's own subcommands.
fn begin_command<'w>(cargo: &OsStr, subcommand: Subcommand, words: &'w CargoWords) -> (Command, &'w [OsString]) {
    let mut command = Command::new(cargo);
    command.arg(subcommand.name());
    let is_named = subcommand == Subcommand::Nextest && words.of_nextest().is_some();
    let (named, options) = words.options.split_at(usize::from(is_named));
    command.args(named);
    if subcommand == Subcommand::Nextest && !is_named {
        command.arg("run");
    }
    (command, options)
}

/// The cargo command.
fn command(context: &Context) -> Command {
    let (mut command, options) = begin_command(&context.cargo, context.subcommand, &context.words);
    if !reuses_build(context) {
        // One without a value is for cargo to refuse.
        if context.words.values("--target", None).is_empty() && !context.words.has("--target") {
            for target in &context.targets {
                command.args(["--target", target]);
            }
        }
        command.arg("--target-dir").arg(&context.our_dir);
    }
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

/// The raw profiles of this run.
struct Runs {
    place: Place,
    begun: SystemTime,
}

impl Runs {
    /// Makes a folder for them and tells the programs, unless the user tells them something else. Noted at once: should we be
    /// killed, who asks for the last run must not get the one before.
    fn begin(context: &Context, command: &mut Command) -> Result<Self> {
        let begun = SystemTime::now();
        let place = match context.variable("BBPROF_OUT") {
            Some(pattern) => Place::Pattern { pattern, files: Vec::new() },
            None => {
                let seconds = begun.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_secs());
                let folder = context.target_dir.join(format!("bbprof/runs/{seconds}-{}", std::process::id()));
                std::fs::create_dir_all(&folder)
                    .with_context(|| format!("{}: cannot make the folder for raw profiles", folder.display()))?;
                let escaped = folder.display().to_string().replace('%', "%%");
                command.env("BBPROF_OUT", format!("{escaped}/%e-%p.bbraw"));
                Place::Folder(folder)
            }
        };
        last_run::note(&context.target_dir, &place)?;
        Ok(Self { place, begun })
    }

    /// Prints the summary, and says where the raw profiles are. What goes wrong here is told; the exit code is the program's.
    fn show(mut self, profiles: Result<Vec<PathBuf>>, context: &Context, success: bool) {
        let ours = context.target_dir.join("bbprof");
        let is_talkative = context.report && !context.words.is_quiet();
        let summable = match &self.place {
            Place::Pattern { pattern, .. } => elsewhere::refuse_pools(pattern),
            Place::Folder(_) => Ok(()),
        };
        let mut profiles = match summable.and(profiles) {
            Ok(profiles) => profiles,
            Err(error) if context.report => return tell!("no summary: {error:#}"),
            Err(_) => return,
        };
        match self.leave_out_tried_out(&mut profiles, &ours) {
            Ok(1..) if is_talkative => tell!("without the profiles of programs that build scripts made and ran"),
            Ok(_) => {}
            Err(error) => tell!("profiles of what build scripts tried out are not left out: {error:#}"),
        }
        if profiles.is_empty() {
            if is_talkative {
                tell!("no profile was written{}", why_none(context, success));
            }
            return;
        }
        if let Err(error) = kept_maps::keep(&profiles, &ours) {
            tell!("build maps are not kept for this run, so its profiles cannot be read behind the next build: {error:#}");
        }
        if let Place::Pattern { files, .. } = &mut self.place {
            files.clone_from(&profiles);
        }
        // Newer than what others wrote in the working directory meanwhile.
        if let Err(error) = last_run::note(&context.target_dir, &self.place) {
            tell!("the run was noted as the last one when it began, and cannot be again: {error:#}");
        }
        if context.report {
            let colour = context.words.values("--color", None).pop();
            let mut stderr = std::io::stderr().lock();
            let begun = writeln!(stderr).context("stderr");
            if let Err(error) = begun.and_then(|()| commands::write_run_summary(&profiles, colour.as_deref(), &mut stderr)) {
                tell!("no summary: {error:#}");
            }
            match &self.place {
                Place::Folder(folder) => tell!("raw profiles are in {}", folder.display()),
                Place::Pattern { .. } => match &profiles[..] {
                    [profile] => tell!("the raw profile is {}", profile.display()),
                    [first, ..] => {
                        tell!("raw profiles are {} and {} more, where BBPROF_OUT says", first.display(), profiles.len() - 1)
                    }
                    [] => {}
                },
            }
        }
    }

    /// The files of this run.
    fn profiles(&self, context: &Context) -> Result<Vec<PathBuf>> {
        match &self.place {
            Place::Folder(folder) => {
                let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
                let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
                files.retain(|path| path.extension().is_some_and(|extension| extension == raw::EXTENSION));
                files.sort();
                Ok(files)
            }
            Place::Pattern { pattern, .. } => {
                let here = std::env::current_dir().context("working directory")?;
                let starts: Vec<&Path> = [&here].into_iter().chain(&context.package_folders).map(PathBuf::as_path).collect();
                elsewhere::begun_since(self.begun, pattern, &starts)
            }
        }
    }

    /// Takes out what build scripts tried out, and removes it where nobody else names it; gives how many they were.
    fn leave_out_tried_out(&self, profiles: &mut Vec<PathBuf>, ours: &Path) -> Result<usize> {
        let tried_out = tried_out::take_out(profiles, ours)?;
        if matches!(self.place, Place::Folder(_)) {
            for path in &tried_out {
                std::fs::remove_file(path).with_context(|| path.display().to_string())?;
            }
        }
        Ok(tried_out.len())
    }
}

/// Why there is no profile, as far as it is known: what failed may have said so itself.
fn why_none(context: &Context, success: bool) -> &'static str {
    // As the runtime reads it.
    if context.variable("BBPROF_OFF").is_some_and(|off| off != "0") {
        ": BBPROF_OFF is set"
    } else if success {
        ": no instrumented program ran, or none could write one, and said so"
    } else {
        ""
    }
}

/// As a shell would say it: 128 + signal for a process that a signal ended.
fn exit_code(status: ExitStatus) -> u8 {
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    u8::try_from(code & 0xff).unwrap_or(1)
}
