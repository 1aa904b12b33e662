//! The link that makes native objects of bitcode: the one that is asked for, but for what it writes.

use super::replaced::is_for_plugins;
use super::{symbols, write};
use crate::command_line::{self, LinkCommand, Phrase, Product};
use crate::real_linker;
use anyhow::{Context, Result, bail};
use bstr::ByteSlice;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What clang has other linkers load to read bitcode; lld lies beside it.
const LLVM_PLUGIN: &str = "LLVMgold.so";

/// The lld that reads the bitcode.
pub(super) enum Lld {
    /// The linker itself.
    Linker(PathBuf),
    /// That of the clang that calls the linker.
    Another(PathBuf),
}

impl Lld {
    pub(super) fn of(linker: &Path, phrases: &[Phrase<'_>]) -> Result<Self> {
        if is_lld(linker) {
            return Ok(Self::Linker(linker.to_owned()));
        }
        let beside = phrases.iter().filter(|phrase| is_for_plugins(phrase)).find_map(|phrase| {
            let word = phrase.words.last()?.as_bytes();
            let path = Path::new(OsStr::from_bytes(word.rsplit_once_str("=").map_or(word, |(_, path)| path)));
            (path.file_name()? == LLVM_PLUGIN).then(|| path.parent().unwrap_or(Path::new("")).join("../bin/ld.lld"))
        });
        match beside.filter(|path| path.is_file()).or_else(|| which::which("ld.lld").ok()) {
            Some(lld) => Ok(Self::Another(lld)),
            None => bail!("-flto with counters needs ld.lld: install lld of the same version as clang, or compile without -flto"),
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Linker(path) | Self::Another(path) => path,
        }
    }
}

pub(super) fn is_lld(linker: &Path) -> bool {
    is_called(linker, "lld")
}

pub(super) fn is_called(linker: &Path, name: &str) -> bool {
    linker.file_name().is_some_and(|whole| whole.as_bytes().contains_str(name))
}

/// Options of GNU ld's that lld does not know: of the layout, of warnings, and of what is made besides.
const NOT_OF_LLD: [&str; 17] = [
    "Tldata-segment",
    "Trodata-segment",
    "Ttext-segment",
    "disable-multiple-abs-defs",
    "force-exe-suffix",
    "ld-generated-unwind-info",
    "no-ld-generated-unwind-info",
    "no-warn-execstack",
    "no-warn-rwx-segments",
    "out-implib",
    "print-sysroot",
    "reduce-memory-overheads",
    "retain-symbols-file",
    "spare-dynamic-tags",
    "traditional-format",
    "warn-execstack",
    "warn-rwx-segments",
];

/// The words of a phrase in lld's language.
fn as_lld_has_it(phrase: &Phrase<'_>) -> Vec<OsString> {
    let word = phrase.words[0].to_string_lossy();
    let option = word.trim_start_matches('-');
    let value =
        || option.split_once('=').map(|(_, value)| value.into()).or_else(|| phrase.words.get(1).cloned()).unwrap_or_default();
    match option.split('=').next() {
        _ if !word.starts_with('-') => phrase.words.to_vec(),
        // Whether it is defined is for the link that follows to say.
        Some("require-defined") => vec!["-u".into(), value()],
        Some("b" | "format") if value().as_bytes().starts_with(b"elf") => vec!["--format=elf".into()],
        Some("demangle") => vec!["--demangle".into()],
        Some(name) if NOT_OF_LLD.contains(&name) => Vec::new(),
        _ => phrase.words.to_vec(),
    }
}

/// Has lld load a plugin.
pub(super) fn loading(plugin: &Path) -> OsString {
    option("--load-pass-plugin=", plugin)
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push(path);
    option
}

/// Where lld writes.
pub(super) struct Link {
    folder: PathBuf,
    /// The first native object; the others have numbers behind this name.
    object: PathBuf,
    /// What is made of them, which says what is exported.
    linked: PathBuf,
    pub listing: PathBuf,
    product: Product,
}

impl Link {
    pub(super) fn within(folder: &Path, command: &LinkCommand) -> Result<Self> {
        // The map calls modules by these names.
        let mut name = command.output().file_name().unwrap_or_default().to_owned();
        name.push(".lto.o");
        let objects = folder.join("native");
        fs::create_dir(&objects).with_context(|| format!("cannot make {}", objects.display()))?;
        let (linked, listing) = (folder.join("linked"), folder.join("listing"));
        Ok(Self { object: objects.join(name), folder: objects, linked, listing, product: command.product })
    }

    /// Whether all is defined is found out by the link that follows.
    pub(super) fn command(&self, lld: &Lld, words: &[OsString], plugin: &Path) -> Result<Command> {
        let (variable, depth) = real_linker::next_depth(lld.path())?;
        let mut command = Command::new(lld.path());
        command.env(variable, depth).stdout(Stdio::null());
        match lld {
            Lld::Linker(_) => command.args(words),
            Lld::Another(_) => command.args(command_line::phrases(words).iter().flat_map(as_lld_has_it)),
        };
        command.arg(loading(plugin));
        command.arg(option("--lto-obj-path=", &self.object)).arg(option("--dependency-file=", &self.listing));
        // Of what it takes from a cache it writes no object, and the cache knows nothing of plugins. Of a module in parts, one has
        // the manifest.
        command.args(["--thinlto-cache-dir=", "--lto-partitions=1", "-Map=/dev/null", "--no-fatal-warnings"]);
        command.args(["--unresolved-symbols=ignore-all", "--allow-shlib-undefined", "--undefined-version", "-o"]);
        command.arg(&self.linked);
        Ok(command)
    }

    /// The native objects, in order.
    pub(super) fn objects(&self) -> Result<Vec<PathBuf>> {
        let first = self.object.as_os_str().as_bytes();
        let number = |path: &PathBuf| {
            let rest = path.as_os_str().as_bytes().strip_prefix(first)?.to_str().ok()?;
            if rest.is_empty() { Some(0) } else { rest.parse().ok() }
        };
        let mut objects: Vec<(u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder).with_context(|| self.folder.display().to_string())? {
            let path = entry?.path();
            objects.extend(number(&path).map(|number| (number, path)));
        }
        objects.sort();
        let exported = match self.product {
            Product::SharedLibrary => {
                Some(symbols::exported(&read(&self.linked)?).with_context(|| self.linked.display().to_string())?)
            }
            _ => None,
        };
        for (_, path) in &objects {
            write(path, &symbols::completed(read(path)?, exported.as_ref()))?;
        }
        Ok(objects.into_iter().map(|(_, path)| path).collect())
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| path.display().to_string())
}
