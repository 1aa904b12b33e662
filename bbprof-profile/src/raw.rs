//! One raw profile as a profile that can be merged.
//!
//! A count is exact for every activation that ended, by whatever way, and for every one that is inside a call. Where a thread
//! was stopped between two calls, it may be counted in a block that it had not left, or not yet in one it had entered:
//! one execution, in the function it was in. Which thread that is, if any, is all that a caveat can say.

use bbprof_format::merged::{ImageCounters, MergedProfile, Process};
use bbprof_format::raw::{Fate, RawProfile};

/// Takes over what a raw profile says of its process and its counters. Build maps are not yet in it.
#[must_use]
pub fn merged_from_raw(raw: RawProfile) -> MergedProfile {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let caveat = caveat(&raw);
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
        fate: raw.fate.to_string(),
        caveat,
        images: own.into_iter().map(|(_, build_id)| build_id).collect(),
    };
    let images = raw.images.into_iter().map(|image| ImageCounters {
        build_id: image.build_id,
        layout: image.layout,
        path: text(&image.path),
        presence: image.presence,
        tls: image.tls_counters,
        global: image.global_counters,
        map: None,
    });
    MergedProfile { processes: vec![process], images: images.collect() }
}

fn caveat(raw: &RawProfile) -> Option<String> {
    let threads = |number: u32| if number == 1 { "1 other thread was".to_owned() } else { format!("{number} other threads were") };
    let mut reasons: Vec<String> = Vec::new();
    match (raw.fate, raw.live_threads) {
        (Fate::NotSeen, _) => reasons.push(
            "no end of the process was seen; where it was killed, each running thread may be one execution ahead in one block"
                .to_owned(),
        ),
        (_, 0) => {}
        (Fate::Exit { .. }, live) => {
            reasons.push(format!("{} running when it ended; each may be one execution ahead in one block", threads(live)))
        }
        (Fate::Snapshot, live) => {
            reasons.push(format!("{} running at the snapshot; each may be one execution ahead in one block", threads(live)))
        }
    }
    reasons.extend(raw.notes.iter().cloned());
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
