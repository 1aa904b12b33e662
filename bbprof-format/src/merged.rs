//! The merged profile (`.bbprof`): summed counters of any number of processes, with the build maps that solve them.
//!
//! ```text
//! offset  size  field
//!      0     8  magic "BBPROFMG"
//!      8     4  version (u32, little-endian)
//!     12     4  zero
//!     16    16  checksum: digest of bytes 0..16, bytes 32..48 and the body as it stands in the file
//!     32     8  size in bytes of the body
//!     40     8  size in bytes of the body when decompressed
//!     48   ...  body: [`MergedProfile`], postcard, compressed by zstd
//! ```
//!
//! Processes and images stand in the order of their values, so equal contents are equal bytes, whatever the order of merging.

use crate::{BuildId, Digest, FormatError};
use serde::{Deserialize, Serialize};

/// First bytes of a merged profile.
pub const MAGIC: &[u8; 8] = b"BBPROFMG";
/// Version written and read here.
pub const VERSION: u32 = 1;
/// File name extension.
pub const EXTENSION: &str = "bbprof";

const KIND: &str = "merged profile";
const HEADER_BYTES: usize = 48;
/// Counters are small numbers with many zeros: level 3 (zstd's default) is as fast as the disk; a guess, not measured.
const ZSTD_LEVEL: i32 = 3;

/// Counters of any number of processes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MergedProfile {
    /// The processes whose counts are in here, ascending.
    pub processes: Vec<Process>,
    /// One entry for each build id, ascending.
    pub images: Vec<ImageCounters>,
}

/// One process.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Process {
    /// Path of its executable.
    pub executable: String,
    /// Process id.
    pub pid: u32,
    /// How it ended, in words: `exit 0`, `signal 11 (SIGSEGV)`.
    pub fate: String,
    /// Why its counts may not be those of whole activations, in words; `None` when they are.
    pub caveat: Option<String>,
    /// The profiled images it had loaded: the executable, where it is profiled, then shared libraries, ascending.
    pub images: Vec<BuildId>,
}

/// Summed counters of one image.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ImageCounters {
    /// Identifies the link, and with it the build map.
    pub build_id: BuildId,
    /// See [`crate::map::Body::layout`].
    pub layout: Digest,
    /// Where the image was when it ran.
    pub path: String,
    /// Which of the optional modules the linker kept.
    pub presence: Vec<bool>,
    /// Counters of the thread-local bank, executions, by position.
    pub tls: Vec<u64>,
    /// Counters of the global bank.
    pub global: Vec<u64>,
    /// The build map as it stands in its file, when it was found.
    pub map: Option<Vec<u8>>,
}

fn checksum(header: &[u8], body: &[u8]) -> Digest {
    Digest::of_parts([&header[..16], &header[32..48], body])
}

impl MergedProfile {
    /// Whether these bytes say that they are a merged profile.
    #[must_use]
    pub fn is_merged(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Encodes the profile.
    ///
    /// # Panics
    /// Never in practice: zstd compresses any slice.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let plain = postcard::to_stdvec(self).expect("a merged profile always serialises");
        let body = zstd::bulk::compress(&plain, ZSTD_LEVEL).expect("zstd compresses any slice");
        let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&[0; 20]);
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(plain.len() as u64).to_le_bytes());
        let sum = checksum(&bytes, &body);
        bytes[16..32].copy_from_slice(&sum.0);
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Decodes a merged profile.
    ///
    /// # Errors
    /// Foreign, truncated, damaged or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let found_bytes = bytes.len() as u64;
        let truncated = |expected_bytes| FormatError::Truncated { kind: KIND, expected_bytes, found_bytes };
        if bytes.len() >= MAGIC.len() && !Self::is_merged(bytes) {
            return Err(FormatError::Foreign {
                kind: KIND,
                expected: String::from_utf8_lossy(MAGIC).into_owned(),
                found: String::from_utf8_lossy(&bytes[..8]).into_owned(),
            });
        }
        if bytes.len() < HEADER_BYTES {
            return Err(truncated(HEADER_BYTES as u64));
        }
        let version = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
        if version != VERSION {
            return Err(FormatError::Version { kind: KIND, expected: VERSION, found: version });
        }
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let (body_bytes, plain_bytes) = (u64_at(32), u64_at(40));
        let expected_bytes = body_bytes.saturating_add(HEADER_BYTES as u64);
        if expected_bytes > found_bytes {
            return Err(truncated(expected_bytes));
        }
        let malformed = |what: String| FormatError::Malformed { kind: KIND, what };
        if expected_bytes < found_bytes {
            return Err(malformed(format!("{} bytes behind its end", found_bytes - expected_bytes)));
        }
        let body = &bytes[HEADER_BYTES..];
        let expected = Digest(bytes[16..32].try_into().expect("sixteen bytes"));
        let found = checksum(bytes, body);
        if expected != found {
            return Err(FormatError::Checksum { kind: KIND, expected, found });
        }
        let capacity = usize::try_from(plain_bytes).map_err(|e| malformed(e.to_string()))?;
        let plain = zstd::bulk::decompress(body, capacity).map_err(|e| malformed(format!("body: {e}")))?;
        postcard::from_bytes(&plain).map_err(|e| malformed(format!("body: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> MergedProfile {
        let build_id = Digest::of(b"build");
        MergedProfile {
            processes: vec![Process {
                executable: "/bin/app".into(),
                pid: 7,
                fate: "exit 0".into(),
                caveat: None,
                images: vec![build_id],
            }],
            images: vec![ImageCounters {
                build_id,
                layout: Digest::of(b"layout"),
                path: "/bin/app".into(),
                presence: vec![true, false],
                tls: vec![0, 1, u64::MAX],
                global: vec![],
                map: Some(vec![1, 2, 3]),
            }],
        }
    }

    #[test]
    fn round_trip() {
        let bytes = example().encode();
        assert_eq!(MergedProfile::decode(&bytes), Ok(example()));
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_an_error() {
        let bytes = example().encode();
        for len in 0..bytes.len() {
            assert!(MergedProfile::decode(&bytes[..len]).is_err(), "truncated to {len} bytes");
        }
        for at in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[at / 8] ^= 1 << (at % 8);
            assert!(MergedProfile::decode(&damaged).is_err(), "bit {at} flipped");
        }
    }
}
