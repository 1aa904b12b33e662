//! The counts of one image while the log of a raw profile is read.

use super::hashed::{HashedSums, add_records, finish_records};
use super::{ImageCounts, KIND};
use crate::FormatError;

/// An image of which some entries have been read.
pub(super) struct ImageDraft {
    /// What is known of it besides counters.
    pub(super) counts: ImageCounts,
    /// By bank: how many counters it has.
    sizes: [u64; 2],
    /// By bank: the sums of its segments, and of the baselines in force, if there are any.
    banks: [Option<Vec<u64>>; 2],
    baselines: [Option<Vec<u64>>; 2],
    hashed: HashedSums,
}

impl ImageDraft {
    pub(super) fn new(counts: ImageCounts, sizes: [u64; 2]) -> Self {
        Self { counts, sizes, banks: [None, None], baselines: [None, None], hashed: HashedSums::default() }
    }

    pub(super) fn add_presence(&mut self, part: u16, modules: u16, bits: &[u8]) -> Result<(), FormatError> {
        let presence = &mut self.counts.presence;
        if presence.len() != usize::from(part) * bits.len() * 8 {
            return Err(KIND.malformed(format!("part {part} of a presence table comes after {} modules", presence.len())));
        }
        presence.extend((0..usize::from(modules)).map(|module| bits[module / 8] >> (module % 8) & 1 == 1));
        Ok(())
    }

    /// The bank that an entry names, which must have as many counters as the entry says.
    pub(super) fn bank(&self, bank: u32, counters: u64) -> Result<usize, FormatError> {
        let bank = usize::try_from(bank).ok().filter(|bank| *bank < self.sizes.len());
        let bank = bank.ok_or_else(|| KIND.malformed("segment of a bank that is neither 0 nor 1"))?;
        if self.sizes[bank] != counters {
            return Err(KIND.malformed(format!("segment with {counters} counters for a bank of {}", self.sizes[bank])));
        }
        Ok(bank)
    }

    pub(super) fn add_segment(&mut self, bank: usize, segment: &[u8]) -> Result<(), FormatError> {
        self.counts.segments += 1;
        add_counters(&mut self.banks[bank], segment)
    }

    pub(super) fn add_baseline(&mut self, bank: usize, segment: &[u8]) -> Result<(), FormatError> {
        add_counters(&mut self.baselines[bank], segment)
    }

    pub(super) fn add_records(&mut self, bytes: &[u8], record_bytes: u32, baseline: u32) -> Result<(), FormatError> {
        let num_counters = self.sizes.iter().copied().fold(0, u64::saturating_add);
        add_records(&mut self.hashed, bytes, record_bytes as usize, baseline, num_counters)
    }

    /// The sum of all its counts in the file, modulo 2^64.
    pub(super) fn counted(&self) -> u64 {
        let of_paths = self.hashed.values().map(|(count, _)| count);
        self.banks.iter().flatten().flatten().chain(of_paths).fold(0, |sum: u64, count| sum.wrapping_add(*count))
    }

    /// The counts, or nothing if a kill cut its loading short.
    pub(super) fn finish(self, complete: bool) -> Result<Option<ImageCounts>, FormatError> {
        let Self { mut counts, sizes, banks, baselines, hashed } = self;
        for (bank, ((size, sums), baseline)) in sizes.into_iter().zip(banks).zip(baselines).enumerate() {
            let mut sums = match sums {
                Some(sums) => sums,
                None if size == 0 => Vec::new(),
                None if complete => return Err(KIND.malformed(format!("no segment for a bank of {size} counters"))),
                None => return Ok(None),
            };
            for (k, (sum, before)) in sums.iter_mut().zip(baseline.unwrap_or_default()).enumerate() {
                let since = sum.checked_sub(before);
                *sum =
                    since.ok_or_else(|| KIND.malformed(format!("counter {k} is {sum}, less than {before} at the last reset")))?;
            }
            if bank == 0 { counts.tls_counters = sums } else { counts.global_counters = sums }
        }
        counts.hashed_paths = finish_records(hashed).map_err(|why| of_hashed_paths(&counts, why))?;
        Ok(Some(counts))
    }
}

/// What is wrong with an image's records of hashed paths.
pub(super) fn of_hashed_paths(image: &ImageCounts, why: FormatError) -> FormatError {
    let path = String::from_utf8_lossy(&image.path).into_owned();
    FormatError::HashedPaths { build_id: image.build_id, image: path, why: Box::new(why) }
}

/// Adds a segment's counters to `sums`.
fn add_counters(sums: &mut Option<Vec<u64>>, segment: &[u8]) -> Result<(), FormatError> {
    let counters = segment.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")));
    match sums {
        None => *sums = Some(counters.collect()),
        Some(sums) => {
            for (k, (sum, counter)) in sums.iter_mut().zip(counters).enumerate() {
                *sum = sum.checked_add(counter).ok_or_else(|| KIND.overflow(format!("the counts of counter {k}")))?;
            }
        }
    }
    Ok(())
}
