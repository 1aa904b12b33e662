//! Counts by source line.
//!
//! A line's count is the sum over its instances ([`crate::visits`]). The line of a function's
//! definition counts its entries, those of inlined copies included.
//!
//! Where the counter placement leaves edges open (`blocks`, `patterns`), an instance counts what its hottest node counts.

use crate::arrivals::Flow;
use crate::line_parts::{Instance, Part, instance, jump};
use crate::parted::WaysOn;
use crate::scopes::{InlinedCopy, inlined_copies, own_scope, ways_on};
use crate::silent_copies::leave_out;
use crate::source_branches::{BranchKey, BranchSums, CopyBranch, Way, branches_in};
use crate::test_harness::made_to_run_tests;
use crate::view::FunctionView;
use crate::visits::{Place, Visits, Whose};
use crate::{FileId, Profile};
use bbprof_format::manifest::Scope;
use bbprof_format::{is_lambda_invoker, is_thunk};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Counts of all source lines of a profile.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LineTable {
    /// By source file.
    pub files: BTreeMap<FileId, SourceLines>,
}

/// Counts of the lines of one source file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceLines {
    /// By line number: the lines that have code.
    pub lines: BTreeMap<u32, Line>,
    /// The functions defined here, by line of definition and linker symbol.
    pub functions: BTreeMap<(u32, String), SourceFunction>,
    /// Branches, where the table has any: the sums over all copies.
    pub branches: BTreeMap<BranchKey, Vec<Way>>,
}

/// One source line.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Line {
    /// How often control arrived at it.
    pub count: u128,
    /// Executed LLVM IR instructions that have it as their source.
    pub instructions: u128,
}

/// One function of the source, whether it became code of its own or was inlined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceFunction {
    /// Activations of its own code.
    pub entries: u128,
    /// Arrivals at inlined copies: at least so many executions of the inlined function.
    pub inlined: u128,
    /// The last line that has code of it.
    pub last_line: u32,
}

impl SourceLines {
    /// The branches of a line, each with its ways.
    pub fn branches_of(&self, line: u32) -> impl Iterator<Item = &[Way]> {
        let from = self.branches.range(BranchKey { line, ..BranchKey::default() }..);
        from.take_while(move |(key, _)| key.line == line).map(|(_, outcomes)| &outcomes[..])
    }

    /// Forgets a line, and its branches.
    pub(crate) fn leave_out(&mut self, line: u32) {
        self.lines.remove(&line);
        self.branches.retain(|key, _| key.line != line);
    }
}

impl LineTable {
    /// Counts the lines of all functions of a profile, but no branches.
    #[must_use]
    pub fn new(profile: &Profile) -> Self {
        let functions: Vec<FunctionView<'_>> = profile.functions().collect();
        Self::of_functions(&functions)
    }

    /// Counts the lines and the branches of all functions of a profile.
    #[must_use]
    pub fn with_branches(profile: &Profile) -> Self {
        let functions: Vec<FunctionView<'_>> = profile.functions().collect();
        Self::of(&functions, true)
    }

