//! The frame of files whose whole content is one value: magic, version, checksum, sizes,
//! and the value in postcard, compressed by zstd.
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

use crate::kind::Kind;
use crate::words::{digest_at, u64_at};
use crate::{Digest, FormatError};
use serde::Serialize;
use serde::de::DeserializeOwned;

const HEADER_BYTES: usize = 48;
/// Counters are small numbers with many zeros: level 3 (zstd's default) is as fast as the disk; a guess, not measured.
const ZSTD_LEVEL: i32 = 3;

fn checksum(header: &[u8], body: &[u8]) -> Digest {
    Digest::of_parts([&header[..16], &header[32..48], body])
}

/// The file of a value.
pub(crate) fn seal(kind: &Kind, value: &impl Serialize) -> Vec<u8> {
    let plain = postcard::to_stdvec(value).expect("plain data always serialises");
    let body = zstd::bulk::compress(&plain, ZSTD_LEVEL).expect("zstd compresses any slice");
    let mut bytes = kind.begin();
    bytes.extend_from_slice(&[0; 20]);
    bytes.extend_from_slice(&(body.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&(plain.len() as u64).to_le_bytes());
    let sum = checksum(&bytes, &body);
    bytes[16..32].copy_from_slice(&sum.0);
    bytes.extend_from_slice(&body);
    bytes
}

/// The value in a file.
pub(crate) fn open<T: DeserializeOwned>(kind: &Kind, bytes: &[u8]) -> Result<T, FormatError> {
    kind.admit(bytes, HEADER_BYTES)?;
    let (body_bytes, plain_bytes) = (u64_at(bytes, 32), u64_at(bytes, 40));
    let body = kind.body(bytes, HEADER_BYTES, body_bytes)?;
    kind.agree(digest_at(bytes, 16), checksum(bytes, body))?;
    let capacity = usize::try_from(plain_bytes).map_err(|e| kind.malformed(e.to_string()))?;
    let plain = zstd::bulk::decompress(body, capacity).map_err(|e| kind.malformed(format!("body: {e}")))?;
    postcard::from_bytes(&plain).map_err(|e| kind.malformed(format!("body: {e}")))
}
