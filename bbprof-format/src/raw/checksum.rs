//! The checks of a raw profile. The C runtime computes the same, so they are of the simplest kind: one multiplication a word.
//!
//! Each step maps the state one-to-one for a given word, and the word one-to-one for a given state; so damage within a
//! single word always changes the result, and other damage escapes with probability 2^-64.

const SEED: u64 = 0x6262_7072_6f66_7261;
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Checksum over 64-bit little-endian words.
#[derive(Clone, Copy)]
pub(super) struct Checksum(u64);

impl Checksum {
    pub(super) const fn new() -> Self {
        Self(SEED)
    }

    /// Adds bytes; a last part of less than eight is filled up with zeros.
    pub(super) fn add(mut self, bytes: &[u8]) -> Self {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            self.step(u64::from_le_bytes(word.try_into().expect("eight bytes")));
        }
        if !words.remainder().is_empty() {
            let mut last = [0; 8];
            last[..words.remainder().len()].copy_from_slice(words.remainder());
            self.step(u64::from_le_bytes(last));
        }
        self
    }

    fn step(&mut self, word: u64) {
        let product = (self.0 ^ word).wrapping_mul(FACTOR);
        self.0 = product ^ (product >> 32);
    }

    pub(super) const fn value(self) -> u64 {
        self.0
    }
}

/// The 32-bit check of an entry: its 64 bytes with zero for the check, and a further word of zero; the upper half, because
/// only there have all bits of the last words arrived.
pub(super) fn entry_check(entry: &[u8; 64]) -> u32 {
    let mut bytes = *entry;
    bytes[4..8].fill(0);
    (Checksum::new().add(&bytes).add(&[0; 8]).value() >> 32) as u32
}

/// A value with its complement above it.
pub(super) const fn guarded(value: u32) -> u64 {
    value as u64 | (!value as u64) << 32
}

/// The value of a guarded word, if it is whole.
pub(super) const fn unguard(word: u64) -> Option<u32> {
    let value = word as u32;
    if guarded(value) == word { Some(value) } else { None }
}
