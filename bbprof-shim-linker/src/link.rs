//! One link from beginning to end: read the command, find the manifests, plan, generate, link, write the map. What the
//! linker took besides is in its own list of what it read: where that has manifests of other modules, all is done again with
//! these. Each time there are more modules, so that it ends.

use crate::command_line::{self, Level, LinkCommand, Product};
use crate::driver_folders::driver_folders;
use crate::generated_object::{self, ImageKind};
use crate::inputs::{self, FileKind, InputFile};
use crate::interrupts::{self, Interrupts};
use crate::link_plan::{self, LinkPlan};
use crate::lto::{self, NativeLink, Optimized};
use crate::real_linker::{self, Role};
use crate::runtime::{self, Runtime};
use crate::saved_link::SavedLink;
use crate::scan::{self, Scan};
use crate::{dependency_file, map_file, pipes, renamed_copy, temporary_folder};
use anyhow::{Context, Result};
use std::cell::Cell;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use tempfile::TempDir;

/// Name of the generated object within its temporary folder.
const OBJECT_NAME: &str = "bbprof.o";
/// Likewise, of the linker's list of what it read.
const LISTING_NAME: &str = "listing";
/// Likewise, of what it says when it links again.
const SAID_NAME: &str = "said";
/// What sets up the storage of the first thread in static programs, of glibc and of musl.
const LIBC_START: &str = "__libc_start_main";

/// Does what the command asks, with counters where its inputs are instrumented. Returns only when the shim itself has something
/// to say in the end; where there is nothing to count the real linker takes this process over.
///
/// # Errors
/// Instrumented inputs that cannot be linked, or no real linker, or no room for the shim's files.
pub(crate) fn run(role: &Role, arguments: &[OsString]) -> Result<ExitCode> {
    let linker = role.real_linker()?;
    let pipes = Cell::new(false);
    let expanded = command_line::expand(arguments, &|path| {
        let is_pipe = !fs::metadata(path).ok()?.is_file();
        pipes.set(pipes.get() | is_pipe);
        fs::read(path).ok()
    });
    // What came through a pipe cannot be read a second time.
    let arguments = if pipes.get() { &expanded } else { arguments };
    let mut command = LinkCommand::read(role.level, &expanded);
    if command.product == Product::Nothing {
        return become_linker(&linker, arguments);
    }
    if command.driver_static && !command.no_default_libraries {
        // What its libc has is known from the archive.
        command.library_dirs.extend(driver_folders(self::command(&linker)?, arguments));
    }
    let files = inputs::load(&command, role.level)?;
    let link = Link { level: role.level, linker: &linker, arguments, expanded: &expanded, command: &command, native: None };
    if role.level == Level::Cc {
        warn_of_bitcode(&files);
        return link.until_done(files, &mut None).map(pass_on);
    }
    let mut interrupts = None;
    match lto::optimize(&linker, &expanded, arguments != expanded, &command, &files, &mut interrupts)? {
        Optimized::Nothing => link.until_done(files, &mut interrupts).map(pass_on),
        Optimized::Failed(status) => {
            remove(&command.output());
            Ok(pass_on(status))
        }
        Optimized::Native(native) => {
            let command = LinkCommand::read(role.level, &native.expanded);
            let link =
                Link { arguments: &native.arguments, expanded: &native.expanded, command: &command, native: Some(&native), ..link };
            let done = link.until_done(inputs::load(&command, role.level)?, &mut interrupts);
            drop(native);
            done.map(pass_on)
        }
    }
}

/// A driver has a linker of its own optimise, and no plugin with it.
fn warn_of_bitcode(files: &[InputFile]) {
    if let Some(file) = files.iter().find(|file| lto::is_selected(file)) {
        crate::tell(format_args!(
            "warning: {}: compiled for link-time optimisation, and not counted where a compiler driver links that is not bbprof-cc; compile it without -flto",
            file.origin
        ));
    }
}

/// A link, whatever its inputs turn out to be.
struct Link<'a> {
    level: Level,
    linker: &'a Path,
    /// As given, and without `@file`s.
    arguments: &'a [OsString],
    expanded: &'a [OsString],
    command: &'a LinkCommand,
    /// Where there was bitcode among the inputs: what stands for it.
    native: Option<&'a NativeLink>,
}

/// Whether the linker has linked the same before, with fewer counters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    Again,
}

/// What came of a link.
enum Outcome {
    Done(ExitStatus),
    /// It has to be done again, as the linker took other inputs: with their counters, or as their libc needs it, and
    /// without the word that all is linked of what it passed over.
    Others {
        unseen: Vec<InputFile>,
        passed_over: Vec<usize>,
    },
}

