//! One raw profile as a profile that can be merged.
//!
//! A count is exact for every activation that ended, by whatever way, and for every one that is inside a call that may not return.
//! Where a thread was stopped between two of these, the way of that activation is known only as far as counters stand on it; so is
//! the way of its callers, as far as they count on it to come back. Which thread that is, if any, is all that a caveat can say;
//! [`Profile::interruptible`](crate::Profile::interruptible) tells the rest.

use bbprof_format::merged::{ImageCounters, MergedProfile, Process};
use bbprof_format::raw::{Ending, Fate, RawProfile};

/// Takes over what a raw profile says of its process and its counters. Build maps are not yet in it.
#[must_use]
pub fn merged_from_raw(raw: RawProfile) -> MergedProfile {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let of_process = caveat(&raw.ending, 1);
    // The executable first: its build id stands for the process.
    let (mut own, mut libraries): (Vec<_>, Vec<_>) = raw
        .images
        .iter()
        .map(|image| (image.flags & bbprof_format::image::FLAG_LIBRARY == 0, image.build_id))
        .partition(|(is_executable, _)| *is_executable);
    libraries.sort_by_key(|(_, build_id)| *build_id);
    libraries.dedup();
    own.append(&mut libraries);
    let process = Process {
        executable: text(&raw.process.executable),
        pid: raw.process.pid,
        begun_ns: raw.process.begun_ns,
        resets: raw.ending.resets,
        number: 1,
        fate: raw.fate_in_words(),
        caveat: of_process,
        images: own.into_iter().map(|(_, build_id)| build_id).collect(),
        threads: raw.threads,
    };
    let processes = if raw.pooled.is_empty() {
        vec![process]
    } else {
        let of_ending = |(ending, number): &(Ending, u64)| {
            let (fate, caveat) = (ending.in_words(None), caveat(ending, *number));
            Process { pid: 0, begun_ns: 0, resets: 0, number: *number, fate, caveat, ..process.clone() }
        };
        raw.pooled.iter().map(of_ending).collect()
    };
    let images = raw.images.into_iter().map(|image| ImageCounters {
        build_id: image.build_id,
        layout: image.layout,
        path: text(&image.path),
        presence: image.presence,
        tls: image.tls_counters,
        global: image.global_counters,
        hashed_paths: image.hashed_paths,
        map: None,
    });
    MergedProfile { processes, images: images.collect() }
}

/// What is to be said of the counts of one process, or of each of several that ended so.
fn caveat(raw: &Ending, number: u64) -> Option<String> {
    let threads = |number: u32| if number == 1 { "1 other thread was".to_owned() } else { format!("{number} other threads were") };
    let (these, ended) = if number == 1 { ("the process", "it ended") } else { ("these processes", "each ended") };
    let mut interrupted: Vec<String> = Vec::new();
    let mut reasons: Vec<String> = Vec::new();
    match (raw.fate, raw.live_threads) {
        (Fate::NotSeen, _) => interrupted.push(format!("no end of {these} was seen")),
        (Fate::Signal { .. }, _) => interrupted.push(format!("a signal killed {these}")),
        (_, 0) => {
            if let Some(waits) = raw.waits.as_ref().filter(|waits| waits.went_on) {
                interrupted.push(format!("{waits} at the last look, but counting went on before {ended}"));
            }
        }
        (Fate::Snapshot, live) => reasons.push(format!(
            "{} running at the snapshot, which reads counter by counter: what they did meanwhile may be in some counts and not in others",
            threads(live)
        )),
        (_, live) => interrupted.push(format!("{} running when {ended}", threads(live))),
    }
    match raw.at_reset {
        (0, 0) => {}
        (0, _) => reasons.push(format!(
            "at the {} a signal handler was running that had interrupted other code: that activation may be one execution off, {TURNS}",
            if raw.resets == 0 { "fork" } else { "reset" }
        )),
        (live, _) => reasons.push(format!(
            "{} running at the reset, which reads counter by counter: what they did meanwhile may be in some counts and not in others",
            threads(live.into())
        )),
    }
    match raw.interrupted {
        0 => {}
        1 => interrupted.push("a signal handler (or cancellation) interrupted other code and did not return to it".to_owned()),
        handlers => interrupted
            .push(format!("{handlers} signal handlers (or cancellations) interrupted other code and did not return to it")),
    }
    if !interrupted.is_empty() {
        reasons.push(format!("{}; {INTERRUPTED}, {TURNS} {WHERE}", interrupted.join(", and ")));
    }
    match raw.lost_children {
        0 => {}
        1 => reasons.push("1 process that was forked here could not write a profile: what it executed is lost, or, where there was no memory for its counters either, is counted here".to_owned()),
        children => {
            reasons
                .push(format!("{children} processes that were forked here could not write profiles: what they executed is lost, or, where there was no memory for their counters either, is counted here"));
        }
    }
    if raw.in_memory.no_room {
        reasons.push("the file could not grow: some counts were kept in memory only, and may be missing".to_owned());
    }
    if raw.in_memory.not_mapped {
        reasons
            .push("some counters could not be mapped to the file: counts were kept in memory only, and may be missing".to_owned());
    }
    reasons.extend(raw.notes.iter().map(|note| note.strip_suffix('.').unwrap_or(note).to_owned()));
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

/// What interrupted activations leave in loops.
const TURNS: &str = "or, in a loop whose turns are counted all at once, ahead or behind by some of them";

/// What becomes of the counts of a thread that was stopped between two calls.
const INTERRUPTED: &str = "where a thread was interrupted in the middle of a block, that activation, and those waiting for it to come back, may be one \
     execution off";
/// Who tells more of it.
const WHERE: &str = "(`bbprof verify --interrupted` says where this may be)";
