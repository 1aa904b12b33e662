//! Round trips; every truncation and every flipped byte; arbitrary bytes.

use super::checksum::guarded;
use super::entry::{ENTRY_BYTES, Entry, PROCESS};
use super::write::header;
use super::*;
use crate::{FormatError, HashedPath};

const PAGE: usize = PAGE_BYTES as usize;

fn ending() -> Ending {
    let notes = vec!["something to say".to_owned()];
    Ending { live_threads: 2, interrupted: 1, notes, ..Fate::Exit { status: Some(3) }.into() }
}

fn example() -> RawProfile {
    let library = ImageCounts {
        build_id: Digest::of(b"library"),
        layout: Digest::of(b"layout"),
        flags: crate::image::FLAG_LIBRARY,
        path: b"/usr/lib/libexample.so".to_vec(),
        presence: (0..500).map(|module| module % 3 == 0).collect(),
        tls_counters: Vec::new(),
        global_counters: vec![7; 3],
        hashed_paths: Vec::new(),
        segments: 1,
    };
    let program = ImageCounts {
        build_id: Digest::of(b"program"),
        path: b"/a/path/that/is/longer/than/one/entry/can/hold/and/so/needs/two/of/them".to_vec(),
        presence: vec![true, false],
        tls_counters: vec![0, 1, u64::MAX],
        global_counters: vec![5],
        hashed_paths: vec![
            HashedPath { counter: 1, number: 1 << 40, count: 3 },
            HashedPath { counter: 3, number: 0, count: u64::MAX },
        ],
        segments: 2,
        ..ImageCounts::default()
    };
    RawProfile {
        process: ProcessInfo {
            pid: 42,
            parent_pid: 1,
            start_ticks: Some(99),
            begun_ns: 1_700_000_000,
            executable: b"/bin/example".to_vec(),
            exec_path: vec![b'x'; 100],
        },
        state: State::Complete,
        ending: ending(),
        threads: 10,
        images: vec![program, library],
        pooled: Vec::new(),
    }
}

/// A running file: thread-local counters 3 in two segments, a second page of the log, a baseline.
fn running(baseline: u32) -> Vec<u8> {
    let profile = RawProfile { ending: Fate::NotSeen.into(), ..example() };
    let segment = |offset: usize, role: u32| Entry::Segment { image: 0, bank: 0, offset: offset as u64, counters: 3, role };
    let image = Entry::Image {
        image: 0,
        flags: 0,
        build_id: Digest::of(b"program"),
        layout: Digest::default(),
        tls_counters: 3,
        global_counters: 0,
    };
    let mut first = Entry::text(b"/bin/example", |part, bytes| Entry::Path { image: PROCESS, part, bytes });
    first.extend([image, segment(PAGE, 0), Entry::More { offset: 2 * PAGE as u64, entries: 64 }]);
    let second = [segment(3 * PAGE, 0), segment(4 * PAGE, 1), segment(5 * PAGE, 2)];
    let mut bytes = header(&profile, STATE_RUNNING, 0, baseline).to_vec();
    first.iter().for_each(|entry| bytes.extend_from_slice(&entry.encode()));
    for (page, counters) in [(1, [1_u64, 2, 3]), (3, [10, 20, 30]), (4, [1, 1, 1]), (5, [2, 2, 2])] {
        bytes.resize(page * PAGE, 0);
        counters.iter().for_each(|counter| bytes.extend_from_slice(&counter.to_le_bytes()));
    }
    bytes.resize(6 * PAGE, 0);
    let mut at = 2 * PAGE;
    for entry in second {
        bytes[at..at + ENTRY_BYTES].copy_from_slice(&entry.encode());
        at += ENTRY_BYTES;
    }
    bytes
}

#[test]
fn round_trip() {
    let profile = example();
    assert_eq!(RawProfile::read(&profile.encode()), Ok(profile));
    let empty = RawProfile { images: Vec::new(), ending: Fate::Snapshot.into(), ..example() };
    assert_eq!(RawProfile::read(&empty.encode()), Ok(empty));
    let in_memory = InMemory { no_room: true, not_mapped: false };
    let window =
        RawProfile { ending: Ending { resets: 2, at_reset: (3, 4), lost_children: 5, in_memory, ..ending() }, ..example() };
    assert_eq!(RawProfile::read(&window.encode()), Ok(window));
    for went_on in [false, true] {
        let waits = Some(Waits { threads: [(0, 1), (202, 300), (u16::MAX, 4)].into(), went_on });
        let waiting = RawProfile { ending: Ending { live_threads: 0, waits, ..ending() }, ..example() };
        assert_eq!(RawProfile::read(&waiting.encode()), Ok(waiting));
    }
    let waits = |went_on| Some(Waits { threads: [(0, 2)].into(), went_on });
    let in_memory = InMemory { no_room: false, not_mapped: true };
    let waiting = |went_on| Ending {
        live_threads: 0,
        waits: waits(went_on),
        resets: 1,
        at_reset: (5, 6),
        lost_children: 7,
        in_memory,
        ..ending()
    };
    let pooled = vec![(ending(), 1_000), (waiting(false), 7), (Fate::Abort.into(), 1), (waiting(true), u64::MAX)];
    let pool = RawProfile { ending: Fate::Pool.into(), pooled, ..example() };
    assert_eq!(RawProfile::read(&pool.encode()), Ok(pool));
}

