//! The link that makes native objects of bitcode: the one that is asked for, but for what it writes.

use super::replaced::is_for_plugins;
use super::{unused_counters, write};
use crate::command_line::{LinkCommand, Phrase};
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
        if linker.file_name().is_some_and(|name| name.as_bytes().contains_str("lld")) {
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
    pub listing: PathBuf,
}

impl Link {
    pub(super) fn within(folder: &Path, command: &LinkCommand) -> Result<Self> {
        // The map calls modules by these names.
        let mut name = command.output().file_name().unwrap_or_default().to_owned();
        name.push(".lto.o");
        let link =
            Self { folder: folder.join("native"), object: folder.join("native").join(name), listing: folder.join("listing") };
        fs::create_dir(&link.folder).with_context(|| format!("cannot make {}", link.folder.display()))?;
        Ok(link)
    }

    /// Whether all is defined is found out by the link that follows.
    pub(super) fn command(&self, lld: &Lld, words: &[OsString], plugin: &Path) -> Result<Command> {
        let (variable, depth) = real_linker::next_depth(lld.path())?;
        let mut command = Command::new(lld.path());
        command.env(variable, depth).stdout(Stdio::null()).args(words).arg(loading(plugin));
        command.arg(option("--lto-obj-path=", &self.object)).arg(option("--dependency-file=", &self.listing));
        // Of what it takes from a cache it writes no object, and the cache knows nothing of plugins.
        command.args([
            "--thinlto-cache-dir=",
            "--unresolved-symbols=ignore-all",
            "--allow-shlib-undefined",
            "-Map=/dev/null",
            "-o",
        ]);
        command.arg(self.folder.with_file_name("linked"));
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
        for (_, path) in &objects {
            let object = fs::read(path).with_context(|| path.display().to_string())?;
            write(path, &unused_counters::typed(object))?;
        }
        Ok(objects.into_iter().map(|(_, path)| path).collect())
    }
}
