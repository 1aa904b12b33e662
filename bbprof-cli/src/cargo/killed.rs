//! Which signal ended the program: nobody in the process is asked, but its parent is
//! told, and puts it into the process's own raw profile.

use bbprof_format::raw::{Extent, Head, Unseen};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// A process that runs, or that nobody has waited for: its id is not given to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    pid: u32,
    start_ticks: u64,
}

impl Child {
    /// `None` without /proc.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name, in brackets, may hold anything; the start is field 22, and the first behind it is 3.
        let start_ticks = line.rsplit_once(')')?.1.split_whitespace().nth(22 - 3)?.parse().ok()?;
        Some(Self { pid, start_ticks })
    }

    /// Puts the signal into the profile of this process, if it is among these and the runtime saw no end. Should it have executed
    /// one program after the other, that is the last one's: where that one's end was seen, nothing is to be told of those before.
    pub(super) fn record_signal(self, profiles: &[PathBuf], signal: u8) -> std::io::Result<()> {
        let mut last: Option<((u64, bool), File)> = None;
        for path in profiles {
            // Who reads from a pipe may wait for ever.
            if !fs::metadata(path).is_ok_and(|about| about.is_file()) {
                continue;
            }
            // Files of others may be read-only, and come and go.
            let Ok(mut file) = fs::OpenOptions::new().read(true).write(true).open(path) else { continue };
            let mut header = [0; Unseen::BYTES];
            let head = file.read_exact(&mut header).ok().and_then(|()| Head::read(&header));
            let Some(Head { run, .. }) = head.filter(|head| head.extent != Extent::Pool) else { continue };
            // Dumps have the same beginning as their process's own file.
            let order = (run.begun_ns(), Unseen::read(&header).is_some());
            if run.is_of(self.pid, self.start_ticks) && last.as_ref().is_none_or(|(of_last, _)| *of_last < order) {
                last = Some((order, file));
            }
        }
        match last.filter(|((_, is_unseen), _)| *is_unseen) {
            Some((_, file)) => file.write_all_at(&Unseen::fate_of_signal(signal), Unseen::FATE_AT),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bbprof_format::raw::{Fate, ProcessInfo, RawProfile, State};
    use std::path::Path;

    fn write_running(path: &Path, pid: u32, start_ticks: u64, begun_ns: u64, fate: Fate) {
        let process = ProcessInfo { pid, start_ticks: Some(start_ticks), begun_ns, ..ProcessInfo::default() };
        let profile =
            RawProfile { process, state: State::Running, ending: fate.into(), threads: 1, images: vec![], pooled: vec![] };
        fs::write(path, profile.encode_running()).expect("written");
    }

    fn fate(path: &Path) -> Fate {
        RawProfile::read(&fs::read(path).expect("there")).expect("whole").ending.fate
    }

    #[test]
    fn only_the_last_file_of_that_process_without_an_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let files = [
            ("before.bbraw", 7, 50, 1, Fate::NotSeen, Fate::NotSeen),
            ("own.bbraw", 7, 50, 2, Fate::NotSeen, Fate::Signal { signal: 11 }),
            ("dump.bbraw", 7, 50, 2, Fate::Snapshot, Fate::Snapshot),
            ("ended.bbraw", 7, 50, 0, Fate::Exit { status: Some(1) }, Fate::Exit { status: Some(1) }),
            ("reused.bbraw", 7, 51, 4, Fate::NotSeen, Fate::NotSeen),
            ("other.bbraw", 8, 50, 5, Fate::NotSeen, Fate::NotSeen),
        ];
        for (name, pid, ticks, begun, fate, _) in files {
            write_running(&path(name), pid, ticks, begun, fate);
        }
        fs::write(path("damaged.bbraw"), [1; 300]).expect("written");
        let pipe = std::process::Command::new("mkfifo").arg(path("pipe.bbraw")).status().expect("mkfifo");
        assert!(pipe.success());
        let all = [&files.map(|(name, ..)| name)[..], &["damaged.bbraw", "pipe.bbraw"]].concat();
        let all: Vec<PathBuf> = all.into_iter().map(path).collect();
        Child { pid: 7, start_ticks: 50 }.record_signal(&all, 11).expect("recorded");
        for (name, .., expected) in files {
            assert_eq!(fate(&path(name)), expected, "{name}");
        }
        assert_eq!(fs::read(path("damaged.bbraw")).expect("there"), [1; 300]);
    }

    /// The last program's end was seen: the signal says nothing of the one before, which a bare system call replaced.
    #[test]
    fn not_of_a_program_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let (before, last) = (folder.path().join("a.bbraw"), folder.path().join("b.bbraw"));
        write_running(&before, 7, 50, 1, Fate::NotSeen);
        write_running(&last, 7, 50, 2, Fate::OwnSignal { signal: 15 });
        Child { pid: 7, start_ticks: 50 }.record_signal(&[before.clone(), last.clone()], 15).expect("nothing to record");
        assert_eq!((fate(&before), fate(&last)), (Fate::NotSeen, Fate::OwnSignal { signal: 15 }));
    }

    #[test]
    fn of_this_process() {
        let child = Child::of(std::process::id()).expect("/proc");
        assert!(child.start_ticks > 0);
    }
}
