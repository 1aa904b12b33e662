//! Where a process was killed: the function and block are among those that are named, whatever the counters can tell of it.

use super::support::*;
use bbprof_profile::{CounterMode, Linkage};

/// `main` is in its call of `f`, which is stopped for ever behind each edge in turn;
/// `idle` was entered by calls alone, and waits in none.
fn stopped_behind(edges: &[usize]) -> Run {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let idle = leaf(&mut maker, "g", Linkage::Internal);
    let mut run = Run::new(&[(&maker, None)]);
    for (walked, times) in [(&ENTER[..], 3), (&THEN, 5), (&ELSE, 2), (&LEAVE, 3)] {
        run.walk(&maker, f, walked, times);
    }
    run.walk(&maker, idle, &[0, 1], 7);
    run.walk(&maker, f, edges, 1);
    run.processes[0].caveat = Some("killed".into());
    run
}

#[test]
fn the_interrupted_block_is_among_those_named() {
    let way = [&ENTER[..], &THEN, &THEN].concat();
    // Blocks behind each edge of the way; those of the second round are the same.
    let blocks = [0, 1, 2, 2, 3, 5, 1, 2, 2, 3, 5, 1];
    for (length, block) in (1..=way.len()).zip(blocks) {
        let run = stopped_behind(&way[..length]);
        let profile = run.profile().expect("it fits");
        let named = profile.interruptible();
        let f = named.iter().find(|function| function.symbol == "f").unwrap_or_else(|| panic!("{length}: {named:?}"));
        assert!(f.blocks.contains(&block), "behind {length} edges: {f:?}");
        // Counts that are wrong are not shown: either they are right, or there are none, or the verdict is not exact.
        assert!(!profile.exceptions().is_empty());
        for exception in
            profile.exceptions().iter().filter(|exception| exception.symbol == "f" && exception.reason.contains("block"))
        {
            assert!(
                exception.reason.starts_with("an activation was interrupted in it, in or on the way into block"),
                "{exception}"
            );
        }
    }
}

#[test]
fn who_waits_in_no_call_and_was_called_by_nothing_unseen_is_not_named() {
    // Stopped in its call of g, which has not been entered: one call more than entries.
    let named = stopped_behind(&[0, 1, 2]);
    let profile = named.profile().expect("it fits");
    assert!(profile.interruptible().iter().any(|function| function.symbol == "g"), "the call may be under way");
    // Not stopped at all: g was entered by f's calls alone, and all of them came back.
    let mut ended = stopped_behind(&[]);
    ended.processes[0].caveat = None;
    let profile = ended.profile().expect("it fits");
    assert!(profile.exceptions().is_empty());
}
