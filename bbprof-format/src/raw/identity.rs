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

/// What the header of a raw profile says of its counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extent {
    /// Those of a process of which no end was seen.
    Unended,
    /// Those of a process to its end.
    Ended,
    /// Those of a process that went on.
    Snapshot,
    /// Those of many processes.
    Pool,
}

/// Which process a raw profile is of, and which of its counts it has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Head {
    /// The process; of a pool, the one that was added last.
    pub run: Identity,
    /// Which counts these are.
    pub extent: Extent,
    /// They are those since this reset.
    pub resets: u32,
}

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
}

impl Head {
    /// How many bytes of a file are needed.
    pub const BYTES: usize = HEADER_BYTES;

    /// Reads a header. `None` for what has no whole one.
    #[must_use]
    pub fn read(header: &[u8; Self::BYTES]) -> Option<Self> {
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let is_whole = header.starts_with(MAGIC) && half(8) == VERSION && word(48) == Checksum::new().add(&header[..48]).value();
        let extent = match unguard(word(64))? & 0xff {
            0 => Extent::Unended,
            3 => Extent::Snapshot,
            9 => Extent::Pool,
            _ => Extent::Ended,
        };
        let run = Identity { pid: half(16), start_ticks: word(24), begun_ns: word(32) };
        is_whole.then_some(Self { run, extent, resets: unguard(word(112))? })
    }
}
