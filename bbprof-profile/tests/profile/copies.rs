//! Functions that several modules hold, and modules that the linker left out.

use super::support::*;
use bbprof_profile::{CounterMode, Linkage};

#[test]
fn copies_of_one_function_count_once() {
    let (mut a, mut b) = (ModuleMaker::new("a.cpp", CounterMode::Edges), ModuleMaker::new("b.cpp", CounterMode::Edges));
    let f = leaf(&mut a, "_Z1fIiET_S0_", Linkage::Comdat);
    leaf(&mut b, "_Z1fIiET_S0_", Linkage::Comdat);
    let mut run = Run::new(&[(&a, None), (&b, None)]);
    run.walk(&a, f, &[0, 1], 5);
    let profile = run.profile().expect("it fits");
    let functions: Vec<_> = profile.functions().collect();
    assert_eq!(functions.len(), 1);
    assert_eq!((functions[0].counts.entries, functions[0].counts.copies), (5, 2));
    assert_eq!(functions[0].name(), "int f<int>(int)");
}

#[test]
fn of_copies_that_differ_in_shape_the_one_that_ran_is_shown() {
    let (mut a, mut b) = (ModuleMaker::new("a.cpp", CounterMode::Edges), ModuleMaker::new("b.cpp", CounterMode::Edges));
    leaf(&mut a, "f", Linkage::Comdat);
    let f = loop_with_branch(&mut b, "f", Linkage::Comdat);
    let mut run = Run::new(&[(&a, None), (&b, None)]);
    let entries = |run: &Run| -> Vec<(u64, usize)> {
        let profile = run.profile().expect("it fits");
        profile.functions().map(|function| (function.counts.entries, function.blocks().count())).collect()
    };
    assert_eq!(entries(&run), [(0, 1)], "nothing ran: the first stands for all");
    run.walk(&b, f, &ENTER, 2);
    run.walk(&b, f, &LEAVE, 2);
    assert_eq!(entries(&run), [(2, 7)]);
}

#[test]
fn copies_that_share_counters_but_not_the_graph_are_an_exception() {
    let (mut a, mut b) = (ModuleMaker::new("a.cpp", CounterMode::Edges), ModuleMaker::new("b.cpp", CounterMode::Edges));
    leaf(&mut a, "f", Linkage::Comdat);
    let f = leaf(&mut b, "f", Linkage::Comdat);
    b.module.functions[f].edges[1].kind = bbprof_profile::EdgeKind::Vanish;
    let profile = Run::new(&[(&a, None), (&b, None)]).profile().expect("it fits");
    assert_eq!(profile.functions().count(), 0);
    let exceptions = profile.exceptions();
    assert_eq!(exceptions.len(), 1);
    assert!(exceptions[0].reason.contains("1.o"), "{}", exceptions[0]);
}

#[test]
fn local_functions_of_one_name_stay_apart() {
    let (mut a, mut b) = (ModuleMaker::new("a.c", CounterMode::Edges), ModuleMaker::new("b.c", CounterMode::Edges));
    let f = leaf(&mut a, "f", Linkage::Internal);
    leaf(&mut b, "f", Linkage::Internal);
    let mut run = Run::new(&[(&a, None), (&b, None)]);
    run.walk(&a, f, &[0, 1], 5);
    let profile = run.profile().expect("it fits");
    let entries: Vec<_> = profile.functions().map(|function| (function.module_name(), function.counts.entries)).collect();
    assert_eq!(entries, [("a.c", 5), ("b.c", 0)]);
}

#[test]
fn modules_that_the_linker_left_out_are_not_in_the_profile() {
    let (mut a, mut b) = (ModuleMaker::new("a.c", CounterMode::Edges), ModuleMaker::new("b.c", CounterMode::Edges));
    leaf(&mut a, "f", Linkage::External);
    leaf(&mut b, "g", Linkage::External);
    let mut run = Run::new(&[(&a, None), (&b, Some(0))]);
    assert_eq!(run.profile().expect("it fits").functions().count(), 2);
    run.counters.presence[0] = false;
    let profile = run.profile().expect("it fits");
    assert_eq!(profile.functions().map(|function| function.symbol()).collect::<Vec<_>>(), ["f"]);
}
