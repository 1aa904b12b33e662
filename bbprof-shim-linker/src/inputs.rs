//! From the names on a link line to files: library search, linker scripts, thin archives; what each file is, decided by its
//! first bytes.

use crate::command_line::{Input, InputMode, InputName, Level, LinkCommand};
use crate::linker_script;
use crate::mapped_file::MappedFile;
use crate::thin_archive::{self, ThinArchiveError};
use bbprof_format::bitcode::is_bitcode;
use object::read::archive::ArchiveFile;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FileKind {
    /// ELF relocatable.
    Object,
    /// `ar` archive, thin or not.
    Archive,
    /// ELF shared library (or an executable, which no linker takes).
    SharedLibrary,
    /// LLVM's, for link-time optimisation.
    Bitcode,
    /// Linker script.
    Script,
    /// Anything else, left to the linker.
    Other,
}

/// An input file of the link.
#[derive(Debug)]
pub(crate) struct InputFile {
    /// Where it is.
    pub path: PathBuf,
    /// What messages and the map call it.
    pub origin: String,
    /// Its bytes.
    pub bytes: MappedFile,
    /// What it is.
    pub kind: FileKind,
    /// The linker may leave it (or its members) out.
    pub optional: bool,
}

/// Where linkers look besides `-L`.
const SYSTEM_DIRS: &[&str] = &[
    "/usr/local/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/local/lib64",
    "/lib64",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/usr/lib",
];
/// A script longer than this is no list of libraries; it keeps big text files from being searched (a guess).
const MAX_SCRIPT_BYTES: usize = 1 << 20;
/// Scripts naming scripts deeper than this name themselves.
const MAX_SCRIPT_DEPTH: u32 = 16;

/// Decides by the first bytes; text is a script when it reads like one.
pub(crate) fn sniff(bytes: &[u8]) -> FileKind {
    if bytes.starts_with(b"\x7fELF") {
        // e_type, in the file's own byte order: ET_REL is 1.
        return match bytes.get(16..18) {
            Some([1, 0] | [0, 1]) => FileKind::Object,
            _ => FileKind::SharedLibrary,
        };
    }
    if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
        return FileKind::Archive;
    }
    if is_bitcode(bytes) {
        return FileKind::Bitcode;
    }
    if bytes.len() <= MAX_SCRIPT_BYTES && linker_script::inputs(bytes).is_some() {
        return FileKind::Script;
    }
    FileKind::Other
}

/// Finds and maps every input; what cannot be found or opened is left to the linker to complain about.
///
/// # Errors
/// A thin archive whose members cannot be told: the linker might find them yet.
pub(crate) fn load(command: &LinkCommand, level: Level) -> Result<Vec<InputFile>, ThinArchiveError> {
    let mut loader = Loader::of(command, level);
    for input in &command.inputs {
        loader.input(input, 0)?;
    }
    if command.driver_static && !command.no_default_libraries {
        // Drivers add it behind everything.
        let mode = InputMode { static_only: true, ..InputMode::default() };
        loader.input(&Input { name: InputName::Library("c".into()), mode }, 0)?;
    }
    Ok(loader.files)
}

/// The files of one input.
///
/// # Errors
/// As of [`load`].
pub(crate) fn load_one(command: &LinkCommand, level: Level, input: &Input) -> Result<Vec<InputFile>, ThinArchiveError> {
    let mut loader = Loader::of(command, level);
    loader.input(input, 0)?;
    Ok(loader.files)
}

/// Of what the linker has read, files that may hold manifests and are not among these: objects asked for them (`#pragma
/// comment(lib, ...)`), scripts by words that are not read here, other files stood for them (`--remap-inputs`).
///
/// # Errors
/// As of [`load`].
pub(crate) fn load_unseen(
    command: &LinkCommand,
    files: &[InputFile],
    listed: Vec<PathBuf>,
) -> Result<Vec<InputFile>, ThinArchiveError> {
    let foreign = command.inputs.iter().filter(|input| input.mode.foreign).filter_map(|input| match &input.name {
        InputName::File(path) => Some(path),
        _ => None,
    });
    let known: HashSet<&Path> =
        files.iter().map(|file| &file.path).chain(foreign).chain(&command.side_files).map(PathBuf::as_path).collect();
    // By another way, the linker calls the same file by another name.
    let mut seen: HashSet<_> = files.iter().map(|file| file.bytes.identity).collect();
    let mut loader = Loader { dirs: Vec::new(), sysroot: None, seen: HashSet::new(), files: Vec::new() };
    for (path, bytes) in listed.into_iter().filter(|path| !known.contains(path.as_path())).filter_map(opened) {
        if seen.insert(bytes.identity) && matches!(sniff(&bytes), FileKind::Object | FileKind::Archive) {
            loader.add(path, bytes, InputMode { lazy: true, ..InputMode::default() }, 0)?;
        }
    }
    Ok(loader.files)
}

