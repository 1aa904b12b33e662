//! Writes a raw profile as the runtime does. Only tests and tools that make profiles up need it.

use super::checksum::{Checksum, guarded};
use super::endings::words_of;
use super::entry::{ENTRY_BYTES, Entry, PROCESS};
use super::hashed::COMPLETE_RECORD_BYTES;
use super::{Ending, HEADER_BYTES, MAGIC, PAGE_BYTES, RawProfile, STATE_COMPLETE, STATE_RUNNING, VERSION, Waits};
use crate::HashedPath;

/// The header, with its check.
pub(super) fn header(profile: &RawProfile, state: &[u8; 4], length: u64, baseline: u32) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    let process = &profile.process;
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..16].copy_from_slice(state);
    bytes[16..20].copy_from_slice(&process.pid.to_le_bytes());
    bytes[20..24].copy_from_slice(&process.parent_pid.to_le_bytes());
    bytes[24..32].copy_from_slice(&process.start_ticks.unwrap_or(0).to_le_bytes());
    bytes[32..40].copy_from_slice(&process.begun_ns.to_le_bytes());
    bytes[40..48].copy_from_slice(&length.to_le_bytes());
    let check = Checksum::new().add(&bytes[..48]).value();
    bytes[48..56].copy_from_slice(&check.to_le_bytes());
    let words = words_of(&profile.ending, 1);
    bytes[56..64].copy_from_slice(&guarded(words.waiting).to_le_bytes());
    bytes[64..72].copy_from_slice(&guarded(words.fate).to_le_bytes());
    bytes[72..80].copy_from_slice(&guarded(baseline).to_le_bytes());
    bytes[80..88].copy_from_slice(&guarded(profile.threads).to_le_bytes());
    bytes[88..96].copy_from_slice(&guarded(words.interrupted).to_le_bytes());
    bytes[112..120].copy_from_slice(&guarded(words.resets).to_le_bytes());
    bytes[120..128].copy_from_slice(&guarded(words.at_reset).to_le_bytes());
    bytes[128..136].copy_from_slice(&guarded(words.lost_children).to_le_bytes());
    bytes[136..144].copy_from_slice(&guarded(words.in_memory).to_le_bytes());
    bytes
}

/// What is told of an ending besides numbers; `counted` is the sum of all counts while the threads waited.
fn put_ending(log: &mut Vec<Entry>, ending: &Ending, counted: impl Fn(&Waits) -> u64) {
    if let Some(waits) = &ending.waits {
        log.push(Entry::Waits { counted: counted(waits), threads: waits.threads.clone() });
    }
    for note in &ending.notes {
        log.extend(Entry::text(note.as_bytes(), |part, bytes| Entry::Note { image: PROCESS, part, bytes }));
    }
}

impl RawProfile {
    /// The first page of a running profile without images.
    #[must_use]
    pub fn encode_running(&self) -> Vec<u8> {
        let mut bytes = header(self, STATE_RUNNING, 0, 0).to_vec();
        bytes.resize(PAGE_BYTES as usize, 0);
        bytes
    }

    /// Encodes the profile as a complete one, whatever its state; each non-empty bank becomes one segment.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut log = Entry::text(&self.process.executable, |part, bytes| Entry::Path { image: PROCESS, part, bytes });
        log.extend(Entry::text(&self.process.exec_path, |part, bytes| Entry::Exec { part, bytes }));
        put_ending(&mut log, &self.ending, |waits| {
            let counts = self.images.iter().flat_map(|image| {
                let paths = image.hashed_paths.iter().map(|path| &path.count);
                image.tls_counters.iter().chain(&image.global_counters).chain(paths)
            });
            counts.fold(u64::from(waits.went_on), |sum, count| sum.wrapping_add(*count))
        });
        for (ending, processes) in &self.pooled {
            log.push(Entry::Fate(words_of(ending, *processes)));
            put_ending(&mut log, ending, |waits| u64::from(waits.went_on));
        }
        let mut banks: Vec<(u32, u32, &[u64])> = Vec::new();
        for (image, counts) in (0..).zip(&self.images) {
            log.push(Entry::Image {
                image,
                flags: counts.flags,
                build_id: counts.build_id,
                layout: counts.layout,
                tls_counters: counts.tls_counters.len() as u64,
                global_counters: counts.global_counters.len() as u64,
            });
            log.extend(Entry::text(&counts.path, |part, bytes| Entry::Path { image, part, bytes }));
            log.extend(Entry::presence(image, &counts.presence));
            banks.extend([(image, 0, &counts.tls_counters[..]), (image, 1, &counts.global_counters[..])]);
        }
        banks.retain(|(_, _, counters)| !counters.is_empty());
        let hashed = (0..).zip(&self.images).map(|(image, counts)| (image, &counts.hashed_paths[..]));
        let hashed: Vec<(u32, &[HashedPath])> = hashed.filter(|(_, paths)| !paths.is_empty()).collect();
        let mut offset = (HEADER_BYTES + (log.len() + banks.len() + hashed.len() + 1) * ENTRY_BYTES) as u64;
        for (image, bank, counters) in &banks {
            log.push(Entry::Segment { image: *image, bank: *bank, offset, counters: counters.len() as u64, role: 0 });
            offset += counters.len() as u64 * 8;
        }
        for (image, paths) in &hashed {
            let records = paths.len() as u64;
            log.push(Entry::Hash { image: *image, record_bytes: COMPLETE_RECORD_BYTES, offset, records });
            offset += records * u64::from(COMPLETE_RECORD_BYTES);
        }
        log.push(Entry::End);
        let mut bytes = header(self, STATE_COMPLETE, offset + 8, 0).to_vec();
        log.iter().for_each(|entry| bytes.extend_from_slice(&entry.encode()));
        banks.iter().flat_map(|(_, _, counters)| *counters).for_each(|counter| bytes.extend_from_slice(&counter.to_le_bytes()));
        for path in hashed.iter().flat_map(|(_, paths)| *paths) {
            for word in [8 * (path.counter + 1), path.number, path.count] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        let sum = Checksum::new().add(&bytes).value();
        bytes.extend_from_slice(&sum.to_le_bytes());
        bytes
    }
}
