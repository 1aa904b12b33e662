//! The runtime that is linked into every profiled image, and what the linker must be told for it.

use crate::command_line::Level;
use crate::generated_object::ImageKind;
use std::ffi::OsString;

/// A variant of the runtime, an `ar` archive.
pub(crate) struct Runtime {
    /// File name of the archive.
    pub file_name: &'static str,
    /// Its bytes.
    pub archive: &'static [u8],
    options: &'static [&'static str],
}

/// Thread creation is interposed by a definition that shared libraries see, too; the rest is the API of `bbprof.h`.
const DYNAMIC_OPTIONS: &[&str] = &[
    "--export-dynamic-symbol=pthread_create",
    "--export-dynamic-symbol=thrd_create",
    "--export-dynamic-symbol=bbprof_dump",
    "--export-dynamic-symbol=bbprof_reset",
    "--export-dynamic-symbol=bbprof_write",
];
/// Without a dynamic linker a second definition would clash with libc's.
const STATIC_OPTIONS: &[&str] = &["--wrap=pthread_create", "--wrap=thrd_create"];

/// The variant for a kind of image.
pub(crate) fn runtime(kind: ImageKind) -> Runtime {
    match kind {
        ImageKind::Dynamic => Runtime {
            file_name: "libbbprof_rt_exec.a",
            archive: include_bytes!(concat!(env!("OUT_DIR"), "/exec/libbbprof_rt_exec.a")),
            options: DYNAMIC_OPTIONS,
        },
        ImageKind::Static => Runtime {
            file_name: "libbbprof_rt_static.a",
            archive: include_bytes!(concat!(env!("OUT_DIR"), "/static/libbbprof_rt_static.a")),
            options: STATIC_OPTIONS,
        },
        ImageKind::Library => Runtime {
            file_name: "libbbprof_rt_lib.a",
            archive: include_bytes!(concat!(env!("OUT_DIR"), "/lib/libbbprof_rt_lib.a")),
            options: &[],
        },
    }
}

impl Runtime {
    /// Its options in the language of the level.
    pub(crate) fn options(&self, level: Level) -> impl Iterator<Item = OsString> + '_ {
        let prefix = if level == Level::Cc { "-Wl," } else { "" };
        self.options.iter().map(move |option| OsString::from(format!("{prefix}{option}")))
    }
}
