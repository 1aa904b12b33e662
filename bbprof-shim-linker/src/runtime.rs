//! The runtime that is linked into every profiled image, and what the linker must be told for it.

use crate::command_line::Level;
use crate::generated_object::ImageKind;
use crate::inputs::{self, InputFile};
use object::read::archive::ArchiveFile;
use std::ffi::OsString;

/// A variant of the runtime, an `ar` archive.
pub(crate) struct Runtime {
    /// File name of the archive.
    pub file_name: &'static str,
    /// Its bytes.
    pub archive: &'static [u8],
    /// Ends of the names of members that are linked as objects: `--exclude-libs` hides what comes from
    /// archives, and shared libraries must see these definitions.
    pub objects: &'static [&'static str],
    options: Vec<String>,
}

/// The functions of libc that the runtime interposes, a list a line.
const INTERPOSED: &str = include_str!("../../bbprof-rt/c/INTERPOSED");

/// Of these, those whose wrappers need what threads need.
const MAKES_THREADS: [&str; 3] = ["thrd_create", "timer_create", "mq_notify"];

/// The lists of this name, in order.
fn interposed(name: &str) -> impl Iterator<Item = impl Iterator<Item = &'static str> + Clone> {
    INTERPOSED.lines().filter_map(move |line| Some(line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace()))
}

/// The variant for a kind of image.
pub(crate) fn runtime(kind: ImageKind, files: &[InputFile]) -> Runtime {
    match kind {
        ImageKind::Dynamic => Runtime {
            file_name: "libbbprof_rt_exec.a",
            archive: include_bytes!(concat!(env!("OUT_DIR"), "/exec/libbbprof_rt_exec.a")),
            objects: &["-interpose_dynamic.o", "-interpose_dynamic_ends.o", "-interpose_dynamic_leaving.o"],
            // By definitions that shared libraries see, too; the last three are the API of `bbprof.h`.
            options: interposed("exported").flatten().map(|symbol| format!("--export-dynamic-symbol={symbol}")).collect(),
        },
        ImageKind::Static => Runtime {
            file_name: "libbbprof_rt_static.a",
            archive: include_bytes!(concat!(env!("OUT_DIR"), "/static/libbbprof_rt_static.a")),
            objects: &[],
            options: wrapping(files),
        },
        ImageKind::Library => Runtime {
            file_name: "libbbprof_rt_lib.a",
            archive: include_bytes!(concat!(env!("OUT_DIR"), "/lib/libbbprof_rt_lib.a")),
            objects: &[],
            options: Vec::new(),
        },
    }
}

/// Wraps the functions that the libraries of the link have: without a dynamic linker a second definition would clash with libc's.
/// The names of a list are in one object of the runtime: a libc has all of them or none. The wrappers are asked for by name because
/// some linkers search the runtime's archive once, before they know of any call. What makes threads needs the function that makes
/// them all, which dietlibc has in another archive.
fn wrapping(files: &[InputFile]) -> Vec<String> {
    let is_there = |function| inputs::archives_define(files, function);
    let has_threads = is_there("pthread_create");
    let can_be = |function| is_there(function) && (has_threads || !MAKES_THREADS.contains(&function));
    let there = interposed("wrapped").filter(|group| group.clone().all(can_be));
    there.flatten().flat_map(|function| [format!("--wrap={function}"), format!("--undefined=__wrap_{function}")]).collect()
}

impl Runtime {
    /// What is linked: file names and their bytes.
    pub(crate) fn files(&self) -> Result<Vec<(&'static str, &'static [u8])>, object::read::Error> {
        let members: Vec<_> = ArchiveFile::parse(self.archive)?.members().collect::<Result<_, _>>()?;
        let mut files = Vec::new();
        for name in self.objects {
            let member = members.iter().find(|member| member.name().ends_with(name.as_bytes()));
            files.push((name.trim_start_matches('-'), member.expect("build.rs compiles it").data(self.archive)?));
        }
        files.push((self.file_name, self.archive));
        Ok(files)
    }

    /// Its options in the language of the level.
    pub(crate) fn options(&self, level: Level) -> impl Iterator<Item = OsString> + '_ {
        let prefix = if level == Level::Cc { "-Wl," } else { "" };
        self.options.iter().map(move |option| OsString::from(format!("{prefix}{option}")))
    }
}
