//! `BBPROF_SAVE_LINK=DIR`: keeps everything a link needs, so that it can be run again elsewhere.
//!
//! ```text
//! DIR/0001/command      the command, a shell-quoted argument a line
//! DIR/0001/directory    where it ran
//! DIR/0001/environment  what of the environment matters to linkers
//! DIR/0001/root/...     copies of all files it read, by absolute path
//! DIR/0001/added/...    generated object and runtime, when the link is instrumented
//! DIR/0001/run-with     runs it again: `run-with [LINKER [ARGUMENT...]]`, output to $OUT (default: ./NAME)
//! ```
//! A link that is done twice, as the linker took inputs that the command does not name, is saved twice: the second has them.
//! Found again through `root`: files that arguments name, `-L` folders and, for linkers, what scripts name absolutely
//! (`--sysroot`). A compiler driver brings its own start files and default libraries.

use crate::command_line::{Level, LinkCommand};
use crate::inputs::InputFile;
use crate::link::setting;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Read by linkers and by the drivers that call them.
const ENVIRONMENT: &[&str] = &[
    "COLLECT_GCC",
    "COLLECT_GCC_OPTIONS",
    "COLLECT_LTO_WRAPPER",
    "COMPILER_PATH",
    "GCC_EXEC_PREFIX",
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "LD_RUN_PATH",
    "LIBRARY_PATH",
    "SOURCE_DATE_EPOCH",
    "TMPDIR",
];

/// A link being saved.
pub(crate) struct SavedLink {
    folder: PathBuf,
    level: Level,
    linker: PathBuf,
    arguments: Vec<Argument>,
    output_name: OsString,
    has_sysroot: bool,
}

/// An argument, taken apart so that it can be put together with other paths.
enum Argument {
    Plain(OsString),
    /// What stands before the path, and the path as it was.
    Path(OsString, PathBuf),
    /// What stands before the output's path.
    Output(OsString),
    /// `-Wl,` list.
    List(Vec<Argument>),
}

impl SavedLink {
    /// Saves the link as it was asked for, when that is wanted.
    ///
    /// # Errors
    /// When a file cannot be copied.
    pub(crate) fn begin(
        level: Level,
        linker: &Path,
        arguments: &[OsString],
        command: &LinkCommand,
        files: &[InputFile],
    ) -> Result<Option<Self>> {
        let Some(parent) = setting("BBPROF_SAVE_LINK") else { return Ok(None) };
        let folder = new_folder(Path::new(&parent)).with_context(|| format!("cannot save the link in {}", parent.display()))?;
        let paths: BTreeSet<&Path> =
            files.iter().map(|file| file.path.as_path()).chain(command.side_files.iter().map(PathBuf::as_path)).collect();
        let here = env::current_dir().context("no working directory")?;
        for path in paths.iter().filter(|path| path.is_file()) {
            let copy = folder.join("root").join(here.join(path).strip_prefix("/").unwrap_or(path));
            copy_to(path, &copy).with_context(|| format!("cannot save {}", path.display()))?;
        }
        let reader = ArgumentReader { paths: &paths, command };
        let saved = Self {
            folder,
            level,
            linker: linker.to_owned(),
            arguments: reader.read_all(arguments),
            output_name: command.output().file_name().map_or_else(|| "a.out".into(), OsStr::to_owned),
            has_sysroot: command.sysroot.is_some(),
        };
        let lines = |items: Vec<String>| items.into_iter().map(|item| item + "\n").collect::<String>();
        let command_text =
            std::iter::once(linker.as_os_str()).chain(arguments.iter().map(OsString::as_os_str)).map(quoted).collect();
        let environment = ENVIRONMENT.iter().filter_map(|name| Some(format!("{name}={}", quoted(&setting(name)?)))).collect();
        saved.text("command", &lines(command_text))?;
        saved.text("directory", &lines(vec![here.display().to_string()]))?;
        saved.text("environment", &lines(environment))?;
        saved.write_script(&[], &[])?;
        Ok(Some(saved))
    }

    /// Adds what the shim puts into the link.
    ///
    /// # Errors
    /// When a file cannot be copied.
    pub(crate) fn add(&self, files: &[PathBuf], options: &[OsString]) -> Result<()> {
        for file in files {
            let copy = self.folder.join("added").join(file.file_name().unwrap_or_default());
            copy_to(file, &copy).with_context(|| format!("cannot save {}", file.display()))?;
        }
        self.write_script(files, options)
    }

    fn text(&self, name: &str, text: &str) -> Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    fn write_script(&self, files: &[PathBuf], options: &[OsString]) -> Result<()> {
        let here = env::current_dir().context("no working directory")?;
        let mut words = Vec::new();
        for file in files {
            words.push(format!("\"$saved\"/added/{}", quoted(file.file_name().unwrap_or_default())));
        }
        words.extend(options.iter().map(|option| quoted(option)));
        if self.level == Level::Ld && !self.has_sysroot {
            words.push("--sysroot=\"$saved\"/root".to_owned());
        }
        words.extend(self.arguments.iter().map(|argument| argument.shell(&here)));
        let mut script =
            String::from("#!/bin/sh\n# Runs this link again: run-with [LINKER [ARGUMENT...]]. The output goes to $OUT.\n");
        let _ = writeln!(script, "saved=$(cd \"$(dirname \"$0\")\" && pwd) || exit 1\nOUT=${{OUT:-{}}}", quoted(&self.output_name));
        let _ = writeln!(script, "linker=${{1:-{}}}\n[ $# -eq 0 ] || shift", quoted(self.linker.as_os_str()));
        let _ = write!(script, "exec \"$linker\" \"$@\"");
        for word in words {
            let _ = write!(script, " \\\n    {word}");
        }
        script.push('\n');
        self.text("run-with", &script)?;
        fs::set_permissions(self.folder.join("run-with"), fs::Permissions::from_mode(0o755))
            .context("cannot make run-with executable")
    }
}

