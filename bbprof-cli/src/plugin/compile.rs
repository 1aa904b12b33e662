//! Compiles the plugin: the C++ glue against the LLVM headers, linked with the Rust part. No libLLVM is linked; its symbols
//! resolve in the compiler that loads the plugin.

use super::llvm::{Llvm, install};
use crate::cache;
use crate::exit::require;
use crate::installation::Installation;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// What the glue is compiled with. No RTTI and no exceptions, as rustc's LLVM has none; `--exclude-libs` keeps the Rust
/// part's symbols out of the compiler's namespace.
const FLAGS: [&str; 12] = [
    "-std=c++17",
    "-fno-rtti",
    "-fno-exceptions",
    "-fPIC",
    "-O2",
    "-shared",
    "-fvisibility=hidden",
    "-D_GNU_SOURCE",
    "-D__STDC_CONSTANT_MACROS",
    "-D__STDC_FORMAT_MACROS",
    "-D__STDC_LIMIT_MACROS",
    concat!("-DBBPROF_VERSION=\"", env!("CARGO_PKG_VERSION"), "\""),
];

/// The C++ compiler for the glue: clang++ of that version, another clang++, g++.
pub(crate) fn compiler_for(major: u32) -> Result<PathBuf> {
    for name in [format!("clang++-{major}"), format!("/usr/lib/llvm-{major}/bin/clang++"), "clang++".into(), "g++".into()] {
        if let Ok(path) = which::which(name) {
            return Ok(path);
        }
    }
    require!(
        "a C++ compiler is needed to compile the plugin, but neither clang++-{major}, clang++ nor g++ was found; {}",
        install(&[&format!("clang-{major}")])
    );
}

/// The plugin for this LLVM, compiled if it is not in the cache.
pub(crate) fn ensure_plugin(installation: &Installation, llvm: &Llvm, say: impl Fn(&str)) -> Result<PathBuf> {
    let glue = installation.glue()?;
    let library = installation.plugin_library();
    let compiler = compiler_for(llvm.major)?;
    let compiler_version =
        duct::cmd!(&compiler, "--version").stderr_null().read().with_context(|| compiler.display().to_string())?;
    let include = llvm.include.display().to_string();
    let mut parts = vec![llvm.version.clone(), include, compiler.display().to_string(), compiler_version, FLAGS.join(" ")];
    for file in glue.iter().chain([&library]) {
        parts.push(file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
        parts.push(cache::content(file)?.to_string());
    }
    let folder = cache::root()?.join("plugin").join(cache::name_of(&parts));
    cache::folder_once_by_one(&folder, |folder| {
        say(&format!("compiling the plugin for LLVM {} (once; some ten seconds)", llvm.version));
        let sources: Vec<&PathBuf> = glue.iter().filter(|file| file.extension().is_some_and(|e| e == "cpp")).collect();
        compile(&compiler, llvm, &sources, &library, &folder.join("bbprof.so"))
    })?;
    Ok(folder.join("bbprof.so"))
}

fn compile(compiler: &Path, llvm: &Llvm, sources: &[&PathBuf], library: &Path, output: &Path) -> Result<()> {
    let mut command = std::process::Command::new(compiler);
    command.args(FLAGS).arg("-isystem").arg(&llvm.include);
    // As one translation unit: LLVM's headers take nearly all of the time, and are read once so.
    for source in sources {
        command.arg("-include").arg(source);
    }
    command
        .args(["-x", "c++", "/dev/null", "-x", "none"])
        .arg(library)
        .args(["-Wl,--exclude-libs,ALL", "-Wl,--gc-sections", "-lpthread", "-ldl", "-o"])
        .arg(output);
    let result = command.output().with_context(|| format!("{}: cannot be run", compiler.display()))?;
    if !result.status.success() {
        if which::which("ld").is_err() {
            require!("a linker is needed to compile the plugin, but there is no ld in PATH; {}", install(&["binutils"]));
        }
        bail!(
            "{} could not compile the plugin for LLVM {} ({}):\n{}",
            compiler.display(),
            llvm.version,
            result.status,
            String::from_utf8_lossy(&result.stderr).trim_end()
        );
    }
    Ok(())
}
