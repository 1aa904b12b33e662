//! Reads a raw profile: follows the log, adds up the segments, takes the baseline away.

use super::checksum::{Checksum, unguard};
use super::endings::Endings;
use super::entry::{ENTRY_BYTES, Entry, FateEntry, PROCESS};
use super::hashed::{HashedSums, add_records, finish_records, records_bytes};
use super::{Fate, HEADER_BYTES, ImageCounts, KIND, PAGE_BYTES, ProcessInfo, RawProfile, STATE_COMPLETE, STATE_RUNNING, State};
use crate::words::{u32_at, u64_at};
use crate::{Digest, FormatError};

fn agree(expected: u64, found: u64) -> Result<(), FormatError> {
    let digest = |sum: u64| Digest((u128::from(sum) << 64).to_be_bytes());
    KIND.agree(digest(expected), digest(found))
}

/// The header's words that change while the process runs.
fn guarded_at(bytes: &[u8], at: usize, what: &str) -> Result<u32, FormatError> {
    let word = u64_at(bytes, at);
    unguard(word).ok_or_else(|| KIND.malformed(format!("{what} at byte {at} is {word:016x}: not a value and its complement")))
}

/// Checks what of a header never changes.
pub(super) fn check_header(bytes: &[u8]) -> Result<(), FormatError> {
    KIND.admit(bytes, HEADER_BYTES)?;
    agree(u64_at(bytes, 48), Checksum::new().add(&bytes[..48]).value())
}

/// Checks header, length and checksum; says whether the file is complete.
fn check_frame(bytes: &[u8]) -> Result<bool, FormatError> {
    check_header(bytes)?;
    let (namespace, complement) = (u64_at(bytes, 96), u64_at(bytes, 104));
    if (namespace, complement) != (0, 0) && complement != !namespace {
        return Err(KIND.malformed("namespace of the process at byte 96: not a value and its complement"));
    }
    if bytes[136..HEADER_BYTES].iter().any(|byte| *byte != 0) {
        return Err(KIND.malformed("the end of the header, from byte 136, is not zero"));
    }
    let (state, length) = (&bytes[12..16], u64_at(bytes, 40));
    if state == STATE_RUNNING {
        let whole_page = PAGE_BYTES;
        return if (bytes.len() as u64) < whole_page { Err(KIND.truncated(whole_page, bytes)) } else { Ok(false) };
    }
    if state != STATE_COMPLETE {
        return Err(KIND.malformed(format!("unknown state {:?}", String::from_utf8_lossy(state))));
    }
    if length > bytes.len() as u64 {
        return Err(KIND.truncated(length, bytes));
    }
    if length < bytes.len() as u64 || bytes.len() < HEADER_BYTES + ENTRY_BYTES + 8 {
        return Err(KIND.malformed(format!("it says {length} bytes, the file has {}", bytes.len())));
    }
    let (body, sum) = bytes.split_at(bytes.len() - 8);
    agree(u64_at(sum, 0), Checksum::new().add(body).value())?;
    Ok(true)
}