    /// Counts the lines of some functions, but no branches.
    #[must_use]
    pub fn of_functions(functions: &[FunctionView<'_>]) -> Self {
        Self::of(functions, false)
    }

    fn of(functions: &[FunctionView<'_>], branches: bool) -> Self {
        let wanted = || Wanted { scopes: None, branches };
        let mut table = Self::sum(functions.par_iter().map(|function| FunctionLines::new(*function, wanted())).collect());
        leave_out(&mut table, functions);
        table
    }

    /// Counts the lines and the branches of some functions of the source, told by file and line of their definition and linker
    /// symbol: those of their own code, and of their inlined copies wherever these are. What is inlined there is part of both.
    #[must_use]
    pub fn of_copies(profile: &Profile, is_wanted: impl Fn(Option<FileId>, u32, &str) -> bool + Sync) -> Self {
        let functions: Vec<FunctionView<'_>> = profile.functions().collect();
        let parts = functions.par_iter().filter_map(|&function| {
            if is_wanted(function.file(), function.line(), function.symbol()) {
                return Some(FunctionLines::new(function, Wanted { scopes: None, branches: true }));
            }
            let scopes = scopes_within(function, &is_wanted);
            (!scopes.is_empty()).then(|| FunctionLines::new(function, Wanted { scopes: Some(scopes), branches: true }))
        });
        let mut table = Self::sum(parts.collect());
        leave_out(&mut table, &functions);
        table
    }

    fn sum(parts: Vec<FunctionLines<'_>>) -> Self {
        let mut table = Self::default();
        let mut lines: Vec<(FileId, u32, Line)> = parts.iter().flat_map(|part| part.lines.iter().copied()).collect();
        lines.par_sort_unstable_by_key(|(file, line, _)| (*file, *line));
        for same_file in lines.chunk_by(|a, b| a.0 == b.0) {
            let sums = same_file.chunk_by(|a, b| a.1 == b.1).map(|same_line| (same_line[0].1, sum(same_line)));
            table.files.entry(same_file[0].0).or_default().lines = sums.collect();
        }
        let mut branches = BranchSums::default();
        for part in parts {
            for (file, line, symbol, function) in part.functions {
                let functions = &mut table.files.entry(file).or_default().functions;
                let total = functions.entry((line, symbol.to_owned())).or_default();
                total.entries += function.entries;
                total.inlined += function.inlined;
                total.last_line = total.last_line.max(function.last_line);
            }
            part.branches.into_iter().for_each(|branch| branches.add(branch));
        }
        for (file, key, ways) in branches.into_branches() {
            table.files.entry(file).or_default().branches.insert(key, ways);
        }
        table
    }
}

fn sum(lines: &[(FileId, u32, Line)]) -> Line {
    lines.iter().fold(Line::default(), |sum, (_, _, line)| Line {
        count: sum.count + line.count,
        instructions: sum.instructions + line.instructions,
    })
}

/// The inlined copies in a function that are wanted, or are inlined into one that is.
fn scopes_within(function: FunctionView<'_>, is_wanted: impl Fn(Option<FileId>, u32, &str) -> bool) -> BTreeSet<Scope> {
    let copies = inlined_copies(function);
    let is_wanted = |copy: &InlinedCopy<'_>| {
        let Some((_, file, line)) = copy.first_line() else { return false };
        is_wanted(function.file_of(file), line, function.module.string(copy.location.function))
    };
    let wanted: BTreeSet<Scope> = copies.iter().filter(|(_, copy)| is_wanted(copy)).map(|(scope, _)| *scope).collect();
    let around = |(_, inlined_at): &Scope| {
        let call = &function.module.locations[(*inlined_at)?.0 as usize];
        Some(call.scope())
    };
    let is_within = |scope: &Scope| std::iter::successors(Some(*scope), around).any(|scope| wanted.contains(&scope));
    copies.into_keys().filter(|scope| !wanted.is_empty() && is_within(scope)).collect()
}

/// The inlined copies in a function, and how often each was executed.
type Copies<'p> = BTreeMap<Scope, (InlinedCopy<'p>, u128)>;

/// Rust has no handlers of its own: what it has behind landing pads, but for what is inlined there, drops values.
fn is_rust(function: FunctionView<'_>, (_, file, _): Instance) -> bool {
    Path::new(function.module.string(file)).extension().is_some_and(|extension| extension == "rs")
}

/// What is to be counted of a function.
struct Wanted {
    /// The inlined copies to which it belongs; `None` = all of the function.
    scopes: Option<BTreeSet<Scope>>,
    /// Whether branches are.
    branches: bool,
}

/// What one function adds to the table.
struct FunctionLines<'p> {
    symbol: &'p str,
    wanted: Wanted,
    /// What has no lines: code that rustc's test harness made at those of the tests.
    hidden: BTreeSet<Scope>,
    lines: Vec<(FileId, u32, Line)>,
    functions: Vec<(FileId, u32, &'p str, SourceFunction)>,
    branches: Vec<CopyBranch<'p>>,
}

impl<'p> FunctionLines<'p> {
    fn new(function: FunctionView<'p>, wanted: Wanted) -> Self {
        let mut flow = Flow::of(function);
        let copies = inlined_copies(function);
        let ways_on = ways_on(function, &flow, &copies);
        let executed = |(scope, copy): (Scope, InlinedCopy<'p>)| {
            let executions = copy.executions(function, &mut flow, ways_on.get(&scope));
            (scope, (copy, executions))
        };
        let copies: Copies<'p> = copies.into_iter().map(executed).collect();
        let (symbol, hidden) = (function.symbol(), made_to_run_tests(function, copies.keys()));
        let mut lines = Self { symbol, wanted, hidden, lines: Vec::new(), functions: Vec::new(), branches: Vec::new() };
        if lines.wanted.branches {
            lines.branches = branches_in(function, &flow, |scope| lines.has(scope));
        }
        lines.add_lines(function, &copies, &ways_on, &mut flow);
        lines.add_source_functions(function, &copies);
        lines
    }

