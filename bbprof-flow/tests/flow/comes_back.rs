//! Which calls come back, against the definition: no function reached by calls is replaceable or may vanish.

use bbprof_flow::{CallSummary, FunctionId, comes_back};
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
        let expected = (0..functions.len()).map(|function| {
            let (mut reached, mut todo) = (BTreeSet::from([function]), vec![function]);
            while let Some(next) = todo.pop() {
                let callees = functions[next].callees.iter().map(|callee| callee.index());
                todo.extend(callees.filter(|callee| reached.insert(*callee)));
            }
            reached.into_iter().all(|function| functions[function].is_exact && !functions[function].may_vanish)
        });
        prop_assert_eq!(comes_back(&functions), expected.collect::<Vec<_>>());
    }
}
