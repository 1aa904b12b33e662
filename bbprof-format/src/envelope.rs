//! The frame of files whose whole content is one value: magic, version, checksum, sizes, and the value in postcard, compressed by zstd.
//!
//! ```text
//! offset  size  field
//!      0     8  magic
//!      8     4  version (u32, little-endian)
//!     12     4  zero
//!     16    16  checksum: digest of bytes 0..16, bytes 32..48 and the body as it stands in the file
//!     32     8  size in bytes of the body
//!     40     8  size in bytes of the body when decompressed
//!     48   ...  body
//! ```

use crate::{Digest, FormatError};
use serde::Serialize;
use serde::de::DeserializeOwned;

const HEADER_BYTES: usize = 48;
/// Counters are small numbers with many zeros: level 3 (zstd's default) is as fast as the disk; a guess, not measured.
const ZSTD_LEVEL: i32 = 3;

/// What tells one kind of file from another.
pub(crate) struct Envelope {
    /// Its name in errors.
    pub(crate) kind: &'static str,
    pub(crate) magic: &'static [u8; 8],
    /// Version written and read.
    pub(crate) version: u32,
}

fn checksum(header: &[u8], body: &[u8]) -> Digest {
    Digest::of_parts([&header[..16], &header[32..48], body])
}

impl Envelope {
    /// The file of a value.
    pub(crate) fn seal(&self, value: &impl Serialize) -> Vec<u8> {
        let plain = postcard::to_stdvec(value).expect("plain data always serialises");
        let body = zstd::bulk::compress(&plain, ZSTD_LEVEL).expect("zstd compresses any slice");
        let mut bytes = Vec::with_capacity(HEADER_BYTES + body.len());
        bytes.extend_from_slice(self.magic);
        bytes.extend_from_slice(&self.version.to_le_bytes());
        bytes.extend_from_slice(&[0; 20]);
        bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&(plain.len() as u64).to_le_bytes());
        let sum = checksum(&bytes, &body);
        bytes[16..32].copy_from_slice(&sum.0);
        bytes.extend_from_slice(&body);
        bytes
    }

    /// The value in a file.
    pub(crate) fn open<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, FormatError> {
        let kind = self.kind;
        let found_bytes = bytes.len() as u64;
        let truncated = |expected_bytes| FormatError::Truncated { kind, expected_bytes, found_bytes };
        if bytes.len() >= self.magic.len() && !bytes.starts_with(self.magic) {
            return Err(FormatError::Foreign {
                kind,
                expected: String::from_utf8_lossy(self.magic).into_owned(),
                found: String::from_utf8_lossy(&bytes[..8]).into_owned(),
            });
        }
        if bytes.len() < HEADER_BYTES {
            return Err(truncated(HEADER_BYTES as u64));
        }
        let version = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
        if version != self.version {
            return Err(FormatError::Version { kind, expected: self.version, found: version });
        }
        let u64_at = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let (body_bytes, plain_bytes) = (u64_at(32), u64_at(40));
        let expected_bytes = body_bytes.saturating_add(HEADER_BYTES as u64);
        if expected_bytes > found_bytes {
            return Err(truncated(expected_bytes));
        }
        let malformed = |what: String| FormatError::Malformed { kind, what };
        if expected_bytes < found_bytes {
            return Err(malformed(format!("{} bytes behind its end", found_bytes - expected_bytes)));
        }
        let body = &bytes[HEADER_BYTES..];
        let expected = Digest(bytes[16..32].try_into().expect("sixteen bytes"));
        let found = checksum(bytes, body);
        if expected != found {
            return Err(FormatError::Checksum { kind, expected, found });
        }
        let capacity = usize::try_from(plain_bytes).map_err(|e| malformed(e.to_string()))?;
        let plain = zstd::bulk::decompress(body, capacity).map_err(|e| malformed(format!("body: {e}")))?;
        postcard::from_bytes(&plain).map_err(|e| malformed(format!("body: {e}")))
    }
}
