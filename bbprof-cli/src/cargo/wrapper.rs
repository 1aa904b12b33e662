//! The roles that cargo calls instead of rustc and rustdoc.
//!
//! Instrumented is what cargo itself compiles for the target: not build scripts and proc-macros (compiled for the host,
//! without `--target`; but the unit tests of proc-macros, which cargo runs), not cargo's question about the compiler
//! (crate `___`), and not what build scripts try out (`CARGO_CRATE_NAME` is set only for cargo's own compilations), so
//! that they see the compiler as it is. `RUSTC_BOOTSTRAP` is set for instrumented compilations only, with options that
//! keep crates from noticing and the names of symbols as they are.

use crate::cache_lock::InUse;
use crate::exit::require;
use crate::installation::Installation;
use crate::shim;
use crate::tools::{Selection, ToolSettings};
use anyhow::{Context, Result};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Role `bbprof-rustc-wrapper`: `argv = [ourselves, rustc, arguments...]`.
pub(crate) fn rustc_wrapper(argv: &[OsString]) -> Result<u8> {
    let settings = settings(argv)?;
    let Some(rustc) = argv.get(1) else { require!("a rustc wrapper is called with rustc's path, by cargo") };
    let arguments = &argv[2..];
    let seen = Seen::of(arguments);
    let mut command = match &settings.user_wrapper {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.arg(rustc);
            command
        }
        None => Command::new(rustc),
    };
    command.args(arguments);
    // A build script that calls cargo builds a program of its own.
    if seen.is_by_cargo() && seen.is_for_target() && !is_within_build_script() {
        if seen.is_instrumentable() && settings.selects_package() {
            instrument(&mut command, &seen, &settings)?;
        }
        if seen.links {
            link_with_shim(&mut command, &seen, &settings)?;
        }
    }
    execute(command)
}

/// Role `rustc` (`bbprof env`): the flags come by `RUSTFLAGS`, and are taken out where they do not belong.
pub(crate) fn rustc(argv: &[OsString]) -> Result<u8> {
    let settings = settings(argv)?;
    let arguments = &argv[1..];
    let seen = Seen::of(arguments);
    let mut command = Command::new(&settings.rustc);
    let is_ours = |word: &OsString| {
        let word = word.to_string_lossy();
        word.strip_prefix("-Zllvm-plugins=").is_some_and(|path| Path::new(path) == settings.rustc_plugin)
    };
    let is_tried_out = is_within_build_script() && !seen.is_by_cargo();
    if arguments.iter().any(is_ours) && seen.is_instrumentable() && !is_tried_out {
        refuse(&seen)?;
        command.args(arguments);
        bootstrap(&mut command, &seen, &settings);
        complete(&mut command, &seen);
        if seen.links {
            link_with_shim(&mut command, &seen, &settings)?;
        }
    } else {
        command.args(arguments.iter().filter(|word| !is_ours(word)));
    }
    execute(command)
}

/// Role `rustdoc`: doctests are instrumented, and link with the shim.
pub(crate) fn rustdoc(argv: &[OsString]) -> Result<u8> {
    let mut settings = settings(argv)?;
    // It puts doctests together in crates that use features.
    settings.bootstrap.iter_mut().for_each(|options| options.retain(|option| !option.starts_with("-Zallow-features=")));
    let arguments = &argv[1..];
    let mut command = Command::new(&settings.rustdoc);
    command.args(arguments);
    if arguments.iter().any(|word| word == "--test") {
        let seen = Seen::of(arguments);
        // rustdoc hands these on: what doctests instantiate or inline of the package becomes code in their own crates.
        if settings.selects_package() {
            instrument(&mut command, &seen, &settings)?;
        }
        link_with_shim(&mut command, &seen, &settings)?;
        command.env("BBPROF_KEEP_MAPS", &settings.doctest_maps);
    }
    execute(command)
}

fn settings(argv: &[OsString]) -> Result<ToolSettings> {
    let argv0 = argv.first().map(Path::new).unwrap_or(Path::new(""));
    match ToolSettings::beside(argv0)? {
        Some(settings) => Ok(settings),
        None => {
            require!("{}: this name belongs into a tool folder of bbprof, and there are no settings beside it", argv0.display())
        }
    }
}

/// Cargo sets this for build scripts, not for rustc.
fn is_within_build_script() -> bool {
    std::env::var_os("CARGO_CFG_TARGET_ARCH").is_some()
}

fn execute(mut command: Command) -> Result<u8> {
    InUse::now().until_all_end()?;
    let program = command.get_program().to_owned();
    Err(command.exec()).with_context(|| format!("{}: cannot be run", program.to_string_lossy()))
}

