//! Counted paths become paths taken, edges and nodes; tables that are none of the graph are refused, with the function's name.

use super::support::*;
use bbprof_format::HashedPath;
use bbprof_format::merged::Process;
use bbprof_profile::{CounterMode, Linkage, PathEnd, PathView};

/// Enters 3 times: 5 turns then, 2 turns else; one activation ends in the call of `g`.
///
/// The back edge (10) ends a path and begins the next at the loop's header. All 8 calls are counted before they are made.
fn example() -> (ModuleMaker, Run) {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Paths);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let mut run = Run::new(&[(&maker, None)]);
    let first_calls = 2;
    run.count_path(&maker, f, &[0, 1, 2, 5], first_calls);
    run.count_path(&maker, f, &[0, 1, 2, 4, 6, 8, 10], 2);
    run.count_path(&maker, f, &[0, 1, 3, 11], 1);
    run.count_path(&maker, f, &[2, 5], 8 - first_calls);
    run.count_path(&maker, f, &[2, 4, 6, 8, 10], 3);
    run.count_path(&maker, f, &[2, 4, 7, 9, 10], 2);
    run.count_path(&maker, f, &[3, 11], 1);
    (maker, run)
}

#[test]
fn paths_edges_and_nodes() {
    let profile = example().1.profile().expect("it fits");
    assert_eq!(profile.exceptions(), []);
    let f = profile.functions().next().expect("f");
    assert_eq!(f.counts.entries, 3);
    assert_eq!(f.blocks().map(|block| block.count()).collect::<Vec<_>>(), [3, 10, 8, 5, 2, 7, 2]);
    assert_eq!(f.vanished(), [(2, 1)]);
    let taken = |path: &PathView| (path.count, path.from_entry, path.end, path.blocks.clone());
    let mut paths: Vec<_> = f.paths().iter().map(taken).collect();
    paths.sort_by_key(|(_, from_entry, _, blocks)| (!from_entry, blocks.clone()));
    let expected = [
        (2, true, PathEnd::GoesOn(1), vec![0, 1, 2, 3, 5]),
        (1, true, PathEnd::Leaves, vec![0, 1, 6]),
        (1, false, PathEnd::Vanishes, vec![1, 2]),
        (3, false, PathEnd::GoesOn(1), vec![1, 2, 3, 5]),
        (2, false, PathEnd::GoesOn(1), vec![1, 2, 4, 5]),
        (1, false, PathEnd::Leaves, vec![1, 6]),
    ];
    assert_eq!(paths, expected);
    let executed: i128 = f.paths().iter().map(PathView::executed).sum();
    assert_eq!(u128::try_from(executed), Ok(f.counts.instructions));
}

#[test]
fn another_way_of_counting_agrees_and_another_run_does_not() {
    let (_, run) = example();
    let by_paths = run.profile().expect("it fits");
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    // As LLVM names a local function that other modules call; the hash is of code, of counters too.
    let f = loop_with_branch(&mut maker, "f.llvm.0123", Linkage::External);
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &ENTER, 3);
    run.walk(&maker, f, &THEN, 5);
    run.walk(&maker, f, &ELSE, 2);
    run.walk(&maker, f, &GONE, 1);
    run.walk(&maker, f, &LEAVE, 2);
    let comparison = by_paths.compare_with(&run.profile().expect("it fits"));
    assert_eq!((comparison.functions, comparison.edges, comparison.disagreements.len()), (1, 12, 0));
    run.walk(&maker, f, &THEN, 1);
    let comparison = by_paths.compare_with(&run.profile().expect("it fits"));
    assert!(!comparison.disagreements.is_empty() && comparison.disagreements.iter().all(|found| found.symbol == "f"));
    assert!(comparison.disagreements[0].what.contains("executions here"), "{:?}", comparison.disagreements);
}

