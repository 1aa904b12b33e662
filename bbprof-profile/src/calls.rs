//! Calls against entries: a function was entered at least as often as the calls of it that are seen.
//!
//! Calls through pointers, from code that is not instrumented and from other processes only add entries. A call counts when
//! control reaches its node, so an activation that was about to make a call when a snapshot was taken is the one way to have
//! a call without its entry; such processes carry a caveat.

use crate::Profile;
use bbprof_format::manifest::{Callee, Linkage};
use std::collections::HashMap;

/// A function with fewer entries than calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MissingEntries<'p> {
    pub(crate) symbol: &'p str,
    pub(crate) name: &'p str,
    pub(crate) calls: u128,
    pub(crate) entries: u128,
}

/// Local functions are told apart by module; the others are one function in all images, as the dynamic linker may bind them.
type Key<'p> = (Option<(usize, u32)>, &'p str);

/// The functions with fewer entries than direct calls, in the order of the profile.
pub(crate) fn missing_entries(profile: &Profile) -> Vec<MissingEntries<'_>> {
    let mut entered: HashMap<Key<'_>, (u128, u128)> = HashMap::new();
    let functions = || {
        profile.images.iter().enumerate().flat_map(|(position, image)| {
            image.solved.functions.iter().map(move |counts| (position, crate::view::FunctionView::new(image, counts)))
        })
    };
    let key = |image: usize, function: &crate::FunctionView<'_>| match function.linkage() {
        Linkage::Internal => Some((image, function.counts.module)),
        Linkage::External | Linkage::Comdat => None,
    };
    for (image, function) in functions() {
        entered.entry((key(image, &function), function.symbol())).or_default().0 += u128::from(function.counts.entries);
    }
    for (image, function) in functions() {
        for (node, count) in function.manifest.nodes.iter().zip(&function.counts.nodes) {
            for call in &node.calls {
                let Callee::Symbol(symbol) = call.callee else { continue };
                let symbol = function.module.string(symbol);
                let local = (Some((image, function.counts.module)), symbol);
                let key = if entered.contains_key(&local) { local } else { (None, symbol) };
                if let Some((_, calls)) = entered.get_mut(&key) {
                    *calls += u128::from(*count);
                }
            }
        }
    }
    let mut missing = Vec::new();
    for (image, function) in functions() {
        if let Some((entries, calls)) = entered.remove(&(key(image, &function), function.symbol()))
            && calls > entries
        {
            missing.push(MissingEntries { symbol: function.symbol(), name: function.name(), calls, entries });
        }
    }
    missing
}