impl Link<'_> {
    /// Links until there are counters for all that the linker takes.
    fn until_done(&self, mut files: Vec<InputFile>, interrupts: &mut Option<Interrupts>) -> Result<ExitStatus> {
        let mut attempt = Attempt::First;
        loop {
            match self.once(attempt, &files, interrupts)? {
                Outcome::Done(status) => return Ok(status),
                Outcome::Others { unseen, passed_over } => {
                    passed_over.into_iter().for_each(|at| files[at].optional = true);
                    files.extend(unseen);
                }
            }
            attempt = Attempt::Again;
        }
    }

    /// Links with counters for what is in these files, and sees what the linker took.
    fn once(&self, attempt: Attempt, files: &[InputFile], interrupts: &mut Option<Interrupts>) -> Result<Outcome> {
        let Self { level, linker, arguments, command, .. } = *self;
        let saved = SavedLink::begin(level, linker, self.expanded, command, files)?;
        if command.product == Product::Relocatable {
            return self.as_it_is(interrupts);
        }
        let scan = scan::scan(files)?;
        let output = command.output();
        if scan.modules.is_empty() || scan.has_generated_object {
            map_file::remove_stale(&output);
            return self.as_it_is(interrupts);
        }
        renamed_copy::refuse(&scan.modules)?;
        let name = output.file_name().unwrap_or(output.as_os_str()).to_string_lossy().into_owned();
        let plan = link_plan::plan_link(&scan.modules, command.product, &name)?;
        map_file::check_place(&output)?;
        let kind = image_kind(level, command, files);
        match attempt {
            Attempt::First => pipes::keep(command)?,
            Attempt::Again => pipes::check_none_is_left(command)?,
        }
        let interrupts = Interrupts::taken(interrupts)?;
        let mut held = interrupts.hold();
        let additions = Additions::write(&plan, kind, &runtime::runtime(kind, files), level)?;
        if let Some(saved) = saved {
            saved.add(&additions.files, &additions.options)?;
        }
        let listing = additions.folder.path().join(LISTING_NAME);
        let mut started = linker_command(linker, arguments, &additions, listing_option(level, &listing))?;
        let said = additions.folder.path().join(SAID_NAME);
        if attempt == Attempt::Again {
            started.stderr(File::create(&said).with_context(|| format!("cannot write {}", said.display()))?);
        }
        let mut child = started.spawn().with_context(cannot_run(linker))?;
        held.until_end_of(&child);
        // Meanwhile: the map of a big program is many bytes to digest.
        let map = plan.map.encode_in_pieces();
        let status;
        (status, held) =
            interrupts.wait(&mut child).with_context(|| format!("cannot wait for the real linker {}", linker.display()))?;
        if !status.success() {
            say(&said);
        }
        // When they fail, not all write one.
        let listing = fs::read(listing).unwrap_or_default();
        let folder = additions.folder.path().to_owned();
        if status.success() {
            let taken = listed(&listing, &folder);
            if let Some(others) = self.others(files, &scan, kind, taken).inspect_err(|_| remove(&output))? {
                remove(&output);
                return Ok(others);
            }
            if lacks_libc(kind, files) && plan.map.body.tls_counters > 0 {
                warn_of_tls(&name);
            }
            map_file::write(plan.map.build_id, &map, &output).inspect_err(|_| remove(&output))?;
        }
        drop(additions);
        drop(held);
        // It may be a pipe that nobody reads.
        if let (Some(path), false) = (&command.dependency_file, listing.is_empty()) {
            let written = self.write_dependency_file(path, &listing, &folder);
            written.inspect_err(|_| {
                if status.success() {
                    remove(&output)
                }
            })?;
        }
        // Some linkers leave the earlier program when they fail.
        if !output.is_file() {
            map_file::remove_stale(&output);
        }
        Ok(Outcome::Done(status))
    }

    /// Has the linker link without the shim, whose process it takes over if nothing has to be taken away behind it.
    fn as_it_is(&self, interrupts: &mut Option<Interrupts>) -> Result<Outcome> {
        match interrupts {
            Some(interrupts) => Ok(Outcome::Done(interrupts.run(command(self.linker)?.args(self.arguments))?)),
            None => become_linker(self.linker, self.arguments),
        }
    }

    /// Writes what the command asked for. That may be a pipe.
    fn write_dependency_file(&self, path: &Path, listing: &[u8], folder: &Path) -> Result<()> {
        let mut listing = dependency_file::without(listing, folder);
        if let Some(native) = self.native {
            listing = dependency_file::without(&listing, native.folder.path());
            let known = listed(&listing, folder);
            let bitcode = native.read.iter().filter(|path| !known.contains(path));
            listing.extend(dependency_file::rule(&self.command.output(), bitcode));
        }
        fs::write(path, listing).with_context(|| format!("{}: cannot write the dependency file", path.display()))
    }

    /// What makes another link necessary of what the linker has `taken`: modules that were not found before, the libc; or that it
    /// passed over some whose archive is to be linked whole.
    fn others(&self, files: &[InputFile], scan: &Scan<'_>, kind: ImageKind, taken: Vec<PathBuf>) -> Result<Option<Outcome>> {
        let has_counters = |at: &usize| scan::scan(&files[*at..=*at]).is_ok_and(|found| !found.modules.is_empty());
        let passed_over: Vec<usize> = inputs::passed_over(files, &taken).filter(has_counters).collect();
        let unseen = inputs::load_unseen(self.command, files, taken)?;
        // A wrapper may hand the linker another copy of an input each time.
        let has_modules = !scan::scan(&unseen)?.module_ids().is_subset(&scan.module_ids());
        let is_other = has_modules || !passed_over.is_empty() || lacks_libc(kind, files) && has_libc(&unseen);
        Ok(is_other.then_some(Outcome::Others { unseen, passed_over }))
    }
}

