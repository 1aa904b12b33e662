//! The copy ledger: one function of the source, and all that the compiler made of it:
//! instantiations, and copies inlined into others.
//!
//! Functions are told apart by where they are defined, and by name; without debug information each is its own.

use crate::arrivals::Flow;
use crate::generic_name::{source_name, without_turbofish};
use crate::scopes::{inlined_copies, ways_on};
use crate::view::FunctionView;
use crate::{FileId, Profile, demangle};
use bbprof_format::manifest::Scope;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A function of the source.
#[derive(Clone, Debug)]
pub struct LedgerEntry<'p> {
    /// Its name, as [`source_name`] gives it: without the arguments of generics and templates; of
    /// functions that have none, with the types of parameters.
    pub name: String,
    /// The same to read: where Rust's begins with a type, which that name lacks (`<u8 as Clone>::clone`), that of the first copy.
    pub shown: String,
    /// Where it is defined; line 0 = unknown.
    pub file: Option<FileId>,
    /// The line where it begins.
    pub line: u32,
    /// Its copies: by executed instructions, the most first.
    pub copies: Vec<CodeCopy<'p>>,
}

/// One copy of a source function.
#[derive(Clone, Copy, Debug)]
pub struct CodeCopy<'p> {
    /// The function of the program that it is, or is part of.
    pub host: FunctionView<'p>,
    /// Where in the source it was inlined; `None` for a function of its own.
    pub inlined: Option<Inlined>,
    /// Activations, or arrivals at the inlined copy.
    pub executions: u128,
    /// Executed instructions of its own, without what is inlined into it.
    pub instructions: u128,
    /// Those in the code.
    pub in_code: u64,
    /// Executions of its branches whose counts are known.
    pub branches: u128,
    /// Those of them that went the way which their branch went most often.
    pub usual: u128,
}

/// Where a copy was inlined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inlined {
    /// File and line of the call that it replaces, where they are known.
    pub at: Option<(FileId, u32)>,
}

impl LedgerEntry<'_> {
    /// Executed instructions of all copies.
    #[must_use]
    pub fn instructions(&self) -> u128 {
        self.copies.iter().map(|copy| copy.instructions).sum()
    }

    /// Executions of all copies.
    #[must_use]
    pub fn executions(&self) -> u128 {
        self.copies.iter().map(|copy| copy.executions).sum()
    }
}

/// Place of definition and name of the source.
type Key = (Option<(FileId, u32)>, String);

/// A copy, and its name where that of the source lacks the type that it begins with.
type Named<'p> = (Option<String>, CodeCopy<'p>);

/// The name of the source, and the whole one where that begins with a type.
fn names_of(name: &str) -> (String, Option<String>) {
    let plain = source_name(name);
    let whole = plain.starts_with("::").then(|| without_turbofish(name));
    (plain, whole)
}

impl Profile {
    /// The ledger: by executed instructions, the most first; then by name.
    #[must_use]
    pub fn ledger(&self) -> Vec<LedgerEntry<'_>> {
        let functions: Vec<FunctionView<'_>> = self.functions().collect();
        let parts: Vec<Vec<(Key, Named<'_>)>> = functions.par_iter().map(|function| copies_in(*function)).collect();
        let mut entries: BTreeMap<Key, Vec<Named<'_>>> = BTreeMap::new();
        for (key, copy) in parts.into_iter().flatten() {
            entries.entry(key).or_default().push(copy);
        }
        let mut entries: Vec<LedgerEntry<'_>> = entries
            .into_iter()
            .map(|((place, plain), mut copies)| {
                copies.sort_by(|(_, a), (_, b)| b.instructions.cmp(&a.instructions).then_with(|| b.executions.cmp(&a.executions)));
                let shown = copies.first_mut().and_then(|first| first.0.take()).unwrap_or_else(|| plain.clone());
                let copies = copies.into_iter().map(|(_, copy)| copy).collect();
                LedgerEntry { name: plain, shown, file: place.map(|place| place.0), line: place.map_or(0, |place| place.1), copies }
            })
            .collect();
        entries.sort_by(|a, b| {
            b.instructions()
                .cmp(&a.instructions())
                .then_with(|| a.name.cmp(&b.name))
                .then_with(|| (a.file, a.line).cmp(&(b.file, b.line)))
        });
        entries
    }
}

/// Instructions and branches of one source function in one place.
#[derive(Default)]
struct Work {
    instructions: u128,
    in_code: u64,
    branches: u128,
    usual: u128,
}

fn copies_in(function: FunctionView<'_>) -> Vec<(Key, Named<'_>)> {
    let manifest = function.manifest;
    let mut flow = Flow::of(function);
    let mut work: BTreeMap<Option<Scope>, Work> = BTreeMap::new();
    work.entry(None).or_default();
    let scope_of = |id: bbprof_format::manifest::LocationId| {
        let location = function.module.location(id);
        location.inlined_at.map(|_| location.scope())
    };
    for (node, count) in manifest.nodes.iter().zip(&function.counts.nodes) {
        let mut add = |scope, instructions: u64| {
            let work = work.entry(scope).or_default();
            work.in_code += instructions;
            work.instructions += u128::from(instructions) * u128::from(*count);
        };
        for (id, instructions) in &node.locations {
            add(scope_of(*id), u64::from(*instructions));
        }
        add(None, node.num_instructions() - node.num_located());
    }
    for branch in crate::branches::branches_of(function, &flow) {
        if let Some(counts) = branch.counts() {
            let work = work.entry(manifest.nodes[branch.node as usize].last_location.and_then(scope_of)).or_default();
            work.branches += counts.iter().map(|count| u128::from(*count)).sum::<u128>();
            work.usual += u128::from(counts.into_iter().max().unwrap_or(0));
        }
    }
    let copy = |work: Work, inlined, executions| CodeCopy {
        host: function,
        inlined,
        executions,
        instructions: work.instructions,
        in_code: work.in_code,
        branches: work.branches,
        usual: work.usual,
    };
    let own = work.remove(&None).unwrap_or_default();
    let place = function.file().filter(|_| function.line() > 0).map(|file| (file, function.line()));
    let (plain, whole) = names_of(function.name());
    let mut copies = vec![((place, plain), (whole, copy(own, None, u128::from(function.counts.entries))))];
    let inlined = inlined_copies(function);
    let ways_on = ways_on(function, &flow, &inlined);
    for (scope, inlined) in inlined {
        let executions = inlined.executions(function, &mut flow, ways_on.get(&scope));
        let place = inlined.first_line().and_then(|(_, file, line)| Some((function.file_of(file)?, line)));
        let (plain, whole) = names_of(&demangle(function.module.string(scope.0)));
        let at = scope.1.and_then(|call| function.file_and_line(call));
        let work = work.remove(&Some(scope)).unwrap_or_default();
        copies.push(((place, plain), (whole, copy(work, Some(Inlined { at }), executions))));
    }
    copies
}
