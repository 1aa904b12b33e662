//! Branches of the source: which branches of the generated code are one, and which of their ways go on the same.
//!
//! A function of the source has several copies (instantiations, inlined ones), and compilers turn conditions round: `a != b` of
//! integers becomes `a == b` with its ways exchanged, that of floating-point numbers does not. So a branch is told by its place in
//! its function and by where one of its ways leads: to the first of the places of the function to which any does. Where the
//! condition is all of an inlined function (`is_empty()`), that is asked of the function that calls it, and so on outwards. Where
//! none tells, only branches of functions of one shape are one.

use crate::arrivals::Flow;
use crate::branches::{Branch, branches_of};
use crate::scopes::own_scope;
use crate::source_name;
use crate::view::FunctionView;
use crate::{BlockEdge, FileId};
use bbprof_format::manifest::{EdgeKind, LocationId, Scope, StringId};
use bbprof_format::{Digest, demangle};
use std::collections::{BTreeMap, HashMap, btree_map::Entry};

/// Which branch: its line, then what tells it from others of the line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct BranchKey {
    /// Source line of the branch.
    pub line: u32,
    /// Column there; 0 = unknown.
    pub column: u32,
    /// Name of the function of the source that holds it, without what tells instantiations apart.
    pub function: String,
    /// Likewise of the one in which its ways are told apart: the same, one into which it
    /// is inlined, or the function of the program.
    pub told_in: String,
    /// Where that calls it: line and column; 0 = it is the same, or not told.
    pub called_at: (u32, u32),
    /// What tells its ways apart.
    pub told_by: ToldBy,
    /// How many ways it has.
    pub num_ways: usize,
    /// Which it is of those that are alike so far in one copy of the function, by their order there.
    pub position: u32,
}

/// What tells the ways of a branch apart.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ToldBy {
    /// Line and column to which one of two leads.
    Place(u32, u32),
    /// Line and column to which each of several leads; 0 = elsewhere.
    Places(Vec<(u32, u32)>),
    /// Their order in functions of this shape.
    Order(Digest),
}

impl Default for ToldBy {
    fn default() -> Self {
        Self::Place(0, 0)
    }
}

/// One way that a branch can go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// How often it went this way; `None` where the placement leaves it open.
    pub count: Option<u64>,
    /// Whether it leads to a landing pad.
    pub unwinds: bool,
}

/// A branch of one copy of a function.
#[derive(Debug)]
pub(crate) struct CopyBranch<'p> {
    pub(crate) file: FileId,
    /// The symbols of its function, and of the one that tells its ways apart.
    symbols: [&'p str; 2],
    /// Its key, but for the functions' names.
    key: BranchKey,
    ways: Vec<Way>,
    /// Which of its ways leads to the place that tells them apart.
    first: usize,
}

/// The branches of one function of the program whose line is known, in scopes that are wanted.
pub(crate) fn branches_in<'p>(function: FunctionView<'p>, flow: &Flow, is_wanted: impl Fn(&Scope) -> bool) -> Vec<CopyBranch<'p>> {
    let mut found: Vec<CopyBranch<'p>> = Vec::new();
    let mut alike: BTreeMap<(Scope, StringId, BranchKey), u32> = BTreeMap::new();
    for branch in branches_of(function, flow) {
        let Some(((file, line), location)) = branch.place.zip(branch.location) else { continue };
        let location = function.module.location(location);
        let scope = location.scope();
        if !is_wanted(&scope) {
            continue;
        }
        let told = tell_apart(function, flow, &branch, scope);
        let Told { by: told_by, scope: copy, called_at, first } = told;
        let symbols = [scope, copy].map(|(symbol, _)| function.module.string(symbol));
        let kept = |way: &BlockEdge| Way { count: way.count, unwinds: way.kind == EdgeKind::Unwind };
        let num_ways = branch.ways.len();
        let mut key = BranchKey { line, column: location.column, called_at, told_by, num_ways, ..BranchKey::default() };
        let position = alike.entry((copy, scope.0, key.clone())).or_default();
        key.position = *position;
        *position += 1;
        found.push(CopyBranch { file, symbols, key, ways: branch.ways.iter().map(kept).collect(), first });
    }
    found
}

