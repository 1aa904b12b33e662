//! Finds the LLVM headers of a major version.

use crate::exit::require;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The LLVM major versions that the plugin is written for, best first.
pub(crate) const SUPPORTED_MAJORS: [u32; 3] = [22, 21, 20];

/// An LLVM whose headers are here.
#[derive(Clone, Debug)]
pub(crate) struct Llvm {
    pub major: u32,
    /// As `llvm-config --version` says it, for instance `22.1.8`.
    pub version: String,
    pub include: PathBuf,
}

impl Llvm {
    /// The LLVM of this major version: `BBPROF_LLVM_CONFIG`, `llvm-config-22`, `/usr/lib/llvm-22/bin/llvm-config`, `llvm-config`.
    pub(crate) fn find(major: u32) -> Result<Self> {
        if !SUPPORTED_MAJORS.contains(&major) {
            require!("LLVM {major} is not supported (20 to 22 are)");
        }
        let mut candidates =
            vec![format!("llvm-config-{major}"), format!("/usr/lib/llvm-{major}/bin/llvm-config"), "llvm-config".into()];
        if let Some(chosen) = std::env::var("BBPROF_LLVM_CONFIG").ok().filter(|chosen| !chosen.is_empty()) {
            if which::which(&chosen).is_err() {
                require!("BBPROF_LLVM_CONFIG={chosen}: no such program");
            }
            candidates.insert(0, chosen);
        }
        let mut without_headers = None;
        for candidate in candidates {
            let Ok(config) = which::which(&candidate) else { continue };
            let Some(llvm) = Self::ask(&config) else { continue };
            if llvm.major == major {
                if llvm.include.join("llvm/IR/PassManager.h").is_file() {
                    return Ok(llvm);
                }
                without_headers = Some(llvm.include);
            }
        }
        let found = without_headers.map_or_else(
            || format!("no llvm-config of version {major} was found"),
            |include| format!("{}: llvm/IR/PassManager.h is not there", include.display()),
        );
        require!(
            "the headers of LLVM {major} are needed, but {found}; {}",
            install(&[&format!("llvm-{major}-dev"), &format!("clang-{major}")])
        );
    }

    fn ask(config: &Path) -> Option<Self> {
        let answer = duct::cmd!(config, "--version", "--includedir").stderr_null().read().ok()?;
        let mut lines = answer.lines();
        let version = lines.next()?.trim().to_owned();
        let include = PathBuf::from(lines.next()?.trim());
        let major = version.split('.').next()?.parse().ok()?;
        Some(Self { major, version, include })
    }
}

/// How to install Debian packages, in words.
pub(crate) fn install(packages: &[&str]) -> String {
    format!("install: apt-get install {}", packages.join(" "))
}
