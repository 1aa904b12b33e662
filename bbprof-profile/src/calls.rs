//! Calls against entries: a function was entered at least as often as the calls of it that are seen.
//!
//! Calls through pointers, from code that is not instrumented and from other processes only add entries; calls that may reach a
//! function that is not profiled, as some process of the caller has no profiled one of that name, or the caller's image has one
//! without counts, are left out. So are those of `f` in an image that has a `__wrap_f`: the linker's `--wrap=f` leads them there. A
//! call counts when control reaches its node, so an activation that was about to make a call when a snapshot was taken is the one
//! way to have a call without its entry; such processes carry a caveat.

use crate::image::WRAPPER;
use crate::uncounted::{Uncounted, Visibility};
use crate::{FunctionView, Profile};
use bbprof_format::manifest::{Callee, StringId};
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

/// Local functions are told apart by module, hidden ones by image; the others are one
/// function in all images, as the dynamic linker may bind them.
pub(crate) type Key<'p> = (Visibility, &'p str);

/// Entries and direct calls of every function whose counters are a flow.
pub(crate) struct CallTable<'p> {
    /// What functions are called by, numbered in the order of the profile.
    numbers: HashMap<Key<'p>, usize>,
    /// By number: entries, and calls that are seen.
    sums: Vec<(u128, u128)>,
    /// Numbers of functions that all images see, each with an image that has it; ascending.
    definitions: Vec<(usize, usize)>,
    /// The numbers of [`functions`], in their order.
    of_functions: Vec<usize>,
    /// The images that processes had in common, by position, each set once.
    processes: BTreeSet<BTreeSet<usize>>,
    /// What calls may reach instead.
    uncounted: Uncounted<'p>,
    /// See [`wrapped`].
    wrapped: HashSet<(usize, &'p str)>,
    /// By image, module and symbol, as far as executed code calls it: the number of the
    /// function that is reached, if it is known to be one of these.
    targets: Vec<Vec<Vec<Option<Option<usize>>>>>,
}

impl<'p> CallTable<'p> {
    /// Counts the entries and calls of a profile.
    pub(crate) fn of(profile: &'p Profile) -> Self {
        let mut table = Self {
            numbers: HashMap::new(),
            sums: Vec::new(),
            definitions: Vec::new(),
            of_functions: Vec::new(),
            processes: image_sets(profile),
            uncounted: Uncounted::of(profile, |image| image.solved.inexact.iter().chain(&image.solved.interrupted).collect()),
            wrapped: wrapped(profile).collect(),
            targets: profile.images.iter().map(|image| vec![Vec::new(); image.image.modules.len()]).collect(),
        };
        for (image, function) in functions(profile) {
            table.add_entries(image, &function);
        }
        table.definitions.sort_unstable();
        for (image, function) in functions(profile).filter(|(_, function)| function.is_executed()) {
            let nodes = function.manifest.nodes.iter().zip(&function.counts.nodes);
            for (node, count) in nodes.filter(|(_, count)| **count > 0) {
                for call in &node.calls {
                    if let Callee::Symbol(symbol) = call.callee
                        && let Some(number) = table.find_target(image, &function, symbol)
                    {
                        table.sums[number].1 += u128::from(*count);
                    }
                }
            }
        }
        table
    }

    fn add_entries(&mut self, image: usize, function: &FunctionView<'p>) {
        let key = key(image, function);
        let number = *self.numbers.entry(key).or_insert(self.sums.len());
        if number == self.sums.len() {
            self.sums.push((0, 0));
        }
        self.sums[number].0 += u128::from(function.counts.entries);
        if key.0 == Visibility::Everywhere {
            self.definitions.push((number, image));
        }
        self.of_functions.push(number);
    }

    /// The target of calls to a symbol from the module of a function; looked for once.
    fn find_target(&mut self, image: usize, function: &FunctionView<'p>, symbol: StringId) -> Option<usize> {
        let targets = &self.targets[image][function.module_position as usize];
        if let Some(Some(target)) = targets.get(symbol.0 as usize) {
            return *target;
        }
        let callee = self.callee(image, function.module_position, function.module.string(symbol));
        let target = self.numbers.get(&callee).copied().filter(|_| self.reaches(image, &callee));
        let targets = &mut self.targets[image][function.module_position as usize];
        targets.resize(function.module.strings.len(), None);
        targets[symbol.0 as usize] = Some(target);
        target
    }