/// Whether nothing in these files sets up a static program.
fn lacks_libc(kind: ImageKind, files: &[InputFile]) -> bool {
    kind == ImageKind::Static && !has_libc(files)
}

fn has_libc(files: &[InputFile]) -> bool {
    inputs::archives_define(files, LIBC_START)
}

fn warn_of_tls(name: &str) {
    crate::tell(format_args!(
        "warning: {name} has counters in thread-local storage, but no C library among its archives that would set \
         that up ({LIBC_START} is in none): if nothing else does, it crashes at its first counter; compile it with --storage=shared \
         (--bbprof-storage=shared of bbprof-cc)"
    ));
}

/// Takes the output away, as linkers do when they fail: or make would take it for done the next
/// time. The map of the program that was there before goes, too.
fn remove(output: &Path) {
    if output.is_file() {
        let _ = fs::remove_file(output);
    }
    map_file::remove_stale(output);
}

/// What is added to a link, in a folder that goes when the link is over.
struct Additions {
    folder: TempDir,
    /// The generated object and the runtime, to stand before all inputs.
    files: Vec<PathBuf>,
    options: Vec<OsString>,
}

impl Additions {
    fn write(plan: &LinkPlan<'_>, kind: ImageKind, runtime: &Runtime, level: Level) -> Result<Self> {
        let folder = temporary_folder::new("bbprof-link-")?;
        let object = generated_object::generate(plan, kind).context("cannot generate the object that defines the counters")?;
        let mut contents = vec![(OBJECT_NAME, &object[..])];
        contents.extend(runtime.files().context("the runtime's archive cannot be read")?);
        let mut files = Vec::new();
        for (name, bytes) in contents {
            let path = folder.path().join(name);
            fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
            files.push(path);
        }
        Ok(Self { folder, files, options: runtime.options(level).collect() })
    }
}

fn image_kind(level: Level, command: &LinkCommand, files: &[InputFile]) -> ImageKind {
    let is_static = match level {
        Level::Cc => command.driver_static,
        Level::Ld => !command.dynamic_linker && files.iter().all(|file| file.kind != FileKind::SharedLibrary),
    };
    match command.product {
        Product::SharedLibrary => ImageKind::Library,
        _ if is_static => ImageKind::Static,
        _ => ImageKind::Dynamic,
    }
}

fn command(linker: &Path) -> Result<Command> {
    let (variable, depth) = real_linker::next_depth(linker)?;
    let mut command = Command::new(linker);
    command.env(variable, depth);
    Ok(command)
}

/// The shim's files stand in front of everything: no option that changes how inputs are treated is in force there, and archives
/// behind them serve the runtime. Its list of what the linker reads is the last that is asked for, and counts.
fn linker_command(
    linker: &Path,
    arguments: &[OsString],
    additions: &Additions,
    listing: impl Iterator<Item = OsString>,
) -> Result<Command> {
    let flavor = if arguments.first().is_some_and(|first| first == "-flavor") { arguments.len().min(2) } else { 0 };
    let (flavor, rest) = arguments.split_at(flavor);
    let mut command = command(linker)?;
    command.args(flavor).args(&additions.files).args(&additions.options).args(rest).args(listing);
    Ok(command)
}

/// What the linker said when it linked again, if it did. Its warnings are those that were to be read already.
fn say(said: &Path) {
    if let Ok(mut said) = File::open(said) {
        let _ = std::io::copy(&mut said, &mut std::io::stderr());
    }
}

fn cannot_run(linker: &Path) -> impl Fn() -> String {
    move || format!("cannot run the real linker {}", linker.display())
}

fn become_linker<T>(linker: &Path, arguments: &[OsString]) -> Result<T> {
    let error = command(linker)?.args(arguments).exec();
    Err(error).with_context(cannot_run(linker))
}

/// Has the linker list what it reads. (`-Wl,` would take the path apart at a comma.)
fn listing_option(level: Level, listing: &Path) -> impl Iterator<Item = OsString> {
    let mut option = OsString::from("--dependency-file=");
    option.push(listing);
    (level == Level::Cc).then(|| "-Xlinker".into()).into_iter().chain([option])
}

/// What the linker has read but for what lies in `folder`.
fn listed(listing: &[u8], folder: &Path) -> Vec<PathBuf> {
    dependency_file::listed(listing, |path| !path.starts_with(folder) && path.is_file())
}

/// The linker's exit code; its death by a signal is ours.
fn pass_on(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal() {
        interrupts::die_of(signal);
    }
    // Behind a signal that ends nobody: what a shell would say of it.
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// The value of an environment variable that is set and not empty.
pub(crate) fn setting(variable: impl AsRef<OsStr>) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}
