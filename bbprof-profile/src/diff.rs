//! What changed between two profiles, in executed instructions, and why.
//!
//! Functions of the program are matched ([`matching`]), and the change of each is split without remainder into
//! - *ran*: the same code ran more or less often;
//! - *code*: as often, but with more or fewer instructions;
//! - *new* and *vanished*: code of source functions that only one of the profiles has;
//! - *inlining*: a function of the source left one function of the program and runs as part of another ([`moving`]). Over all
//!   functions this is nothing: what moves away here arrives there.
//!
//! Where a function has the same graph in both, blocks correspond, and the split is theirs: (new count - old count) x old
//! length, and new count x (new length - old length). Otherwise source functions within the function are compared
//! ([`cells`]), line by line where their lines are the same, else as a whole: executions take the place of the block's
//! count, instructions for each execution that of its length.
//!
//! The same program run again on the same input gives no difference: counts are exact, and nothing is rounded away.

mod cells;
mod earlier_lines;
mod matching;
mod moving;

use crate::view::FunctionView;
use crate::{FileId, FunctionCounts, Profile, demangle};
use cells::{Cell, Cells, Work};
pub use earlier_lines::{EarlierLines, earlier_lines};
pub use matching::MatchedBy;
use matching::{Match, match_functions};
use moving::Moving;
use std::collections::{BTreeMap, HashMap};

/// Parts of a change in executed instructions; their sum is the change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Change {
    /// The same code ran more or less often.
    pub ran: i128,
    /// As often, with more or fewer instructions.
    pub code: i128,
    /// Source functions that are only in the second profile.
    pub new: i128,
    /// Those that are only in the first one, negative.
    pub vanished: i128,
    /// Code of the source that is now part of another function of the program.
    pub inlining: i128,
}

impl Change {
    /// The whole change.
    #[must_use]
    pub fn total(&self) -> i128 {
        self.ran + self.code + self.new + self.vanished + self.inlining
    }

    fn add(&mut self, other: Self) {
        self.ran += other.ran;
        self.code += other.code;
        self.new += other.new;
        self.vanished += other.vanished;
        self.inlining += other.inlining;
    }
}

/// A function of one of the profiles, or functions of one name that only together have a counterpart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// Linker symbol of the first of them.
    pub symbol: String,
    /// Which of the profile's functions, ascending: positions in [`Profile::functions`].
    pub positions: Vec<usize>,
    /// Executed instructions.
    pub instructions: u128,
    /// Activations.
    pub entries: u128,
}

/// One function, or group of functions, in both profiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionDiff {
    /// Demangled name; in the second profile, where it has one there.
    pub name: String,
    /// Where it is defined, in words: file and line.
    pub place: Option<(String, u32)>,
    /// How the two were found to be one.
    pub matched_by: Option<MatchedBy>,
    /// In the first profile.
    pub a: Option<Side>,
    /// In the second.
    pub b: Option<Side>,
    /// Whether they are one function each, with the same graph: blocks of the same number are the same.
    pub has_same_graph: bool,
    /// What changed.
    pub change: Change,
}

/// Two profiles compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diff {
    /// Executed instructions of the first profile.
    pub a: u128,
    /// Executed instructions of the second.
    pub b: u128,
    /// Sum over the functions.
    pub change: Change,
    /// Instructions that now run as part of another function.
    pub moved: u128,
    /// All functions: by amount of the change, then by name.
    pub functions: Vec<FunctionDiff>,
}

impl Diff {
    /// Compares `a` with `b`.
    #[must_use]
    pub fn new(a: &Profile, b: &Profile) -> Self {
        let matches = match_functions(a, b);
        let positions = [Positions::of(a), Positions::of(b)];
        let mut functions: Vec<FunctionDiff> = matches.iter().map(|found| outline([a, b], &positions, found)).collect();
        let mut moving = Moving::default();
        for (position, found) in matches.iter().enumerate() {
            functions[position].change = split(found, position, &mut moving);
        }
        let moved = moving.settle([a, b], &mut functions);
        let mut change = Change::default();
        for function in &functions {
            change.add(function.change);
        }
        functions.sort_by(|x, y| {
            weight(&y.change).cmp(&weight(&x.change)).then_with(|| x.name.cmp(&y.name)).then_with(|| symbols(x).cmp(&symbols(y)))
        });
        let instructions = |profile: &Profile| profile.functions().map(|function| function.counts.instructions).sum();
        Self { a: instructions(a), b: instructions(b), change, moved, functions }
    }
}

/// A change is the larger the more of it there is, even where its parts balance.
fn weight(change: &Change) -> (u128, u128) {
    let parts = [change.ran, change.code, change.new, change.vanished, change.inlining];
    (change.total().unsigned_abs(), parts.iter().map(|part| part.unsigned_abs()).sum())
}

fn symbols(function: &FunctionDiff) -> (Option<&str>, Option<&str>) {
    (function.a.as_ref().map(|side| &*side.symbol), function.b.as_ref().map(|side| &*side.symbol))
}

/// Positions of functions in their profile, by where their counts are.
struct Positions(HashMap<*const FunctionCounts, usize>);