/// What tells the ways of a branch apart.
struct Told {
    by: ToldBy,
    /// The copy of a function whose places do; that of the program where none does.
    scope: Scope,
    called_at: (u32, u32),
    /// Which way leads to the place.
    first: usize,
}

/// Asks the function of the source that holds a branch, then those into which it is inlined.
fn tell_apart(function: FunctionView<'_>, flow: &Flow, branch: &Branch<'_>, scope: Scope) -> Told {
    let (mut scope, mut called_at) = (scope, (0, 0));
    loop {
        if let Some((by, first)) = told_by(function, flow, branch, scope) {
            return Told { by, scope, called_at, first };
        }
        let Some(call) = scope.1.map(|call| function.module.location(call)) else { break };
        scope = call.scope();
        called_at = (call.line, call.column);
    }
    let by = ToldBy::Order(function.manifest.shape);
    Told { by, scope: own_scope(function), called_at: (0, 0), first: 0 }
}

/// The places of a `scope` that tell the ways of this branch from each other, if any do;
/// and which of them leads to the one that does.
fn told_by(function: FunctionView<'_>, flow: &Flow, branch: &Branch<'_>, scope: Scope) -> Option<(ToldBy, usize)> {
    let places: Vec<Option<(u32, u32)>> = branch.ways.iter().map(|way| leads_to(function, flow, way.to, scope)).collect();
    match places[..] {
        [Some(a), b] if b.is_none_or(|b| a < b) => Some((ToldBy::Place(a.0, a.1), 0)),
        [a, Some(b)] if a.is_none_or(|a| b < a) => Some((ToldBy::Place(b.0, b.1), 1)),
        [_, _, _, ..] if places.iter().any(Option::is_some) => {
            Some((ToldBy::Places(places.into_iter().map(Option::unwrap_or_default).collect()), 0))
        }
        _ => None,
    }
}

/// The first place in a scope, of all that the block has up to its first call, or the one
/// to which it passes control on: line and column.
fn leads_to(function: FunctionView<'_>, flow: &Flow, block: u32, (symbol, inlined_at): Scope) -> Option<(u32, u32)> {
    let nodes = &function.manifest.nodes;
    let mut node = nodes.partition_point(|node| node.block < block);
    // As many blocks without a place in a row as there may be: those that split an edge, end a loop, begin another.
    for _ in 0..4 {
        if !nodes[node].locations.is_empty() {
            break;
        }
        node = flow.only_target(node as u32)? as usize;
    }
    let in_scope = |id: &LocationId| {
        let mut places = function.module.inline_chain(*id);
        places.find(|location| location.line > 0 && location.scope() == (symbol, inlined_at))
    };
    let located = nodes[node].locations.iter().filter_map(|(id, _)| in_scope(id));
    located.map(|location| (location.line, location.column)).min()
}

/// Sums up branches that are one.
#[derive(Default)]
pub(crate) struct BranchSums<'p> {
    names: HashMap<&'p str, String>,
    sums: BTreeMap<(FileId, BranchKey), (usize, Vec<Way>)>,
}

impl<'p> BranchSums<'p> {
    pub(crate) fn add(&mut self, branch: CopyBranch<'p>) {
        let CopyBranch { file, symbols, mut key, mut ways, first } = branch;
        let mut name = |symbol| self.names.entry(symbol).or_insert_with(|| source_name(&demangle(symbol))).clone();
        [key.function, key.told_in] = symbols.map(&mut name);
        match self.sums.entry((file, key)) {
            Entry::Vacant(place) => {
                place.insert((first, ways));
            }
            Entry::Occupied(place) => {
                let (first_of_sum, sum) = place.into_mut();
                if *first_of_sum != first {
                    ways.reverse();
                }
                for (sum, more) in sum.iter_mut().zip(ways) {
                    sum.count = sum.count.zip(more.count).and_then(|(a, b)| a.checked_add(b));
                }
            }
        }
    }

    /// All of them, with the ways in the order of the first copy.
    pub(crate) fn into_branches(self) -> impl Iterator<Item = (FileId, BranchKey, Vec<Way>)> {
        self.sums.into_iter().map(|((file, key), (_, ways))| (file, key, ways))
    }
}
