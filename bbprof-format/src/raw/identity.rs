//! Which process a raw profile is of, by its first bytes alone.

use super::checksum::unguard;
use super::frame::check_header;
use super::{HEADER_BYTES, STATE_COMPLETE};
use crate::words::{u32_at, u64_at};

/// The kernel tells them a hundred a second.
const NS_PER_TICK: u64 = 10_000_000;

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
    /// The id of the process that had started it.
    pub parent_pid: u32,
    /// Which counts these are.
    pub extent: Extent,
    /// The file was written anew at a clean end, or by a dump: nothing changes in it any more.
    pub is_complete: bool,
    /// They are those since this reset.
    pub resets: u32,
}

impl Identity {
    /// Is it a run of the process that has this number, and started at this clock tick after boot?
    #[must_use]
    pub fn is_of(self, pid: u32, start_ticks: u64) -> bool {
        self.pid == pid && self.start_ticks == start_ticks && start_ticks != 0
    }

    /// Is it a run of the same process? `exec` begins another.
    #[must_use]
    pub fn is_of_same_process(self, other: Self) -> bool {
        self.is_of(other.pid, other.start_ticks)
    }

    /// Can it be a run of the process of this number that started another run? None is older than who started it.
    #[must_use]
    pub fn can_have_started(self, other: Self, parent_pid: u32) -> bool {
        self.pid == parent_pid && self.begun_ns <= other.begun_ns && self.start_ticks <= other.start_ticks
    }

    /// When a run that this one may have started was made, at the latest, in nanoseconds since 1970: its file is begun behind that,
    /// and by clock ticks it is so much younger than this one's process, whose own file was begun behind its start.
    #[must_use]
    pub fn had_made_by_ns(self, child: Self) -> u64 {
        if self.start_ticks == 0 || child.start_ticks == 0 {
            return child.begun_ns;
        }
        let ticks = child.start_ticks.saturating_sub(self.start_ticks).saturating_add(1);
        child.begun_ns.min(self.begun_ns.saturating_add(ticks.saturating_mul(NS_PER_TICK)))
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
        check_header(header).ok()?;
        let extent = match unguard(u64_at(header, 64))? & 0xff {
            0 => Extent::Unended,
            3 => Extent::Snapshot,
            9 => Extent::Pool,
            _ => Extent::Ended,
        };
        let run = Identity { pid: u32_at(header, 16), start_ticks: u64_at(header, 24), begun_ns: u64_at(header, 32) };
        let is_complete = &header[12..16] == STATE_COMPLETE;
        Some(Self { run, parent_pid: u32_at(header, 20), extent, is_complete, resets: unguard(u64_at(header, 112))? })
    }
}
