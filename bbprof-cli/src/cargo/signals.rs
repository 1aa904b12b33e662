//! Signals that are for the program, while we live on to show what it counted: those of the terminal, which the kernel sends, go to
//! our whole group and reach it anyway; those that somebody sends to this process are passed on to cargo, or to the program in its
//! place. A program that nobody would be left to show ends with us, as it does where cargo executed it in its own place.

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getppid, kill_process, set_parent_process_death_signal, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::origin::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

const TAKEN: [i32; 6] = [SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];

/// Takes signals from here on; those that come before there is a child wait for it.
pub(super) struct ForChild(SignalsInfo<WithOrigin>);

impl ForChild {
    /// For the child that this command starts, which is killed when we are, since SIGKILL cannot be passed on.
    #[allow(unsafe_code)]
    pub(super) fn take(command: &mut Command) -> Result<Self> {
        let (own, ignored) = (rustix::process::getpid(), ignored());
        let prepare = move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // We may have been killed before that.
            if getppid() != Some(own) {
                return Err(rustix::io::Errno::SRCH.into());
            }
            for signal in TAKEN.into_iter().filter(|signal| ignored & (1 << (signal - 1)) != 0) {
                // SAFETY: changes nothing but what this process does at the signal.
                unsafe { libc::signal(signal, libc::SIG_IGN) };
            }
            Ok(())
        };
        // SAFETY: between fork and exec, it makes system calls and touches no memory but its own.
        unsafe { command.pre_exec(prepare) };
        Ok(Self(SignalsInfo::new(TAKEN).context("signals")?))
    }

    /// Waits for the end of the child, passing signals on to it.
    pub(super) fn wait(mut self, child: &mut Child) -> Result<ExitStatus> {
        let pid = Pid::from_child(child);
        let stop = self.0.handle();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for signal in self.0.forever().filter_map(|origin| sent(&origin)) {
                    // It may have ended meanwhile.
                    let _ = kill_process(pid, signal);
                }
            });
            // Its id stays its own until nobody sends to it any more.
            let ended = wait_for_end(pid);
            stop.close();
            ended
        })?;
        Ok(child.wait()?)
    }
}

/// Leaves the status to be asked for.
fn wait_for_end(child: Pid) -> rustix::io::Result<()> {
    let ask = |options| rustix::io::retry_on_intr(|| waitid(WaitId::Pid(child), options));
    while ask(WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT)?.is_some_and(|status| status.stopped()) {
        if ask(WaitIdOptions::STOPPED | WaitIdOptions::NOHANG)?.is_some() && is_in_foreground() {
            stop_with(child);
        }
    }
    Ok(())
}

/// A child that stops itself stops us as well, where a shell waits for us: it hears of its own children alone. (Without
/// one, nobody would let us go on again but who knows of us.)
fn stop_with(child: Pid) {
    /// Who goes on with the whole group, as shells do, has done so.
    const GROUP_GOES_ON: Duration = Duration::from_millis(10);
    let _ = kill_process(rustix::process::getpid(), Signal::STOP);
    std::thread::sleep(GROUP_GOES_ON);
    if is_stopped(child) {
        let _ = kill_process(child, Signal::CONT);
    }
}

/// Does the terminal that we have, if we have one, belong to our group now?
fn is_in_foreground() -> bool {
    let owner = std::fs::File::open("/dev/tty").and_then(|terminal| Ok(rustix::termios::tcgetpgrp(terminal)?));
    owner.is_ok_and(|owner| owner == rustix::process::getpgrp())
}

fn is_stopped(process: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    status.lines().any(|line| line.strip_prefix("State:").is_some_and(|state| state.trim().starts_with('T')))
}

/// The signal, if a process sent it: timers, the terminal and its end are the kernel's.
fn sent(origin: &Origin) -> Option<Signal> {
    if matches!(origin.cause, Cause::Sent(_)) { Signal::from_named_raw(origin.signal) } else { None }
}

/// Signals that this process was told to ignore (`nohup`, `&` in a script), bit 0 for signal 1:
/// children must, too, until they say otherwise themselves.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
