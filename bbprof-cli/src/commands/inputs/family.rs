//! Which raw profiles are of one run of a program by hand: those of a process, of all
//! programs that it executed, of its parents and children.
//!
//! Ids of processes come again, so a parent is who had the id last when the child's file
//! was begun, and had not ended when the child was made.

use bbprof_format::raw::{Extent, Head, Identity};
use std::collections::HashMap;
use std::time::{Duration, SystemTime};

/// A raw profile.
pub(super) struct Member {
    /// What its header says.
    pub(super) head: Head,
    /// When its file was written last.
    pub(super) written: SystemTime,
}

/// The positions of the profiles that belong to the one at `of`, and of that one, in
/// order. What has no header, or is a pool, belongs to none.
pub(super) fn family(members: &[Option<Member>], of: usize) -> Vec<usize> {
    let singles: Vec<(usize, &Member)> = members
        .iter()
        .enumerate()
        .filter_map(|(position, member)| Some((position, member.as_ref().filter(|member| member.head.extent != Extent::Pool)?)))
        .collect();
    let parents: HashMap<usize, Identity> =
        singles.iter().filter_map(|(position, child)| Some((*position, parent(child, &singles)?))).collect();
    let is_same = |one: Identity, other: Identity| one == other || one.is_of_same_process(other);
    let are_related = |(one, by_one): (usize, &Member), (other, by_other): (usize, &Member)| {
        let (run, others) = (by_one.head.run, by_other.head.run);
        is_same(run, others)
            || parents.get(&one).is_some_and(|parent| is_same(*parent, others))
            || parents.get(&other).is_some_and(|parent| is_same(*parent, run))
    };
    let (mut found, mut rest): (Vec<_>, Vec<_>) = singles.iter().copied().partition(|(position, _)| *position == of);
    let mut next = 0;
    while let Some(one) = found.get(next).copied() {
        next += 1;
        let (related, others) = rest.into_iter().partition(|other| are_related(one, *other));
        rest = others;
        found.extend::<Vec<_>>(related);
    }
    let mut positions: Vec<usize> = found.into_iter().map(|(position, _)| position).collect();
    if positions.is_empty() {
        positions.push(of);
    }
    positions.sort_unstable();
    positions
}

/// How old the time may be that a file is said to be written at: that of the kernel's
/// last tick, of which there are a hundred a second or more.
const TICK: Duration = Duration::from_millis(10);

/// The run that started this one, if it is among them.
fn parent(child: &Member, among: &[(usize, &Member)]) -> Option<Identity> {
    let made = |member: &Member| SystemTime::UNIX_EPOCH + Duration::from_nanos(member.head.run.had_made_by_ns(child.head.run));
    // Of a file that nobody wrote at the end, the system notes no time.
    let was_there = |member: &Member| {
        member.head.run.can_have_started(child.head.run, child.head.parent_pid)
            && (!member.head.is_complete || member.written + TICK >= made(member))
    };
    among.iter().filter(|(_, member)| was_there(member)).map(|(_, member)| member.head.run).max_by_key(|run| run.begun_ns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bbprof_format::raw::{Fate, ProcessInfo, RawProfile, State};

    /// A process that began and ended at these seconds.
    fn member(pid: u32, parent_pid: u32, begun: u64, ended: u64) -> Option<Member> {
        let process =
            ProcessInfo { pid, parent_pid, start_ticks: Some(100 * begun), begun_ns: begun * 1_000_000_000, ..Default::default() };
        member_of(process, ended)
    }

    fn member_of(process: ProcessInfo, ended: u64) -> Option<Member> {
        let ending = Fate::Exit { status: Some(0) }.into();
        let raw = RawProfile { process, state: State::Complete, ending, threads: 1, pooled: vec![], images: vec![] };
        let head = Head::read(raw.encode()[..Head::BYTES].try_into().ok()?)?;
        Some(Member { head, written: SystemTime::UNIX_EPOCH + Duration::from_secs(ended) })
    }

    /// The child began in the kernel's tick in which its parent wrote its file, or long after it.
    #[test]
    fn a_parent_that_has_just_ended() {
        let child = || member(11, 10, 3, 5);
        let parent = |before_child| {
            let parent = member(10, 1, 2, 3)?;
            Some(Member { written: parent.written - before_child, ..parent })
        };
        assert_eq!(family(&[parent(Duration::from_millis(4)), child()], 1), [0, 1]);
        assert_eq!(family(&[parent(Duration::from_millis(400)), child()], 1), [1]);
    }

    /// It came to its file long after it was made.
    #[test]
    fn a_parent_that_had_ended_when_the_child_began() {
        let parent = member(10, 1, 2, 3);
        let child = |made| {
            let process =
                ProcessInfo { pid: 11, parent_pid: 10, start_ticks: Some(made), begun_ns: 4_000_000_000, ..Default::default() };
            member_of(process, 5)
        };
        assert_eq!(family(&[parent, child(299)], 1), [0, 1]);
        assert_eq!(family(&[member(10, 1, 2, 3), child(350)], 1), [1]);
    }

    #[test]
    fn those_of_one_run() {
        let members = [
            member(10, 1, 2, 9),
            member(11, 10, 3, 5),
            member(12, 11, 4, 6),
            member(13, 10, 4, 9),
            None,
            // Their number came again: this one had ended before, that one is the child of another shell.
            member(10, 1, 0, 1),
            member(20, 1, 3, 9),
            member(21, 20, 4, 9),
        ];
        for of in 0..4 {
            assert_eq!(family(&members, of), [0, 1, 2, 3], "{of}");
        }
        assert_eq!(family(&members, 4), [4]);
        assert_eq!(family(&members, 5), [5]);
        assert_eq!(family(&members, 7), [6, 7]);
    }
}
