//! The compilers that load the plugin: which LLVM is in them, and whether they can load it at all.

use super::SUPPORTED_MAJORS;
use super::llvm::install;
use crate::exit::require;
use anyhow::{Context, Result};
use object::read::elf::{Dyn, FileHeader};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What to do where rustc or cargo is not there.
pub(crate) const INSTALL_RUST: &str = "install Rust by rustup (https://rustup.rs)";

/// A rustc that can load the plugin.
#[derive(Clone, Debug)]
pub(crate) struct Rustc {
    /// Host triple.
    pub host: String,
    /// Release, for instance `1.95.0`.
    pub release: String,
    /// Major version of its LLVM.
    pub llvm: u32,
}

impl Rustc {
    /// Asks `rustc -vV`, and looks whether its LLVM is a shared library, for only then a plugin finds its symbols.
    pub(crate) fn inspect(rustc: &OsStr) -> Result<Self> {
        let name = rustc.to_string_lossy();
        let words = match duct::cmd!(rustc, "-vV").read() {
            Ok(words) => words,
            Err(error) => require!("{name}: cannot be run: {error}; {INSTALL_RUST}, or set RUSTC"),
        };
        let rustc =
            Self::parse(&words).with_context(|| format!("{name} -vV: expected host, release and LLVM version, found {words:?}"))?;
        if !SUPPORTED_MAJORS.contains(&rustc.llvm) {
            require!(
                "{name}: rustc {} has LLVM {}; bbprof supports 20 to 22 (rustc 1.87 or newer): use another toolchain",
                rustc.release,
                rustc.llvm
            );
        }
        let sysroot = duct::cmd!(&*name, "--print", "sysroot").read().with_context(|| format!("{name} --print sysroot"))?;
        if !has_shared_llvm(Path::new(sysroot.trim()), &rustc.host)? {
            require!(
                "{name}: {} has no shared libLLVM, so it cannot load a plugin: use a toolchain from rustup (rustup toolchain install stable)",
                sysroot.trim()
            );
        }
        Ok(rustc)
    }

    /// Reads the words of `rustc -vV`.
    fn parse(words: &str) -> Option<Self> {
        let value = |key: &str| words.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        Some(Self {
            host: value("host")?.to_owned(),
            release: value("release")?.to_owned(),
            llvm: value("LLVM version")?.split('.').next()?.parse().ok()?,
        })
    }

    /// The options that keep the code as it is while `RUSTC_BOOTSTRAP` is set, which makes a stable rustc take the defaults of
    /// a nightly one: other names of symbols, which show in backtraces. What `rustc` does by itself is found out by
    /// a try, for it differs between releases.
    ///
    /// None for a nightly rustc, which needs no `RUSTC_BOOTSTRAP`.
    pub(crate) fn bootstrap_options(&self, rustc: &OsStr) -> Result<Option<Vec<String>>> {
        if self.is_nightly() {
            return Ok(None);
        }
        let mut options = vec!["-Zallow-features=".to_owned()];
        // It writes files of fixed names on the way.
        let place = tempfile::tempdir().context("a temporary folder")?;
        let text = duct::cmd!(rustc, "--crate-name=probe", "--crate-type=lib", "--emit=asm", "-o", "-", "-")
            .dir(place.path())
            .env_remove("RUSTC_BOOTSTRAP")
            .stdin_bytes("pub fn probe() {}")
            .read()
            .with_context(|| format!("{}: cannot compile an empty function", rustc.to_string_lossy()))?;
        if text.contains("_ZN5probe5probe17h") {
            options.extend(["-Zunstable-options".to_owned(), "-Csymbol-mangling-version=legacy".to_owned()]);
        }
        Ok(Some(options))
    }

    /// Whether `-Z` options work without being asked for.
    fn is_nightly(&self) -> bool {
        self.release.contains("nightly") || self.release.contains("dev")
    }
}

