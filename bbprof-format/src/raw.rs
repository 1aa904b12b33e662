//! The raw profile: what one process counted, in all its images (program and shared libraries).
//!
//! The runtime (`bbprof-rt/c`, `raw_format.h`) writes it in one of two states:
//! - *running*: the file is mapped over the counters, so it is right at every instant, whatever kills the process. Several
//!   segments (one for each simultaneous thread) hold counts of the same counters; the reader adds them up.
//! - *complete*: written in one stream at a clean end or by `bbprof_dump`: one segment for each bank, a length, a checksum.
//!
//! A complete file may also be a *pool*: the sum of many processes (`%m` in `BBPROF_OUT`). Its header is that of the process that
//! was added last; should that one's own file still be there, its counts are in both.
//!
//! Everything is little-endian; a profile is read on the kind of machine that wrote it.
//!
//! ```text
//! header
//! offset  size  field
//!      0     8  magic "BBPROFRW"
//!      8     4  version
//!     12     4  state: "RUN " or "DONE"
//!     16     4  process id
//!     20     4  parent's process id: of who forked it, though that may have ended since; of an executed program, at its begin
//!     24     8  start of the process in clock ticks after boot (survives exec), 0 = unknown
//!     32     8  when this file was begun, in nanoseconds since 1970
//!     40     8  length of the file in bytes; 0 while running
//!     48     8  check of bytes 0..48
//!     56     8  how many of the other threads, which all waited in system calls at the last look at them, the last "WAIT" entry
//!               tells of; a guarded word
//!     64     8  fate, a guarded word: kind | status << 8 | other threads alive << 16 (at most 65,535)
//!               kind 0 = no end was seen, 1 = exit(status), 2 = exit with unknown status, 3 = snapshot, 4 = _exit(status),
//!               5 = quick_exit(status), 6 = abort, 7 = exec, 8 = it sent itself the signal `status`, whose default is death,
//!               9 = a pool: the log has the fates, 10 = the signal `status`: the runtime saw no end, but who had started the
//!               process did
//!     72     8  baseline in force, a guarded word: 0 = none, 1 or 2 = the segments with this role
//!     80     8  number of threads besides the first that had thread-local counters, a guarded word
//!     88     8  number of activations that were interrupted, in the middle of a block, by signal handlers that did not return:
//!               they ran on the thread that recorded the fate, or had left for ever by a jump (since the last reset); a guarded
//!               word
//!     96     8  what tells the process ids of its machine, boot and namespace from others; zero = not known, or no pool
//!    104     8  its complement, or zero
//!    112     8  number of resets, a guarded word: these are the counts since the last
//!    120     8  at the last reset, or if there was none at the fork:
//!               other threads alive | activations interrupted by handlers << 16, a guarded word
//!    128     8  number of processes that were forked from this one, and from those, without a file of their own: what they counted
//!               is lost; a guarded word
//!    136     8  why counts are in memory, so that some may be missing here: 1 = the file had no room, 2 = counters could not be
//!               mapped to it; added up; a guarded word
//!    144    48  zero
//!    192   ...  log: entries of 64 bytes, to an entry of kind 0 (running) or "END." (complete)
//! ```
//! A guarded word is a 32-bit value and, above it, its complement: one atomic store, and damage shows.
//! The log of a running file fills its first page, then continues where "MORE" says. Entry: kind (4), check (4), payload (56):
//! ```text
//! "IMAG"  image (u32), flags (u32), build id (16), layout (16), thread-local counters (u64), global counters (u64)
//! "PATH"  image (u32, 0xffffffff = the executable of the process), part (u16), length (u16), 48 bytes of the path
//! "NOTE"  as PATH: words for the user, about an image or the process
//! "EXEC"  as PATH: what an exec function was asked to execute, as it was asked; the last one counts, if the fate is exec
//! "PRES"  image (u32), part (u16), number of modules (u16), 48 bytes: one bit for each optional module, 1 = linked
//! "SEGM"  image (u32), bank (u32: 0 = thread-local, 1 = global), offset (u64), counters (u64),
//!         role (u32: 0 = counts, 1 and 2 = baselines: the counts at the last `bbprof_reset`), zero (u32), zero (24)
//! "HASH"  image (u32), bytes of a record (u32), offset (u64), records (u64), zero (32)
//! "FATE"  of processes in a pool, the same for each of them: fate (u32), threads that waited (u32), then how many processes these
//!         are (u64), then interrupted activations (u32), resets (u32), what ran at the last of them (u32), forked processes
//!         without a file (u32), why counts were in memory (u32), all as the header of each had it; zero (20).
//!         What "WAIT" and "NOTE" entries behind it say, up to the next "FATE", is also true of each of these processes
//! "WAIT"  the sum of all counts in the file, modulo 2^64, while the other threads waited (u64; in a pool 0: it was that of the
//!         process's file when that was added, or 1: it was not), zero (4), then 11 times: number of the system call (u16, 65,535 =
//!         various ones), how many waited in it (u16)
//! "MORE"  offset of the next entries (u64), how many (u64)
//! "END."  zero
//! ```
//! A segment is an array of u64; in a running file it begins on a page and fills whole pages. A complete file ends with the
//! checksum (8) of all bytes before. See [`checksum`] for both kinds of checks.
//!
//! "HASH" stands for paths of functions that have more of them than an array holds. A record is place (u64), path number (u64),
//! count (u64), and in running files two baselines (u64 each) and 8 bytes that mean nothing to readers; a place is 8 * (1 + k)
//! for the function whose counter is number k of the image, thread-local ones first, and 0 where there is no record. Several
//! records of one path, from several threads, add up. In a running file they begin on a page and fill whole pages; in a pool they
//! are in ascending order, by place and number, each path once.
//!
//! Counts only grow. So where the sum in the last "WAIT" entry is that of the file, nobody has counted since the threads
//! were seen to wait, and the counts are those of that moment.
//!
//! A kill between two appends leaves the file whole: space is added before the entry that names it, and an entry's kind is
//! stored last. An image whose first segment is not yet there has counted nothing and is left out.

