//! What is not exact is named, with its reason; it never has counts.

use super::support::*;
use bbprof_profile::{CounterMode, ExceptionKind, Linkage};

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

#[test]
fn a_caveat_of_a_process_is_an_exception() {
    let (_, mut run) = loop_run(CounterMode::Edges);
    run.processes[0].caveat = Some("killed".into());
    let exceptions = run.profile().expect("it fits").exceptions();
    assert_eq!(exceptions.len(), 1);
    assert_eq!(exceptions[0].to_string(), "/bin/app (pid 7): killed");
}
