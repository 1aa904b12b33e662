//! 128-bit digests (XXH3): names of counter arrays, shape and content hashes, build ids, checksums.
//!
//! They guard against accidents (damage, mixed-up builds), not against an adversary.

use serde::{Deserialize, Serialize};
use std::fmt;
use xxhash_rust::xxh3::Xxh3;

/// A 128-bit XXH3 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default)]
pub struct Digest(pub [u8; 16]);

/// Identifies one link: it stands in the image and in its build map.
pub type BuildId = Digest;

impl Digest {
    /// The digest of some bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(xxhash_rust::xxh3::xxh3_128(bytes).to_le_bytes())
    }

    /// The digest of a sequence of parts. Each part is preceded by its length, so that ("ab", "c") and ("a", "bc") differ.
    #[must_use]
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Xxh3::new();
        for part in parts {
            add_part(&mut hasher, &[part]);
        }
        Self(hasher.digest128().to_le_bytes())
    }

    /// The same of parts that are in pieces, which may be cut anywhere.
    pub(crate) fn of_pieces<'a>(parts: impl IntoIterator<Item = &'a [&'a [u8]]>) -> Self {
        let mut hasher = Xxh3::new();
        for part in parts {
            add_part(&mut hasher, part);
        }
        Self(hasher.digest128().to_le_bytes())
    }
}

fn add_part(hasher: &mut Xxh3, pieces: &[&[u8]]) {
    let size_bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
    hasher.update(&(size_bytes as u64).to_le_bytes());
    for piece in pieces {
        hasher.update(piece);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_delimited() {
        assert_ne!(Digest::of_parts([&b"ab"[..], b"c"]), Digest::of_parts([&b"a"[..], b"bc"]));
    }

    #[test]
    fn pieces_are_not() {
        let whole = Digest::of_parts([&b"abc"[..], b""]);
        assert_eq!(Digest::of_pieces([&[&b"a"[..], b"bc"][..], &[]]), whole);
        assert_eq!(Digest::of_pieces([&[&b"abc"[..]][..], &[b""]]), whole);
    }
}
