//! `bbprof env`: the variables with which a plain `cargo build --target T`, `make` or `ninja` instruments.
//!
//! rustc gets the plugin by `RUSTFLAGS`, so that cargo's fingerprints know of it, and is called through `RUSTC`, the role
//! that sets `RUSTC_BOOTSTRAP` for instrumented compilations only and takes the flag out of what build scripts try;
//! doctests are compiled through `RUSTDOC`. C and C++ get `CC` and `CXX`; `CFLAGS`, `CXXFLAGS` and `LDFLAGS` serve builds
//! that name clang themselves. What the user has set stays.

use crate::cache;
use crate::cargo::load_configuration;
use crate::cc::program_named;
use crate::commands::to_stdout;
use crate::config::Settings;
use crate::exit::require;
use crate::installation::Installation;
use crate::messages::tell;
use crate::plugin::{Clang, PluginOptions, Rustc, plugin_with_options, refuse_odd_paths};
use crate::shim;
use crate::tools::{Selection, ToolSettings, Tools};
use anyhow::{Context, Result};
use clap::Args;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Print variables that make any build system instrument: eval "$(bbprof env --sh)"
#[derive(Args, Clone, Debug)]
#[command(mut_arg("deps", |deps| deps.hide(true)))]
pub(crate) struct EnvOptions {
    /// For sh, bash, zsh (default)
    #[arg(long, group = "shell")]
    sh: bool,
    /// For fish: bbprof env --fish | source
    #[arg(long, group = "shell")]
    fish: bool,
    /// For PowerShell: bbprof env --pwsh | Out-String | Invoke-Expression
    #[arg(long, group = "shell")]
    pwsh: bool,
    /// For nushell: bbprof env --nu | save -f bbprof.nu, then source bbprof.nu
    #[arg(long, group = "shell")]
    nu: bool,
    #[command(flatten)]
    settings: Settings,
}

/// Prints the variables to stdout; what is missing, to stderr.
pub(crate) fn print(options: EnvOptions) -> Result<()> {
    let mut variables = Vec::new();
    if options.settings.deps.is_some() {
        require!(
            "--deps: in this environment every crate that is compiled with RUSTFLAGS is instrumented; use cargo bbprof to choose"
        );
    }
    let settings = options.settings.clone().or(Settings::from_file_here()?);
    if settings.deps.is_some() {
        say("deps of bbprof.toml does not hold here: every crate that is compiled with RUSTFLAGS is instrumented");
    }
    let plugin_options = settings.plugin_options()?;
    plugin_options.refuse_idle(&options.settings.asked(), "--")?;
    let installation = Installation::find()?;
    let rust = rust(&installation, &plugin_options, &mut variables);
    let c = c(&installation, &plugin_options, &mut variables);
    match (rust, c) {
        (Err(rust), Err(c)) if rust.to_string() == c.to_string() => return Err(rust),
        (Err(rust), Err(c)) => require!("{rust}; {c}"),
        (Err(rust), Ok(())) => say(&format!("Rust is not instrumented: {rust}")),
        (Ok(()), Err(c)) => say(&format!("C and C++ are not instrumented: {c}")),
        (Ok(()), Ok(())) => {}
    }
    to_stdout(|out| variables.iter().try_for_each(|(name, value)| writeln!(out, "{}", options.shell_line(name, value))))
}

fn say(message: &str) {
    tell!("{message}");
}

