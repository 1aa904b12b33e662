//! Reads how processes ended: that of the file, and those of a pool, each with the entries that belong to it.

use super::entry::{Entry, FateEntry};
use super::read::append_text;
use super::{Ending, Fate, InMemory, KIND, Waits};
use crate::FormatError;

/// An ending while its entries are read.
struct Draft {
    words: FateEntry,
    /// The sum of all counts at the last look, and who waited.
    waits: Option<(u64, Waits)>,
    notes: Vec<Vec<u8>>,
}

/// The file's own ending, then those of a pool.
pub(super) struct Endings {
    own: Draft,
    pooled: Vec<Draft>,
}

fn read_fate(word: u32) -> Result<(Fate, u32), FormatError> {
    let status = (word >> 8) as u8;
    let fate = match word & 0xff {
        0 => Fate::NotSeen,
        1 => Fate::Exit { status: Some(status) },
        2 => Fate::Exit { status: None },
        3 => Fate::Snapshot,
        4 => Fate::ExitAtOnce { status },
        5 => Fate::QuickExit { status },
        6 => Fate::Abort,
        7 => Fate::Exec,
        8 => Fate::OwnSignal { signal: status },
        9 => Fate::Pool,
        10 => Fate::Signal { signal: status },
        kind => return Err(KIND.malformed(format!("unknown fate {kind}"))),
    };
    Ok((fate, word >> 16))
}

/// The word that [`read_fate`] reads.
pub(super) fn fate_word(fate: Fate, live_threads: u32) -> u32 {
    let (kind, status) = match fate {
        Fate::NotSeen => (0, 0),
        Fate::Exit { status: Some(status) } => (1, status),
        Fate::Exit { status: None } => (2, 0),
        Fate::Snapshot => (3, 0),
        Fate::ExitAtOnce { status } => (4, status),
        Fate::QuickExit { status } => (5, status),
        Fate::Abort => (6, 0),
        Fate::Exec => (7, 0),
        Fate::OwnSignal { signal } => (8, signal),
        Fate::Pool => (9, 0),
        Fate::Signal { signal } => (10, signal),
    };
    kind | u32::from(status) << 8 | live_threads.min(0xffff) << 16
}

fn read_in_memory(word: u32) -> Result<InMemory, FormatError> {
    match word {
        0..=3 => Ok(InMemory { no_room: word & 1 != 0, not_mapped: word & 2 != 0 }),
        _ => Err(KIND.malformed(format!("unknown reasons {word:#x} why counts are in memory"))),
    }
}

impl Draft {
    fn new(words: FateEntry) -> Self {
        Self { words, waits: None, notes: Vec::new() }
    }

    /// `went_on` tells of the sum at the last look whether somebody has counted since.
    fn finish(self, went_on: impl Fn(u64) -> Result<bool, FormatError>) -> Result<Ending, FormatError> {
        let Self { words, waits, notes } = self;
        let (fate, live_threads) = read_fate(words.fate)?;
        let waits = match (words.waiting, waits) {
            (0, _) => None,
            (waiting, waits) => {
                let (counted, waits) = waits.unwrap_or_default();
                if waits.number() != waiting {
                    return Err(KIND.malformed(format!("{waiting} threads waited, but the log tells of {}", waits.number())));
                }
                Some(Waits { went_on: went_on(counted)?, ..waits })
            }
        };
        Ok(Ending {
            fate,
            live_threads,
            waits,
            interrupted: words.interrupted,
            resets: words.resets,
            at_reset: (words.at_reset as u16, (words.at_reset >> 16) as u16),
            lost_children: words.lost_children,
            in_memory: read_in_memory(words.in_memory)?,
            notes: notes.iter().map(|note| String::from_utf8_lossy(note).into_owned()).collect(),
        })
    }
}

impl Endings {
    /// `own` is what the header says.
    pub(super) fn new(own: FateEntry) -> Self {
        Self { own: Draft::new(own), pooled: Vec::new() }
    }

    /// Takes an entry that tells of endings; gives back what does not.
    pub(super) fn take(&mut self, entry: Entry) -> Result<Option<Entry>, FormatError> {
        let last = self.pooled.last_mut().unwrap_or(&mut self.own);
        match entry {
            Entry::Fate(words) => self.pooled.push(Draft::new(words)),
            Entry::Waits { counted, threads } => last.waits = Some((counted, Waits { threads, went_on: false })),
            Entry::Note { part, bytes, .. } => {
                if part == 0 {
                    last.notes.push(Vec::new());
                }
                let note = last.notes.last_mut().ok_or_else(|| KIND.malformed(format!("part {part} of a note comes first")))?;
                append_text(note, part, &bytes)?;
            }
            entry => return Ok(Some(entry)),
        }
        Ok(None)
    }

    /// `now` gives the sum of all counts in the file.
    pub(super) fn finish(self, complete: bool, now: impl Fn() -> u64) -> Result<(Ending, Vec<(Ending, u64)>), FormatError> {
        let own = self.own.finish(|counted| Ok(counted != now()))?;
        let is_pool = own.fate == Fate::Pool;
        if is_pool == self.pooled.is_empty() || (is_pool && !complete) {
            return Err(KIND.malformed("the fates of many processes, and no pool, or the other way round"));
        }
        let pooled = self.pooled.into_iter().map(|draft| {
            let processes = draft.words.processes;
            let ending = draft.finish(|counted| match counted {
                0 | 1 => Ok(counted == 1),
                _ => Err(KIND.malformed(format!("of processes in a pool whose threads waited {counted} is told, expected 0 or 1"))),
            })?;
            if ending.fate == Fate::Pool { Err(KIND.malformed("a pool in a pool")) } else { Ok((ending, processes)) }
        });
        Ok((own, pooled.collect::<Result<_, _>>()?))
    }
}

/// What a header, or an entry of a pool, says of the end of this many processes.
pub(super) fn words_of(ending: &Ending, processes: u64) -> FateEntry {
    FateEntry {
        fate: fate_word(ending.fate, ending.live_threads),
        waiting: ending.waits.as_ref().map_or(0, Waits::number),
        processes,
        interrupted: ending.interrupted,
        resets: ending.resets,
        at_reset: u32::from(ending.at_reset.0) | u32::from(ending.at_reset.1) << 16,
        lost_children: ending.lost_children,
        in_memory: u32::from(ending.in_memory.no_room) | u32::from(ending.in_memory.not_mapped) << 1,
    }
}
