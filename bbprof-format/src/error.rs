//! Why some bytes are not the file they should be. The caller knows the path and puts it in front.

use crate::{BuildId, Digest};

/// Damage, a foreign file, or another version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The first bytes are not those of this kind of file.
    #[error("not a bbprof {kind}: expected it to start with {expected:?}, found {found}")]
    Foreign {
        /// The kind of file that was expected.
        kind: &'static str,
        /// Its magic.
        expected: String,
        /// What stands there, and what that is, if it is known.
        found: String,
    },
    /// Written by a bbprof that uses another version of the format.
    #[error(
        "{kind} has format version {found}, this bbprof reads version {expected}; rebuild with this bbprof, or read it with the one that wrote it"
    )]
    Version {
        /// The kind of file.
        kind: &'static str,
        /// The version read here.
        expected: u32,
        /// The version found.
        found: u32,
    },
    /// The file ends too early.
    #[error("{kind} is truncated: expected {expected_bytes} bytes, found {found_bytes}")]
    Truncated {
        /// The kind of file.
        kind: &'static str,
        /// How long it says it is.
        expected_bytes: u64,
        /// How long it is.
        found_bytes: u64,
    },
    /// Its checksum does not match.
    #[error("{kind} is damaged: checksum {expected} expected, {found} found")]
    Checksum {
        /// The kind of file.
        kind: &'static str,
        /// The checksum it carries.
        expected: Digest,
        /// The checksum of what it holds.
        found: Digest,
    },
    /// A field has a value that cannot be.
    #[error("{kind} is damaged: {what}")]
    Malformed {
        /// The kind of file.
        kind: &'static str,
        /// Which field, what was expected and what was found.
        what: String,
    },
    /// Counts of several threads have a sum that 64 bits do not hold. Loops whose turns are
    /// counted in front of them count all that they would take.
    #[error(
        "{kind} cannot be summed: {what} exceed 64 bits in all; threads were in loops whose turns are counted when they begin (`--without loops` counts them one by one), or the file is damaged"
    )]
    Overflow {
        /// The kind of file.
        kind: &'static str,
        /// Which counts.
        what: String,
    },
    /// The records of an image's hashed paths are damaged, or not all there. Its build map says of which functions they may be.
    #[error("{why}, in the records of paths of {image}")]
    HashedPaths {
        /// Identifies the image's build map.
        build_id: BuildId,
        /// Path of the image, as the process saw it.
        image: String,
        /// What is wrong.
        why: Box<FormatError>,
    },
}
