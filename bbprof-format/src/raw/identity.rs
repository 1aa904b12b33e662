//! Which process a raw profile is of, by its first bytes alone.

use super::checksum::{Checksum, unguard};
use super::{HEADER_BYTES, MAGIC, VERSION};

/// Names one run of one program in one process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Identity {
    pid: u32,
    start_ticks: u64,
    begun_ns: u64,
}

const POOL: u32 = 9;

impl Identity {
    /// Is it a run of the process that has this number, and started at this clock tick after boot?
    #[must_use]
    pub fn is_of(self, pid: u32, start_ticks: u64) -> bool {
        self.pid == pid && self.start_ticks == start_ticks && start_ticks != 0
    }

    /// When the run was begun, in nanoseconds since 1970.
    #[must_use]
    pub fn begun_ns(self) -> u64 {
        self.begun_ns
    }

    /// How many bytes of a file are needed.
    pub const BYTES: usize = HEADER_BYTES;

    /// The process, and whether the file is a pool, to which this process was added last. `None` for what has no whole header.
    #[must_use]
    pub fn read(header: &[u8; Self::BYTES]) -> Option<(Self, bool)> {
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let is_whole = header.starts_with(MAGIC) && half(8) == VERSION && word(48) == Checksum::new().add(&header[..48]).value();
        let identity = Self { pid: half(16), start_ticks: word(24), begun_ns: word(32) };
        is_whole.then_some((identity, unguard(word(64)).is_some_and(|fate| fate & 0xff == POOL)))
    }
}