/// Which archives would be linked whole, but are not among what the linker has read: it found others by
/// the same names. (Where it lists nothing, it says nothing.)
pub(crate) fn passed_over(files: &[InputFile], listed: &[PathBuf]) -> impl Iterator<Item = usize> {
    let whole = |file: &InputFile| file.kind == FileKind::Archive && !file.optional && !thin_archive::is_thin(&file.bytes);
    let is_read = |file: &InputFile| {
        listed.is_empty()
            || listed.contains(&file.path)
            || listed.iter().any(|path| MappedFile::identity_at(path) == Some(file.bytes.identity))
    };
    files.iter().enumerate().filter(move |(_, file)| whole(file) && !is_read(file)).map(|(at, _)| at)
}

/// Whether an archive among the inputs has this symbol in its index.
pub(crate) fn archives_define(files: &[InputFile], symbol: &str) -> bool {
    files.iter().filter(|file| file.kind == FileKind::Archive).any(|file| {
        let symbols = ArchiveFile::parse(&*file.bytes).ok().and_then(|archive| archive.symbols().ok().flatten());
        symbols.is_some_and(|mut symbols| symbols.any(|found| found.is_ok_and(|found| found.name() == symbol.as_bytes())))
    })
}

struct Loader {
    dirs: Vec<PathBuf>,
    sysroot: Option<PathBuf>,
    seen: HashSet<(PathBuf, bool)>,
    files: Vec<InputFile>,
}

impl Loader {
    fn of(command: &LinkCommand, level: Level) -> Self {
        Self { dirs: search_dirs(command, level), sysroot: command.sysroot.clone(), seen: HashSet::new(), files: Vec::new() }
    }

    fn input(&mut self, input: &Input, script_depth: u32) -> Result<(), ThinArchiveError> {
        if input.mode.foreign {
            return Ok(());
        }
        let found = match &input.name {
            InputName::File(path) => self.file(path, script_depth).and_then(opened),
            InputName::Library(name) => self.library(name, input.mode),
            InputName::LibraryFile(name) => self.dirs.iter().map(|dir| dir.join(name)).find_map(taken),
        };
        if let Some((path, bytes)) = found {
            self.add(path, bytes, input.mode, script_depth)?;
        }
        Ok(())
    }

    /// A file named on the command line, or by a script: those are searched for in the sysroot and the library folders, too.
    fn file(&self, path: &Path, script_depth: u32) -> Option<PathBuf> {
        let in_sysroot =
            self.sysroot.as_ref().filter(|_| script_depth > 0).and_then(|root| Some(root.join(path.strip_prefix("/").ok()?)));
        in_sysroot
            .filter(|path| path.is_file())
            .or_else(|| path.is_file().then(|| path.to_owned()))
            .or_else(|| self.dirs.iter().map(|dir| dir.join(path)).find(|path| script_depth > 0 && path.is_file()))
    }

    fn library(&self, name: &OsStr, mode: InputMode) -> Option<(PathBuf, MappedFile)> {
        let file = |extension: &str| {
            let mut file = OsString::from("lib");
            file.push(name);
            file.push(extension);
            file
        };
        let names = if mode.static_only { vec![file(".a")] } else { vec![file(".so"), file(".a")] };
        self.dirs.iter().flat_map(|dir| names.iter().map(move |name| dir.join(name))).find_map(taken)
    }

    fn add(&mut self, path: PathBuf, bytes: MappedFile, mode: InputMode, script_depth: u32) -> Result<(), ThinArchiveError> {
        let kind = sniff(&bytes);
        let optional = if kind == FileKind::Archive { !mode.whole_archive } else { mode.lazy };
        if !self.seen.insert((path.clone(), optional)) {
            return Ok(());
        }
        let script = (kind == FileKind::Script && script_depth < MAX_SCRIPT_DEPTH).then(|| linker_script::inputs(&bytes)).flatten();
        let origin = origin(&path);
        let thin = if thin_archive::is_thin(&bytes) { thin_members(&bytes, &path, &origin, optional)? } else { Vec::new() };
        self.files.push(InputFile { path, origin, bytes, kind, optional });
        self.files.extend(thin);
        for name in script.unwrap_or_default() {
            // Where linkers look for what scripts name differs.
            self.input(&Input { name, mode: mode.perhaps_another() }, script_depth + 1)?;
        }
        Ok(())
    }
}

