//! What other threads of a process waited for when it ended.

use std::collections::BTreeMap;
use std::fmt;

/// How many kinds of system calls an entry tells apart; the last takes what is left.
pub(super) const CALLS: usize = 11;
/// Stands for the system calls that an entry has no place for.
pub(super) const OTHER_CALLS: u16 = u16::MAX;

/// All other threads of the process, each in a system call at the runtime's last look at them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    /// How many threads in which system call, by its number on x86-64; 65,535 = various ones.
    pub threads: BTreeMap<u16, u16>,
    /// Counts have changed since: somebody came back from the call before the end.
    pub went_on: bool,
}

/// System calls in which threads wait, on x86-64.
const NAMES: [(u16, &str); 43] = [
    (0, "read"),
    (1, "write"),
    (7, "poll"),
    (17, "pread64"),
    (18, "pwrite64"),
    (19, "readv"),
    (20, "writev"),
    (23, "select"),
    (34, "pause"),
    (35, "nanosleep"),
    (42, "connect"),
    (43, "accept"),
    (44, "sendto"),
    (45, "recvfrom"),
    (46, "sendmsg"),
    (47, "recvmsg"),
    (61, "wait4"),
    (65, "semop"),
    (69, "msgsnd"),
    (70, "msgrcv"),
    (72, "fcntl"),
    (73, "flock"),
    (74, "fsync"),
    (75, "fdatasync"),
    (128, "rt_sigtimedwait"),
    (130, "rt_sigsuspend"),
    (202, "futex"),
    (208, "io_getevents"),
    (219, "restart_syscall"),
    (220, "semtimedop"),
    (230, "clock_nanosleep"),
    (232, "epoll_wait"),
    (242, "mq_timedsend"),
    (243, "mq_timedreceive"),
    (247, "waitid"),
    (270, "pselect6"),
    (271, "ppoll"),
    (281, "epoll_pwait"),
    (288, "accept4"),
    (299, "recvmmsg"),
    (426, "io_uring_enter"),
    (441, "epoll_pwait2"),
    (449, "futex_waitv"),
];

impl Waits {
    /// How many threads there are.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.threads.values().map(|threads| u32::from(*threads)).sum()
    }
}

/// `3 other threads waited (2 in futex, 1 in epoll_wait)`.
impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number();
        write!(f, "{number} other thread{} waited (", if number == 1 { "" } else { "s" })?;
        for (i, (call, threads)) in self.threads.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            let name = NAMES.iter().find(|(number, _)| number == call).map(|(_, name)| *name);
            match name {
                Some(name) => write!(f, "{separator}{threads} in {name}")?,
                None if *call == OTHER_CALLS => write!(f, "{separator}{threads} in others")?,
                None => write!(f, "{separator}{threads} in system call {call}")?,
            }
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_words() {
        let words = |threads: &[(u16, u16)]| Waits { threads: threads.iter().copied().collect(), went_on: false }.to_string();
        assert_eq!(words(&[(0, 1)]), "1 other thread waited (1 in read)");
        assert_eq!(words(&[(232, 1), (202, 3)]), "4 other threads waited (3 in futex, 1 in epoll_wait)");
        assert_eq!(words(&[(219, 1)]), "1 other thread waited (1 in restart_syscall)");
        assert_eq!(words(&[(4000, 2), (OTHER_CALLS, 5)]), "7 other threads waited (2 in system call 4000, 5 in others)");
    }

    #[test]
    fn names_are_in_order() {
        assert!(NAMES.is_sorted_by_key(|(number, _)| *number));
    }
}