mod checksum;
mod ending;
mod endings;
mod entry;
mod frame;
mod hashed;
mod identity;
mod image_draft;
mod read;
#[cfg(test)]
mod tests;
mod unseen;
mod waits;
mod write;

use crate::kind::Kind;
use crate::{BuildId, Digest, HashedPath};

pub use ending::{Ending, Fate, InMemory, signal_name};
pub use identity::{Extent, Head, Identity};
pub use unseen::Unseen;
pub use waits::Waits;

/// First bytes of a raw profile.
pub const MAGIC: &[u8; 8] = b"BBPROFRW";
/// Version written and read here.
pub const VERSION: u32 = 8;
/// File name extension.
pub const EXTENSION: &str = "bbraw";

const KIND: Kind = Kind { name: "raw profile", magic: MAGIC, version: VERSION };
const HEADER_BYTES: usize = 192;
const PAGE_BYTES: u64 = 4096;
const STATE_RUNNING: &[u8; 4] = b"RUN ";
const STATE_COMPLETE: &[u8; 4] = b"DONE";

/// What one process counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RawProfile {
    /// The process.
    pub process: ProcessInfo,
    /// How far the file got.
    pub state: State,
    /// How the process ended; of a pool, that it is one.
    pub ending: Ending,
    /// How many threads besides the first had thread-local counters, dead ones included.
    pub threads: u32,
    /// Its images, in the order in which they were loaded.
    pub images: Vec<ImageCounts>,
    /// Of a pool: how many processes ended how. Empty for one process.
    pub pooled: Vec<(Ending, u64)>,
}

/// Which process it was.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProcessInfo {
    /// Its id.
    pub pid: u32,
    /// The id of the process that it was forked from; of a program that was executed, its parent's when the file was begun.
    pub parent_pid: u32,
    /// When it started, in clock ticks after boot; `None` without /proc. `exec` does not change it.
    pub start_ticks: Option<u64>,
    /// When the file was begun, in nanoseconds since 1970.
    pub begun_ns: u64,
    /// The executable; empty if it is not known. Not always UTF-8.
    pub executable: Vec<u8>,
    /// What it asked `exec` to execute last, as it was asked; empty if it did not, or for an open file. Not always UTF-8.
    pub exec_path: Vec<u8>,
}

/// How far a raw profile got.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// No clean end was seen: the counts are those at the moment of reading, or of the process's death.
    Running,
    /// A clean end was seen, and the counters went on counting in the file until the last thread was gone (or no second,
    /// complete file could be written). Carries no checksum over the counters.
    Ended,
    /// Written in one stream, with length and checksum.
    Complete,
}

impl RawProfile {
    /// How the process ended, in words.
    #[must_use]
    pub fn fate_in_words(&self) -> String {
        self.ending.in_words(Some(&self.process.exec_path))
    }
}

/// The counts of one image.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImageCounts {
    /// Names the link and its build map.
    pub build_id: BuildId,
    /// Digest of the counter arrays, must match the map's.
    pub layout: Digest,
    /// Flags of the image record, see [`crate::image`].
    pub flags: u32,
    /// Where it was loaded from; empty if not known. Not always UTF-8.
    pub path: Vec<u8>,
    /// Which optional modules the linker kept, by their position in the presence table.
    pub presence: Vec<bool>,
    /// Executions, by position in the thread-local bank: all threads together, since the last reset.
    pub tls_counters: Vec<u64>,
    /// Executions, by position in the global bank.
    pub global_counters: Vec<u64>,
    /// Executions of paths that no array holds, ascending; each once, none of them zero.
    pub hashed_paths: Vec<HashedPath>,
    /// How many segments were added up (1 for each non-empty bank when complete).
    pub segments: u32,
}