fn opened(path: PathBuf) -> Option<(PathBuf, MappedFile)> {
    MappedFile::open(&path).ok().map(|bytes| (path, bytes))
}

/// Linkers look on where a library cannot be read, or is for another machine.
fn taken(library: PathBuf) -> Option<(PathBuf, MappedFile)> {
    Some(library).filter(|path| path.is_file()).and_then(opened).filter(|(_, bytes)| is_for_this_machine(bytes))
}

/// Of an archive, the first object decides.
fn is_for_this_machine(bytes: &[u8]) -> bool {
    const CLASS_64: u8 = 2;
    const X86_64: [u8; 2] = [62, 0];
    let is_foreign = |bytes: &[u8]| {
        bytes.starts_with(b"\x7fELF") && (bytes.get(4), bytes.get(18..20)) != (Some(&CLASS_64), Some(X86_64.as_slice()))
    };
    let Ok(archive) = ArchiveFile::parse(bytes) else { return !is_foreign(bytes) };
    let mut objects = archive.members().flatten().filter_map(|member| member.data(bytes).ok());
    objects.find(|object| object.starts_with(b"\x7fELF")).is_none_or(|object| !is_foreign(object))
}

/// Members of a thin archive are files beside it, or in an archive beside it. That is taken whole; what the linker leaves out of
/// it shows in the presence table.
fn thin_members(bytes: &[u8], archive: &Path, origin: &str, optional: bool) -> Result<Vec<InputFile>, ThinArchiveError> {
    let folder = archive.parent().unwrap_or(Path::new(""));
    let file = |member: thin_archive::ThinMember<'_>| {
        let (path, bytes) = opened(folder.join(member.path))?;
        let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
        let origin = format!("{origin}({name})");
        let kind = sniff(&bytes);
        Some(InputFile { path, origin, bytes, kind, optional: optional || member.nested })
    };
    Ok(thin_archive::members(bytes, origin)?.into_iter().filter_map(file).collect())
}

/// As named when relative; the bare file name otherwise, so that maps do not depend on where a build tree stands. Objects in
/// the temporary folder have random names, which say nothing.
fn origin(path: &Path) -> String {
    if path.is_relative() {
        return path.display().to_string();
    }
    if path.parent().is_some_and(|folder| folder == std::env::temp_dir()) {
        return "temporary object".to_owned();
    }
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn search_dirs(command: &LinkCommand, level: Level) -> Vec<PathBuf> {
    let root = command.sysroot.as_deref();
    let in_root = |dir: &str| root.map_or_else(|| PathBuf::from("/").join(dir), |root| root.join(dir));
    let named = command.library_dirs.iter().map(|dir| {
        let text = dir.to_string_lossy();
        let relative = text.strip_prefix('=').or_else(|| text.strip_prefix("$SYSROOT"));
        relative.map_or_else(|| dir.clone(), |dir| in_root(dir.trim_start_matches('/')))
    });
    let from_environment = std::env::var_os("LIBRARY_PATH").filter(|_| level == Level::Cc).unwrap_or_default();
    let from_environment: Vec<PathBuf> =
        std::env::split_paths(&from_environment).filter(|dir| !dir.as_os_str().is_empty()).collect();
    let system = SYSTEM_DIRS.iter().map(|dir| in_root(dir.trim_start_matches('/')));
    named.chain(from_environment).chain(system).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_first_bytes() {
        let elf = |low: u8| {
            let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
            bytes.resize(16, 0);
            bytes.extend([low, 0]);
            bytes
        };
        assert_eq!(sniff(&elf(1)), FileKind::Object);
        assert_eq!(sniff(&elf(3)), FileKind::SharedLibrary);
        assert_eq!(sniff(b"\x7fELF"), FileKind::SharedLibrary);
        assert_eq!(sniff(b"!<thin>\n"), FileKind::Archive);
        assert_eq!(sniff(b"INPUT(a.o)"), FileKind::Script);
        assert_eq!(sniff(b"BC\xc0\xde5\x14"), FileKind::Bitcode);
        assert_eq!(sniff(b"\xde\xc0\x17\x0b"), FileKind::Bitcode);
        assert_eq!(sniff(b"BC, a script?"), FileKind::Other);
        assert_eq!(sniff(b""), FileKind::Other);
    }

    #[test]
    fn temporary_and_absolute_names_leave_the_map_alone() {
        assert_eq!(origin(Path::new("obj/a.o")), "obj/a.o");
        assert_eq!(origin(Path::new("/home/u/obj/a.o")), "a.o");
        assert_eq!(origin(&std::env::temp_dir().join("a-3f2c.o")), "temporary object");
    }
}
