//! Records of hashed paths: from the bytes of a file to executions by path.

use super::KIND;
use crate::words::u64_at;
use crate::{FormatError, HashedPath};
use std::collections::BTreeMap;

/// Bytes of a record in a complete file, and in a running one.
pub(super) const COMPLETE_RECORD_BYTES: u32 = 24;
pub(super) const RUNNING_RECORD_BYTES: u32 = 48;

/// By counter and path number: the count, and the count at the last reset.
pub(super) type HashedSums = BTreeMap<(u64, u64), (u64, u64)>;

/// Refuses records of another size than those of such a file have.
pub(super) fn check_record_bytes(record_bytes: u32, complete: bool) -> Result<(), FormatError> {
    let expected = if complete { COMPLETE_RECORD_BYTES } else { RUNNING_RECORD_BYTES };
    if record_bytes == expected {
        Ok(())
    } else {
        Err(KIND.malformed(format!("records of paths have {record_bytes} bytes, expected {expected}")))
    }
}

/// Adds records to `sums`; the image has `num_counters` counters.
pub(super) fn add_records(
    sums: &mut HashedSums,
    bytes: &[u8],
    record_bytes: usize,
    baseline: u32,
    num_counters: u64,
) -> Result<(), FormatError> {
    for record in bytes.chunks_exact(record_bytes) {
        let (place, number, count) = (u64_at(record, 0), u64_at(record, 8), u64_at(record, 16));
        if place == 0 {
            continue;
        }
        let counter = (place / 8).checked_sub(1).filter(|counter| place % 8 == 0 && *counter < num_counters);
        let counter = counter.ok_or_else(|| {
            KIND.malformed(format!("a record of path {number} has place {place}, but the image has {num_counters} counters"))
        })?;
        let before = match baseline {
            1 | 2 if record_bytes == RUNNING_RECORD_BYTES as usize => u64_at(record, 16 + 8 * baseline as usize),
            _ => 0,
        };
        let sum = sums.entry((counter, number)).or_default();
        let added = sum.0.checked_add(count).zip(sum.1.checked_add(before));
        *sum = added.ok_or_else(|| KIND.overflow(format!("the counts of path {number} of counter {counter}")))?;
    }
    Ok(())
}

/// Takes the baseline away.
pub(super) fn finish_records(sums: HashedSums) -> Result<Vec<HashedPath>, FormatError> {
    let since = |((counter, number), (count, before)): ((u64, u64), (u64, u64))| {
        let what = || {
            KIND.malformed(format!(
                "path {number} of counter {counter} has {count} executions, less than {before} at the last reset"
            ))
        };
        Ok(HashedPath { counter, number, count: count.checked_sub(before).ok_or_else(what)? })
    };
    let paths: Result<Vec<HashedPath>, FormatError> = sums.into_iter().map(since).collect();
    Ok(paths?.into_iter().filter(|path| path.count > 0).collect())
}
