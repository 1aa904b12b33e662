//! The 64-byte entries of the log.

use super::checksum::entry_check;
use super::waits::CALLS;
use super::{BuildId, Digest};
use crate::words::{digest_at, u16_at, u32_at, u64_at};
use std::collections::BTreeMap;

pub(super) const ENTRY_BYTES: usize = 64;
pub(super) const TEXT_BYTES: usize = 48;
/// Stands for the process where an image is asked for.
pub(super) const PROCESS: u32 = u32::MAX;

/// One entry. Text and presence come in parts of 48 bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Entry {
    Image { image: u32, flags: u32, build_id: BuildId, layout: Digest, tls_counters: u64, global_counters: u64 },
    Path { image: u32, part: u16, bytes: Vec<u8> },
    Note { image: u32, part: u16, bytes: Vec<u8> },
    Exec { part: u16, bytes: Vec<u8> },
    Presence { image: u32, part: u16, modules: u16, bits: [u8; TEXT_BYTES] },
    Segment { image: u32, bank: u32, offset: u64, counters: u64, role: u32 },
    Hash { image: u32, record_bytes: u32, offset: u64, records: u64 },
    Fate(FateEntry),
    Waits { counted: u64, threads: BTreeMap<u16, u16> },
    More { offset: u64, entries: u64 },
    End,
}

/// Processes of a pool of which the same is to be said; numbers as in the header of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FateEntry {
    pub(super) fate: u32,
    pub(super) waiting: u32,
    pub(super) processes: u64,
    pub(super) interrupted: u32,
    pub(super) resets: u32,
    pub(super) at_reset: u32,
    pub(super) lost_children: u32,
    pub(super) in_memory: u32,
}

impl Entry {
    /// Reads an entry; `Ok(None)` for one that was never finished.
    pub(super) fn decode(bytes: &[u8; ENTRY_BYTES]) -> Result<Option<Self>, String> {
        if bytes[..4] == [0; 4] {
            return Ok(None);
        }
        let (expected, found) = (u32_at(bytes, 4), entry_check(bytes));
        if expected != found {
            return Err(format!("its check is {expected:08x}, that of its bytes {found:08x}"));
        }
        let text = || {
            let len = usize::from(u16_at(bytes, 14));
            if len > TEXT_BYTES {
                return Err(format!("its text has {len} of at most {TEXT_BYTES} bytes"));
            }
            Ok(bytes[16..16 + len].to_vec())
        };
        let (image, part) = (u32_at(bytes, 8), u16_at(bytes, 12));
        Ok(Some(match &bytes[..4] {
            b"IMAG" => Self::Image {
                image,
                flags: u32_at(bytes, 12),
                build_id: digest_at(bytes, 16),
                layout: digest_at(bytes, 32),
                tls_counters: u64_at(bytes, 48),
                global_counters: u64_at(bytes, 56),
            },
            b"PATH" => Self::Path { image, part, bytes: text()? },
            b"NOTE" => Self::Note { image, part, bytes: text()? },
            b"EXEC" => Self::Exec { part, bytes: text()? },
            b"PRES" => {
                let modules = u16_at(bytes, 14);
                if usize::from(modules) > TEXT_BYTES * 8 {
                    return Err(format!("it says {modules} of at most {} modules", TEXT_BYTES * 8));
                }
                Self::Presence { image, part, modules, bits: bytes[16..].try_into().expect("48 bytes") }
            }
            b"SEGM" => Self::Segment {
                image,
                bank: u32_at(bytes, 12),
                offset: u64_at(bytes, 16),
                counters: u64_at(bytes, 24),
                role: u32_at(bytes, 32),
            },
            b"HASH" => Self::Hash { image, record_bytes: u32_at(bytes, 12), offset: u64_at(bytes, 16), records: u64_at(bytes, 24) },
            b"FATE" => Self::Fate(FateEntry {
                fate: u32_at(bytes, 8),
                waiting: u32_at(bytes, 12),
                processes: u64_at(bytes, 16),
                interrupted: u32_at(bytes, 24),
                resets: u32_at(bytes, 28),
                at_reset: u32_at(bytes, 32),
                lost_children: u32_at(bytes, 36),
                in_memory: u32_at(bytes, 40),
            }),
            b"WAIT" => Self::Waits {
                counted: u64_at(bytes, 8),
                threads: (0..CALLS)
                    .map(|i| (u16_at(bytes, 20 + 4 * i), u16_at(bytes, 22 + 4 * i)))
                    .filter(|(_, threads)| *threads != 0)
                    .collect(),
            },
            b"MORE" => Self::More { offset: u64_at(bytes, 8), entries: u64_at(bytes, 16) },
            b"END." => Self::End,
            other => return Err(format!("its kind {:?} is unknown", String::from_utf8_lossy(other))),
        }))
    }

