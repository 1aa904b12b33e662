//! The manifest: what the plugin knows of one module (one object file), carried by the object itself.
//!
//! ```text
//! offset  size  field
//!      0     8  magic "BBPROFMF"
//!      8     4  version (u32, little-endian like all that follows)
//!     12     1  storage (0 tls, 1 delta, 2 shared, 3 atomic)
//!     13     1  1 when paths of some functions are counted in hash tables, else 0
//!     14     2  zero
//!     16     8  size in bytes of the whole manifest, header and padding included; a multiple of 8
//!     24     4  number of counter arrays
//!     28     4  size in bytes of the body
//!     32    16  module id: digest of storage and body before compression
//!     48    16  checksum: digest of bytes 0..48 and of everything from offset 64 on
//!     64   24n  counter arrays: name (16), number of counters (u32), zero (u32)
//!          ...  body: size before compression (u64), then [`Module`], postcard, compressed by zstd
//!          ...  zero to a multiple of 8
//! ```
//!
//! The linker shim reads the header alone. `ld -r` concatenates manifests, each at an 8-byte boundary; [`split`] takes them apart.

mod body;
mod header;
mod validate;

pub use body::{
    Alias, CallSite, Callee, Checksum, CounterMode, Edge, EdgeKind, Function, Linkage, Location, LocationId, MOST_TURNS_AT_ONCE,
    Module, Node, PATH_ARRAYS, PATH_LIMITS, Paths, Scope, Site, Skipped, StringId, WeightSource,
};
pub use header::{ArrayHeader, Header, MAGIC, Manifest, Storage, VERSION, split};
