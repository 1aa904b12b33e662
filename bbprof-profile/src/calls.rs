//! Calls against entries: a function was entered at least as often as the calls of it that are seen.
//!
//! Calls through pointers, from code that is not instrumented and from other processes only add entries; calls that may reach a
//! function that is not profiled, as some process of the caller has no profiled one of that name, are left out. A call counts when
//! control reaches its node, so an activation that was about to make a call when a snapshot was taken is the one way to have
//! a call without its entry; such processes carry a caveat.

use crate::{FunctionView, Profile};
use bbprof_format::manifest::{Callee, Edge, EdgeKind, Linkage, Module, Node};
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

/// Local functions are told apart by module; the others are one function in all images, as the dynamic linker may bind them.
pub(crate) type Key<'p> = (Option<(usize, u32)>, &'p str);

/// Entries and direct calls of every function whose counters are a flow.
pub(crate) struct CallTable<'p> {
    /// Entries, and calls that are seen.
    sums: HashMap<Key<'p>, (u128, u128)>,
    /// The images that have functions of a name.
    definitions: HashMap<&'p str, BTreeSet<usize>>,
    /// The images that processes had in common, by position, each set once.
    processes: BTreeSet<BTreeSet<usize>>,
}

impl<'p> CallTable<'p> {
    /// Counts the entries and calls of a profile.
    pub(crate) fn of(profile: &'p Profile) -> Self {
        let mut table = Self { sums: HashMap::new(), definitions: HashMap::new(), processes: image_sets(profile) };
        for (image, function) in functions(profile) {
            let key = key(image, &function);
            if key.0.is_none() {
                table.definitions.entry(key.1).or_default().insert(image);
            }
            table.sums.entry(key).or_default().0 += u128::from(function.counts.entries);
        }
        for (image, function) in functions(profile) {
            for (node, count) in function.manifest.nodes.iter().zip(&function.counts.nodes) {
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
        let local = (Some((image, module)), symbol);
        if self.sums.contains_key(&local) { local } else { (None, symbol) }
    }

    /// Whether a call from an image is one of this function: another program's function of that name is not what this one calls.
    fn reaches(&self, image: usize, callee: &Key<'p>) -> bool {
        let Some(images) = self.definitions.get(callee.1).filter(|_| callee.0.is_none()) else { return callee.0.is_some() };
        let mut processes = self.processes.iter().filter(|process| process.contains(&image));
        images.contains(&image) || processes.all(|process| !process.is_disjoint(images))
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
    match function.linkage() {
        Linkage::Internal => (Some((image, function.counts.module)), function.symbol()),
        Linkage::External | Linkage::Comdat => (None, function.symbol()),
    }
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

/// A function that did not return from some calls, of a caller that was compiled as if it always did: another function of that name was meant, or one with
/// the name of a library function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Astray<'p> {
    pub(crate) symbol: &'p str,
    pub(crate) name: &'p str,
    /// How many of its activations left in another way.
    pub(crate) vanished: i128,
    pub(crate) caller: &'p str,
}

/// Such functions, each with its first caller, in the order of the profile.
pub(crate) fn astray(profile: &Profile) -> Vec<Astray<'_>> {
    let mut vanished: HashMap<Key<'_>, (FunctionView<'_>, i128)> = HashMap::new();
    for (image, function) in functions(profile) {
        let leaves = |edge: &Edge| {
            let ends = |opcode: &str| ["unreachable", "resume"].contains(&opcode);
            let opcodes = || edge.from.into_iter().flat_map(|node| &function.manifest.nodes[node as usize].opcodes);
            edge.kind == EdgeKind::Vanish
                || edge.kind == EdgeKind::Exit && opcodes().any(|(opcode, _)| ends(function.module.string(*opcode)))
        };
        let edges = function.manifest.edges.iter().zip(&function.counts.edges);
        let sum: i128 = edges.filter(|(edge, _)| leaves(edge)).filter_map(|(_, count)| *count).sum();
        if sum > 0 {
            vanished.entry(key(image, &function)).or_insert((function, 0)).1 += sum;
        }
    }
    let mut found = Vec::new();
    if vanished.is_empty() {
        return found;
    }
    let table = CallTable::of(profile);
    for (image, function) in functions(profile) {
        let mut is_cut = vec![false; function.manifest.nodes.len()];
        for edge in &function.manifest.edges {
            if let (Some(from), EdgeKind::Vanish | EdgeKind::Invoke | EdgeKind::Unwind) = (edge.from, edge.kind) {
                is_cut[from as usize] = true;
            }
        }
        for ((node, count), is_cut) in function.manifest.nodes.iter().zip(&function.counts.nodes).zip(is_cut) {
            // Behind its last call there may be nothing that it counts.
            let has_last = !is_cut && has_code_behind_its_call(function.module, node);
            let trusted = if has_last { node.calls.len() } else { node.calls.len().saturating_sub(1) };
            for call in node.calls[..trusted].iter().filter(|_| *count > 0) {
                let Callee::Symbol(symbol) = call.callee else { continue };
                let callee = table.callee(image, function.counts.module, function.module.string(symbol));
                if !vanished.contains_key(&callee) || !table.reaches(image, &callee) {
                    continue;
                }
                if let Some((callee, vanished)) = vanished.remove(&callee) {
                    found.push(Astray { symbol: callee.symbol(), name: callee.name(), vanished, caller: function.name() });
                }
            }
        }
    }
    found
}

/// Whether a node makes one call, and then does something else than leave: a tail call has nothing behind it.
fn has_code_behind_its_call(module: &Module, node: &Node) -> bool {
    const LEAVING: [&str; 4] = ["br", "ret", "unreachable", "resume"];
    let opcodes: Vec<_> = node.opcodes.iter().map(|(opcode, number)| (module.string(*opcode), *number)).collect();
    // They stand in the order of first appearance.
    let behind = opcodes.iter().skip_while(|(opcode, _)| *opcode != "call").skip(1);
    opcodes.contains(&("call", 1)) && behind.filter(|(opcode, _)| !LEAVING.contains(opcode)).count() > 0
}
