//! Functions in which an activation may have been interrupted for ever: the process was killed,
//! ended while other threads ran, or ended in a signal handler.
//!
//! What one function's counters admit, `bbprof_flow::interruptions` tells. That alone admits nearly all functions; so those are
//! looked for that may have been running, along the calls that were under way. A function was possibly entered by what is not seen
//! (`main`, threads, callbacks, handlers) if it was entered more often than it was called directly. From a function that may have
//! been running, the way goes on by the calls from whose nodes activations vanished, and by those in blocks where it may have been
//! interrupted. A function that was called for the first time in that very moment, by what is not seen, may have left no trace at
//! all. Where paths are counted, neither have those before it that wait in calls known to come back: so there, functions that no
//! call names are looked into even if no path in them came to its end.

use crate::calls::{CallTable, Key, functions, key};
use crate::{FunctionCounts, FunctionView, PathCounts, Profile};
use bbprof_flow::{Interruptions, Place, Solution, interruptions, solve_interrupted};
use bbprof_format::manifest::{Callee, EdgeKind, Function, MOST_TURNS_AT_ONCE, Site};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// A function that may have been interrupted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interruptible<'p> {
    /// Its linker symbol.
    pub symbol: &'p str,
    /// Its demangled name.
    pub name: &'p str,
    /// The blocks where it may have been interrupted, ascending; or on the way into them.
    pub blocks: Vec<u32>,
    /// Those of them in loops whose turns are counted when the loop begins: their counts
    /// may be ahead by all the turns of one loop, not by one.
    pub ahead: Vec<u32>,
    /// Blocks of the function's loops whose counters stand in registers while they run, ascending:
    /// their counts may be behind by all the turns of one loop.
    pub behind: Vec<u32>,
    /// Blocks of the function's loops that count up to [`MOST_TURNS_AT_ONCE`] turns at once,
    /// ascending: their counts may be behind by one turn less.
    pub late: Vec<u32>,
}

impl<'p> Interruptible<'p> {
    fn new(function: &Function, symbol: &'p str, name: &'p str, blocks: Vec<u32>) -> Self {
        let counted = blocks_of_counted_loops(function);
        let ahead = blocks.iter().copied().filter(|block| counted.contains(block)).collect();
        Self { symbol, name, blocks, ahead, behind: function.register_blocks.clone(), late: function.unrolled_blocks.clone() }
    }
}

/// What loops may add to that in an interrupted activation of this function, in words;
/// empty where each of their turns is counted in memory.
pub(crate) fn loops_in_words(function: &Function) -> String {
    let mut ahead: Vec<u32> = blocks_of_counted_loops(function).into_iter().collect();
    ahead.sort_unstable();
    let mut words = String::new();
    let late = late_in_words();
    let loops = [
        (&ahead, "whose turns are counted when the loop begins, ahead by those that were not taken"),
        (&function.register_blocks, "whose counters stand in registers, behind by the turns that were taken"),
        (&function.unrolled_blocks, late.as_str()),
    ];
    for (blocks, what) in loops.into_iter().filter(|(blocks, _)| !blocks.is_empty()) {
        let listed = blocks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        write!(words, ", and block {listed}, in loops {what}").expect("a String takes all");
    }
    words
}

/// What [`Interruptible::late`] says of loops, in words.
#[must_use]
pub fn late_in_words() -> String {
    format!("that count up to {MOST_TURNS_AT_ONCE} turns at once, behind by at most {}", MOST_TURNS_AT_ONCE - 1)
}

/// The blocks of all loops whose turns are counted in front of them.
fn blocks_of_counted_loops(function: &Function) -> HashSet<u32> {
    let mut blocks = HashSet::new();
    let edges = &function.edges;
    let mut sources: HashMap<u32, Vec<u32>> = HashMap::new();
    for (from, to) in edges.iter().filter_map(|edge| edge.from.zip(edge.to)) {
        sources.entry(to).or_default().push(from);
    }
    for site in &function.sites {
        let Site::BeforeLoop(back_edge) = site else { continue };
        let back_edge = &edges[*back_edge as usize];
        // Backwards from where the loop goes back, as far as its header.
        let mut members: HashSet<u32> = back_edge.to.into_iter().collect();
        let mut waiting: Vec<u32> = back_edge.from.into_iter().collect();
        while let Some(node) = waiting.pop() {
            if members.insert(node) {
                waiting.extend(sources.get(&node).into_iter().flatten());
            }
        }
        blocks.extend(members.into_iter().map(|node| function.nodes[node as usize].block));
    }
    blocks
}

