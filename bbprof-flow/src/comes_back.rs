//! Which functions always come back to their caller: a call to one of them need not end its node.
//!
//! A call comes back when its callee's body is known and nothing in it can vanish. Functions that call each other in
//! circles are assumed to come back unless something in the circle does not: the greatest fixpoint. An endless recursion
//! is not seen as vanishing: it ends in a signal, which leaves activations open that `verify` states. Who counts an
//! activation only when it ends would lose all of these, and takes the least fixpoint: a function comes back if all that
//! it calls are known to, so that no call into a circle is.

use crate::index::index;
use crate::lists::Lists;

index! {
    /// A function of a module, dense, by position in the list given to [`comes_back`].
    FunctionId, "f"
}

/// What is known of a function's calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CallSummary {
    /// The body seen here is the one that runs: no other definition can replace it at link or load time.
    pub is_exact: bool,
    /// Something in it may vanish whatever its callees do: a call through a pointer, to an unknown function, to inline assembly, to
    /// longjmp, to something that may throw or never returns, an endless loop.
    pub may_vanish: bool,
    /// The functions of the module that it calls, in any order; repetitions do no harm.
    pub callees: Vec<FunctionId>,
}

/// For each function, whether a call to it always comes back. Linear in functions and calls.
///
/// # Panics
/// When a callee is not in the list.
#[must_use]
pub fn comes_back(functions: &[CallSummary]) -> Vec<bool> {
    let callers = callers(functions);
    let mut comes_back: Vec<bool> = functions.iter().map(|function| function.is_exact && !function.may_vanish).collect();
    let mut lost: Vec<u32> = (0..functions.len() as u32).filter(|function| !comes_back[*function as usize]).collect();
    while let Some(function) = lost.pop() {
        for caller in callers.of_key(function as usize) {
            if std::mem::replace(&mut comes_back[*caller as usize], false) {
                lost.push(*caller);
            }
        }
    }
    comes_back
}

/// For each function, whether a call to it always comes back from a depth that the program's text bounds: those that [`comes_back`]
/// names, without recursive ones and all that reach them. Linear in functions and calls.
///
/// # Panics
/// When a callee is not in the list.
#[must_use]
pub fn comes_back_from_bounded_depth(functions: &[CallSummary]) -> Vec<bool> {
    let callers = callers(functions);
    let mut comes_back = vec![false; functions.len()];
    // How many of its calls are not known to come back.
    let mut open_calls: Vec<usize> = functions.iter().map(|function| function.callees.len()).collect();
    let is_sound = |function: u32| functions[function as usize].is_exact && !functions[function as usize].may_vanish;
    let is_leaf = |function: &u32| is_sound(*function) && functions[*function as usize].callees.is_empty();
    let mut found: Vec<u32> = (0..functions.len() as u32).filter(is_leaf).collect();
    while let Some(function) = found.pop() {
        comes_back[function as usize] = true;
        for caller in callers.of_key(function as usize) {
            open_calls[*caller as usize] -= 1;
            if open_calls[*caller as usize] == 0 && is_sound(*caller) {
                found.push(*caller);
            }
        }
    }
    comes_back
}

/// The callers of each function.
fn callers(functions: &[CallSummary]) -> Lists<u32> {
    let numbered = functions.iter().enumerate();
    let calls = numbered.flat_map(|(caller, function)| function.callees.iter().map(move |callee| (callee.index(), caller as u32)));
    Lists::of(functions.len(), calls)
}

#[cfg(test)]
mod tests {
    use super::{CallSummary, FunctionId, comes_back, comes_back_from_bounded_depth};

    fn function(is_exact: bool, may_vanish: bool, callees: &[u32]) -> CallSummary {
        CallSummary { is_exact, may_vanish, callees: callees.iter().copied().map(FunctionId::new).collect() }
    }

    #[test]
    fn a_leaf_comes_back_unless_it_is_replaceable_or_vanishes() {
        let functions = [function(true, false, &[]), function(false, false, &[]), function(true, true, &[])];
        assert_eq!(comes_back(&functions), [true, false, false]);
    }

    #[test]
    fn vanishing_reaches_callers_through_any_depth() {
        // 0 -> 1 -> 2 -> 3, and 3 may vanish; 4 calls nobody of them.
        let functions = [
            function(true, false, &[1]),
            function(true, false, &[2, 2, 4]),
            function(true, false, &[3]),
            function(true, true, &[]),
            function(true, false, &[]),
        ];
        assert_eq!(comes_back(&functions), [false, false, false, false, true]);
    }

    #[test]
    fn recursion_alone_does_no_harm() {
        let functions = [function(true, false, &[0, 1]), function(true, false, &[0])];
        assert_eq!(comes_back(&functions), [true, true]);
    }

    #[test]
    fn recursion_has_no_bounded_depth() {
        // 0 calls itself, 1 calls 0 and 2, 2 and 3 call leaf 4.
        let functions = [
            function(true, false, &[0]),
            function(true, false, &[0, 2]),
            function(true, false, &[4, 4]),
            function(false, false, &[4]),
            function(true, false, &[]),
        ];
        assert_eq!(comes_back_from_bounded_depth(&functions), [false, false, true, false, true]);
    }

    #[test]
    fn a_circle_with_one_way_out_is_lost() {
        let functions =
            [function(true, false, &[1]), function(true, false, &[2]), function(true, false, &[0, 3]), function(false, false, &[])];
        assert_eq!(comes_back(&functions), [false; 4]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let size = 1_000_000;
        let mut functions: Vec<_> = (1..size).map(|next| function(true, false, &[next])).collect();
        functions.push(function(true, true, &[]));
        assert!(!comes_back(&functions)[0] && !comes_back_from_bounded_depth(&functions)[0]);
        functions.pop();
        functions.push(function(true, false, &[0]));
        assert!(comes_back(&functions).into_iter().all(|back| back));
        assert!(comes_back_from_bounded_depth(&functions).into_iter().all(|back| !back));
        functions.pop();
        functions.push(function(true, false, &[]));
        assert!(comes_back_from_bounded_depth(&functions).into_iter().all(|back| back));
    }
}