/// The entries of the log, in order.
fn read_log(bytes: &[u8], complete: bool) -> Result<Vec<Entry>, FormatError> {
    let mut entries = Vec::new();
    let mut at = HEADER_BYTES;
    let mut end = if complete { bytes.len() - 8 } else { PAGE_BYTES as usize };
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

/// An image while its entries are read.
struct Draft {
    counts: ImageCounts,
    sizes: [u64; 2],
    /// By bank: counts and baselines, if there are any.
    banks: [Option<Vec<u64>>; 2],
    baselines: [Option<Vec<u64>>; 2],
    hashed: HashedSums,
}

/// Adds a segment's counters to `sums`.
fn add_segment(sums: &mut Option<Vec<u64>>, segment: &[u8]) -> Result<(), FormatError> {
    let counters = segment.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
    match sums {
        None => *sums = Some(counters.collect()),
        Some(sums) => {
            for (k, (sum, counter)) in sums.iter_mut().zip(counters).enumerate() {
                *sum =
                    sum.checked_add(counter).ok_or_else(|| KIND.malformed(format!("the counts of counter {k} exceed 64 bits")))?;
            }
        }
    }
    Ok(())
}

/// The bytes of a segment.
fn segment_bytes(bytes: &[u8], offset: u64, counters: u64, complete: bool) -> Result<&[u8], FormatError> {
    let place = || format!("segment at byte {offset} with {counters} counters");
    let size = counters.checked_mul(8).filter(|size| *size <= u64::MAX / 4).ok_or_else(|| KIND.malformed(place()))?;
    let filled = if complete { size } else { size.next_multiple_of(PAGE_BYTES) };
    let last = offset.checked_add(filled).ok_or_else(|| KIND.malformed(place()))?;
    let limit = bytes.len() as u64 - if complete { 8 } else { 0 };
    if last > limit {
        return Err(KIND.truncated(last, bytes));
    }
    if offset < HEADER_BYTES as u64 || (!complete && !offset.is_multiple_of(PAGE_BYTES)) || !offset.is_multiple_of(8) {
        return Err(KIND.malformed(place()));
    }
    Ok(&bytes[offset as usize..(offset + size) as usize])
}

/// Appends the next part of a text, which must come in order.
pub(super) fn append_text(text: &mut Vec<u8>, part: u16, bytes: &[u8]) -> Result<(), FormatError> {
    if text.len() != usize::from(part) * 48 {
        return Err(KIND.malformed(format!("part {part} of a text comes after {} bytes", text.len())));
    }
    text.extend_from_slice(bytes);
    Ok(())
}

impl RawProfile {
    /// Reads a raw profile, whatever state it is in. Bytes that the process is still writing may be read, too: then call it
    /// on a copy, so that they do not change meanwhile.
    ///
    /// # Errors
    /// Foreign, truncated, damaged or of another version.
    pub fn read(bytes: &[u8]) -> Result<Self, FormatError> {
        let complete = check_frame(bytes)?;
        let baseline = guarded_at(bytes, 72, "baseline")?;
        if baseline > 2 {
            return Err(KIND.malformed(format!("unknown baseline {baseline}")));
        }
        let threads = guarded_at(bytes, 80, "number of threads")?;
        let mut endings = Endings::new(FateEntry {
            fate: guarded_at(bytes, 64, "fate")?,
            waiting: guarded_at(bytes, 56, "number of threads that waited")?,
            processes: 1,
            interrupted: guarded_at(bytes, 88, "number of interrupted activations")?,
            resets: guarded_at(bytes, 112, "number of resets")?,
            at_reset: guarded_at(bytes, 120, "what ran at the last reset")?,
            lost_children: guarded_at(bytes, 128, "number of children without a file")?,
        });
        let mut process = ProcessInfo {
            pid: u32_at(bytes, 16),
            parent_pid: u32_at(bytes, 20),
            start_ticks: Some(u64_at(bytes, 24)).filter(|ticks| *ticks != 0),
            begun_ns: u64_at(bytes, 32),
            executable: Vec::new(),
            exec_path: Vec::new(),
        };
        let mut drafts: Vec<Draft> = Vec::new();
        for entry in read_log(bytes, complete)? {
            if let Some(entry) = endings.take(entry)? {
                read_entry(bytes, complete, baseline, entry, &mut process, &mut drafts)?;
            }
        }
        let (ending, pooled) = endings.finish(complete, || counted(&drafts))?;
        let images = drafts.into_iter().filter_map(|draft| finish(draft, complete).transpose()).collect::<Result<_, _>>()?;
        let state = match (complete, ending.fate) {
            (true, _) => State::Complete,
            (false, Fate::NotSeen | Fate::Signal { .. }) => State::Running,
            (false, _) => State::Ended,
        };
        Ok(Self { process, state, ending, threads, images, pooled })
    }
}

fn of_hashed_paths(image: &ImageCounts, why: FormatError) -> FormatError {
    let path = String::from_utf8_lossy(&image.path).into_owned();
    FormatError::HashedPaths { build_id: image.build_id, image: path, why: Box::new(why) }
}

fn read_entry(
    bytes: &[u8],
    complete: bool,
    baseline: u32,
    entry: Entry,
    process: &mut ProcessInfo,
    drafts: &mut Vec<Draft>,
) -> Result<(), FormatError> {
    let num_images = drafts.len();
    let unknown = |image: u32| KIND.malformed(format!("entry for image {image} of {num_images}"));
    let draft = |drafts: &mut Vec<Draft>, image: u32| -> Result<usize, FormatError> {
        usize::try_from(image).ok().filter(|i| *i < drafts.len()).ok_or_else(|| unknown(image))
    };
    match entry {
        Entry::Image { image, flags, build_id, layout, tls_counters, global_counters } => {
            if image as usize != num_images {
                return Err(unknown(image));
            }
            let counts = ImageCounts { build_id, layout, flags, ..ImageCounts::default() };
            drafts.push(Draft {
                counts,
                sizes: [tls_counters, global_counters],
                banks: [None, None],
                baselines: [None, None],
                hashed: HashedSums::default(),
            });
        }
        Entry::Path { image: PROCESS, part, bytes } => append_text(&mut process.executable, part, &bytes)?,
        Entry::Path { image, part, bytes } => {
            let i = draft(drafts, image)?;
            append_text(&mut drafts[i].counts.path, part, &bytes)?;
        }
        Entry::Exec { part, bytes } => {
            if part == 0 {
                process.exec_path.clear();
            }
            append_text(&mut process.exec_path, part, &bytes)?;
        }
        Entry::Presence { image, part, modules, bits } => {
            let presence = {
                let i = draft(drafts, image)?;
                &mut drafts[i].counts.presence
            };
            if presence.len() != usize::from(part) * bits.len() * 8 {
                return Err(KIND.malformed(format!("part {part} of a presence table comes after {} modules", presence.len())));
            }
            presence.extend((0..usize::from(modules)).map(|m| bits[m / 8] >> (m % 8) & 1 == 1));
        }
        Entry::Segment { image, bank, offset, counters, role } => {
            let i = draft(drafts, image)?;
            let draft = &mut drafts[i];
            let bank =
                usize::try_from(bank).ok().filter(|b| *b < 2).ok_or_else(|| KIND.malformed(format!("unknown bank {bank}")))?;
            if draft.sizes[bank] != counters {
                return Err(KIND.malformed(format!("segment with {counters} counters for a bank of {}", draft.sizes[bank])));
            }
            let segment = segment_bytes(bytes, offset, counters, complete)?;
            match role {
                0 => {
                    draft.counts.segments += 1;
                    add_segment(&mut draft.banks[bank], segment)?;
                }
                1 | 2 if role == baseline => add_segment(&mut draft.baselines[bank], segment)?,
                1 | 2 => {}
                role => return Err(KIND.malformed(format!("segment with unknown role {role}"))),
            }
        }
        Entry::Hash { image, record_bytes, offset, records } => {
            let i = draft(drafts, image)?;
            let draft = &mut drafts[i];
            let num_counters = draft.sizes.iter().copied().fold(0, u64::saturating_add);
            records_bytes(bytes, record_bytes, offset, records, complete)
                .and_then(|bytes| add_records(&mut draft.hashed, bytes, record_bytes as usize, baseline, num_counters))
                .map_err(|why| of_hashed_paths(&draft.counts, why))?;
        }
        Entry::Fate(_) | Entry::Waits { .. } | Entry::Note { .. } | Entry::More { .. } | Entry::End => {}
    }
    Ok(())
}

/// The sum of all counts in the file, modulo 2^64.
fn counted(drafts: &[Draft]) -> u64 {
    let in_banks = drafts.iter().flat_map(|draft| draft.banks.iter().flatten().flatten());
    let of_paths = drafts.iter().flat_map(|draft| draft.hashed.values().map(|(count, _)| count));
    in_banks.chain(of_paths).fold(0_u64, |sum, count| sum.wrapping_add(*count))
}

/// The counts of an image, or nothing if a kill cut its loading short.
fn finish(draft: Draft, complete: bool) -> Result<Option<ImageCounts>, FormatError> {
    let Draft { mut counts, sizes, banks, baselines, hashed } = draft;
    for (bank, ((size, sums), baseline)) in sizes.into_iter().zip(banks).zip(baselines).enumerate() {
        let mut sums = match sums {
            Some(sums) => sums,
            None if size == 0 => Vec::new(),
            None if complete => return Err(KIND.malformed(format!("no segment for a bank of {size} counters"))),
            None => return Ok(None),
        };
        for (k, (sum, before)) in sums.iter_mut().zip(baseline.unwrap_or_default()).enumerate() {
            let since = sum.checked_sub(before);
            *sum = since.ok_or_else(|| KIND.malformed(format!("counter {k} is {sum}, less than {before} at the last reset")))?;
        }
        if bank == 0 { counts.tls_counters = sums } else { counts.global_counters = sums }
    }
    counts.hashed_paths = finish_records(hashed).map_err(|why| of_hashed_paths(&counts, why))?;
    Ok(Some(counts))
}