    /// One entry for each instance of a line.
    fn add_lines(&mut self, function: FunctionView<'p>, copies: &Copies<'p>, ways_on: &BTreeMap<Scope, WaysOn>, flow: &mut Flow) {
        let manifest = function.manifest;
        let mut places: Vec<Place> = Vec::new();
        let forwards = forwards(function);
        let is_forwarding = |instance: &Instance| match instance.0 {
            (_, None) => forwards,
            (symbol, Some(_)) => is_lambda_invoker(function.module.string(symbol)),
        };
        let mut first_lines: BTreeMap<Instance, u128> =
            copies.values().filter_map(|(copy, executions)| Some((copy.first_line()?, *executions))).collect();
        if let (Some(file), true) = (manifest.file, manifest.line > 0 && !forwards) {
            let instance = (own_scope(function), file, manifest.line);
            first_lines.insert(instance, u128::from(function.counts.entries));
            places.push(Place { instance, node: 0, part: Part::Code, executed: 0 });
        }
        let mut visits = Visits::to_lines_of(function, ways_on);
        let mut walked = Vec::new();
        for (position, (node, count)) in (0..).zip(manifest.nodes.iter().zip(&function.counts.nodes)) {
            if !visits.is_reached(position) {
                continue;
            }
            walked.clear();
            let jump = jump(function, flow, position);
            for (id, instructions) in &node.locations {
                let location = function.module.location(*id);
                let executed = u128::from(*instructions) * u128::from(*count);
                let part = jump.filter(|(jump, _)| jump == id).map_or(Part::Code, |(_, part)| part);
                places.push(Place { instance: instance(location), node: position, part, executed });
                let mut outer = location.inlined_at;
                while let Some(id) = outer.filter(|id| !walked.contains(id)) {
                    walked.push(id);
                    let call = function.module.location(id);
                    if call.line > 0 {
                        places.push(Place { instance: instance(call), node: position, part: Part::Guest, executed: 0 });
                    }
                    outer = call.inlined_at;
                }
            }
        }
        places.sort_unstable();
        for places in places.chunk_by(|a, b| a.instance == b.instance) {
            let instance = places[0].instance;
            let executions = first_lines.remove(&instance);
            let copy = instance.0.1.and_then(|_| copies.get(&instance.0));
            let whose = executions.map(|_| copy.map_or(Whose::All, |(copy, _)| Whose::Of(&copy.nodes)));
            let arrivals = visits.count(places, whose, flow);
            let count = if is_forwarding(&instance) { 0 } else { arrivals.max(executions.unwrap_or(0)) };
            if count > 0 || !(is_rust(function, instance) && visits.are_cleanup(places, copy.map(|(copy, _)| &copy.nodes[..]))) {
                let instructions = places.iter().map(|place| place.executed).sum();
                self.add_line(function, instance, Line { count, instructions });
            }
        }
        for (instance, executions) in first_lines.into_iter().filter(|(instance, _)| !is_forwarding(instance)) {
            self.add_line(function, instance, Line { count: executions, instructions: 0 });
        }
    }

    fn add_line(&mut self, function: FunctionView<'p>, (scope, file, number): Instance, line: Line) {
        if let (Some(file), true) = (function.file_of(file), self.has(&scope)) {
            self.lines.push((file, number, line));
        }
    }

    /// Whether what stands in this scope is to be counted.
    fn has(&self, scope: &Scope) -> bool {
        !self.hidden.contains(scope) && self.wanted.scopes.as_ref().is_none_or(|scopes| scopes.contains(scope))
    }

    /// The function itself, and one entry for each inlined copy of another; a copy holds what is inlined into it.
    fn add_source_functions(&mut self, function: FunctionView<'p>, copies: &Copies<'p>) {
        let manifest = function.manifest;
        let module = function.module;
        let mut own_last_line = manifest.line;
        for (id, _) in manifest.nodes.iter().flat_map(|node| &node.locations) {
            let mut location = module.location(*id);
            while let Some(outer) = location.inlined_at {
                location = module.location(outer);
            }
            if Some(location.file) == manifest.file {
                own_last_line = own_last_line.max(location.line);
            }
        }
        let own = own_scope(function);
        if let (Some(file), true) = (function.file(), self.has(&own) && manifest.line > 0 && !forwards(function)) {
            let entries = u128::from(function.counts.entries);
            let own = SourceFunction { entries, inlined: 0, last_line: own_last_line };
            self.functions.push((file, manifest.line, self.symbol, own));
        }
        for (scope, (copy, executions)) in copies {
            let Some((_, file, line)) = copy.first_line().filter(|_| self.has(scope)) else { continue };
            let last_line = copy.last_line.max(line);
            if is_lambda_invoker(module.string(copy.location.function)) {
                continue;
            }
            if let Some(file) = function.file_of(file) {
                let inlined = SourceFunction { entries: 0, inlined: *executions, last_line };
                self.functions.push((file, line, module.string(copy.location.function), inlined));
            }
        }
    }
}

/// Whether code was made to call another function whose lines it goes by: control arrives at these there.
fn forwards(function: FunctionView<'_>) -> bool {
    let has_own_line = || {
        let mut ids = function.manifest.nodes.iter().flat_map(|node| &node.locations);
        ids.any(|(id, _)| {
            let location = function.module.location(*id);
            location.inlined_at.is_none() && location.line > 0
        })
    };
    // The thunk of a function with a variable number of arguments is a copy of it.
    is_lambda_invoker(function.symbol()) || is_thunk(function.symbol()) && !has_own_line()
}