impl EnvOptions {
    fn shell_line(&self, name: &str, value: &str) -> String {
        if self.fish {
            format!("set -gx {name} '{}'", value.replace('\\', "\\\\").replace('\'', "\\'"))
        } else if self.pwsh {
            // To PowerShell, typographic quotes are what plain ones are.
            let copies = |c| if "'\u{2018}\u{2019}\u{201a}\u{201b}".contains(c) { 2 } else { 1 };
            let doubled: String = value.chars().flat_map(|c| std::iter::repeat_n(c, copies(c))).collect();
            format!("$env:{name} = '{doubled}'")
        } else if self.nu {
            format!("$env.{name} = \"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))
        } else {
            format!("export {name}='{}'", value.replace('\'', "'\\''"))
        }
    }
}

fn rust(installation: &Installation, options: &PluginOptions, variables: &mut Vec<(&'static str, String)>) -> Result<()> {
    let config = load_configuration(&["build.rustflags"])?;
    let mut program: OsString = config.build.rustc.as_ref().map_or_else(|| "rustc".into(), |rustc| rustc.as_os_str().to_owned());
    let mut rustdoc: OsString =
        config.build.rustdoc.as_ref().map_or_else(|| "rustdoc".into(), |rustdoc| rustdoc.as_os_str().to_owned());
    // This environment may have been set before.
    if let Some(settings) = ToolSettings::beside(Path::new(&program))? {
        program = settings.rustc;
    }
    if let Some(settings) = ToolSettings::beside(Path::new(&rustdoc))? {
        rustdoc = settings.rustdoc;
    }
    if let Some(wrapper) = config.build.rustc_wrapper.as_ref().filter(|wrapper| !wrapper.as_os_str().is_empty()) {
        say(&format!(
            "the rustc wrapper {} must call the rustc that it is given: where it calls another (sccache before 0.5 does), rustc refuses -Z; cargo bbprof works with all",
            wrapper.as_os_str().to_string_lossy()
        ));
    }
    let rustc = Rustc::inspect(&program)?;
    let bootstrap = rustc.bootstrap_options(&program)?;
    let plugin = plugin_with_options(installation, rustc.llvm, options, say)?.path;
    refuse_odd_paths(&plugin)?;
    let flags = config.rustflags(&rustc.host).context("rustflags in cargo's configuration")?;
    let mut flags: Vec<String> = flags.map(|flags| flags.flags).unwrap_or_default();
    flags.retain(|flag| !is_ours(flag));
    flags.push(format!("-Zllvm-plugins={}", plugin.display()));
    let tools = Tools::with(&ToolSettings {
        root: installation.root.clone().into(),
        rustc_plugin: plugin,
        rustc: program,
        rustdoc,
        user_wrapper: None,
        bootstrap,
        selection: Selection::All,
        doctest_maps: cache::root()?.join("doctest-maps"),
        c: None,
    })?;
    variables.push(("RUSTC", tools.folder.join("rustc").display().to_string()));
    variables.push(("RUSTDOC", tools.folder.join("rustdoc").display().to_string()));
    variables.push(rust_flags(&flags, std::env::var_os("CARGO_ENCODED_RUSTFLAGS").is_some()));
    Ok(())
}

/// cargo takes the encoded ones where they are set, and only they can have spaces in them.
fn rust_flags(flags: &[String], is_encoded: bool) -> (&'static str, String) {
    if is_encoded || flags.iter().any(|flag| flag.contains(char::is_whitespace)) {
        ("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"))
    } else {
        ("RUSTFLAGS", flags.join(" "))
    }
}

fn c(installation: &Installation, options: &PluginOptions, variables: &mut Vec<(&'static str, String)>) -> Result<()> {
    let chosen = std::env::var_os("BBPROF_CC").filter(|cc| !cc.is_empty());
    let clang = Clang::find(chosen.as_deref(), false)?;
    let plugin = plugin_with_options(installation, clang.major, options, say)?.path;
    let folder = linkers(installation, &clang.path)?;
    let bin = installation.root.join("bin");
    for path in [&bin, &plugin, &folder] {
        if let Some(what) = oddity(path) {
            require!(
                "{}: make and other build systems cannot use a path {what}; install bbprof in another folder, or set XDG_CACHE_HOME to one; CC=bbprof-cc works with all",
                path.display()
            );
        }
    }
    let compile = format!("-fpass-plugin={}", plugin.display());
    let link = format!("-B{}", folder.display());
    let mut found =
        vec![("CC", bin.join("bbprof-cc").display().to_string()), ("CXX", bin.join("bbprof-c++").display().to_string())];
    for (name, ours) in [("CFLAGS", &compile), ("CXXFLAGS", &compile), ("LDFLAGS", &link)] {
        let Ok(theirs) = std::env::var_os(name).unwrap_or_default().into_string() else {
            require!("{name} is not UTF-8, and cannot be printed; CC=bbprof-cc works with all");
        };
        found.push((name, behind(ours, &theirs)));
    }
    variables.append(&mut found);
    Ok(())
}

/// The flags that were there behind ours, with their spaces: some may be within quotes.
fn behind(ours: &str, flags: &str) -> String {
    let others: String = flags.split_inclusive(char::is_whitespace).filter(|word| !is_ours(word.trim_end())).collect();
    format!("{ours} {}", others.trim()).trim_end().to_owned()
}

/// Why build systems do not take a path for one word: they split their variables at
/// spaces, and hand them to a shell. And what we print is text.
fn oddity(path: &Path) -> Option<&'static str> {
    match path.to_str() {
        Some(text) if text.contains(|c: char| c.is_whitespace() || "'\"\\$`&;|()<>*?#".contains(c)) => {
            Some("with spaces or quotes")
        }
        Some(_) => None,
        None => Some("that is not UTF-8"),
    }
}

/// A folder in which clang finds the shim by the name of whichever linker `-fuse-ld` asks for.
fn linkers(installation: &Installation, clang: &Path) -> Result<PathBuf> {
    let mut found = Vec::new();
    for name in ["ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"] {
        found.extend(program_named(clang, name)?.map(|linker| (name, linker)));
    }
    if found.is_empty() {
        require!("ld: the linker is not there; install: apt-get install binutils");
    }
    let before: Vec<(&OsStr, &Path)> = found.iter().map(|(name, linker)| ((*name).as_ref(), linker.as_path())).collect();
    shim::folder(installation, &before)
}

/// Whether a word was put there by an earlier `bbprof env`.
fn is_ours(word: &str) -> bool {
    let Ok(cache) = cache::root() else { return false };
    ["-Zllvm-plugins=", "-fpass-plugin=", "-B"]
        .iter()
        .any(|option| word.strip_prefix(option).is_some_and(|path| PathBuf::from(path).starts_with(&cache)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_keep_their_spaces() {
        let flags = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(rust_flags(&flags(&["--cfg", "a"]), false), ("RUSTFLAGS", "--cfg a".to_owned()));
        assert_eq!(rust_flags(&flags(&["--cfg", "a"]), true), ("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1fa".to_owned()));
        assert_eq!(
            rust_flags(&flags(&["--cfg", "a=\"b c\""]), false),
            ("CARGO_ENCODED_RUSTFLAGS", "--cfg\x1fa=\"b c\"".to_owned())
        );
    }

    #[test]
    fn quoted_spaces_stay() {
        let ours = format!("-fpass-plugin={}", cache::root().unwrap().join("plugin/x/bbprof.so").display());
        let flags = behind(&ours, " -DX='\"a  b\"'  -O2 ");
        assert_eq!(flags, format!("{ours} -DX='\"a  b\"'  -O2"));
        assert_eq!((behind(&ours, &flags), behind(&ours, &ours)), (flags, ours.clone()));
    }

    #[test]
    fn each_shell_has_its_quotes() {
        let options = |fish, pwsh, nu| EnvOptions { sh: false, fish, pwsh, nu, settings: Settings::default() };
        assert_eq!(options(false, false, false).shell_line("A", "b'c $d"), "export A='b'\\''c $d'");
        assert_eq!(options(true, false, false).shell_line("A", "b'c"), "set -gx A 'b\\'c'");
        assert_eq!(options(false, true, false).shell_line("A", "b'c"), "$env:A = 'b''c'");
        assert_eq!(options(false, true, false).shell_line("A", "/srv/O’Brien"), "$env:A = '/srv/O’’Brien'");
        assert_eq!(options(false, false, true).shell_line("A", "b\"c"), "$env.A = \"b\\\"c\"");
    }
}
