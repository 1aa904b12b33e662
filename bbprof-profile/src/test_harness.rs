//! What rustc makes to run tests: for each a closure that calls it, and a `main`. It
//! gives them the lines of the test, and the crate's first.
//!
//! Optimised, the closure is inlined into what makes a pointer to a function of it (`FnOnce::call_once`), and the test
//! into the closure; of what looks at the test's result (`assert_test_result`) nothing may be left. There, a closure
//! that calls the function it is named after is told by that.

use crate::scopes::own_scope;
use crate::view::FunctionView;
use bbprof_format::demangle;
use bbprof_format::manifest::{Callee, LocationId, Scope};
use std::collections::BTreeSet;

/// The parts of a function that were made to run tests: its own code, or some of its inlined `copies`.
pub(crate) fn made_to_run_tests<'a>(function: FunctionView<'_>, copies: impl Iterator<Item = &'a Scope>) -> BTreeSet<Scope> {
    let module = function.module;
    let scope_at = |id: LocationId| {
        let location = module.location(id);
        location.scope()
    };
    let own = own_scope(function);
    let inlined = copies.filter_map(|(callee, at)| Some((*callee, scope_at((*at)?))));
    let called = function.manifest.nodes.iter().flat_map(|node| &node.calls).filter_map(|call| match call.callee {
        Callee::Symbol(callee) => Some((callee, call.location.map_or(own, scope_at))),
        _ => None,
    });
    let makes_pointer = function.symbol().contains("6FnOnce9call_once");
    let is_inlined_here = |(_, at): Scope| at.is_some_and(|at| scope_at(at) == own);
    let runs_test = |callee: &str, caller: Scope| {
        is_of_harness(callee) || (makes_pointer && is_inlined_here(caller) && is_closure_of(module.string(caller.0), callee))
    };
    inlined.chain(called).filter(|(callee, caller)| runs_test(module.string(*callee), *caller)).map(|(_, caller)| caller).collect()
}

fn is_of_harness(symbol: &str) -> bool {
    symbol.contains("4test18assert_test_result") || symbol.contains("4test16test_main_static")
}

/// Whether a symbol is that of a closure in the function of the other one.
fn is_closure_of(symbol: &str, function: &str) -> bool {
    let name = demangle(symbol);
    let parts = name.rsplit_once("::").filter(|(_, last)| last.starts_with("{{closure}}") || last.starts_with("{closure#"));
    parts.is_some_and(|(of, _)| of == demangle(function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closures_are_told_by_their_names() {
        let legacy = ["_ZN1t3one28_$u7b$$u7b$closure$u7d$$u7d$17h6bd162db42bf4014E", "_ZN1t3one17ha55cb5f3dd40e9eaE"];
        let v0 = ["_RNCNvCsi5eAfjx9zAS_12test_version10test_parse0B3_", "_RNvCsi5eAfjx9zAS_12test_versions_10test_parse"];
        assert!(is_closure_of(legacy[0], legacy[1]) && !is_closure_of(legacy[1], legacy[0]));
        assert!(is_closure_of(v0[0], v0[1]) && !is_closure_of(v0[1], v0[1]) && !is_closure_of(v0[0], legacy[1]));
    }
}
