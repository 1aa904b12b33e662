//! Reads a raw profile: follows the log, adds up the segments, takes the baseline away.

use super::endings::Endings;
use super::entry::{Entry, FateEntry, PROCESS, TEXT_BYTES};
use super::frame::{check_frame, guarded_at, read_log, stretch};
use super::hashed::check_record_bytes;
use super::image_draft::{ImageDraft, of_hashed_paths};
use super::{Fate, ImageCounts, KIND, ProcessInfo, RawProfile, State};
use crate::FormatError;
use crate::words::{u32_at, u64_at};

/// Appends the next part of a text, which must come in order.
pub(super) fn append_text(text: &mut Vec<u8>, part: u16, bytes: &[u8]) -> Result<(), FormatError> {
    if text.len() != usize::from(part) * TEXT_BYTES {
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
            in_memory: guarded_at(bytes, 136, "why counts are in memory")?,
        });
        let process = ProcessInfo {
            pid: u32_at(bytes, 16),
            parent_pid: u32_at(bytes, 20),
            start_ticks: Some(u64_at(bytes, 24)).filter(|ticks| *ticks != 0),
            begun_ns: u64_at(bytes, 32),
            executable: Vec::new(),
            exec_path: Vec::new(),
        };
        let mut reader = Reader { bytes, complete, baseline, process, drafts: Vec::new() };
        for entry in read_log(bytes, complete)? {
            if let Some(entry) = endings.take(entry)? {
                reader.take(entry)?;
            }
        }
        let Reader { process, drafts, .. } = reader;
        let (ending, pooled) =
            endings.finish(complete, || drafts.iter().fold(0, |sum, draft| sum.wrapping_add(draft.counted())))?;
        let images = drafts.into_iter().filter_map(|draft| draft.finish(complete).transpose()).collect::<Result<_, _>>()?;
        let state = match (complete, ending.fate) {
            (true, _) => State::Complete,
            (false, Fate::NotSeen | Fate::Signal { .. }) => State::Running,
            (false, _) => State::Ended,
        };
        Ok(Self { process, state, ending, threads, images, pooled })
    }
}

/// What the log has told so far of the process and its images.
struct Reader<'b> {
    bytes: &'b [u8],
    complete: bool,
    /// Which baselines are in force: 0 = none, else the role of their segments.
    baseline: u32,
    process: ProcessInfo,
    drafts: Vec<ImageDraft>,
}

impl Reader<'_> {
    /// Takes an entry that does not tell of endings.
    fn take(&mut self, entry: Entry) -> Result<(), FormatError> {
        match entry {
            Entry::Image { image, flags, build_id, layout, tls_counters, global_counters } => {
                if image as usize != self.drafts.len() {
                    return Err(self.no_image(image));
                }
                let counts = ImageCounts { build_id, layout, flags, ..ImageCounts::default() };
                self.drafts.push(ImageDraft::new(counts, [tls_counters, global_counters]));
                Ok(())
            }
            Entry::Path { image: PROCESS, part, bytes } => append_text(&mut self.process.executable, part, &bytes),
            Entry::Path { image, part, bytes } => append_text(&mut self.draft(image)?.counts.path, part, &bytes),
            Entry::Exec { part, bytes } => {
                if part == 0 {
                    self.process.exec_path.clear();
                }
                append_text(&mut self.process.exec_path, part, &bytes)
            }
            Entry::Presence { image, part, modules, bits } => self.draft(image)?.add_presence(part, modules, &bits),
            Entry::Segment { image, bank, offset, counters, role } => {
                let (baseline, bytes, complete) = (self.baseline, self.bytes, self.complete);
                let draft = self.draft(image)?;
                let bank = draft.bank(bank, counters)?;
                let segment = stretch(bytes, complete, offset, counters, 8, "counters of a segment")?;
                match role {
                    0 => draft.add_segment(bank, segment),
                    1 | 2 if role == baseline => draft.add_baseline(bank, segment),
                    1 | 2 => Ok(()),
                    role => Err(KIND.malformed(format!("segment with unknown role {role}"))),
                }
            }
            Entry::Hash { image, record_bytes, offset, records } => {
                let (baseline, bytes, complete) = (self.baseline, self.bytes, self.complete);
                let draft = self.draft(image)?;
                check_record_bytes(record_bytes, complete)
                    .and_then(|()| stretch(bytes, complete, offset, records, record_bytes, "records of paths"))
                    .and_then(|bytes| draft.add_records(bytes, record_bytes, baseline))
                    .map_err(|why| of_hashed_paths(&draft.counts, why))
            }
            Entry::Fate(_) | Entry::Waits { .. } | Entry::Note { .. } | Entry::More { .. } | Entry::End => Ok(()),
        }
    }

    fn draft(&mut self, image: u32) -> Result<&mut ImageDraft, FormatError> {
        let none = self.no_image(image);
        self.drafts.get_mut(image as usize).ok_or(none)
    }

    fn no_image(&self, image: u32) -> FormatError {
        KIND.malformed(format!("entry for image {image} of {}", self.drafts.len()))
    }
}