impl Profile {
    /// The functions in which activations may have been interrupted, if any were: first those whose counters are no flow
    /// otherwise, then by image, in the order of its build map.
    #[must_use]
    pub fn interruptible(&self) -> Vec<Interruptible<'_>> {
        let mut found = Vec::new();
        let mut running = Running::new(self);
        for (position, image) in self.images.iter().enumerate() {
            for inexact in image.solved.inexact.iter().chain(&image.solved.interrupted) {
                let module = &image.image.modules[inexact.module as usize].module;
                let function = &module.functions[inexact.function as usize];
                // Without counts, every call of it may be under way.
                running.calls_of(position, inexact.module, function.nodes.iter().flat_map(|node| &node.calls), |symbol| {
                    module.string(symbol)
                });
                if let Some(blocks) = &inexact.interrupted {
                    found.push(Interruptible::new(function, module.string(function.symbol), &inexact.name, blocks.clone()));
                }
            }
        }
        let functions: Vec<_> = running.closure();
        found.extend(
            functions
                .into_iter()
                .filter(|(_, blocks)| !blocks.is_empty())
                .map(|(function, blocks)| Interruptible::new(function.manifest, function.symbol(), function.name(), blocks)),
        );
        found
    }
}

/// The functions that may have been running.
struct Running<'p> {
    table: CallTable<'p>,
    functions: Vec<(usize, FunctionView<'p>)>,
    /// By what they are called: copies of one function count together.
    positions: HashMap<Key<'p>, Vec<usize>>,
    may_run: HashSet<usize>,
    waiting: Vec<usize>,
}

impl<'p> Running<'p> {
    /// Those that something unseen may have called.
    fn new(profile: &'p Profile) -> Self {
        let functions: Vec<_> = functions(profile).collect();
        let mut positions: HashMap<Key<'p>, Vec<usize>> = HashMap::new();
        for (position, (image, function)) in functions.iter().enumerate() {
            positions.entry(key(*image, function)).or_default().push(position);
        }
        let table = CallTable::of(profile);
        let called = called_by_name(&table, &functions);
        let mut running = Self { table, functions, positions, may_run: HashSet::new(), waiting: Vec::new() };
        for position in 0..running.functions.len() {
            let (image, function) = &running.functions[position];
            let key = key(*image, function);
            let (entries, calls) = running.table.sums(&key).unwrap_or_default();
            let leaves_no_trace = || function.manifest.counts_paths() && !called.contains(&key);
            if if function.is_executed() { entries > calls || calls == 0 } else { leaves_no_trace() } {
                running.add(position);
            }
        }
        running
    }

    fn add(&mut self, position: usize) {
        if self.may_run.insert(position) {
            self.waiting.push(position);
        }
    }

