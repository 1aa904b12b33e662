//! What is not exact is named, with its reason; it never has counts.

use super::support::*;
use bbprof_format::manifest::Skipped;
use bbprof_profile::{CallGraph, CounterMode, ExceptionKind, Linkage, Profile, Target};

fn loop_run(mode: CounterMode) -> (ModuleMaker, Run) {
    let mut maker = ModuleMaker::new("a.c", mode);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &ENTER, 3);
    run.walk(&maker, f, &THEN, 5);
    run.walk(&maker, f, &LEAVE, 3);
    (maker, run)
}

/// In check mode every flow has a second witness, so whichever counter is wrong by one, it shows.
#[test]
fn every_changed_counter_of_check_mode_shows() {
    let (_, run) = loop_run(CounterMode::Check);
    assert!(run.profile().expect("it fits").exceptions().is_empty());
    for counter in 0..run.counters.tls.len() {
        let mut changed = Run { counters: run.counters.clone(), map: run.map.clone(), processes: run.processes.clone() };
        changed.counters.tls[counter] += 1;
        let profile = changed.profile().expect("it fits");
        let exceptions = profile.exceptions();
        assert!(!exceptions.is_empty(), "counter {counter}");
        assert!(exceptions.iter().all(|exception| exception.symbol == "f"));
    }
}

#[test]
fn counters_that_make_no_flow_name_function_and_reason_and_have_no_counts() {
    let (maker, mut run) = loop_run(CounterMode::Edges);
    // A huge count on one counter makes others negative, or two of them disagree, for at least one counter.
    let mut refused = 0;
    for counter in 0..maker.module.functions[0].sites.len() {
        let before = run.counters.tls[counter];
        run.counters.tls[counter] = u64::MAX;
        let profile = run.profile().expect("it fits");
        if let [exception] = &profile.exceptions()[..] {
            refused += 1;
            assert_eq!((exception.kind, &*exception.symbol), (ExceptionKind::Unsolved, "f"));
            assert!(!exception.reason.is_empty());
            assert_eq!(profile.functions().count(), 0);
        }
        run.counters.tls[counter] = before;
    }
    assert!(refused > 0);
}

#[test]
fn a_call_without_an_entry_shows() {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let g = leaf(&mut maker, "g", Linkage::Internal);
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &ENTER, 1);
    run.walk(&maker, f, &THEN, 5);
    run.walk(&maker, f, &LEAVE, 1);
    run.walk(&maker, g, &[0, 1], 4);
    let exceptions = run.profile().expect("it fits").exceptions();
    assert_eq!(exceptions.len(), 1);
    assert_eq!((exceptions[0].kind, &*exceptions[0].symbol), (ExceptionKind::Calls, "g"));
    assert_eq!(exceptions[0].to_string(), "g: called 5 times by profiled code, but entered 4 times");
    run.walk(&maker, g, &[0, 1], 1);
    assert!(run.profile().expect("it fits").exceptions().is_empty());
    run.walk(&maker, g, &[0, 1], 7);
    assert!(run.profile().expect("it fits").exceptions().is_empty(), "others may call it, too");
}

/// Of inline functions and templates the linker may take a copy that is not profiled.
#[test]
fn an_inline_function_that_was_called_and_never_entered_has_no_counts() {
    for (linkage, kind, num_functions) in
        [(Linkage::Comdat, ExceptionKind::Unsolved, 1), (Linkage::External, ExceptionKind::Calls, 2)]
    {
        let mut maker = ModuleMaker::new("a.cpp", CounterMode::Edges);
        let f = loop_with_branch(&mut maker, "f", Linkage::External);
        let g = leaf(&mut maker, "g", linkage);
        let mut run = Run::new(&[(&maker, None)]);
        assert_eq!(run.profile().expect("it fits").functions().count(), 2, "nobody called it");
        run.walk(&maker, f, &ENTER, 1);
        run.walk(&maker, f, &THEN, 5);
        run.walk(&maker, f, &LEAVE, 1);
        let profile = run.profile().expect("it fits");
        let exceptions = profile.exceptions();
        assert_eq!((exceptions.len(), exceptions[0].kind, &*exceptions[0].symbol), (1, kind, "g"));
        assert!(exceptions[0].reason.starts_with("called 5 times by profiled code, but entered 0 times"), "{}", exceptions[0]);
        assert_eq!(profile.functions().count(), num_functions);
        run.walk(&maker, g, &[0, 1], 5);
        let profile = run.profile().expect("it fits");
        assert_eq!((profile.exceptions().len(), profile.functions().count()), (0, 2));
    }
}

