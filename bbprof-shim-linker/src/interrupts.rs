//! Signals that end a link: they are the linker's to die of, and the shim follows it, so
//! that nothing of a link stays behind that was interrupted.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::emulate_default_handler;
use signal_hook::low_level::siginfo::{Cause, Origin};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const TAKEN: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Takes signals from here on.
pub(crate) struct Interrupts(Arc<Mutex<State>>);

/// While there is one, signals wait: files of a link are there.
pub(crate) struct Uninterrupted<'a>(MutexGuard<'a, State>);

#[derive(Default)]
struct State {
    /// Whose the signals are, while it runs.
    linker: Option<Pid>,
    /// The last that was the linker's, which may have ended already.
    passed_on: Option<i32>,
    /// Goes before this process dies.
    folder: Option<PathBuf>,
}

impl State {
    fn die_of(&self, signal: i32) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
        die_of(signal);
    }
}

impl Interrupts {
    /// Takes them, if they were not taken before.
    pub(crate) fn taken(before: &mut Option<Self>) -> Result<&Self> {
        Ok(match before {
            Some(interrupts) => interrupts,
            none => none.insert(Self::take()?),
        })
    }

    /// Those that this process was not told to ignore.
    fn take() -> Result<Self> {
        let ignored = ignored();
        let mut signals = SignalsInfo::<WithOrigin>::new(TAKEN.into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0))
            .context("signals cannot be handled")?;
        let state = Arc::new(Mutex::new(State::default()));
        let of_thread = Arc::clone(&state);
        std::thread::Builder::new()
            .spawn(move || signals.forever().for_each(|origin| pass_on(&of_thread, &origin)))
            .context("no thread for signals")?;
        Ok(Self(state))
    }

    /// Has signals wait, before a link. Who was interrupted in an earlier one does not link again.
    pub(crate) fn hold(&self) -> Uninterrupted<'_> {
        let held = self.wait_with_signals();
        if let Some(signal) = held.0.passed_on {
            held.0.die_of(signal);
        }
        held
    }

    /// Has a folder taken away if a signal ends this process, for which nobody else would then.
    pub(crate) fn take_away(&self, folder: &Path) {
        self.wait_with_signals().0.folder = Some(folder.to_owned());
    }

    /// Runs a linker to its end.
    pub(crate) fn run(&self, command: &mut Command) -> Result<ExitStatus> {
        let held = self.hold();
        let mut child = command.spawn().with_context(|| format!("cannot run {}", command.get_program().display()))?;
        held.until_end_of(&child);
        let (status, _) = self.wait(&mut child).with_context(|| format!("cannot wait for {}", command.get_program().display()))?;
        Ok(status)
    }

    fn wait_with_signals(&self) -> Uninterrupted<'_> {
        Uninterrupted(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for the end of the linker. Then signals wait again.
    pub(crate) fn wait(&self, linker: &mut Child) -> io::Result<(ExitStatus, Uninterrupted<'_>)> {
        let pid = Pid::from_child(linker);
        // Its id stays its own until nobody sends to it any more.
        rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT))?;
        let mut held = self.wait_with_signals();
        held.0.linker = None;
        Ok((linker.wait()?, held))
    }
}

impl Uninterrupted<'_> {
    /// Signals are the linker's until it ends.
    pub(crate) fn until_end_of(mut self, linker: &Child) {
        self.0.linker = Some(Pid::from_child(linker));
    }
}

fn pass_on(state: &Mutex<State>, origin: &Origin) {
    // One that had to wait may have come before there was a linker.
    let (mut state, has_waited) = match state.try_lock() {
        Ok(state) => (state, false),
        Err(_) => (state.lock().unwrap_or_else(PoisonError::into_inner), true),
    };
    let Some(linker) = state.linker else {
        return state.die_of(origin.signal);
    };
    state.passed_on = Some(origin.signal);
    // What a terminal sends comes to the whole group, and the linker is in it.
    if has_waited || matches!(origin.cause, Cause::Sent(_)) {
        let _ = Signal::from_named_raw(origin.signal).map(|signal| kill_process(linker, signal));
    }
}

/// Ends this process by a signal, if that is one that ends processes.
pub(crate) fn die_of(signal: i32) {
    let _ = emulate_default_handler(signal);
}

/// Signals that this process was told to ignore (`nohup`, `&` in a script), bit 0 for signal 1.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
