//! Words at offsets of bytes, little-endian as all numbers of all files are.

use crate::Digest;

/// The bytes of a word, which whoever asks knows to be there.
fn at<const SIZE_BYTES: usize>(bytes: &[u8], offset: usize) -> [u8; SIZE_BYTES] {
    bytes[offset..offset + SIZE_BYTES].try_into().expect("a slice is as long as its range")
}

pub(crate) fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    u16::from_le_bytes(at(bytes, offset))
}

pub(crate) fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(at(bytes, offset))
}

pub(crate) fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    u64::from_le_bytes(at(bytes, offset))
}

pub(crate) fn digest_at(bytes: &[u8], offset: usize) -> Digest {
    Digest(at(bytes, offset))
}
