//! Which calls come back, against the definition: no function reached by calls is replaceable or may vanish.

use bbprof_flow::{CallSummary, FunctionId, comes_back, comes_back_from_bounded_depth};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn call_summary() -> impl Strategy<Value = (bool, bool, Vec<u32>)> {
    (prop::bool::weighted(0.9), prop::bool::weighted(0.1), prop::collection::vec(any::<u32>(), 0..4))
}

proptest! {
    #[test]
    fn a_call_comes_back_when_everything_it_reaches_does(summaries in prop::collection::vec(call_summary(), 1..20)) {
        let size = summaries.len() as u32;
        let functions: Vec<CallSummary> = summaries
            .into_iter()
            .map(|(is_exact, may_vanish, callees)| {
                let callees = callees.into_iter().map(|callee| FunctionId::new(callee % size)).collect();
                CallSummary { is_exact, may_vanish, callees }
            })
            .collect();
        let callees = |function: usize| functions[function].callees.iter().map(|callee| callee.index());
        // Those that calls reach, by one call or more.
        let reached_by = |function: usize| {
            let mut todo: Vec<usize> = callees(function).collect();
            let mut reached: BTreeSet<usize> = todo.iter().copied().collect();
            while let Some(next) = todo.pop() {
                todo.extend(callees(next).filter(|callee| reached.insert(*callee)));
            }
            reached
        };
        let is_sound = |function: usize| functions[function].is_exact && !functions[function].may_vanish;
        let expected = (0..functions.len()).map(|function| is_sound(function) && reached_by(function).into_iter().all(is_sound));
        let expected: Vec<bool> = expected.collect();
        prop_assert_eq!(comes_back(&functions), &expected[..]);
        let is_recursive = |function: usize| reached_by(function).contains(&function);
        let is_bounded = |function: usize| !is_recursive(function) && !reached_by(function).into_iter().any(is_recursive);
        let bounded = expected.iter().zip(0..).map(|(comes_back, function)| *comes_back && is_bounded(function));
        prop_assert_eq!(comes_back_from_bounded_depth(&functions), bounded.collect::<Vec<_>>());
    }
}