impl Positions {
    fn of(profile: &Profile) -> Self {
        Self(profile.functions().enumerate().map(|(position, function)| (std::ptr::from_ref(function.counts), position)).collect())
    }

    fn all(&self, functions: &[FunctionView<'_>]) -> Vec<usize> {
        let mut all: Vec<usize> = functions.iter().map(|function| self.0[&std::ptr::from_ref(function.counts)]).collect();
        all.sort_unstable();
        all
    }
}

fn outline([a, b]: [&Profile; 2], positions: &[Positions; 2], found: &Match<'_>) -> FunctionDiff {
    let (profile, shown) = if found.b.is_empty() { (a, &found.a[0]) } else { (b, &found.b[0]) };
    let path = |file: FileId| (profile.files.path(file).to_owned(), shown.line());
    FunctionDiff {
        name: shown.name().to_owned(),
        place: shown.file().map(path).filter(|(_, line)| *line > 0),
        matched_by: found.by,
        a: side(&found.a, &positions[0]),
        b: side(&found.b, &positions[1]),
        has_same_graph: same_graph(found).is_some(),
        change: Change::default(),
    }
}

fn side(functions: &[FunctionView<'_>], positions: &Positions) -> Option<Side> {
    let first = functions.first()?;
    Some(Side {
        symbol: first.symbol().to_owned(),
        positions: positions.all(functions),
        instructions: functions.iter().map(|function| function.counts.instructions).sum(),
        entries: functions.iter().map(|function| u128::from(function.counts.entries)).sum(),
    })
}

/// The two functions, when they are one each and have the same graph.
fn same_graph<'p>(found: &Match<'p>) -> Option<(FunctionView<'p>, FunctionView<'p>)> {
    let ([a], [b]) = (&found.a[..], &found.b[..]) else { return None };
    a.has_graph_of(b).then_some((*a, *b))
}

/// Splits the change of one match, but for what inlining may have moved, which goes to `moving`.
fn split(found: &Match<'_>, position: usize, moving: &mut Moving) -> Change {
    let own = found.b.first().or(found.a.first()).map_or("", |function| function.name());
    if let Some((a, b)) = same_graph(found) {
        return split_by_block(a, b, own, position, moving);
    }
    let mut change = Change::default();
    let (in_a, in_b) = (Cells::of(&found.a, own), Cells::of(&found.b, own));
    for (name, cell) in &in_a.by_name {
        match in_b.by_name.get(name) {
            Some(other) => {
                let (ran, code) = split_by_execution(cell, other);
                change.code += code;
                moving.ran(name, position, ran);
            }
            None => moving.left(name, position, cell.work.instructions),
        }
    }
    for (name, cell) in in_b.by_name.iter().filter(|(name, _)| !in_a.by_name.contains_key(*name)) {
        moving.arrived(name, position, cell.work.instructions);
    }
    change
}

fn split_by_block(a: FunctionView<'_>, b: FunctionView<'_>, own: &str, position: usize, moving: &mut Moving) -> Change {
    let mut change = Change::default();
    let mut ran: BTreeMap<&str, i128> = BTreeMap::new();
    let nodes = a.manifest.nodes.iter().zip(&a.counts.nodes).zip(b.manifest.nodes.iter().zip(&b.counts.nodes));
    for ((old, old_count), (new, new_count)) in nodes {
        let more = i128::from(*new_count) - i128::from(*old_count);
        let (old_length, new_length) = (i128::from(old.num_instructions()), i128::from(new.num_instructions()));
        change.code += i128::from(*new_count) * (new_length - old_length);
        if more == 0 {
            continue;
        }
        let mut rest = old_length;
        for (location, instructions) in &old.locations {
            let location = &a.module.locations[location.0 as usize];
            if location.inlined_at.is_some() {
                *ran.entry(a.module.string(location.function)).or_default() += more * i128::from(*instructions);
                rest -= i128::from(*instructions);
            }
        }
        moving.ran(own, position, more * rest);
    }
    for (symbol, instructions) in ran {
        moving.ran(&demangle(symbol), position, instructions);
    }
    change
}

/// *ran* and *code* of a source function that both have: line by line where it has the same lines in both.
fn split_by_execution(a: &Cell, b: &Cell) -> (i128, i128) {
    let has_same_lines = a.lines.keys().eq(b.lines.keys());
    let parts: Vec<(Work, Work)> = match has_same_lines {
        true => a.lines.values().copied().zip(b.lines.values().copied()).collect(),
        false => vec![(a.work, b.work)],
    };
    parts.into_iter().map(|(a, b)| split_work(a, b)).fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
}

/// What the old code would have cost at the new number of executions, and the rest.
fn split_work(a: Work, b: Work) -> (i128, i128) {
    let change = b.instructions - a.instructions;
    if a.executions == 0 || b.executions == 0 {
        return (change, 0);
    }
    let ran = scaled(a.instructions, b.executions, a.executions) - a.instructions;
    (ran, change - ran)
}

/// `amount * numerator / denominator`, rounded down; without overflow where the result fits.
fn scaled(amount: i128, numerator: i128, denominator: i128) -> i128 {
    match amount.checked_mul(numerator) {
        Some(product) => product / denominator,
        None => amount / denominator * numerator,
    }
}
