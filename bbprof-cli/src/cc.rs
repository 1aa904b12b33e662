//! `bbprof-cc` and `bbprof-c++`: clang with the plugin and the linker shim.
//!
//! Silent, and clang itself for whatever only asks or preprocesses, so that configure scripts find what clang would give
//! them. Through a tool folder ([`crate::tools`]) it serves build scripts of cargo: then only what belongs to an
//! instrumented package and is built for the target gets the plugin.

mod arguments;
mod linker;
mod pinned;

use crate::cache_lock::InUse;
use crate::config::Settings;
use crate::exit::require;
use crate::installation::Installation;
use crate::messages::tell;
use crate::plugin::{CALLED_CLANG, Plugin, PluginOptions, Storage};
use crate::roles::Language;
use crate::shim;
use crate::tools::ToolSettings;
use crate::weights::frequencies_file;
use anyhow::{Context, Result};
use arguments::Arguments;
pub(crate) use linker::program_named;
pub(crate) use pinned::chosen;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Becomes clang.
pub(crate) fn run(language: Language, argv: &[OsString]) -> Result<u8> {
    if let Some(clang) = std::env::var_os(CALLED_CLANG) {
        let clang = Path::new(&clang).display();
        require!("{clang}: it calls bbprof-cc, which called it; BBPROF_CC and BBPROF_CXX name the clang that bbprof-cc calls");
    }
    let mut arguments = Arguments::parse(&argv[1..], PluginOptions::default())?;
    if !arguments.is_plain {
        InUse::now().until_all_end()?;
    }
    if let (Some(profile), false) = (&arguments.weights, arguments.is_plain) {
        arguments.options.weights = Some(frequencies_file(profile, "--bbprof-weights")?);
    }
    let argv0 = argv.first().map(Path::new).unwrap_or(Path::new(""));
    let tools = ToolSettings::beside(argv0)?;
    let is_of_cargo = tools.is_some();
    let (installation, clang, plugin) = match tools {
        Some(settings) => {
            let Some(c) = &settings.c else { require!("{}: no clang was found when this tool folder was made", argv0.display()) };
            let clang = match language {
                Language::C => Some(&c.clang),
                Language::Cxx => c.clangxx.as_ref(),
            };
            let Some(clang) = clang else { require!("{}: no clang++ was found when this tool folder was made", argv0.display()) };
            let wanted = is_built_for_target() && settings.selects_package();
            let installation = Installation { root: settings.root.clone().into() };
            (installation, clang.clone(), wanted.then(|| c.plugin.clone()))
        }
        None => {
            if !arguments.is_plain && arguments.plugin.is_none() {
                let mut settings = Settings::from_file_here()?;
                let weights = arguments.options.weights.take();
                // One that does not hold need not be there.
                settings.weights = settings.weights.filter(|_| weights.is_none());
                let asked = arguments.options;
                arguments = Arguments::parse(&argv[1..], settings.plugin_options()?)?;
                arguments.options.weights = weights.or(arguments.options.weights);
                arguments.options.refuse_idle(&asked, "--bbprof-")?;
            }
            let pinned = pinned::clang_and_plugin(language, &arguments.options, arguments.is_plain)?;
            let named = |plugin: Plugin| Plugin { path: arguments.plugin.clone().unwrap_or(plugin.path), ..plugin };
            (Installation::find()?, pinned.clang, pinned.plugin.map(named))
        }
    };
    let mut command = Command::new(&clang);
    command.env(CALLED_CLANG, &clang);
    if arguments.reads_headers {
        // Behind all others, so that no file is found there that was found elsewhere before.
        command.args(["--start-no-unused-arguments", "-idirafter"]).arg(installation.headers()).arg("--end-no-unused-arguments");
    }
    match plugin {
        Some(plugin) if !arguments.is_plain => {
            instrument(&mut command, &clang, &plugin, arguments, &installation, is_of_cargo)?;
        }
        _ => {
            command.args(arguments.clang);
        }
    }
    Err(command.exec()).with_context(|| format!("{}: cannot be run", clang.display()))
}