    /// These calls may be under way.
    fn calls_of<'c>(
        &mut self,
        image: usize,
        module: u32,
        calls: impl Iterator<Item = &'c bbprof_format::manifest::CallSite>,
        name: impl Fn(bbprof_format::manifest::StringId) -> &'p str,
    ) {
        for call in calls {
            let Callee::Symbol(symbol) = call.callee else { continue };
            let key = self.table.callee(image, module, name(symbol));
            for position in self.positions.get(&key).cloned().unwrap_or_default() {
                self.add(position);
            }
        }
    }

    /// Follows the calls to the end; gives the functions in their order, and the blocks where they may have been interrupted.
    fn closure(mut self) -> Vec<(FunctionView<'p>, Vec<u32>)> {
        let mut blocks = HashMap::new();
        while let Some(position) = self.waiting.pop() {
            let (image, function) = self.functions[position];
            let places = of_solved(function.manifest, function.counts).map(|found| found.places).unwrap_or_default();
            let mut nodes: HashSet<u32> = places.iter().map(|place| place.node.index() as u32).collect();
            // An activation counts its path at the path's end: nothing tells where in it one was interrupted.
            let anywhere = function.manifest.counts_paths();
            if anywhere {
                nodes.extend(0..function.manifest.nodes.len() as u32);
            }
            for (edge, count) in function.manifest.edges.iter().zip(&function.counts.edges) {
                // The true count is this one at most.
                if let (EdgeKind::Vanish, Some(from), true) = (edge.kind, edge.from, count.is_none_or(|count| count > 0)) {
                    nodes.insert(from);
                }
            }
            let calls = function.manifest.nodes.iter().zip(0..).filter(|(_, node)| nodes.contains(node));
            self.calls_of(image, function.module_position, calls.flat_map(|(node, _)| &node.calls), |symbol| {
                function.module.string(symbol)
            });
            let all = || (0..function.manifest.num_blocks).collect();
            blocks.insert(position, if anywhere { all() } else { blocks_of(function.manifest, &places) });
        }
        let functions = self.functions.into_iter().enumerate();
        functions.filter_map(|(position, (_, function))| Some((function, blocks.remove(&position)?))).collect()
    }
}

/// The functions that some call names.
fn called_by_name<'p>(table: &CallTable<'p>, functions: &[(usize, FunctionView<'p>)]) -> HashSet<Key<'p>> {
    let calls = functions.iter().flat_map(|(image, function)| {
        let sites = function.manifest.nodes.iter().flat_map(|node| &node.calls);
        sites.filter_map(|call| match call.callee {
            Callee::Symbol(symbol) => Some(table.callee(*image, function.module_position, function.module.string(symbol))),
            Callee::Indirect | Callee::Asm => None,
        })
    });
    calls.collect()
}

fn of_solved(function: &Function, counts: &FunctionCounts) -> Option<Interruptions> {
    let value = |site: &Site| match site {
        Site::Node(node) => Some(counts.nodes[*node as usize]),
        Site::Edge(edge) | Site::PhiEdge(edge) | Site::BeforeLoop(edge) => {
            counts.edges[*edge as usize].and_then(|count| u64::try_from(count).ok())
        }
    };
    if function.counts_paths() {
        return None;
    }
    let values: Vec<u64> = function.sites.iter().map(value).collect::<Option<_>>()?;
    interruptions(&function.cfg().ok()?, &function.plan(), &values)
}

fn blocks_of(function: &Function, places: &[Place]) -> Vec<u32> {
    let mut blocks: Vec<u32> = places.iter().map(|place| function.nodes[place.node.index()].block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// Counters that are no flow but for interruptions.
pub(crate) struct Explained {
    /// What was interrupted, and what may be off, in words.
    pub words: String,
    /// Where it may have been.
    pub blocks: Vec<u32>,
    /// The counts, each at most as many off as activations were interrupted, but for
    /// loops whose turns are counted in front of them.
    pub solution: Solution,
    /// How often each path was taken to its end, where paths were counted.
    pub paths: Option<PathCounts>,
}

/// More interruptions than this are no explanation but damage: each is a thread that was killed, or a handler that jumped away.
const MOST_INTERRUPTIONS: u64 = 1 << 32;

/// What interruptions, if any, explain counters that are no flow.
pub(crate) fn explain(function: &Function, planned: &[u64]) -> Option<Explained> {
    let (cfg, plan) = (function.cfg().ok()?, function.plan());
    let found = interruptions(&cfg, &plan, planned).filter(|found| (1..=MOST_INTERRUPTIONS).contains(&found.least))?;
    let blocks = blocks_of(function, &found.places_of_least);
    let mut words = match found.least {
        1 => "an activation was interrupted in it".to_owned(),
        least => format!("{least} activations or more were interrupted in it"),
    };
    let listed = blocks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let loops = loops_in_words(function);
    write!(words, ", in or on the way into block {listed}; each of its counts may be as many off{loops}")
        .expect("a String takes all");
    Some(Explained { words, blocks, solution: solve_interrupted(&cfg, &plan, planned)?, paths: None })
}
