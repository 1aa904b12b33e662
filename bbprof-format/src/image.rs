//! The image record: what a profiled executable or shared library tells the runtime of itself.
//!
//! The shim's generated object defines it (hidden symbol [`crate::names::IMAGE_SYMBOL`], writable); the runtime's
//! `bbprof_abi.h` declares the same structure and asserts the same offsets. A note of type 1 and name `bbprof` (section
//! `.note.bbprof`, allocated) holds the build id and its own distance to the record, so that tools find both.
//!
//! ```text
//! offset  size  field
//!      0     8  magic "BBPROFIM"
//!      8     4  version (u32)
//!     12     4  size of this record
//!     16    16  build id
//!     32    16  layout: digest of the names and lengths of all counter arrays in order
//!     48     8  number of counters in the thread-local bank
//!     56     8  number of counters in the global bank
//!     64     8  address of the global bank; 0 if it is empty
//!     72     8  address of the presence table: one address per optional module, 0 when the linker left it out
//!     80     8  number of optional modules
//!     88     4  flags: bit 0 = shared library, bit 1 = some modules use `Delta`, bit 2 = statically linked, bit 3 = some use
//!               `Shared`
//!     92     4  zero
//!     96    96  zero; the runtime's own state
//! ```
//!
//! Both banks begin on a page boundary and are padded to whole pages, so that a file can be mapped over them.

/// First bytes of an image record.
pub const MAGIC: &[u8; 8] = b"BBPROFIM";
/// Version of the record; the runtime refuses another.
pub const VERSION: u32 = 2;
/// Size of the record in bytes.
pub const SIZE_BYTES: usize = 192;
/// Both banks are aligned and padded to this.
pub const PAGE_BYTES: u64 = 4096;

/// Offset of the build id.
pub const BUILD_ID_AT: usize = 16;
/// Offset of the layout digest.
pub const LAYOUT_AT: usize = 32;
/// Offset of the number of thread-local counters.
pub const TLS_COUNTERS_AT: usize = 48;
/// Offset of the number of global counters.
pub const GLOBAL_COUNTERS_AT: usize = 56;
/// Offset of the address of the global bank.
pub const GLOBAL_BANK_AT: usize = 64;
/// Offset of the address of the presence table.
pub const PRESENCE_AT: usize = 72;
/// Offset of the number of optional modules.
pub const OPTIONAL_MODULES_AT: usize = 80;
/// Offset of the flags.
pub const FLAGS_AT: usize = 88;

/// Flag: the image is a shared library.
pub const FLAG_LIBRARY: u32 = 1;
/// Flag: some of its modules use [`crate::manifest::Storage::Delta`].
pub const FLAG_DELTA: u32 = 2;
/// Flag: the image is linked statically.
pub const FLAG_STATIC: u32 = 4;

/// Flag: some of its modules use [`crate::manifest::Storage::Shared`].
pub const FLAG_SHARED: u32 = 8;

/// Type of the note.
pub const NOTE_TYPE: u32 = 1;
/// Name of the note, without its terminating zero.
pub const NOTE_NAME: &str = "bbprof";