/// Killed in the loop's turn: one more path led to the header than began there.
#[test]
fn an_interrupted_activation_is_named_with_the_blocks_where_it_may_have_been() {
    let (maker, mut run) = example();
    run.count_path(&maker, 0, &[0, 1, 2, 4, 6, 8, 10], 1);
    run.count_path(&maker, 0, &[0, 1, 2, 5], 1);
    run.processes[0].caveat = Some("no end was seen".to_owned());
    let profile = run.profile().expect("it fits");
    let reasons: Vec<String> = profile.exceptions().into_iter().map(|exception| exception.reason.clone()).collect();
    let words = "an activation was interrupted in it, in or on the way into block 1, 2, 3, 4, 5, 6;";
    assert!(reasons.iter().any(|reason| reason.starts_with(words)), "{reasons:?}");
    let interruptible = profile.interruptible();
    assert_eq!(
        interruptible.iter().map(|found| (found.symbol, found.blocks.clone())).collect::<Vec<_>>(),
        [("f", vec![1, 2, 3, 4, 5, 6])]
    );
}

/// Paths that begin where no other ended, and tables of another graph.
#[test]
fn what_does_not_fit_is_refused_by_name() {
    let refused = |run: &Run, words: &str| {
        let profile = run.profile().expect("it fits");
        assert_eq!(profile.functions().count(), 0);
        let exceptions = profile.exceptions();
        assert_eq!((exceptions.len(), &*exceptions[0].name), (1, "f"));
        assert!(exceptions[0].reason.contains(words), "{}", exceptions[0].reason);
    };
    let (maker, mut run) = example();
    run.count_path(&maker, 0, &[3, 11], 1);
    refused(&run, "flow is not conserved");
    for (change, words) in [
        ((|paths| paths.cuts.clear()) as fn(&mut bbprof_format::manifest::Paths), "closes a cycle but is not cut"),
        (|paths| paths.cuts = vec![2, 10], "paths and"),
        (|paths| paths.cuts = vec![0, 10], "no edge between nodes"),
    ] {
        let mut maker = ModuleMaker::new("a.c", CounterMode::Paths);
        loop_with_branch(&mut maker, "f", Linkage::External);
        change(maker.module.functions[0].paths.as_mut().expect("paths"));
        refused(&Run::new(&[(&maker, None)]), words);
    }
}

/// The same paths in hash tables: the same counts. What was not recorded, and what belongs to nothing, is told by name.
#[test]
fn hashed_paths() {
    let array = example().1.profile().expect("it fits");
    let mut maker = ModuleMaker::new("a.c", CounterMode::Paths);
    maker.hashes_paths = true;
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let mut run = Run::new(&[(&maker, None)]);
    for path in array.functions().next().expect("f").paths() {
        run.count_hashed_path(0, path.number, path.count as u64);
    }
    // Those who came back from the call were counted before it, too.
    run.count_path(&maker, f, &[0, 1, 2, 5], 2);
    run.count_path(&maker, f, &[2, 5], 5);
    let same = |run: &Run| run.profile().expect("it fits").compare_with(&array);
    let comparison = same(&run);
    assert_eq!((comparison.functions, comparison.edges, comparison.disagreements), (1, 12, vec![]));

    let mut merger = bbprof_profile::Merger::default();
    for pid in [1, 2] {
        let process = Process { pid, ..run.processes[0].clone() };
        let images = vec![run.counters.clone()];
        merger.add(bbprof_format::merged::MergedProfile { processes: vec![process], images }).expect("they fit");
    }
    let merged = merger.finish().images.remove(0);
    let doubled = |path: &HashedPath| HashedPath { count: path.count * 2, ..*path };
    assert_eq!(merged.hashed_paths, run.counters.hashed_paths.iter().map(doubled).collect::<Vec<_>>());

    let mut stray = run;
    stray.counters.tls[0] = 3;
    let profile = stray.profile().expect("it fits");
    let reasons: Vec<_> = profile.exceptions().into_iter().map(|found| (found.name.clone(), found.reason.clone())).collect();
    assert!(matches!(&reasons[..], [(name, reason)] if name == "f" && reason.contains("3 executions of paths were not recorded")));
    stray.counters.tls[0] = 0;
    stray.count_hashed_path(0, 1 << 50, 1);
    let profile = stray.profile().expect("it fits");
    let reasons: Vec<_> = profile.exceptions().into_iter().map(|found| (found.name.clone(), found.reason.clone())).collect();
    assert!(matches!(&reasons[..], [(name, reason)] if name == "f" && reason.contains("there is no path 1125899906842624")));
    stray.count_hashed_path(1, 0, 1);
    assert!(stray.profile().expect_err("no such function").to_string().contains("path 0 of counter 1"));
}
