//! Calls against entries: a function was entered at least as often as the calls of it that are seen.
//!
//! Calls through pointers, from code that is not instrumented and from other processes only add entries; calls that may reach a
//! function that is not profiled, as some process of the caller has no profiled one of that name, or the caller's image has one without counts, are
//! left out. So are those of `f` in an image that has a `__wrap_f`: the linker's `--wrap=f` leads them there. A call counts when control reaches its
//! node, so an activation that was about to make a call when a snapshot was taken is the one way to have a call without its entry; such processes
//! carry a caveat.

use crate::image::LinkedModule;
use crate::uncounted::{Uncounted, Visibility};
use crate::{FunctionView, Profile};
use bbprof_format::manifest::Callee;
use bbprof_format::merged::Process;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A function with fewer entries than calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MissingEntries<'p> {
    pub(crate) symbol: &'p str,
    pub(crate) name: &'p str,
    pub(crate) calls: u128,
    pub(crate) entries: u128,
}

/// Local functions are told apart by module, hidden ones by image; the others are one function in all images, as the dynamic linker may bind them.
pub(crate) type Key<'p> = (Visibility, &'p str);

/// Entries and direct calls of every function whose counters are a flow.
pub(crate) struct CallTable<'p> {
    /// Entries, and calls that are seen.
    sums: HashMap<Key<'p>, (u128, u128)>,
    /// The images that have functions of a name.
    definitions: HashMap<&'p str, BTreeSet<usize>>,
    /// The images that processes had in common, by position, each set once.
    processes: BTreeSet<BTreeSet<usize>>,
    /// What calls may reach instead.
    uncounted: Uncounted<'p>,
    /// Images, and the names that `__wrap_` stands in front of in the name of one of their functions.
    wrapped: HashSet<(usize, &'p str)>,
}

impl<'p> CallTable<'p> {
    /// Counts the entries and calls of a profile.
    pub(crate) fn of(profile: &'p Profile) -> Self {
        let uncounted = Uncounted::of(profile, |image| image.solved.inexact.iter().chain(&image.solved.interrupted).collect());
        let wrapped = wrapped(profile).collect();
        let mut table =
            Self { sums: HashMap::new(), definitions: HashMap::new(), processes: image_sets(profile), uncounted, wrapped };
        for (image, function) in functions(profile) {
            let key = key(image, &function);
            if key.0 == Visibility::Everywhere {
                table.definitions.entry(key.1).or_default().insert(image);
            }
            table.sums.entry(key).or_default().0 += u128::from(function.counts.entries);
        }
        for (image, function) in functions(profile) {
            let nodes = function.manifest.nodes.iter().zip(&function.counts.nodes);
            for (node, count) in nodes.filter(|(_, count)| **count > 0) {
                for call in &node.calls {
                    let Callee::Symbol(symbol) = call.callee else { continue };
                    let callee = table.callee(image, function.counts.module, function.module.string(symbol));
                    if table.reaches(image, &callee)
                        && let Some((_, calls)) = table.sums.get_mut(&callee)
                    {
                        *calls += u128::from(*count);
                    }
                }
            }
        }
        table
    }

    /// Whom a call to a symbol from a module reaches.
    pub(crate) fn callee(&self, image: usize, module: u32, symbol: &'p str) -> Key<'p> {
        let is_there =
            |visibility: &Visibility| self.sums.contains_key(&(*visibility, symbol)) || self.uncounted.has(*visibility, symbol);
        let near = [Visibility::Module(image, module), Visibility::Image(image)].into_iter().find(is_there);
        (near.unwrap_or(Visibility::Everywhere), symbol)
    }

    /// Whether a call from an image is one of this function: another program's function of that name is not what this one calls.
    pub(crate) fn reaches(&self, image: usize, callee: &Key<'p>) -> bool {
        if !matches!(callee.0, Visibility::Module(..)) && self.wrapped.contains(&(image, callee.1)) {
            return false;
        }
        if callee.0 != Visibility::Everywhere {
            return true;
        }
        let Some(images) = self.definitions.get(callee.1) else { return false };
        let mut processes = self.processes.iter().filter(|process| process.contains(&image));
        images.contains(&image)
            || (!self.uncounted.has_image(image, callee.1) && processes.all(|process| !process.is_disjoint(images)))
    }

    /// Entries of the function, and direct calls of it.
    pub(crate) fn sums(&self, key: &Key<'p>) -> Option<(u128, u128)> {
        self.sums.get(key).copied()
    }
}

fn image_sets(profile: &Profile) -> BTreeSet<BTreeSet<usize>> {
    let positions: HashMap<_, _> = profile.images.iter().map(|image| image.image.build_id).zip(0..).collect();
    let of_process = |process: &Process| process.images.iter().filter_map(|image| positions.get(image).copied()).collect();
    profile.processes.iter().map(of_process).collect()
}

/// See [`CallTable::wrapped`]; functions without counts are as good as any.
fn wrapped(profile: &Profile) -> impl Iterator<Item = (usize, &str)> {
    profile.images.iter().enumerate().flat_map(|(image, profiled)| {
        profiled.modules().flat_map(move |(_, LinkedModule { module, .. })| {
            let counted = module.functions.iter().map(|function| function.symbol);
            let all = counted.chain(module.skipped.iter().map(|skipped| skipped.symbol));
            all.filter_map(move |symbol| Some((image, module.string(symbol).strip_prefix("__wrap_")?)))
        })
    })
}

/// All functions whose counters are a flow, with the positions of their images: the counts of the others are off by those who were interrupted.
pub(crate) fn functions(profile: &Profile) -> impl Iterator<Item = (usize, FunctionView<'_>)> {
    profile.images.iter().enumerate().flat_map(|(position, image)| {
        let interrupted: HashSet<_> = image.solved.interrupted.iter().map(|found| (found.module, found.function)).collect();
        let flows = image.solved.functions.iter().filter(move |counts| !interrupted.contains(&(counts.module, counts.function)));
        flows.map(move |counts| (position, FunctionView::new(image, counts)))
    })
}

/// What a function is called by.
pub(crate) fn key<'p>(image: usize, function: &FunctionView<'p>) -> Key<'p> {
    (Visibility::of(function.linkage(), image, function.counts.module), function.symbol())
}

/// The functions with fewer entries than direct calls, in the order of the profile.
pub(crate) fn missing_entries(profile: &Profile) -> Vec<MissingEntries<'_>> {
    let mut table = CallTable::of(profile);
    let mut missing = Vec::new();
    for (image, function) in functions(profile) {
        if let Some((entries, calls)) = table.sums.remove(&key(image, &function))
            && calls > entries
        {
            missing.push(MissingEntries { symbol: function.symbol(), name: function.name(), calls, entries });
        }
    }
    missing
}
