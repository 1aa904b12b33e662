//! Profiles of processes of which the runtime saw no end, for who saw it: the parent
//! learns which signal it was, the process cannot.

use super::checksum::{guarded, unguard};
use super::endings::fate_word;
use super::{Fate, HEADER_BYTES, Head, STATE_RUNNING};
use crate::words::u64_at;

/// A running profile without an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unseen;

impl Unseen {
    /// How many bytes of a file are needed.
    pub const BYTES: usize = HEADER_BYTES;
    /// Where the fate stands.
    pub const FATE_AT: u64 = 64;

    /// `None` for what is no running profile, or has an end.
    #[must_use]
    pub fn read(header: &[u8; Self::BYTES]) -> Option<Self> {
        let is_running = &header[12..16] == STATE_RUNNING && Head::read(header).is_some();
        let fate = u64_at(header, Self::FATE_AT as usize);
        (is_running && unguard(fate) == Some(fate_word(Fate::NotSeen, 0))).then_some(Self)
    }

    /// What to write there: a signal killed the process.
    #[must_use]
    pub fn fate_of_signal(signal: u8) -> [u8; 8] {
        guarded(fate_word(Fate::Signal { signal }, 0)).to_le_bytes()
    }
}
