//! Link-time optimisation, done in front of the link: LLVM's bitcode among the inputs becomes native objects, which have counters
//! and manifests like any others, by a link of lld's of which nothing else is kept.
//!
//! ```text
//! files --bitcode--> the plugin that it names      command, plugin --native--> native objects
//! command, native objects --replaced--> the command with these in the bitcode's place
//! ```
//! Only lld loads passes; who links in the end is whoever would have.

mod bitcode;
mod native;
mod replaced;
mod symbols;

pub(crate) use bitcode::is_selected;

use crate::command_line::{self, LinkCommand, Phrase};
use crate::inputs::{FileKind, InputFile};
use crate::interrupts::Interrupts;
use crate::{dependency_file, pipes, temporary_folder};
use anyhow::{Context, Result};
use native::Lld;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use tempfile::TempDir;

/// A link without bitcode.
pub(crate) struct NativeLink {
    /// The command, to be read, and to be given to the linker.
    pub expanded: Vec<OsString>,
    pub arguments: Vec<OsString>,
    /// What was read for it.
    pub read: Vec<PathBuf>,
    /// Goes when the link is over.
    pub folder: TempDir,
}

/// What came of it.
pub(crate) enum Optimized {
    /// There is no bitcode that bbprof selected, or the linker makes no code of it.
    Nothing,
    Native(NativeLink),
    Failed(ExitStatus),
}

/// Makes native code of the bitcode among these files, of a command that comes out of `@file`s or not.
///
/// # Errors
/// When several plugins are to place counters, or one that is gone; when there is no lld; when bitcode stands where it cannot be
/// replaced; when files cannot be written.
pub(crate) fn optimize(
    linker: &Path,
    words: &[OsString],
    is_in_file: bool,
    command: &LinkCommand,
    files: &[InputFile],
    interrupts: &mut Option<Interrupts>,
) -> Result<Optimized> {
    let phrases = command_line::phrases(words);
    if phrases.iter().any(asks_for_no_code) {
        return Ok(Optimized::Nothing);
    }
    let Some(plugin) = bitcode::plugin(files)? else { return Ok(Optimized::Nothing) };
    if !native::is_lld(linker) && !phrases.iter().any(replaced::is_for_plugins) {
        // It may not need what archives have of it.
        if let Some(file) = files.iter().find(|file| file.kind == FileKind::Bitcode) {
            crate::tell(format_args!("warning: {}: bitcode is linked with -flto: add that to the command that links", file.origin));
        }
        return Ok(Optimized::Nothing);
    }
    let lld = Lld::of(linker, &phrases)?;
    let folder = temporary_folder::new("bbprof-lto-")?;
    pipes::keep(command)?;
    let interrupts = Interrupts::taken(interrupts)?;
    interrupts.take_away(folder.path());
    let link = native::Link::within(folder.path(), command)?;
    let status = interrupts.run(&mut link.command(&lld, words, &plugin)?)?;
    if !status.success() {
        if let Lld::Another(lld) = lld {
            crate::tell(format_args!(
                "error: {} failed: with counters it does what -flto asks for, whatever links in the end; see what it says above, or compile without -flto",
                lld.display()
            ));
        }
        return Ok(Optimized::Failed(status));
    }
    let mut expanded = replaced::without_bitcode(words, &phrases, command, link.objects()?, (linker, folder.path()))?;
    match lld {
        // What should be asked for after all is not to be linked without counters.
        Lld::Linker(_) => expanded.push(native::loading(&plugin)),
        Lld::Another(_) => expanded = replaced::without_plugins(&expanded),
    }
    let arguments = if is_in_file { vec![in_file(&expanded, folder.path())?] } else { expanded.clone() };
    let read = dependency_file::listed(&fs::read(link.listing).unwrap_or_default(), Path::is_file);
    Ok(Optimized::Native(NativeLink { expanded, arguments, read, folder }))
}

/// Whether the linker is asked for bitcode, assembly or an index, and not for code.
fn asks_for_no_code(phrase: &Phrase<'_>) -> bool {
    let text = phrase.words.join(OsStr::new("=")).to_string_lossy().into_owned();
    let option = text.trim_start_matches('-');
    let option = option.strip_prefix("plugin-opt=").unwrap_or(option);
    let option = option.strip_prefix("lto-").unwrap_or(option);
    text.starts_with('-') && (["emit-llvm", "emit-asm"].contains(&option) || option.starts_with("thinlto-index-only"))
}

/// The words in a file: they may be too many for a command line.
fn in_file(words: &[OsString], folder: &Path) -> Result<OsString> {
    let file = folder.join("arguments");
    write(&file, &command_line::quoted(words))?;
    let mut word = OsString::from("@");
    word.push(file);
    Ok(word)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_make_no_code() {
        let asks = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            command_line::phrases(&words).iter().any(asks_for_no_code)
        };
        for line in [
            "--lto-emit-llvm",
            "-plugin-opt=emit-asm",
            "-plugin-opt thinlto-index-only=x",
            "--thinlto-index-only",
            "--lto-emit-asm",
        ] {
            assert!(asks(&format!("a.o {line} -lc")), "{line}");
        }
        for line in ["emit-llvm", "-plugin-opt=O2", "-plugin-opt=thinlto", "-o --lto-emit-llvm"] {
            assert!(!asks(&format!("a.o {line} -lc")), "{line}");
        }
    }
}