/// Clang's own options, behind `-Xclang`.
const LEAVES_PASSES_OUT: [&str; 2] = ["-disable-llvm-passes", "-disable-llvm-optzns"];

/// Adds the plugin and the shim.
fn instrument(
    command: &mut Command,
    clang: &Path,
    plugin: &Plugin,
    arguments: Arguments,
    installation: &Installation,
    is_of_cargo: bool,
) -> Result<()> {
    if let Some(foreign) = &arguments.foreign {
        require!("{foreign}: only code for Linux on x86-64 can be counted; compile this with clang itself");
    }
    if arguments.emulates_tls && arguments.options.storage == Storage::Thread {
        require!(
            "-femulated-tls: counters cannot be in thread-local storage that is emulated; add --bbprof-storage=atomic, or -fno-emulated-tls"
        );
    }
    command.arg("--start-no-unused-arguments");
    let mut pass = OsString::from("-fpass-plugin=");
    pass.push(&plugin.path);
    command.arg(pass);
    if !arguments.is_assembly {
        // Lines do not change code, and the plugin takes these away again. The user's own -g options follow and win.
        command.arg("-gline-directives-only");
        // Where debuggers stop is nothing to us.
        if plugin.major >= 22 && !arguments.words.iter().any(|word| word.as_bytes().starts_with(b"-g")) {
            command.arg("-gno-key-instructions");
        }
    }
    let mut linker = None;
    if arguments.links {
        let real = linker::real_linker(clang, &arguments)?;
        let mut path = OsString::from("--ld-path=");
        path.push(shim::as_ld(installation, &real)?);
        command.arg(&path);
        linker = Some(path);
    }
    command.arg("--end-no-unused-arguments");
    command.args(&arguments.clang);
    if let Some(path) = linker.filter(|_| arguments.ld_path.is_some()) {
        // Behind the user's, too, which a response file has: the last one wins.
        command.args([OsStr::new("--start-no-unused-arguments"), &path, OsStr::new("--end-no-unused-arguments")]);
    }
    if let Some(option) = arguments.words.iter().find(|word| LEAVES_PASSES_OUT.iter().any(|option| word == option)) {
        tell!("{}: this leaves out the pass that places counters, too: what is compiled now is not counted", option.display());
    }
    if let Some(option) = arguments.words.iter().find(|word| word.to_string_lossy().starts_with("-fthinlto-index=")) {
        tell!("{}: no pass can place counters there: what is compiled now is not counted", option.display());
    }
    if let Some(why) = obstacle_to_lto(clang, &arguments, is_of_cargo)? {
        if let Some(option) = &arguments.needs_lto {
            tell!(
                "-flto is not supported with counters {why}: compiling without it (-fno-lto); leave {option} out, which needs it"
            );
        } else if arguments.links {
            tell!("-flto is not supported with counters {why}: compiling without it (-fno-lto)");
        }
        command.args(["--start-no-unused-arguments", "-fno-lto", "--end-no-unused-arguments"]);
    }
    Ok(())
}

/// Why there cannot be the link-time optimisation that is asked for.
fn obstacle_to_lto(clang: &Path, arguments: &Arguments, is_of_cargo: bool) -> Result<Option<&'static str>> {
    Ok(match arguments {
        Arguments { wants_lto: false, .. } => None,
        // The linker is rustc's to choose, and optimises without the shim.
        _ if is_of_cargo => Some("for code that rustc links"),
        Arguments { has_fat_objects: true, .. } => Some("and -ffat-lto-objects"),
        _ if linker::program_named(clang, "ld.lld")?.is_none() => Some("where no ld.lld of clang's version is installed"),
        _ => None,
    })
}

/// Whether cargo runs this build script for the target, not for the host: its output folder tells, `.../TRIPLE/PROFILE/build/...`.
fn is_built_for_target() -> bool {
    let (Some(out), Some(target)) = (std::env::var_os("OUT_DIR"), std::env::var_os("TARGET")) else { return false };
    Path::new(&out).iter().any(|part| part == target)
}
