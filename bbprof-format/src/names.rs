//! Names of sections and symbols that plugin, shim and runtime agree on.
//!
//! Those of thread-local symbols that objects define have a dot in them: libtool takes each symbol with a
//! name of C's for data or a function, and makes a program that refers to all of them
//! (`-export-symbols-regex`, `-dlpreopen`, and its configure test of `nm`).

use crate::Digest;

/// How the names of all symbols begin.
pub const PREFIX: &str = "__bbprof_";

/// Section of an object that holds its manifest(s); `SHF_EXCLUDE`, so it never reaches a linked image.
pub const MANIFEST_SECTION: &str = ".bbprof.manifest";

/// Where modules put their own thread-local counter arrays, each in a section of this name, a dot and its digest; dropped when
/// the shim's object defines them.
pub const TLS_SECTION: &str = ".tbss.bbprof";

/// Where modules put their own global counter arrays; dropped likewise.
pub const GLOBAL_SECTION: &str = ".bss.bbprof";

/// Zero-sized section that holds the presence markers.
pub const MARKER_SECTION: &str = ".bbprof.marker";

/// Section of the note in the shim's generated object, see [`crate::image`]; an object that has it is a generated object.
pub const NOTE_SECTION: &str = ".note.bbprof";

/// Thread-local word of an image whose modules use [`crate::manifest::Storage::Delta`]: what to add to the address of a
/// counter in the global array to get this thread's own; 0 for the thread that owns the global array itself, [`DELTA_NONE`]
/// before a thread has its own. Without the shim it is always 0.
pub const DELTA_SYMBOL: &str = "__bbprof_delta.tls";

/// Added to any address of a program it gives one of the kernel's, which are negative: the addition
/// itself tells a function that its thread has no block yet.
pub const DELTA_NONE: u64 = 1 << 63;

/// Function of the runtime that gives the calling thread its own block and returns what to add to the sum of an address and
/// [`DELTA_NONE`] to get the thread's own; it preserves every register but the result.
pub const THREAD_BLOCK_SYMBOL: &str = "__bbprof_thread_block";

/// Function of the runtime that counts a path of a function with more of them than an array holds: the address of the thread's own
/// counter of the function, and the path's number. It preserves every register but one. Without the shim it is the module's own,
/// which does nothing. This one is for counters of storage `Tls`.
pub const COUNT_PATH_TLS_SYMBOL: &str = "__bbprof_count_path_tls";

/// The same for storage `Delta`.
pub const COUNT_PATH_DELTA_SYMBOL: &str = "__bbprof_count_path_delta";

/// A reference to it from the generated object pulls the two functions in.
pub const COUNT_PATHS_SYMBOL: &str = "__bbprof_count_paths";

/// The image record ([`crate::image`]), hidden, defined by the shim's generated object.
pub const IMAGE_SYMBOL: &str = "__bbprof_image";

/// Start of the image's thread-local counters (bank `Tls`), hidden, page-aligned, in the generated object.
pub const TLS_BANK_SYMBOL: &str = "__bbprof_tls_bank";

/// Start of the image's global counters (bank `Global`), hidden, page-aligned, in the generated object.
pub const GLOBAL_BANK_SYMBOL: &str = "__bbprof_global_bank";

/// Function of the runtime; a reference to it from the generated object pulls the runtime in.
pub const RUNTIME_SYMBOL: &str = "__bbprof_runtime";

/// Symbol (and COMDAT group) of the counter array with this name.
#[must_use]
pub fn counter_array_symbol(array: Digest) -> String {
    format!("__bbprof_c.{array}")
}

/// Weak hidden symbol by which the generated object learns whether a module is part of the link.
#[must_use]
pub fn marker_symbol(module: Digest) -> String {
    format!("__bbprof_m_{module}")
}
