//! How a process ended, and all else that the runtime says of what its counts are worth.

use super::Waits;
use std::fmt;

/// How one process ended, or each of many in a pool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ending {
    /// How, as far as the runtime saw it.
    pub fate: Fate,
    /// How many other threads were alive when the fate was recorded; each may be inside an activation. At most 65,535.
    pub live_threads: u32,
    /// At the last look all other threads waited in system calls that may end by themselves; `live_threads` is 0 then.
    pub waits: Option<Waits>,
    /// How many activations signal handlers, or cancellations, had interrupted that did not return to them
    /// until the fate was recorded, as far as the runtime saw.
    pub interrupted: u32,
    /// How many times `bbprof_reset` was called: the counts are those since the last.
    pub resets: u32,
    /// At the last reset, or at the fork that made the process: other threads alive, and
    /// activations that handlers had interrupted. At most 65,535 each.
    pub at_reset: (u16, u16),
    /// How many processes that were forked from this one, or from such a child, could not
    /// begin a profile: what they counted is lost.
    pub lost_children: u32,
    /// Why counts were in memory that may be missing here.
    pub in_memory: InMemory,
    /// What the runtime has to say, in words.
    pub notes: Vec<String>,
}

/// Why a process counted in memory alone. Where an end was seen, and all was brought to
/// the file by it, there is no more to say of that.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InMemory {
    /// The file could not grow.
    pub no_room: bool,
    /// Counters, or counts of paths, could not be mapped to it.
    pub not_mapped: bool,
}

impl From<Fate> for Ending {
    /// An ending of which nothing else is to be said.
    fn from(fate: Fate) -> Self {
        Self {
            fate,
            live_threads: 0,
            waits: None,
            interrupted: 0,
            resets: 0,
            at_reset: (0, 0),
            lost_children: 0,
            in_memory: InMemory::default(),
            notes: Vec::new(),
        }
    }
}

impl Ending {
    /// In words; `exec_path` is what an `exec` was asked to execute, `None` = not known.
    #[must_use]
    pub fn in_words(&self, exec_path: Option<&[u8]>) -> String {
        let end = match (self.fate, exec_path) {
            (Fate::Exec, Some([])) => "replaced by exec of an open file".to_owned(),
            (Fate::Exec, Some(path)) => format!("replaced by exec of {}", String::from_utf8_lossy(path)),
            (fate, _) => fate.to_string(),
        };
        let end = match &self.waits {
            Some(waits) => format!("{end}, while {waits}"),
            None => end,
        };
        match self.resets {
            0 => end,
            1 => format!("{end}, counted since a reset"),
            resets => format!("{end}, counted since the last of {resets} resets"),
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// No exit was seen.
    NotSeen,
    /// By `exit` or return from `main`.
    Exit {
        /// The exit code, if the runtime could learn it.
        status: Option<u8>,
    },
    /// It had not: a dump made while it ran.
    Snapshot,
    /// By `_exit` or `_Exit`, without destructors.
    ExitAtOnce {
        /// The exit code.
        status: u8,
    },
    /// By `quick_exit`.
    QuickExit {
        /// The exit code.
        status: u8,
    },
    /// By `abort`.
    Abort,
    /// Another program was executed in its place.
    Exec,
    /// By a signal that it sent itself.
    OwnSignal {
        /// The signal's number.
        signal: u8,
    },
    /// By a signal, of which the runtime saw nothing: who had started the process waited for it, and told.
    Signal {
        /// The signal's number.
        signal: u8,
    },
    /// These are many processes: see [`super::RawProfile::pooled`].
    Pool,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSeen => write!(f, "no end was seen (killed, or still running)"),
            Self::Exit { status: Some(status) } => write!(f, "exit {status}"),
            Self::Exit { status: None } => write!(f, "exit (code unknown)"),
            Self::Snapshot => write!(f, "snapshot of a running process"),
            Self::ExitAtOnce { status } => write!(f, "exit {status} (_exit)"),
            Self::QuickExit { status } => write!(f, "exit {status} (quick_exit)"),
            Self::Abort => write!(f, "killed by SIGABRT (6) (abort)"),
            Self::Exec => write!(f, "replaced by exec"),
            Self::Pool => write!(f, "a pool of processes"),
            Self::Signal { signal } => write!(f, "killed by {}", numbered(*signal)),
            Self::OwnSignal { signal } => write!(f, "killed by {} (sent by itself)", numbered(*signal)),
        }
    }
}

/// Names of the signals of Linux on x86-64, from 1.
const SIGNAL_NAMES: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT",
    "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// What a signal is called; `None` for real-time signals and what is none.
#[must_use]
pub fn signal_name(signal: u8) -> Option<String> {
    let position = usize::from(signal).checked_sub(1)?;
    SIGNAL_NAMES.get(position).map(|name| format!("SIG{name}"))
}

/// `SIGSEGV (11)`.
fn numbered(signal: u8) -> String {
    signal_name(signal).map_or_else(|| format!("signal {signal}"), |name| format!("{name} ({signal})"))
}