#[test]
fn fates_keep_their_words() {
    let words = [
        (Fate::NotSeen, "no end was seen (killed, or still running)"),
        (Fate::Exit { status: Some(7) }, "exit 7"),
        (Fate::Exit { status: None }, "exit (code unknown)"),
        (Fate::Snapshot, "snapshot of a running process"),
        (Fate::ExitAtOnce { status: 255 }, "exit 255 (_exit)"),
        (Fate::QuickExit { status: 1 }, "exit 1 (quick_exit)"),
        (Fate::Abort, "killed by SIGABRT (6) (abort)"),
        (Fate::Exec, "replaced by exec of /bin/new"),
        (Fate::OwnSignal { signal: 11 }, "killed by SIGSEGV (11) (sent by itself)"),
        (Fate::OwnSignal { signal: 31 }, "killed by SIGSYS (31) (sent by itself)"),
        (Fate::Signal { signal: 11 }, "killed by SIGSEGV (11)"),
        (Fate::OwnSignal { signal: 40 }, "killed by signal 40 (sent by itself)"),
    ];
    for (fate, expected) in words {
        let mut profile = RawProfile { ending: Ending { fate, ..ending() }, ..example() };
        profile.process.exec_path = b"/bin/new".to_vec();
        let read = RawProfile::read(&profile.encode()).unwrap();
        assert_eq!((read.ending.fate, read.fate_in_words().as_str()), (fate, expected));
        assert_eq!(read, profile);
    }
    let mut open_file = RawProfile { ending: Fate::Exec.into(), ..example() };
    open_file.process.exec_path.clear();
    assert_eq!(open_file.fate_in_words(), "replaced by exec of an open file");
}

/// An exec that failed is followed by another: the last one counts.
#[test]
fn the_last_exec_counts() {
    let mut bytes = running(0);
    let mut at = 2 * PAGE + 3 * ENTRY_BYTES;
    for path in [&[b'a'; 60][..], b"/bin/last"] {
        for entry in Entry::text(path, |part, bytes| Entry::Exec { part, bytes }) {
            bytes[at..at + ENTRY_BYTES].copy_from_slice(&entry.encode());
            at += ENTRY_BYTES;
        }
    }
    assert_eq!(RawProfile::read(&bytes).unwrap().process.exec_path, b"/bin/last");
}

/// The sum is that of all counts, those before a reset, too; of several entries the last counts, and only if the header says so.
#[test]
fn what_was_counted_while_threads_waited() {
    for baseline in [0, 1] {
        for (header_says, counted, expected) in [(0, 66, None), (3, 66, Some(false)), (3, 65, Some(true)), (2, 66, None)] {
            let mut bytes = running(baseline);
            let entries = [(99, [(35, 1)].into()), (counted, [(35, 1), (232, 2)].into())];
            for (at, (counted, threads)) in (2 * PAGE + 3 * ENTRY_BYTES..).step_by(ENTRY_BYTES).zip(entries) {
                bytes[at..at + ENTRY_BYTES].copy_from_slice(&Entry::Waits { counted, threads }.encode());
            }
            bytes[56..64].copy_from_slice(&guarded(header_says).to_le_bytes());
            let read = RawProfile::read(&bytes);
            if header_says == 2 {
                assert!(matches!(read, Err(FormatError::Malformed { .. })), "{read:?}");
                continue;
            }
            let waits = read.unwrap().ending.waits;
            assert_eq!(waits.as_ref().map(|waits| waits.went_on), expected);
            assert_eq!(waits.map_or(3, |waits| waits.number()), 3);
        }
    }
}

#[test]
fn segments_are_added_and_the_baseline_taken_away() {
    for (baseline, expected) in [(0, [11, 22, 33]), (1, [10, 21, 32]), (2, [9, 20, 31])] {
        let profile = RawProfile::read(&running(baseline)).unwrap();
        assert_eq!(profile.images[0].tls_counters, expected);
        assert_eq!((profile.images[0].segments, profile.state, profile.ending.fate), (2, State::Running, Fate::NotSeen));
    }
}

#[test]
fn an_unfinished_entry_ends_the_log() {
    let mut bytes = running(0);
    let unfinished = 2 * PAGE + 3 * ENTRY_BYTES;
    bytes[unfinished + 4..unfinished + ENTRY_BYTES].fill(0xaa);
    assert_eq!(RawProfile::read(&bytes).unwrap().images[0].tls_counters, [11, 22, 33]);
}

