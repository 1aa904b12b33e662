//! Counts of an earlier profile at the lines of a later one.

use crate::support::*;
use bbprof_format::manifest::EdgeKind::{Branch, Entry, Exit, Fallthrough};
use bbprof_profile::{CounterMode, Linkage, Profile, earlier_lines};
use std::collections::BTreeMap;

/// What [`earlier_lines`] says of the first functions: both profiles have one file.
fn lines(a: &Profile, b: &Profile) -> BTreeMap<u32, u128> {
    let [a, b] = [a, b].map(|profile| profile.functions().next().expect("a function"));
    earlier_lines(a, b).into_values().next().unwrap_or_default()
}

/// One block with code on these lines, entered so often.
fn straight(places: &[(u32, u32)], times: u64) -> Profile {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let f = maker.function("f", Linkage::External, vec![node(0, places)], &[(None, Some(0), Entry), (Some(0), None, Exit)]);
    walked(&maker, f, &[(&[0, 1], times)])
}

/// `if (..) line 3;` on line 2: both ways so often.
fn forked(times: [u64; 2]) -> Profile {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let nodes = vec![node(0, &[(2, 2)]), node(1, &[(3, 3)]), node(2, &[(4, 1)])];
    let edges = [
        (None, Some(0), Entry),
        (Some(0), Some(1), Branch),
        (Some(0), Some(2), Branch),
        (Some(1), Some(2), Fallthrough),
        (Some(2), None, Exit),
    ];
    let f = maker.function("f", Linkage::External, nodes, &edges);
    walked(&maker, f, &[(&[0, 1, 3, 4], times[0]), (&[0, 2, 4], times[1])])
}

fn walked(maker: &ModuleMaker, function: usize, walks: &[(&[usize], u64)]) -> Profile {
    let mut run = Run::new(&[(maker, None)]);
    for (edges, times) in walks {
        run.walk(maker, function, edges, *times);
    }
    run.profile().expect("counters fit the map")
}

#[test]
fn the_same_code_on_lines_that_moved() {
    let found = lines(&straight(&[(2, 1), (3, 4)], 5), &straight(&[(12, 1), (13, 4)], 9));
    // The first line of the function counts its entries; it has not moved here.
    assert_eq!(found, BTreeMap::from([(1, 5), (12, 5), (13, 5)]));
}

#[test]
fn other_code_on_the_same_lines() {
    let found = lines(&straight(&[(2, 1), (3, 4), (4, 1)], 5), &forked([2, 7]));
    assert_eq!(found, BTreeMap::from([(1, 5), (2, 5), (3, 5), (4, 5)]));
    let back = lines(&forked([2, 7]), &straight(&[(2, 1), (3, 4), (4, 1)], 5));
    assert_eq!(back, BTreeMap::from([(1, 9), (2, 9), (3, 2), (4, 9)]));
}

/// A line more: nothing says which of them it is, so no line has a count.
#[test]
fn other_code_on_other_lines() {
    assert_eq!(lines(&straight(&[(2, 1), (3, 4)], 5), &forked([2, 7])), BTreeMap::new());
    assert_eq!(lines(&straight(&[(2, 1), (3, 4)], 5), &straight(&[(2, 1), (3, 4), (4, 1)], 5)), BTreeMap::new());
}

/// Positions of modules are each build's own: the counts are put where the later one has the function.
#[test]
fn modules_in_another_order() {
    let mut one = ModuleMaker::new("one.c", CounterMode::Edges);
    let edges = [(None, Some(0), Entry), (Some(0), None, Exit)];
    let f = one.function("f", Linkage::External, vec![node(0, &[(2, 1)])], &edges);
    // Without files.
    let other = ModuleMaker::new("other.c", CounterMode::Edges);
    let walked = |modules: [(&ModuleMaker, Option<u32>); 2], times| {
        let mut run = Run::new(&modules);
        run.walk(&one, f, &[0, 1], times);
        run.profile().expect("counters fit the map")
    };
    let (a, b) = (walked([(&other, None), (&one, None)], 5), walked([(&one, None), (&other, None)], 9));
    for (a, b, times) in [(&a, &b, 5), (&b, &a, 9)] {
        let [a, now] = [a, b].map(|profile| profile.functions().find(|function| function.name() == "f").expect("f"));
        let found = earlier_lines(a, now);
        assert_eq!(
            found.into_iter().collect::<Vec<_>>(),
            [(now.file().expect("a file"), BTreeMap::from([(1, times), (2, times)]))]
        );
    }
}
