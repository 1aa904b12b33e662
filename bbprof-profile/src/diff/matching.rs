//! Which function of one profile is which of the other: by its place in one build, by
//! linker symbol, then by shape, then by file and name.
//!
//! Symbols change between builds (Rust's carry a hash of the crate and its options), names can be
//! shared (static functions, instantiations whose symbols do not tell types). What one rule leaves over
//! goes to the next; what is left in the end is new or vanished.

use crate::Profile;
use crate::view::FunctionView;
use std::collections::BTreeMap;

/// How two functions were found to be one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MatchedBy {
    /// The linker symbol.
    Symbol,
    /// The shape of the control-flow graph, with its calls.
    Shape,
    /// File and demangled name.
    Name,
}

impl MatchedBy {
    /// Its name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Symbol => "symbol",
            Self::Shape => "shape",
            Self::Name => "name",
        }
    }
}

/// Functions that are one; one side is empty where there is no counterpart.
#[derive(Debug)]
pub(super) struct Match<'p> {
    pub(super) by: Option<MatchedBy>,
    pub(super) a: Vec<FunctionView<'p>>,
    pub(super) b: Vec<FunctionView<'p>>,
}

/// Blocks from which on a shape is taken to be a function's own: smaller ones are shared by functions that have nothing in
/// common. A guess.
const TELLING_BLOCKS: u32 = 4;

pub(super) fn match_functions<'p>(a: &'p Profile, b: &'p Profile) -> Vec<Match<'p>> {
    let mut matching = Matching { matches: Vec::new(), a: a.functions().collect(), b: b.functions().collect() };
    matching.pair(MatchedBy::Symbol, |function| Some(function.place_in_build()));
    matching.pair(MatchedBy::Symbol, |function| Some((function.symbol(), file_path(&function))));
    matching.pair(MatchedBy::Symbol, |function| Some((function.symbol(), last_part(file_path(&function)))));
    // Static functions of headers: each module has a copy.
    matching.pair(MatchedBy::Symbol, |function| Some((function.symbol(), file_path(&function), function.module_source())));
    matching.pair(MatchedBy::Symbol, |function| {
        Some((function.symbol(), last_part(file_path(&function)), last_part(function.module_source())))
    });
    // Several files of one name: the shape may tell.
    matching
        .pair(MatchedBy::Symbol, |function| Some((function.symbol(), last_part(file_path(&function)), function.manifest.shape)));
    matching.pair(MatchedBy::Symbol, |function| Some(function.symbol()));
    // Renamed hashes: name and shape agree; one of several instantiations is told by its shape.
    matching.pair(MatchedBy::Shape, |function| Some((function.manifest.shape, function.name())));
    // Renamed or moved functions: the same code, to the last opcode; or the same graph in the same file.
    let is_telling = |function: &FunctionView<'p>| function.manifest.num_blocks >= TELLING_BLOCKS;
    matching
        .pair(MatchedBy::Shape, |function| is_telling(&function).then_some((function.manifest.shape, function.manifest.content)));
    matching.group(|function| (function.name(), file_path(&function)));
    matching.group(|function| (function.name(), last_part(file_path(&function))));
    matching.pair(MatchedBy::Shape, |function| {
        is_telling(&function).then(|| (function.manifest.shape, last_part(file_path(&function))))
    });
    matching.group(|function| function.name());
    let Matching { mut matches, a, b } = matching;
    matches.extend(a.into_iter().map(|function| Match { by: None, a: vec![function], b: vec![] }));
    matches.extend(b.into_iter().map(|function| Match { by: None, a: vec![], b: vec![function] }));
    matches
}

/// The source file, as the compiler names it.
fn file_path<'p>(function: &FunctionView<'p>) -> &'p str {
    function.manifest.file.map_or(function.module_source(), |file| function.module.string(file))
}

/// The name without folders, which differ between checkouts and machines.
fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

struct Matching<'p> {
    matches: Vec<Match<'p>>,
    /// What is not matched yet.
    a: Vec<FunctionView<'p>>,
    b: Vec<FunctionView<'p>>,
}

/// Positions of the functions with one key, in both profiles.
type Sides = (Vec<usize>, Vec<usize>);

impl<'p> Matching<'p> {
    /// Matches functions whose key no other function of their profile has.
    fn pair<K: Ord>(&mut self, by: MatchedBy, key: impl Fn(FunctionView<'p>) -> Option<K>) {
        self.matched(by, key, |(a, b)| a.len() == 1 && b.len() == 1);
    }

    /// Matches all functions of one key with all of the other profile.
    fn group<K: Ord>(&mut self, key: impl Fn(FunctionView<'p>) -> K) {
        self.matched(MatchedBy::Name, |function| Some(key(function)), |(a, b)| !a.is_empty() && !b.is_empty());
    }

    fn matched<K: Ord>(&mut self, by: MatchedBy, key: impl Fn(FunctionView<'p>) -> Option<K>, is_match: impl Fn(&Sides) -> bool) {
        let mut sides: BTreeMap<K, Sides> = BTreeMap::new();
        for (position, function) in self.a.iter().enumerate() {
            if let Some(key) = key(*function) {
                sides.entry(key).or_default().0.push(position);
            }
        }
        for (position, function) in self.b.iter().enumerate() {
            if let Some(key) = key(*function) {
                sides.entry(key).or_default().1.push(position);
            }
        }
        let (mut in_a, mut in_b) = (vec![false; self.a.len()], vec![false; self.b.len()]);
        for sides in sides.into_values().filter(is_match) {
            for position in &sides.0 {
                in_a[*position] = true;
            }
            for position in &sides.1 {
                in_b[*position] = true;
            }
            let a = sides.0.iter().map(|position| self.a[*position]).collect();
            let b = sides.1.iter().map(|position| self.b[*position]).collect();
            self.matches.push(Match { by: Some(by), a, b });
        }
        retain_others(&mut self.a, &in_a);
        retain_others(&mut self.b, &in_b);
    }
}

fn retain_others(functions: &mut Vec<FunctionView<'_>>, matched: &[bool]) {
    let mut position = 0;
    functions.retain(|_| {
        position += 1;
        !matched[position - 1]
    });
}
