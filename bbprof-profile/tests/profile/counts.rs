//! What ran is what the profile says.

use super::support::*;
use bbprof_profile::{CounterMode, EdgeKind, Linkage};

/// Enters 3 times: 5 turns then, 2 turns else; one activation ends in the call of `g`.
fn example(mode: CounterMode) -> (ModuleMaker, Run) {
    let mut maker = ModuleMaker::new("a.c", mode);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let g = leaf(&mut maker, "g", Linkage::External);
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &ENTER, 3);
    run.walk(&maker, f, &THEN, 5);
    run.walk(&maker, f, &ELSE, 2);
    run.walk(&maker, f, &GONE, 1);
    run.walk(&maker, f, &LEAVE, 2);
    run.walk(&maker, g, &[0, 1], 8);
    (maker, run)
}

#[test]
fn blocks_edges_entries_and_instructions() {
    for mode in [CounterMode::Edges, CounterMode::Check] {
        let (_, run) = example(mode);
        let profile = run.profile().expect("it fits");
        let f = profile.functions().find(|function| function.symbol() == "f").expect("f");
        assert_eq!(f.counts.entries, 3);
        assert_eq!(f.blocks().map(|block| block.count()).collect::<Vec<_>>(), [3, 10, 8, 5, 2, 7, 2]);
        assert_eq!(f.counts.instructions, 3 * 2 + 10 * 3 + 8 * 2 + 7 * 2 + 5 * 2 + 2 * 3 + 7 * 3 + 2);
        let edges: Vec<_> = f.edges().map(|edge| (edge.from, edge.to, edge.count)).collect();
        let expected = [(0, 1, 3), (1, 2, 8), (1, 6, 2), (2, 3, 5), (2, 4, 2), (3, 5, 5), (4, 5, 2), (5, 1, 7)]
            .map(|(a, b, n)| (a, b, Some(n)));
        assert_eq!(edges, expected);
        assert_eq!(f.vanished(), [(2, 1)]);
        assert_eq!(profile.exceptions(), []);
        let totals = profile.totals();
        assert_eq!((totals.functions, totals.functions_executed, totals.blocks, totals.blocks_executed), (2, 2, 8, 8));
        assert_eq!(totals.block_executions, 37 + 8);
        assert_eq!(totals.instructions, totals.instructions_with_line);
        assert_eq!(profile.compared_edges(), if mode == CounterMode::Check { 11 + 2 } else { 0 });
    }
}

#[test]
fn counters_in_every_block_leave_edges_open_and_never_guess_them() {
    let (_, run) = example(CounterMode::Blocks);
    let profile = run.profile().expect("it fits");
    let f = profile.functions().next().expect("f");
    assert_eq!(f.blocks().map(|block| block.count()).collect::<Vec<_>>(), [3, 10, 8, 5, 2, 7, 2]);
    assert!(profile.exceptions().is_empty());
    for edge in f.edges() {
        let truth = [(0, 1, 3), (1, 2, 8), (1, 6, 2), (2, 3, 5), (2, 4, 2), (3, 5, 5), (4, 5, 2), (5, 1, 7)];
        assert!(edge.count.is_none() || truth.contains(&(edge.from, edge.to, edge.count.unwrap())), "{edge:?}");
    }
}

#[test]
fn nothing_ran() {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    loop_with_branch(&mut maker, "f", Linkage::External);
    let profile = Run::new(&[(&maker, None)]).profile().expect("it fits");
    assert!(profile.exceptions().is_empty());
    assert_eq!(profile.totals().blocks_executed, 0);
    assert!(profile.functions().all(|function| !function.is_executed() && function.vanished().is_empty()));
}

#[test]
fn names_and_kinds() {
    let (_, run) = example(CounterMode::Edges);
    let profile = run.profile().expect("it fits");
    let f = profile.functions().next().expect("f");
    assert_eq!((f.name(), f.module_name(), f.line()), ("f", "a.c", 1));
    assert_eq!(f.file().map(|file| profile.files.path(file)), Some("/src/a.c"));
    let body = f.blocks().nth(2).expect("body");
    assert_eq!(body.opcodes(), [("add", 3), ("call", 1)]);
    assert_eq!(body.callees().collect::<Vec<_>>(), ["g"]);
    assert!(f.edges().all(|edge| matches!(edge.kind, EdgeKind::Branch | EdgeKind::Fallthrough)));
}