    pub(super) fn encode(&self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        match self {
            Self::Image { image, flags, build_id, layout, tls_counters, global_counters } => {
                put(0, b"IMAG");
                put(8, &image.to_le_bytes());
                put(12, &flags.to_le_bytes());
                put(16, &build_id.0);
                put(32, &layout.0);
                put(48, &tls_counters.to_le_bytes());
                put(56, &global_counters.to_le_bytes());
            }
            Self::Path { image, part, bytes } | Self::Note { image, part, bytes } => {
                put(0, if matches!(self, Self::Path { .. }) { b"PATH" } else { b"NOTE" });
                put(8, &image.to_le_bytes());
                put(12, &part.to_le_bytes());
                put(14, &(bytes.len() as u16).to_le_bytes());
                put(16, bytes);
            }
            Self::Exec { part, bytes } => {
                put(0, b"EXEC");
                put(8, &PROCESS.to_le_bytes());
                put(12, &part.to_le_bytes());
                put(14, &(bytes.len() as u16).to_le_bytes());
                put(16, bytes);
            }
            Self::Presence { image, part, modules, bits } => {
                put(0, b"PRES");
                put(8, &image.to_le_bytes());
                put(12, &part.to_le_bytes());
                put(14, &modules.to_le_bytes());
                put(16, bits);
            }
            Self::Segment { image, bank, offset, counters, role } => {
                put(0, b"SEGM");
                put(8, &image.to_le_bytes());
                put(12, &bank.to_le_bytes());
                put(16, &offset.to_le_bytes());
                put(24, &counters.to_le_bytes());
                put(32, &role.to_le_bytes());
            }
            Self::Hash { image, record_bytes, offset, records } => {
                put(0, b"HASH");
                put(8, &image.to_le_bytes());
                put(12, &record_bytes.to_le_bytes());
                put(16, &offset.to_le_bytes());
                put(24, &records.to_le_bytes());
            }
            Self::Fate(entry) => {
                put(0, b"FATE");
                put(8, &entry.fate.to_le_bytes());
                put(12, &entry.waiting.to_le_bytes());
                put(16, &entry.processes.to_le_bytes());
                put(24, &entry.interrupted.to_le_bytes());
                put(28, &entry.resets.to_le_bytes());
                put(32, &entry.at_reset.to_le_bytes());
                put(36, &entry.lost_children.to_le_bytes());
                put(40, &entry.in_memory.to_le_bytes());
            }
            Self::Waits { counted, threads } => {
                put(0, b"WAIT");
                put(8, &counted.to_le_bytes());
                for (i, (call, threads)) in threads.iter().take(CALLS).enumerate() {
                    put(20 + 4 * i, &call.to_le_bytes());
                    put(22 + 4 * i, &threads.to_le_bytes());
                }
            }
            Self::More { offset, entries } => {
                put(0, b"MORE");
                put(8, &offset.to_le_bytes());
                put(16, &entries.to_le_bytes());
            }
            Self::End => put(0, b"END."),
        }
        let check = entry_check(&bytes);
        bytes[4..8].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// A text in parts.
    pub(super) fn text(text: &[u8], entry: impl Fn(u16, Vec<u8>) -> Self) -> Vec<Self> {
        text.chunks(TEXT_BYTES).zip(0..).map(|(bytes, part)| entry(part, bytes.to_vec())).collect()
    }

    /// Presence bits in parts.
    pub(super) fn presence(image: u32, presence: &[bool]) -> Vec<Self> {
        let parts = presence.chunks(TEXT_BYTES * 8).zip(0..);
        parts
            .map(|(modules, part)| {
                let mut bits = [0; TEXT_BYTES];
                modules.iter().enumerate().filter(|(_, linked)| **linked).for_each(|(i, _)| bits[i / 8] |= 1 << (i % 8));
                Self::Presence { image, part, modules: modules.len() as u16, bits }
            })
            .collect()
    }
}