/// With `--wrap=g`, calls of `g` reach `__wrap_g`, which calls `g` when it likes.
#[test]
fn calls_of_a_wrapped_function_may_be_more_than_its_entries() {
    for (wrapper, exceptions) in [("__wrap_g", 0), ("__wrap_h", 1)] {
        let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
        let f = loop_with_branch(&mut maker, "f", Linkage::External);
        let mut other = ModuleMaker::new("b.c", CounterMode::Edges);
        let g = leaf(&mut other, "g", Linkage::External);
        let wrap = leaf(&mut other, wrapper, Linkage::External);
        let mut run = Run::new(&[(&maker, None), (&other, None)]);
        run.walk(&maker, f, &ENTER, 1);
        run.walk(&maker, f, &THEN, 5);
        run.walk(&maker, f, &LEAVE, 1);
        run.walk(&other, wrap, &[0, 1], 5);
        run.walk(&other, g, &[0, 1], 2);
        let profile = run.profile().expect("it fits");
        assert_eq!(profile.exceptions().len(), exceptions);
        let is_known = exceptions == 1;
        assert!(CallGraph::new(&profile).calls.iter().all(|call| matches!(call.target, Target::Function(_)) == is_known));
    }
}

#[test]
fn a_caveat_of_a_process_is_an_exception() {
    let (_, mut run) = loop_run(CounterMode::Edges);
    run.processes[0].caveat = Some("killed".into());
    let exceptions = run.profile().expect("it fits").exceptions();
    assert_eq!(exceptions.len(), 1);
    assert_eq!(exceptions[0].to_string(), "/bin/app (pid 7): killed");
}

/// `f` of a.c calls a `g` that has no counts; another module's has some.
fn calls_of_another(linkage: Option<Linkage>) -> Run {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let (symbol, reason) = (maker.string("g"), maker.string("marked noprofile"));
    maker.module.skipped.push(Skipped { symbol, reason, linkage });
    let mut other = ModuleMaker::new("b.c", CounterMode::Edges);
    let g = leaf(&mut other, "g", Linkage::External);
    let mut run = Run::new(&[(&maker, None), (&other, None)]);
    run.walk(&maker, f, &ENTER, 1);
    run.walk(&maker, f, &THEN, 5);
    run.walk(&maker, f, &LEAVE, 1);
    run.walk(&other, g, &[0, 1], 4);
    run
}

#[test]
fn calls_of_a_local_function_without_counts_are_none_of_another() {
    let profile = calls_of_another(Some(Linkage::Internal)).profile().expect("it fits");
    assert_eq!(profile.exceptions(), []);
    assert!(CallGraph::new(&profile).calls.iter().all(|call| call.target == Target::Unprofiled("g")));

    let profile = calls_of_another(None).profile().expect("it fits");
    assert_eq!(profile.exceptions().len(), 1, "the code that runs is the other module's");
    assert!(CallGraph::new(&profile).calls.iter().all(|call| matches!(call.target, Target::Function(_))));
}

#[test]
fn calls_of_a_local_function_that_is_no_flow_are_none_of_another() {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let local = loop_with_branch(&mut maker, "g", Linkage::Internal);
    let mut other = ModuleMaker::new("b.c", CounterMode::Edges);
    leaf(&mut other, "g", Linkage::External);
    let mut run = Run::new(&[(&maker, None), (&other, None)]);
    run.walk(&maker, f, &ENTER, 1);
    run.walk(&maker, f, &THEN, 5);
    run.walk(&maker, f, &LEAVE, 1);
    let counters = maker.module.functions[local].first_counter as usize;
    run.counters.tls[counters..counters + maker.module.functions[local].sites.len()].fill(u64::MAX);
    let profile = run.profile().expect("it fits");
    let kinds: Vec<ExceptionKind> = profile.exceptions().iter().map(|exception| exception.kind).collect();
    assert_eq!(kinds, [ExceptionKind::Unsolved]);
    assert!(CallGraph::new(&profile).calls.iter().all(|call| call.target == Target::Unprofiled("g")));
}

/// A program that calls libc's `g`, and a library with a `g` of its own, which was entered less often.
#[test]
fn calls_from_other_images_are_none_of_a_hidden_function() {
    for (linkage, exceptions) in [(Linkage::Hidden, 0), (Linkage::External, 1)] {
        let (_, program) = loop_run(CounterMode::Edges);
        let mut maker = ModuleMaker::new("b.c", CounterMode::Edges);
        let g = leaf(&mut maker, "g", linkage);
        let mut library = Run::new(&[(&maker, None)]);
        library.walk(&maker, g, &[0, 1], 4);
        let mut process = program.processes[0].clone();
        process.images.push(library.map.build_id);
        let parts = vec![(program.map, program.counters), (library.map, library.counters)];
        let profile = Profile::new(vec![process], parts).expect("they fit");
        assert_eq!(profile.exceptions().len(), exceptions);
        let calls = CallGraph::new(&profile).calls;
        assert!(calls.iter().all(|call| (call.target == Target::Unprofiled("g")) == (linkage == Linkage::Hidden)));
    }
}