    /// The number of the function that executed calls to a symbol from a module reach, if it is known to be one of these.
    pub(crate) fn target(&self, image: usize, module: u32, symbol: StringId) -> Option<usize> {
        self.targets[image][module as usize].get(symbol.0 as usize).copied().flatten().flatten()
    }

    /// [`functions`] of the profile, each with its number: copies of one function have the same.
    pub(crate) fn functions(&self, profile: &'p Profile) -> impl Iterator<Item = (usize, usize, FunctionView<'p>)> {
        functions(profile).zip(&self.of_functions).map(|((image, function), number)| (*number, image, function))
    }

    /// Whom a call to a symbol from a module reaches.
    pub(crate) fn callee(&self, image: usize, module: u32, symbol: &'p str) -> Key<'p> {
        let is_there =
            |visibility: &Visibility| self.numbers.contains_key(&(*visibility, symbol)) || self.uncounted.has(*visibility, symbol);
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
        let Some(number) = self.numbers.get(callee) else { return false };
        let first = self.definitions.partition_point(|(defined, _)| defined < number);
        let images = || self.definitions[first..].iter().take_while(|(defined, _)| defined == number).map(|(_, image)| *image);
        let mut processes = self.processes.iter().filter(|process| process.contains(&image));
        images().any(|having| having == image)
            || (!self.uncounted.has_image(image, callee.1)
                && processes.all(|process| images().any(|image| process.contains(&image))))
    }

    /// Entries of the function, and direct calls of it.
    pub(crate) fn sums(&self, key: &Key<'p>) -> Option<(u128, u128)> {
        self.numbers.get(key).map(|number| self.sums_of(*number))
    }

    /// The same of the function with this number.
    pub(crate) fn sums_of(&self, number: usize) -> (u128, u128) {
        self.sums[number]
    }
}

fn image_sets(profile: &Profile) -> BTreeSet<BTreeSet<usize>> {
    let positions: HashMap<_, _> = profile.images.iter().map(|image| image.image.build_id).zip(0..).collect();
    let of_process = |process: &Process| process.images.iter().filter_map(|image| positions.get(image).copied()).collect();
    profile.processes.iter().map(of_process).collect()
}

/// Images, and the names that `__wrap_` stands in front of in the name of one of their
/// functions: calls of these names may reach that one.
pub(crate) fn wrapped(profile: &Profile) -> impl Iterator<Item = (usize, &str)> {
    profile.images.iter().enumerate().flat_map(|(image, profiled)| {
        profiled.modules().flat_map(move |(_, linked)| {
            linked.wrappers.iter().filter_map(move |symbol| Some((image, linked.module.string(*symbol).strip_prefix(WRAPPER)?)))
        })
    })
}

/// All functions whose counters are a flow, with the positions of their images: the
/// counts of the others are off by those who were interrupted.
pub(crate) fn functions(profile: &Profile) -> impl Iterator<Item = (usize, FunctionView<'_>)> {
    profile.images.iter().enumerate().flat_map(|(position, image)| {
        let interrupted: HashSet<_> = image.solved.interrupted.iter().map(|found| (found.module, found.function)).collect();
        let flows = image.solved.functions.iter().filter(move |counts| !interrupted.contains(&(counts.module, counts.function)));
        flows.map(move |counts| (position, FunctionView::new(image, counts)))
    })
}

/// What a function is called by.
pub(crate) fn key<'p>(image: usize, function: &FunctionView<'p>) -> Key<'p> {
    (Visibility::of(function.linkage(), image, function.module_position), function.symbol())
}

/// The functions with fewer entries than direct calls, in the order of the profile.
pub(crate) fn missing_entries<'p>(profile: &'p Profile, table: &CallTable<'p>) -> Vec<MissingEntries<'p>> {
    let mut missing = Vec::new();
    let mut told = HashSet::new();
    for (number, _, function) in table.functions(profile) {
        let (entries, calls) = table.sums_of(number);
        if calls > entries && told.insert(number) {
            missing.push(MissingEntries { symbol: function.symbol(), name: function.name(), calls, entries });
        }
    }
    missing
}