#[test]
fn every_truncation_is_an_error() {
    for bytes in [example().encode(), running(1)] {
        for len in 0..bytes.len() {
            assert!(RawProfile::read(&bytes[..len]).is_err(), "{len} of {}", bytes.len());
        }
    }
    let mut longer = example().encode();
    longer.push(0);
    assert!(RawProfile::read(&longer).is_err());
}

#[test]
fn every_flipped_byte_of_a_complete_file_is_an_error() {
    let mut bytes = example().encode();
    for at in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            bytes[at] ^= flip;
            assert!(RawProfile::read(&bytes).is_err(), "byte {at} ^ {flip:x}");
            bytes[at] ^= flip;
        }
    }
}

/// Damage to the counters themselves does not show while the process runs.
#[test]
fn every_flipped_byte_of_a_running_files_header_and_entries_is_an_error() {
    let mut bytes = running(1);
    let entries = HEADER_BYTES + 4 * ENTRY_BYTES;
    for at in (0..entries).chain(2 * PAGE..2 * PAGE + 3 * ENTRY_BYTES) {
        for flip in 1..=255 {
            bytes[at] ^= flip;
            assert!(RawProfile::read(&bytes).is_err(), "byte {at} ^ {flip:x}");
            bytes[at] ^= flip;
        }
    }
}

#[test]
fn foreign_and_future_files() {
    assert!(matches!(RawProfile::read(b"\x7fELF and so on"), Err(FormatError::Foreign { .. })));
    let mut bytes = example().encode();
    bytes[8] = 9;
    assert!(matches!(RawProfile::read(&bytes), Err(FormatError::Version { found: 9, .. })));
}

#[test]
fn counts_that_cannot_be() {
    let mut bytes = running(1);
    bytes[4 * PAGE..4 * PAGE + 8].copy_from_slice(&12_u64.to_le_bytes());
    assert!(matches!(RawProfile::read(&bytes), Err(FormatError::Malformed { .. })), "a baseline above the count");
    bytes[PAGE..PAGE + 8].fill(0xff);
    assert!(matches!(RawProfile::read(&bytes), Err(FormatError::Overflow { .. })), "more than 64 bits");
}

/// Sizes are believed only as far as the file goes, even when all checks are right.
#[test]
fn sizes_beyond_the_file() {
    let profile = example();
    for entry in [
        Entry::Segment { image: 0, bank: 0, offset: PAGE_BYTES, counters: 1 << 60, role: 0 },
        Entry::Segment { image: 0, bank: 0, offset: u64::MAX - 4095, counters: 3, role: 0 },
        Entry::More { offset: PAGE_BYTES, entries: u64::MAX },
        Entry::More { offset: 0, entries: 1 },
    ] {
        let image = Entry::Image {
            image: 0,
            flags: 0,
            build_id: Digest::default(),
            layout: Digest::default(),
            tls_counters: if let Entry::Segment { counters, .. } = entry { counters } else { 3 },
            global_counters: 0,
        };
        let mut bytes = header(&profile, STATE_RUNNING, 0, 0).to_vec();
        bytes.extend_from_slice(&image.encode());
        bytes.extend_from_slice(&entry.encode());
        bytes.resize(2 * PAGE, 0);
        assert!(RawProfile::read(&bytes).is_err(), "{entry:?}");
    }
}

/// Random damage with all checks made right again: anything but a panic.
#[test]
fn arbitrary_bytes_do_not_panic() {
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |limit: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 16) as usize % limit
    };
    for round in 0..20_000 {
        let mut bytes = if round % 2 == 0 { running(round % 3) } else { example().encode() };
        bytes.truncate(1 + random(bytes.len()));
        for _ in 0..1 + random(8) {
            let at = random(bytes.len().min(HEADER_BYTES + 8 * ENTRY_BYTES));
            bytes[at] = if random(2) == 0 { random(256) as u8 } else { [0, 0xff, 0x7f, 1][random(4)] };
        }
        if bytes.len() >= HEADER_BYTES {
            let sum = checksum::Checksum::new().add(&bytes[..48]).value();
            bytes[48..56].copy_from_slice(&sum.to_le_bytes());
            for word in [56, 64, 72, 80] {
                let value = u32::from_le_bytes(bytes[word..word + 4].try_into().unwrap());
                bytes[word..word + 8].copy_from_slice(&guarded(value).to_le_bytes());
            }
            for entry in bytes[HEADER_BYTES..].chunks_exact_mut(ENTRY_BYTES).take(60) {
                let entry: &mut [u8; ENTRY_BYTES] = entry.try_into().unwrap();
                if entry[..4].iter().all(u8::is_ascii_graphic) {
                    let check = checksum::entry_check(entry);
                    entry[4..8].copy_from_slice(&check.to_le_bytes());
                }
            }
            let (body, end) = bytes.len().checked_sub(8).map(|at| bytes.split_at_mut(at)).unwrap();
            if body.len() >= HEADER_BYTES && body[12..16] == *STATE_COMPLETE {
                end.copy_from_slice(&checksum::Checksum::new().add(body).value().to_le_bytes());
            }
        }
        let _ = RawProfile::read(&bytes);
    }
}
