//! The frame of a raw profile: its header, whether it is complete, and the entries of its log.

use super::checksum::{Checksum, unguard};
use super::entry::{ENTRY_BYTES, Entry};
use super::{HEADER_BYTES, KIND, PAGE_BYTES, STATE_COMPLETE, STATE_RUNNING};
use crate::words::u64_at;
use crate::{Digest, FormatError};

/// At the end of a complete file.
const CHECKSUM_BYTES: usize = 8;

fn agree(expected: u64, found: u64) -> Result<(), FormatError> {
    let digest = |sum: u64| Digest((u128::from(sum) << 64).to_be_bytes());
    KIND.agree(digest(expected), digest(found))
}

/// The header's words that change while the process runs.
pub(super) fn guarded_at(bytes: &[u8], at: usize, what: &str) -> Result<u32, FormatError> {
    let word = u64_at(bytes, at);
    unguard(word).ok_or_else(|| KIND.malformed(format!("{what} at byte {at} is {word:016x}: not a value and its complement")))
}

/// Checks what of a header never changes.
pub(super) fn check_header(bytes: &[u8]) -> Result<(), FormatError> {
    KIND.admit(bytes, HEADER_BYTES)?;
    agree(u64_at(bytes, 48), Checksum::new().add(&bytes[..48]).value())
}

/// Checks header, length and checksum; says whether the file is complete.
pub(super) fn check_frame(bytes: &[u8]) -> Result<bool, FormatError> {
    check_header(bytes)?;
    let (namespace, complement) = (u64_at(bytes, 96), u64_at(bytes, 104));
    if (namespace, complement) != (0, 0) && complement != !namespace {
        return Err(KIND.malformed("namespace of the process at byte 96: not a value and its complement"));
    }
    if bytes[144..HEADER_BYTES].iter().any(|byte| *byte != 0) {
        return Err(KIND.malformed("the end of the header, from byte 144, is not zero"));
    }
    let (state, length) = (&bytes[12..16], u64_at(bytes, 40));
    if state == STATE_RUNNING {
        return if (bytes.len() as u64) < PAGE_BYTES { Err(KIND.truncated(PAGE_BYTES, bytes)) } else { Ok(false) };
    }
    if state != STATE_COMPLETE {
        return Err(KIND.malformed(format!("unknown state {:?}", String::from_utf8_lossy(state))));
    }
    if length > bytes.len() as u64 {
        return Err(KIND.truncated(length, bytes));
    }
    if length < bytes.len() as u64 || bytes.len() < HEADER_BYTES + ENTRY_BYTES + CHECKSUM_BYTES {
        return Err(KIND.malformed(format!("it says {length} bytes, the file has {}", bytes.len())));
    }
    let (body, sum) = bytes.split_at(bytes.len() - CHECKSUM_BYTES);
    agree(u64_at(sum, 0), Checksum::new().add(body).value())?;
    Ok(true)
}

/// The entries of the log, in order.
pub(super) fn read_log(bytes: &[u8], complete: bool) -> Result<Vec<Entry>, FormatError> {
    let mut entries = Vec::new();
    let mut at = HEADER_BYTES;
    let mut end = if complete { bytes.len() - CHECKSUM_BYTES } else { PAGE_BYTES as usize };
    while at + ENTRY_BYTES <= end {
        let entry = bytes.get(at..at + ENTRY_BYTES).ok_or_else(|| KIND.truncated(end as u64, bytes))?;
        let entry = Entry::decode(entry.try_into().expect("64 bytes"));
        match entry.map_err(|what| KIND.malformed(format!("entry at byte {at}: {what}")))? {
            // Never finished: nothing may follow it.
            None if complete => return Err(KIND.malformed(format!("the log ends at byte {at} without saying so"))),
            None => {
                let rest = bytes.get(at..end).ok_or_else(|| KIND.truncated(end as u64, bytes))?;
                let followed = rest.chunks(ENTRY_BYTES).any(|entry| entry[..4] != [0; 4]);
                return if followed { Err(KIND.malformed(format!("the log has a hole at byte {at}"))) } else { Ok(entries) };
            }
            Some(Entry::End) if complete => return Ok(entries),
            Some(Entry::More { offset, entries }) if !complete => {
                let bytes_more = entries.checked_mul(ENTRY_BYTES as u64).and_then(|n| n.checked_add(offset));
                let last = bytes_more
                    .ok_or_else(|| KIND.malformed(format!("the log continues at byte {offset} with {entries} entries")))?;
                if last > bytes.len() as u64 {
                    return Err(KIND.truncated(last, bytes));
                }
                // Only forwards: no loops.
                if offset < end as u64 || !offset.is_multiple_of(PAGE_BYTES) {
                    return Err(KIND.malformed(format!("the log continues at byte {offset}, before its end at {end}")));
                }
                (at, end) = (offset as usize, last as usize);
                continue;
            }
            Some(Entry::End | Entry::More { .. }) => {
                return Err(KIND.malformed(format!("entry at byte {at} does not belong in this state")));
            }
            Some(entry) => entries.push(entry),
        }
        at += ENTRY_BYTES;
    }
    if complete { Err(KIND.malformed("the log does not end")) } else { Ok(entries) }
}

/// The bytes of so many items, which in a running file begin on a page and fill whole pages.
pub(super) fn stretch<'b>(
    bytes: &'b [u8],
    complete: bool,
    offset: u64,
    items: u64,
    item_bytes: u32,
    what: &str,
) -> Result<&'b [u8], FormatError> {
    let wrong = || KIND.malformed(format!("{items} {what} at byte {offset}"));
    let (alignment, behind) = if complete { (8, CHECKSUM_BYTES as u64) } else { (PAGE_BYTES, 0) };
    let size = items.checked_mul(u64::from(item_bytes)).filter(|size| *size <= u64::MAX / 4).ok_or_else(wrong)?;
    let last = offset.checked_add(size.next_multiple_of(alignment)).ok_or_else(wrong)?;
    if last > bytes.len() as u64 - behind {
        return Err(KIND.truncated(last, bytes));
    }
    if offset < HEADER_BYTES as u64 || !offset.is_multiple_of(alignment) {
        return Err(wrong());
    }
    Ok(&bytes[offset as usize..(offset + size) as usize])
}
