//! Profiles of processes of which the runtime saw no end, for who saw it: the parent learns which signal it was, the process cannot.

use super::checksum::{Checksum, guarded, unguard};
use super::write::fate_word;
use super::{Fate, HEADER_BYTES, MAGIC, STATE_RUNNING, VERSION};

/// A running profile without an end, by its first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unseen {
    /// Process id.
    pub pid: u32,
    /// When the process started, in clock ticks after boot: with the id this names the process.
    pub start_ticks: Option<u64>,
    /// When the file was begun, in nanoseconds since 1970.
    pub begun_ns: u64,
}

impl Unseen {
    /// How many bytes of a file are needed.
    pub const BYTES: usize = HEADER_BYTES;
    /// Where the fate stands.
    pub const FATE_AT: u64 = 64;

    /// `None` for what is no running profile, or has an end.
    #[must_use]
    pub fn read(header: &[u8; Self::BYTES]) -> Option<Self> {
        let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let half = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let is_whole = header.starts_with(MAGIC) && half(8) == VERSION && word(48) == Checksum::new().add(&header[..48]).value();
        let is_open =
            &header[12..16] == STATE_RUNNING && unguard(word(Self::FATE_AT as usize)) == Some(fate_word(Fate::NotSeen, 0));
        let start_ticks = Some(word(24)).filter(|ticks| *ticks != 0);
        (is_whole && is_open).then(|| Self { pid: half(16), start_ticks, begun_ns: word(32) })
    }

    /// What to write there: a signal killed the process.
    #[must_use]
    pub fn fate_of_signal(signal: u8) -> [u8; 8] {
        guarded(fate_word(Fate::Signal { signal }, 0)).to_le_bytes()
    }
}