impl ToolSettings {
    /// Whether the package that cargo is at (by its environment) is among the instrumented ones.
    pub(crate) fn selects_package(&self) -> bool {
        match (&self.selection, std::env::var_os("CARGO_MANIFEST_DIR")) {
            (Selection::All, _) => true,
            (Selection::Packages(folders), Some(folder)) => folders.iter().any(|selected| selected.as_os_str() == folder),
            (Selection::Packages(_), None) => false,
        }
    }
}

fn bootstrap(command: &mut Command, seen: &Seen, settings: &ToolSettings) {
    let Some(options) = settings.bootstrap.as_ref().filter(|_| std::env::var_os("RUSTC_BOOTSTRAP").is_none()) else { return };
    command.env("RUSTC_BOOTSTRAP", "1");
    let is_mangled_so = seen.has_mangling || seen.has_coverage;
    command.args(options.iter().filter(|option| !(is_mangled_so && option.starts_with("-Csymbol-mangling-version="))));
}

/// Options with which nothing would be counted.
fn refuse(seen: &Seen) -> Result<()> {
    // Cargo itself asks for it in the libraries of a profile with lto, whose optimisation it leaves to rustc at the end.
    if seen.wants_linker_lto && seen.links {
        require!(
            "-Clinker-plugin-lto leaves optimisation to the linker, where counters cannot be placed; use lto = \"thin\" or \"fat\""
        );
    }
    if seen.has_no_passes {
        require!("-Cno-prepopulate-passes leaves out the passes behind which counters are placed: nothing would be counted");
    }
    if let Some(backend) = &seen.backend {
        require!(
            "-Zcodegen-backend={backend} makes code without LLVM, whose pass places the counters: nothing would be counted; use llvm"
        );
    }
    Ok(())
}

fn instrument(command: &mut Command, seen: &Seen, settings: &ToolSettings) -> Result<()> {
    refuse(seen)?;
    bootstrap(command, seen, settings);
    let mut plugin = OsString::from("-Zllvm-plugins=");
    plugin.push(&settings.rustc_plugin);
    command.arg(plugin);
    complete(command, seen);
    Ok(())
}

/// Lines, which do not change code, where no debug information was asked for; the plugin takes them away again. It has to know
/// whether the compilation is incremental.
fn complete(command: &mut Command, seen: &Seen) {
    if seen.is_incremental {
        command.env("BBPROF_INCREMENTAL", "1");
    }
    if !seen.has_debug_info {
        command.arg("-Cdebuginfo=line-directives-only");
    }
}

fn link_with_shim(command: &mut Command, seen: &Seen, settings: &ToolSettings) -> Result<()> {
    let installation = Installation { root: settings.root.clone().into() };
    let real = find_linker(seen.linker.as_deref().unwrap_or("cc".as_ref()), &settings.rustc)?;
    let mut linker = OsString::from("-Clinker=");
    linker.push(shim::before(&installation, &real)?);
    command.arg(linker);
    Ok(())
}

/// As rustc does, which also knows the linkers that come with it (`rust-lld`).
fn find_linker<'a>(name: &'a OsStr, rustc: &OsStr) -> Result<Cow<'a, OsStr>> {
    if which::which(name).is_ok() {
        return Ok(name.into());
    }
    let libraries = duct::cmd!(rustc, "--print", "target-libdir").read().context("rustc --print target-libdir")?;
    let own = Path::new(&libraries).with_file_name("bin").join(name);
    Ok(if own.is_file() { own.into_os_string().into() } else { name.into() })
}

/// What a rustc or rustdoc command line says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    crate_name: Option<String>,
    /// Something to compile.
    has_source: bool,
    has_target: bool,
    is_proc_macro: bool,
    /// `--test`: a program of a crate's unit tests, or a test target.
    is_test: bool,
    /// Calls a linker.
    links: bool,
    /// Debug information other than none was asked for.
    has_debug_info: bool,
    /// A way to mangle symbols was asked for.
    has_mangling: bool,
    /// `-Cinstrument-coverage`, for which rustc takes another way by itself.
    has_coverage: bool,
    /// Optimises in the linker.
    wants_linker_lto: bool,
    /// `-Cno-prepopulate-passes`.
    has_no_passes: bool,
    /// `-Zcodegen-backend`, if it is another than LLVM.
    backend: Option<String>,
    /// `-Cincremental=FOLDER`.
    is_incremental: bool,
    /// The last `-C linker=`.
    linker: Option<OsString>,
}

