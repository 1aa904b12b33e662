//! The merged profile (`.bbprof`): summed counters of any number of processes, with the build maps that solve them.
//!
//! Framed as [`crate::frequencies`] is: see `envelope.rs`; magic "BBPROFMG", the value a [`MergedProfile`].
//!
//! Processes and images stand in the order of their values, so equal contents are equal bytes, whatever the order of merging.

use crate::kind::Kind;
use crate::{BuildId, Digest, FormatError, HashedPath, envelope};
use serde::{Deserialize, Serialize};

/// First bytes of a merged profile.
pub const MAGIC: &[u8; 8] = b"BBPROFMG";
/// Version written and read here.
pub const VERSION: u32 = 5;
/// File name extension.
pub const EXTENSION: &str = "bbprof";

const KIND: Kind = Kind { name: "merged profile", magic: MAGIC, version: VERSION };

/// Counters of any number of processes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct MergedProfile {
    /// The processes whose counts are in here, ascending.
    pub processes: Vec<Process>,
    /// One entry for each build id, ascending.
    pub images: Vec<ImageCounters>,
}

/// One process, or those of a pool that ended alike.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Process {
    /// Path of its executable.
    pub executable: String,
    /// Process id; 0 for those of a pool.
    pub pid: u32,
    /// When its file was begun, in nanoseconds since 1970; 0 for those of a pool. No two processes of one id have the same.
    pub begun_ns: u64,
    /// Its counts are those since this reset.
    pub resets: u32,
    /// How many processes.
    pub number: u64,
    /// How it ended, in words: `exit 0`, `signal 11 (SIGSEGV)`.
    pub fate: String,
    /// Why its counts may not be those of whole activations, in words; `None` when they are.
    pub caveat: Option<String>,
    /// The profiled images it had loaded: the executable, where it is profiled, then shared libraries, ascending.
    pub images: Vec<BuildId>,
    /// How many threads besides the first had thread-local counters, dead ones included; of a pool, of all its processes.
    pub threads: u32,
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
    /// Executions of paths that no array holds, ascending, each once.
    pub hashed_paths: Vec<HashedPath>,
    /// The build map as it stands in its file, when it was found.
    pub map: Option<Vec<u8>>,
}

impl MergedProfile {
    /// Whether these bytes say that they are a merged profile.
    #[must_use]
    pub fn is_merged(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Encodes the profile.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        envelope::seal(&KIND, self)
    }

    /// Decodes a merged profile.
    ///
    /// # Errors
    /// Foreign, truncated, damaged or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        envelope::open(&KIND, bytes)
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
                begun_ns: 1_700_000_000,
                resets: 0,
                number: 1,
                fate: "exit 0".into(),
                caveat: None,
                images: vec![build_id],
                threads: 2,
            }],
            images: vec![ImageCounters {
                build_id,
                layout: Digest::of(b"layout"),
                path: "/bin/app".into(),
                presence: vec![true, false],
                tls: vec![0, 1, u64::MAX],
                global: vec![],
                hashed_paths: vec![HashedPath { counter: 1, number: 1 << 40, count: 3 }],
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
