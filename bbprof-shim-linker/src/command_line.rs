//! What a link command asks for, as far as the shim needs to know: its inputs in order, where it looks for libraries, what kind
//! of image it makes.
//!
//! Two languages are read: that of linkers ([`ld`]) and that of compiler drivers ([`cc`]), which hands what stands behind `-Wl,`
//! and `-Xlinker` to the first. Reading is pure; only `@file`s are looked into, through a closure.

mod abbreviated;
mod cc;
mod ld;
mod response_file;

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use ld::{Phrase, phrases};
pub(crate) use response_file::{expand, quoted, tokens};

/// Who the shim stands in for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Level {
    /// A linker: `ld`, `ld.lld`, `mold`.
    Ld,
    /// A compiler driver that links: `cc`, `clang`.
    Cc,
}

/// What a command makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Product {
    /// An executable, position-independent or not.
    #[default]
    Executable,
    /// A shared library.
    SharedLibrary,
    /// Another object (`-r`).
    Relocatable,
    /// No link at all: `--version`, `-c`, `-E`.
    Nothing,
}

/// An input as the command line names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum InputName {
    /// A file.
    File(PathBuf),
    /// `-lname`: `libname.so` or `libname.a` in the library folders.
    Library(OsString),
    /// `-l:name`: that very file name in the library folders.
    LibraryFile(OsString),
}

/// How the linker treats an input, by the options in force where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct InputMode {
    /// Members of archives are all linked (`--whole-archive`).
    pub whole_archive: bool,
    /// Objects are linked on demand like members of archives (`--start-lib`).
    pub lazy: bool,
    /// `-l` finds archives only (`-Bstatic`).
    pub static_only: bool,
    /// The file is raw data (`--format=binary`), or a source.
    pub foreign: bool,
}

impl InputMode {
    /// The mode of an input that may not be linked at all, because the linker takes another file for it.
    pub(crate) fn perhaps_another(self) -> Self {
        Self { lazy: true, whole_archive: false, ..self }
    }
}

/// One input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Input {
    /// As named.
    pub name: InputName,
    /// As treated.
    pub mode: InputMode,
}

/// What a link command asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LinkCommand {
    /// What it makes.
    pub product: Product,
    /// Its output, where it names one.
    pub output: Option<PathBuf>,
    /// Inputs in order.
    pub inputs: Vec<Input>,
    /// `-L` folders in order.
    pub library_dirs: Vec<PathBuf>,
    /// `--sysroot`.
    pub sysroot: Option<PathBuf>,
    /// The image names a dynamic linker.
    pub dynamic_linker: bool,
    /// `-static` or `-static-pie` given to a compiler driver.
    pub driver_static: bool,
    /// A compiler driver was told not to add libc (`-nostdlib`, `-nodefaultlibs`).
    pub no_default_libraries: bool,
    /// Where the linker lists what it read (`--dependency-file`).
    pub dependency_file: Option<PathBuf>,
    /// Files that options name and the link reads besides its inputs: version scripts, symbol lists, plugins.
    pub side_files: Vec<PathBuf>,
}

impl LinkCommand {
    /// Reads the arguments behind the command's own name; `@file`s are expanded already.
    pub(crate) fn read(level: Level, arguments: &[OsString]) -> Self {
        match level {
            Level::Ld => ld::read(arguments),
            Level::Cc => cc::read(arguments),
        }
    }

    /// The file the link writes.
    pub(crate) fn output(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| PathBuf::from("a.out"))
    }
}