impl Seen {
    fn of(arguments: &[OsString]) -> Self {
        let mut seen = Self::default();
        let mut crate_types = Vec::new();
        let expanded = expand(arguments);
        let mut words = expanded.iter().map(|word| word.as_os_str());
        while let Some(word) = words.next() {
            let mut value_of = |name: &str| -> Option<OsString> {
                if word == name {
                    return words.next().map(OsStr::to_owned);
                }
                word.to_str()?.strip_prefix(name)?.strip_prefix('=').map(Into::into)
            };
            if let Some(name) = value_of("--crate-name") {
                seen.crate_name = Some(name.to_string_lossy().into_owned());
            } else if let Some(kinds) = value_of("--crate-type") {
                crate_types.extend(kinds.to_string_lossy().split(',').map(str::to_owned));
            } else if value_of("--target").is_some() {
                seen.has_target = true;
            } else if let Some(option) = value_of("--codegen") {
                seen.codegen(&option);
            } else if word == "-C" {
                if let Some(option) = words.next() {
                    seen.codegen(option);
                }
            } else if let Some(option) = word.to_str().and_then(|word| word.strip_prefix("-C")) {
                seen.codegen(option.as_ref());
            } else if word == "-Z" {
                if let Some(option) = words.next() {
                    seen.unstable(option);
                }
            } else if let Some(option) = word.to_str().and_then(|word| word.strip_prefix("-Z")) {
                seen.unstable(option.as_ref());
            } else if word == "-g" {
                seen.has_debug_info = true;
            } else if word == "-" || word.as_encoded_bytes().ends_with(b".rs") {
                seen.has_source = true;
            } else if word == "--test" {
                seen.is_test = true;
                seen.links = true;
            }
        }
        seen.is_proc_macro = crate_types.iter().any(|kind| kind == "proc-macro");
        seen.links |= crate_types.is_empty() || crate_types.iter().any(|kind| ["bin", "cdylib", "dylib"].contains(&&**kind));
        seen
    }

    fn codegen(&mut self, option: &OsStr) {
        let (name, value) = name_and_value(option);
        match (&*name, value.as_deref()) {
            ("debuginfo", Some(level)) => self.has_debug_info = !["0", "none"].contains(&level),
            ("symbol-mangling-version", Some(_)) => self.has_mangling = true,
            ("instrument-coverage", how) => self.has_coverage = !how.is_some_and(|how| is_no(how) || how == "0"),
            ("linker", Some(linker)) => self.linker = Some(linker.into()),
            ("linker-plugin-lto", how) => self.wants_linker_lto = !how.is_some_and(is_no),
            ("incremental", Some(_)) => self.is_incremental = true,
            ("no-prepopulate-passes", how) => self.has_no_passes = !how.is_some_and(is_no),
            _ => {}
        }
    }

    fn unstable(&mut self, option: &OsStr) {
        let (name, value) = name_and_value(option);
        if name == "codegen-backend" {
            self.backend = value.filter(|backend| backend != "llvm");
        }
    }

    /// Cargo's own compilation of a crate.
    fn is_by_cargo(&self) -> bool {
        std::env::var_os("CARGO_CRATE_NAME").is_some()
    }

    /// Of what cargo compiles for the host, the unit tests of proc-macros are programs like those for the target.
    fn is_for_target(&self) -> bool {
        self.has_target || self.is_test
    }

    fn is_instrumentable(&self) -> bool {
        let name = self.crate_name.as_deref();
        // Build scripts have no `--target`, but where cargo itself has none; a crate for the target may have such a name, too.
        let is_build_script = |name: &str| name.starts_with("build_script_") && !self.has_target;
        // Whoever calls rustc without cargo need not name the crate; without a source it is a question.
        name.map_or(self.has_source, |name| name != "___" && !is_build_script(name)) && !self.is_proc_macro
    }
}

/// Of an option behind `-C` or `-Z`. rustc takes `_` for `-` in the name.
fn name_and_value(option: &OsStr) -> (String, Option<String>) {
    let option = option.to_string_lossy();
    let (name, value) = option.split_once('=').map_or((&*option, None), |(name, value)| (name, Some(value.to_owned())));
    (name.replace('_', "-"), value)
}

/// Whether this value switches a codegen option off.
fn is_no(how: &str) -> bool {
    ["n", "no", "off", "false"].contains(&how)
}

