//! Inline functions and templates that profiled code calls, but never enters.
//!
//! Each object that uses them has a copy, and the linker or the loader takes one for all: it may be that of an object, a program or
//! a library that is not profiled. Then nothing is known of their executions, and their counters, all 0, are no counts.

use crate::calls::CallTable;
use crate::profile::ProfiledImage;
use crate::{FunctionCounts, FunctionView, Inexact, Profile};
use bbprof_format::manifest::Linkage;
use std::collections::HashMap;

/// Leaves such functions without counts.
pub(crate) fn leave_out(profile: &mut Profile) {
    let is_idle = |image: &ProfiledImage| image.solved.functions.iter().any(|counts| is_idle(image, counts));
    if !profile.images.iter().any(is_idle) {
        return;
    }
    let calls = calls_of_idle(profile);
    for (position, image) in profile.images.iter_mut().enumerate() {
        let mut functions = std::mem::take(&mut image.solved.functions);
        functions.retain(|counts| {
            let Some(calls) = calls.get(&(position, counts.module, counts.function)) else { return true };
            image.solved.inexact.push(Inexact {
                module: counts.module,
                function: counts.function,
                name: counts.name.clone(),
                block: None,
                reason: format!(
                    "called {calls} times by profiled code, but entered 0 times: the linker or loader took a copy of it that is not profiled"
                ),
                interrupted: None,
            });
            false
        });
        image.solved.functions = functions;
        image.solved.inexact.sort_by_key(|inexact| (inexact.module, inexact.function));
    }
}

/// A function that may have copies elsewhere, and was never entered.
fn is_idle(image: &ProfiledImage, counts: &FunctionCounts) -> bool {
    let module = &image.image.modules[counts.module as usize].module;
    counts.entries == 0 && module.functions[counts.function as usize].linkage == Linkage::Comdat
}

/// How often those that are called were, by the positions of image, module and function.
fn calls_of_idle(profile: &Profile) -> HashMap<(usize, u32, u32), u128> {
    let table = CallTable::of(profile);
    let of_function = |(number, position, function): (usize, usize, FunctionView<'_>)| {
        let (entries, calls) = table.sums_of(number);
        let is_called = entries == 0 && calls > 0 && is_idle(&profile.images[position], function.counts);
        is_called.then_some(((position, function.counts.module, function.counts.function), calls))
    };
    table.functions(profile).filter_map(of_function).collect()
}
