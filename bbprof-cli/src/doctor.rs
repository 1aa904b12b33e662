//! `bbprof doctor`: looks at everything that bbprof needs, and says in words what is there and what is missing.

use crate::cache;
use crate::cc::chosen;
use crate::commands::to_stdout;
use crate::installation::Installation;
use crate::messages::tell;
use crate::plugin::{Clang, Llvm, Rustc, compiler_for, ensure_plugin, install};
use crate::roles::Language;
use anyhow::Result;
use std::path::PathBuf;

/// The findings so far.
#[derive(Default)]
struct Findings {
    lines: Vec<String>,
    required_missing: u32,
}

impl Findings {
    /// Notes one finding; a required one that is missing counts.
    fn note<T>(&mut self, what: &str, found: Result<T>, words: impl FnOnce(&T) -> String, required: bool) -> Option<T> {
        match found {
            Ok(value) => {
                self.lines.push(format!("ok       {what}: {}", words(&value)));
                Some(value)
            }
            Err(error) => {
                self.lines.push(format!("{} {what}: {error:#}", if required { "missing " } else { "without " }));
                self.required_missing += u32::from(required);
                None
            }
        }
    }
}

#[expect(clippy::ptr_arg, reason = "passed as a function of a found PathBuf")]
fn path(path: &PathBuf) -> String {
    path.display().to_string()
}

/// Prints the findings; `Ok(true)` if nothing required is missing.
pub(crate) fn examine() -> Result<bool> {
    let mut findings = Findings::default();
    let installation = Installation::find()?;
    findings.note(
        "plugin's sources",
        installation.glue(),
        |files| format!("{} files in {}", files.len(), path(&installation.root.join("lib/bbprof"))),
        true,
    );
    findings.note("linker shim", installation.shim(), path, true);
    findings.note("cache", cache_is_writable(), path, true);
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rustc = findings.note(
        "rustc",
        Rustc::inspect(&rustc),
        |rustc| format!("{} with LLVM {} ({})", rustc.release, rustc.llvm, rustc.host),
        true,
    );
    let clang = findings.note(
        "clang",
        Clang::find(chosen(Language::C).as_deref(), false),
        |clang| format!("{} ({})", path(&clang.path), clang.major),
        false,
    );
    findings.note(
        "clang++",
        Clang::find(chosen(Language::Cxx).as_deref(), true),
        |clang| format!("{} ({})", path(&clang.path), clang.major),
        false,
    );
    let mut majors: Vec<u32> = rustc.iter().map(|rustc| rustc.llvm).chain(clang.iter().map(|clang| clang.major)).collect();
    majors.sort_unstable();
    majors.dedup();
    for major in majors {
        let llvm = findings.note(
            &format!("headers of LLVM {major}"),
            Llvm::find(major),
            |llvm| format!("{} in {}", llvm.version, path(&llvm.include)),
            true,
        );
        findings.note(&format!("C++ compiler for the plugin of LLVM {major}"), compiler_for(major), path, true);
        if let Some(llvm) = llvm {
            let plugin = ensure_plugin(&installation, &llvm, |message| tell!("{message}"));
            findings.note(&format!("plugin for LLVM {major}"), plugin, path, true);
        }
    }
    findings.note("linker driver cc", program("cc", "gcc"), |found| found.clone(), true);
    for (name, package) in [("ld", "binutils"), ("ld.lld", "lld"), ("mold", "mold")] {
        findings.note(&format!("linker {name}"), program(name, package), |found| found.clone(), name == "ld");
    }
    let is_complete = findings.required_missing == 0;
    to_stdout(|out| {
        writeln!(out, "bbprof {}", env!("CARGO_PKG_VERSION"))?;
        findings.lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        writeln!(
            out,
            "{} that is required is {}",
            if is_complete { "everything" } else { "something" },
            if is_complete { "there" } else { "missing" }
        )
    })?;
    Ok(is_complete)
}

fn cache_is_writable() -> Result<PathBuf> {
    let root = cache::root()?;
    let probe = root.join(".probe");
    cache::write_atomically(&probe, b"")?;
    std::fs::remove_file(&probe)?;
    Ok(root)
}

fn program(name: &str, package: &str) -> Result<String> {
    match which::which(name) {
        Ok(found) => Ok(path(&found)),
        Err(error) => Err(anyhow::anyhow!("{name}: {error}; {}", install(&[package]))),
    }
}