/// With `@files` read; cargo writes them when a command line would be too long.
fn expand(arguments: &[OsString]) -> Cow<'_, [OsString]> {
    if !arguments.iter().any(|word| word.to_string_lossy().starts_with('@')) {
        return Cow::Borrowed(arguments);
    }
    let mut words = Vec::new();
    for word in arguments {
        match word.to_str().and_then(|word| word.strip_prefix('@')).and_then(|path| std::fs::read_to_string(path).ok()) {
            Some(text) => words.extend(text.lines().map(OsString::from)),
            None => words.push(word.clone()),
        }
    }
    Cow::Owned(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: &str) -> Seen {
        Seen::of(&line.split_whitespace().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_library_of_cargo() {
        let seen = seen(
            "--crate-name foo --edition=2021 src/lib.rs --crate-type lib --emit=dep-info,link -C debuginfo=0 --target x -Clinker=a -C linker=gcc",
        );
        assert_eq!(seen.crate_name.as_deref(), Some("foo"));
        assert!(seen.has_target && !seen.links && !seen.has_debug_info && seen.is_instrumentable());
        assert_eq!(seen.linker, Some("gcc".into()));
    }

    #[test]
    fn what_links() {
        assert!(seen("--crate-name a --crate-type bin").links);
        assert!(seen("--crate-name a --crate-type cdylib,rlib").links);
        assert!(seen("--crate-name a --test").links);
        assert!(!seen("--crate-name a --crate-type=rlib").links);
    }

    #[test]
    fn what_stays_plain() {
        assert!(!seen("- --crate-name ___ --print=file-names --crate-type bin").is_instrumentable());
        assert!(!seen("--crate-name build_script_build --crate-type bin").is_instrumentable());
        assert!(!seen("--crate-name m --crate-type proc-macro").is_instrumentable());
        assert!(!seen("-vV").is_instrumentable() && seen("-O main.rs").is_instrumentable());
        assert!(!seen("--crate-name m --crate-type rlib").is_for_target());
        assert!(seen("--crate-name m --test").is_for_target() && seen("--crate-name m --test").is_instrumentable());
    }

    #[test]
    fn debug_info_is_noticed() {
        assert!(seen("-Cdebuginfo=2").has_debug_info);
        assert!(seen("-g").has_debug_info);
        assert!(seen("-C debuginfo=line-tables-only").has_debug_info);
        assert!(!seen("-C debuginfo=none").has_debug_info);
        assert!(seen("-C symbol-mangling-version=v0").has_mangling && !seen("-g").has_mangling);
    }

    #[test]
    fn coverage_is_noticed() {
        assert!(seen("-Cinstrument-coverage").has_coverage && seen("-C instrument-coverage=all").has_coverage);
        assert!(
            !seen("-Cinstrument-coverage -Cinstrument-coverage=off").has_coverage && !seen("-Cinstrument-coverage=0").has_coverage
        );
    }

    #[test]
    fn incremental_compilations_are_noticed() {
        assert!(seen("-C incremental=/x").is_incremental && seen("--codegen=incremental=/x").is_incremental);
        assert!(!seen("--crate-name incremental -C debuginfo=2").is_incremental);
    }

    #[test]
    fn optimising_in_the_linker_is_noticed() {
        assert!(seen("-C linker-plugin-lto").wants_linker_lto && seen("-Clinker-plugin-lto=/x/lld.so").wants_linker_lto);
        assert!(seen("--crate-type bin -C linker-plugin-lto").links && !seen("--crate-type lib -C linker-plugin-lto").links);
        assert!(!seen("-C linker-plugin-lto=off").wants_linker_lto && !seen("-C lto=fat").wants_linker_lto);
        assert!(seen("-Cno-prepopulate-passes").has_no_passes && !seen("-C no-prepopulate-passes=no").has_no_passes);
    }

    #[test]
    fn underscores_in_names_are_dashes() {
        assert!(seen("-Cno_prepopulate_passes").has_no_passes && seen("--codegen=linker_plugin_lto").wants_linker_lto);
        assert!(seen("-C symbol_mangling_version=v0").has_mangling && seen("-Cinstrument_coverage").has_coverage);
        assert_eq!(seen("-Clinker=my_cc").linker, Some("my_cc".into()));
    }

    #[test]
    fn backends_are_noticed() {
        assert_eq!(seen("-Zcodegen-backend=cranelift").backend.as_deref(), Some("cranelift"));
        assert_eq!(seen("-Z codegen_backend=/x/gcc.so").backend.as_deref(), Some("/x/gcc.so"));
        assert_eq!(seen("-Zcodegen-backend=gcc -Zcodegen-backend=llvm -Zllvm-plugins=x").backend, None);
    }

    #[test]
    fn argument_files_are_read() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("args");
        std::fs::write(&file, "--crate-name\nfoo\n--target\nx\n").unwrap();
        let seen = Seen::of(&[OsString::from(format!("@{}", file.display()))]);
        assert!(seen.crate_name.as_deref() == Some("foo") && seen.has_target);
    }
}