/// Whether a libLLVM lies in the sysroot, or the compiler's own library needs the system's. Distributions have that
/// library in `lib64`, or, as Debian, in `lib/x86_64-linux-gnu`.
fn has_shared_llvm(sysroot: &Path, host: &str) -> Result<bool> {
    let lib = sysroot.join("lib");
    let mut drivers = Vec::new();
    for folder in
        [lib.clone(), lib.join("rustlib").join(host).join("lib"), sysroot.join("lib64"), lib.join(host.replace("-unknown-", "-"))]
    {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("libLLVM") && name.contains(".so") {
                return Ok(true);
            }
            if name.starts_with("librustc_driver") && name.ends_with(".so") {
                drivers.push(entry.path());
            }
        }
    }
    for driver in drivers {
        if needs_llvm(&driver).with_context(|| driver.display().to_string())? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether an ELF file's DT_NEEDED entries name a libLLVM.
fn needs_llvm(path: &Path) -> Result<bool> {
    let data = std::fs::read(path)?;
    let header = object::elf::FileHeader64::<object::Endianness>::parse(&*data)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, &*data)?;
    let Some((entries, strings)) = sections.dynamic(endian, &*data)? else { return Ok(false) };
    let strings = sections.strings(endian, &*data, strings)?;
    for entry in entries {
        if entry.d_tag(endian) == object::elf::DT_NEEDED {
            let name = entry.string(endian, strings)?;
            if name.starts_with(b"libLLVM") {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A clang that can load the plugin.
#[derive(Clone, Debug)]
pub(crate) struct Clang {
    pub path: PathBuf,
    /// Major version, which is its LLVM's too.
    pub major: u32,
}

impl Clang {
    /// The clang to use for C or C++: `chosen` if given, else the newest supported one that is installed.
    pub(crate) fn find(chosen: Option<&OsStr>, plus_plus: bool) -> Result<Self> {
        let base = if plus_plus { "clang++" } else { "clang" };
        if let Some(chosen) = chosen {
            let Ok(path) = which::which(chosen) else {
                require!("{}: no such compiler", chosen.to_string_lossy());
            };
            refuse_ourselves(&path)?;
            let Some(clang) = Self::ask(&path) else {
                require!(
                    "{}: not a clang (its --version says no clang version, or it calls bbprof-cc again); bbprof instruments with clang 20 to 22",
                    path.display()
                );
            };
            if !SUPPORTED_MAJORS.contains(&clang.major) {
                require!("{}: clang {} is not supported; bbprof instruments with clang 20 to 22", path.display(), clang.major);
            }
            return Ok(clang);
        }
        let named =
            SUPPORTED_MAJORS.iter().flat_map(|major| [format!("{base}-{major}"), format!("/usr/lib/llvm-{major}/bin/{base}")]);
        let mut unsupported = None;
        for name in named.chain([base.to_owned()]) {
            let Some(clang) = which::which(name).ok().and_then(|path| Self::ask(&path)) else { continue };
            if SUPPORTED_MAJORS.contains(&clang.major) {
                return Ok(clang);
            }
            unsupported = Some(clang);
        }
        let found =
            unsupported.map_or_else(|| "none was found".into(), |clang| format!("{} is {}", clang.path.display(), clang.major));
        require!("clang 20 to 22 is needed, but {found}; {}, or set BBPROF_CC / BBPROF_CXX", install(&["clang-22", "llvm-22-dev"]));
    }

    fn ask(path: &Path) -> Option<Self> {
        refuse_ourselves(path).ok()?;
        let words = duct::cmd!(path, "--version").env(CALLED_CLANG, path).stderr_null().read().ok()?;
        let (_, version) = words.lines().next()?.split_once("clang version ")?;
        let major = version.split('.').next()?.parse().ok()?;
        Some(Self { path: path.to_owned(), major })
    }
}

/// The C++ compiler beside this C compiler, by its name; folders may be called `clang`, too.
pub(crate) fn plus_plus_of(clang: &Path) -> PathBuf {
    let name = clang.file_name().and_then(OsStr::to_str).map(|name| name.replacen("clang", "clang++", 1));
    name.map_or_else(|| clang.to_owned(), |name| clang.with_file_name(name))
}

/// The clang that this process was called by, or by one of its children. It is no clang, but for instance a script that
/// calls `bbprof-cc`: they would call each other without end.
pub(crate) const CALLED_CLANG: &str = "BBPROF_CALLED_CLANG";

/// A compiler that is this program would call itself without end.
pub(crate) fn refuse_ourselves(path: &Path) -> Result<()> {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    if own.is_some() && path.canonicalize().ok() == own {
        require!("{}: this is bbprof's own compiler driver; BBPROF_CC and BBPROF_CXX name the clang that it calls", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rustc_words() {
        let words =
            "rustc 1.95.0 (x 2026-04-14)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\nLLVM version: 22.1.2\n";
        let rustc = Rustc::parse(words).unwrap();
        assert_eq!((rustc.llvm, &*rustc.host, rustc.is_nightly()), (22, "x86_64-unknown-linux-gnu", false));
        assert!(Rustc::parse("rustc 1.0").is_none());
    }

    #[test]
    fn folders_keep_their_names() {
        for (c, plus_plus) in [
            ("clang-22", "clang++-22"),
            ("/opt/clang+llvm-22.1.0/bin/clang", "/opt/clang+llvm-22.1.0/bin/clang++"),
            ("/usr/lib/llvm-22/bin/clang", "/usr/lib/llvm-22/bin/clang++"),
        ] {
            assert_eq!(plus_plus_of(Path::new(c)), Path::new(plus_plus));
        }
    }

    #[test]
    fn an_executable_without_llvm_needs_none() {
        assert!(!needs_llvm(&std::env::current_exe().unwrap()).unwrap());
    }
}
