//! Signals that are for the program, while we live on to show what it counted: those of the terminal go to our whole group and reach it anyway;
//! those that somebody sends to this process are passed on to cargo, or to the program in its place.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use std::process::{Child, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const OF_TERMINALS: [i32; 2] = [SIGINT, SIGQUIT];
const SENT: [i32; 4] = [SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];

/// Takes signals from here on; those that come before there is a child wait for it.
pub(super) struct ForChild(Signals);

impl ForChild {
    pub(super) fn take() -> Result<Self> {
        let ignored = ignored();
        let is_heard = |signal: &i32| ignored & (1 << (signal - 1)) == 0;
        for signal in OF_TERMINALS.into_iter().filter(is_heard) {
            signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).context("signals of the terminal")?;
        }
        Ok(Self(Signals::new(SENT.into_iter().filter(is_heard)).context("signals")?))
    }

    /// Waits for the end of the child, passing signals on to it.
    pub(super) fn wait(mut self, child: &mut Child) -> Result<ExitStatus> {
        let pid = Pid::from_child(child);
        let stop = self.0.handle();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for signal in self.0.forever().filter_map(Signal::from_named_raw) {
                    // It may have ended meanwhile.
                    let _ = kill_process(pid, signal);
                }
            });
            // Its id stays its own until nobody sends to it any more.
            let ended = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
            stop.close();
            ended
        })?;
        Ok(child.wait()?)
    }
}

/// Signals that this process was told to ignore (`nohup`, `&` in a script), bit 0 for signal 1: children must, too, which they do unless we take them.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