impl Argument {
    fn shell(&self, here: &Path) -> String {
        match self {
            Self::Plain(text) => quoted(text),
            Self::Path(prefix, path) => {
                let prefix = if prefix.is_empty() { String::new() } else { quoted(prefix) };
                format!("{prefix}\"$saved\"/root{}", quoted(here.join(path).as_os_str()))
            }
            Self::Output(prefix) => format!("{}\"$OUT\"", if prefix.is_empty() { String::new() } else { quoted(prefix) }),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.shell(here)).collect();
                format!("-Wl,{}", items.join(","))
            }
        }
    }
}

/// Recognises the paths in arguments.
struct ArgumentReader<'a> {
    paths: &'a BTreeSet<&'a Path>,
    command: &'a LinkCommand,
}

impl ArgumentReader<'_> {
    fn read_all(&self, arguments: &[OsString]) -> Vec<Argument> {
        let mut option = OsString::new();
        let mut read = Vec::with_capacity(arguments.len());
        for argument in arguments {
            read.push(match argument.as_bytes().strip_prefix(b"-Wl,") {
                Some(list) => {
                    let items = list.split(|byte| *byte == b',').map(|item| self.read_after(&mut option, OsStr::from_bytes(item)));
                    Argument::List(items.collect())
                }
                None => self.read_after(&mut option, argument),
            });
        }
        read
    }

    /// Reads an argument that stands behind `option`, which becomes the argument itself.
    fn read_after(&self, option: &mut OsString, argument: &OsStr) -> Argument {
        if argument == "-Xlinker" {
            return Argument::Plain(argument.to_owned());
        }
        let before = std::mem::replace(option, argument.to_owned());
        if is_output_option(&before) {
            return Argument::Output(OsString::new());
        }
        // These say what the image will find where it runs.
        let at_run_time = |option: &OsStr| {
            let option = option.to_string_lossy();
            ["dynamic-linker", "rpath", "soname"].contains(&option.trim_start_matches('-').trim_end_matches('='))
        };
        if at_run_time(&before) {
            return Argument::Plain(argument.to_owned());
        }
        match self.read(argument) {
            Argument::Path(prefix, _) if at_run_time(&prefix) => Argument::Plain(argument.to_owned()),
            read => read,
        }
    }

    fn read(&self, argument: &OsStr) -> Argument {
        let bytes = argument.as_bytes();
        let letter = bytes.len() > 2 && matches!(bytes, [b'-', b'L' | b'T' | b'o' | b'R', ..]);
        let equals = bytes.iter().position(|byte| *byte == b'=').filter(|_| bytes.starts_with(b"-")).map(|at| at + 1);
        for at in [Some(0), letter.then_some(2), equals].into_iter().flatten() {
            let (prefix, path) = (OsStr::from_bytes(&bytes[..at]).to_owned(), Path::new(OsStr::from_bytes(&bytes[at..])));
            let is_output = at > 0 && self.command.output.as_deref() == Some(path);
            if is_output && is_output_option(&prefix) {
                return Argument::Output(prefix);
            }
            let library_dir = self.command.library_dirs.iter().any(|dir| dir == path);
            let sysroot = self.command.sysroot.as_deref() == Some(path);
            if self.paths.contains(path) && path.is_file() || (library_dir || sysroot) && path.is_dir() {
                return Argument::Path(prefix, path.to_owned());
            }
        }
        Argument::Plain(argument.to_owned())
    }
}

/// Linkers take a beginning of the word, too.
fn is_output_option(option: &OsStr) -> bool {
    let option = option.to_string_lossy();
    option == "-o" || option.starts_with("--outp")
}

/// The next free number, also when several links run at once.
fn new_folder(parent: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(parent)?;
    let mut number = 1;
    loop {
        let folder = parent.join(format!("{number:04}"));
        match fs::create_dir(&folder) {
            Ok(()) => return fs::canonicalize(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

fn copy_to(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).map(drop)
}

/// In single quotes. The script is text: of a word that is none, `printf` makes the bytes (POSIX: `%b`).
fn quoted(text: &OsStr) -> String {
    let in_quotes = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    if let Some(text) = text.to_str() {
        return in_quotes(text);
    }
    let part = |chunk: std::str::Utf8Chunk<'_>| {
        let rest: String = chunk.invalid().iter().map(|byte| format!("\\0{byte:03o}")).collect();
        chunk.valid().replace('\\', "\\\\") + &rest
    };
    format!("\"$(printf %b {})\"", in_quotes(&text.as_bytes().utf8_chunks().map(part).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    #[test]
    fn a_shell_reads_words_as_they_were() {
        for bytes in [&b"a b"[..], b"it's", b"\\n\xff'\\x\xc3 9", b"gr\xc3\xb6\xdfe"] {
            let command = format!("printf %s {}", quoted(OsStr::from_bytes(bytes)));
            let output = Command::new("sh").args(["-c", &command]).output().expect("sh runs");
            assert_eq!(output.stdout, bytes, "{command}");
        }
    }
}
