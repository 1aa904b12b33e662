//! From the counters of one image to the counts of every node and edge of its functions.
//!
//! Each function is solved on its own, in parallel, in the order of the build map; the result is checked by code that
//! shares nothing with the solver. What cannot be solved is reported with its reason and has no counts: an unknown count
//! is never a zero.

use crate::copies::Candidate;
use crate::fault::Fault;
use crate::interrupted::Explained;
use crate::path_counters::PathCounters;
use crate::prepared::Prepared;
use crate::{Image, ProfileError, demangle, interrupted, interrupted_paths};
use bbprof_flow::{Cfg, CheckError, CounterPlan, Solution, check, check_determined, solve};
use bbprof_format::manifest::{Function, Site};
use bbprof_format::merged::ImageCounters;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often each path was taken, by path number; paths that were not are left out.
pub type PathCounts = BTreeMap<u64, i128>;

/// The counts of one function. The three positions find its manifest.
#[derive(Clone, Debug)]
pub struct FunctionCounts {
    /// Position of its module in the image.
    pub module: u32,
    /// Position of the function in its module.
    pub function: u32,
    /// Its demangled name.
    pub name: String,
    /// Activations: executions of X -> entry.
    pub entries: u64,
    /// Whether any node was executed.
    pub is_executed: bool,
    /// Executed LLVM IR instructions: the sum over its nodes of count times instructions.
    pub instructions: u128,
    /// Executions, by node.
    pub nodes: Vec<u64>,
    /// Executions, by edge; `None` where the counter placement does not determine it. Vanishing edges may be negative.
    pub edges: Vec<Option<i128>>,
    /// How often each path was taken, by path number, where paths were counted; those that were not taken are left out. Paths
    /// that vanish in a call may be negative.
    pub paths: Option<PathCounts>,
    /// In how many modules the link found this function, of which it kept one.
    pub copies: u32,
}

/// A function whose counters do not make a flow, or whose copies disagree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inexact {
    /// Position of its module in the image.
    pub module: u32,
    /// Position of the function in its module.
    pub function: u32,
    /// Its demangled name.
    pub name: String,
    /// The block where it shows, when it is one.
    pub block: Option<u32>,
    /// What was expected and what was found.
    pub reason: String,
    /// The blocks where activations may have been interrupted, when that explains the counters: the fewest of them.
    pub interrupted: Option<Vec<u32>>,
}

/// The counts of one image.
#[derive(Debug, Default)]
pub struct SolvedImage {
    /// The functions that are in the image, in the order of the build map; profiles that were
    /// solved with one [`Image`] share what is the same in them.
    pub functions: Vec<Arc<FunctionCounts>>,
    /// The functions without counts, in the same order.
    pub inexact: Vec<Inexact>,
    /// Functions in which activations were interrupted, so that their counters are no flow: they have
    /// counts, and words that say how much they may be off.
    pub interrupted: Vec<Inexact>,
    /// Counters of check mode that were compared with a solved edge.
    pub compared_edges: u64,
    /// Their differences: functions that have counts, but not the ones every edge was seen to have.
    pub differences: Vec<Inexact>,
}

impl Image {
    /// Solves the counters of this image.
    ///
    /// # Errors
    /// When the counters are not those of this image. A function that cannot be solved is no error: see [`SolvedImage::inexact`].
    pub fn solve(&self, counters: &ImageCounters) -> Result<SolvedImage, ProfileError> {
        self.admit(counters)?;
        let candidates = self.candidates(&counters.presence);
        let outcomes: Vec<Outcome> = candidates.par_iter().map(|candidate| self.solve_or_remember(candidate, counters)).collect();
        let mut solved = SolvedImage::default();
        for outcome in outcomes {
            match outcome {
                Outcome::Solved { counts, interrupted, compared, differences } => {
                    solved.functions.push(counts);
                    solved.interrupted.extend(interrupted);
                    solved.compared_edges += compared;
                    solved.differences.extend(differences);
                }
                Outcome::Inexact(inexact) => solved.inexact.push(inexact),
            }
        }
        self.drop_unlinked_copies(&mut solved);
        Ok(solved)
    }

    /// Whether the counters are those of this image.
    fn admit(&self, counters: &ImageCounters) -> Result<(), ProfileError> {
        let build_id = self.build_id;
        if counters.build_id != build_id {
            return Err(ProfileError::BuildId { counters: counters.build_id, map: build_id });
        }
        if counters.layout != self.layout {
            return Err(ProfileError::Layout { build_id, counters: counters.layout, map: self.layout });
        }
        for (what, expected, found) in [
            ("thread-local counters", self.tls_counters, counters.tls.len()),
            ("global counters", self.global_counters, counters.global.len()),
            ("optional modules", self.num_optional() as u64, counters.presence.len()),
        ] {
            if expected != found as u64 {
                return Err(ProfileError::Length { build_id, what, expected, found: found as u64 });
            }
        }
        if let Some(path) = self.stray_path(counters) {
            return Err(ProfileError::HashedPath { build_id, counter: path.counter, number: path.number });
        }
        Ok(())
    }

    fn solve_or_remember(&self, candidate: &Candidate, counters: &ImageCounters) -> Outcome {
        let linked = &self.modules[candidate.module as usize];
        let function = &linked.module.functions[candidate.function as usize];
        // Its counters are not all that counts where paths are hashed.
        let serves_again = candidate.conflict.is_none() && linked.hashed_paths(function, counters).is_empty();
        let Some(memo) = self.memo.as_ref().filter(|_| serves_again) else {
            return self.solve_function(candidate, counters);
        };
        let values = linked.counters(function, &counters.tls, &counters.global);
        let outcome =
            memo.get_or_solve((candidate.module, candidate.function), values, || self.solve_function(candidate, counters));
        match outcome {
            // The copies are those of this process's modules.
            Outcome::Solved { mut counts, interrupted, compared, differences } => {
                if counts.copies != candidate.copies {
                    Arc::make_mut(&mut counts).copies = candidate.copies;
                }
                Outcome::Solved { counts, interrupted, compared, differences }
            }
            Outcome::Inexact(inexact) => Outcome::Inexact(inexact),
        }
    }

    fn solve_function(&self, candidate: &Candidate, counters: &ImageCounters) -> Outcome {
        let linked = &self.modules[candidate.module as usize];
        let function = &linked.module.functions[candidate.function as usize];
        let name = demangle(linked.module.string(function.symbol));
        let inexact = |name: String, block: Option<u32>, reason: String| Inexact {
            module: candidate.module,
            function: candidate.function,
            name,
            block,
            reason,
            interrupted: None,
        };
        if let Some(origin) = &candidate.conflict {
            let reason = format!("the copy in {origin} shares its counters but not its control-flow graph");
            return Outcome::Inexact(inexact(name, None, reason));
        }
        let values = linked.counters(function, &counters.tls, &counters.global);
        let (planned, checks) = values.split_at(function.num_planned());
        let (of_paths, of_sites) = planned.split_at(function.num_path_counters());
        if function.is_hashed() && of_paths[0] > 0 {
            let lost = of_paths[0];
            let why = "there was no memory for them, or they came before the runtime began";
            return Outcome::Inexact(inexact(name, None, format!("{lost} executions of paths were not recorded: {why}")));
        }
        let counts_paths = function.paths.is_some();
        // Functions that no process executes are solved once anyway.
        let prepared = self.prepared.as_ref().filter(|_| !counts_paths && planned.iter().any(|count| *count > 0));
        let prepared = prepared.and_then(|prepared| prepared.get(candidate.module, candidate.function, function));
        let counters =
            counts_paths.then(|| PathCounters::new(function, of_paths, linked.hashed_paths(function, counters), of_sites));
        let (Counts { solution, paths }, interrupted) = match counts_of(function, planned, counters.as_ref(), prepared) {
            Ok(counts) => (counts, None),
            Err(fault) => match explained(function, planned, counters.as_ref()) {
                Some(Explained { words, blocks, solution, paths }) => {
                    let inexact = inexact(name.clone(), None, format!("{words} ({})", fault.reason));
                    (Counts { solution, paths }, Some(Inexact { interrupted: Some(blocks), ..inexact }))
                }
                None => return Outcome::Inexact(inexact(name, fault.block(function), fault.reason)),
            },
        };
        // Which counts are off is known already.
        let checks = if interrupted.is_none() { checks } else { &[] };
        let differences = differences(function, &solution, checks)
            .map(|Difference { block, reason }| inexact(name.clone(), block, reason))
            .collect();
        let counts = FunctionCounts {
            module: candidate.module,
            function: candidate.function,
            name,
            entries: entries(function, &solution),
            is_executed: solution.nodes.iter().any(|count| *count > 0),
            instructions: instructions(function, &solution),
            nodes: solution.nodes,
            edges: solution.edges,
            paths,
            copies: candidate.copies,
        };
        Outcome::Solved { counts: Arc::new(counts), interrupted, compared: checks.len() as u64, differences }
    }
}

/// What solving a function gave.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Solved { counts: Arc<FunctionCounts>, interrupted: Option<Inexact>, compared: u64, differences: Vec<Inexact> },
    Inexact(Inexact),
}

/// What the counters of a function say.
struct Counts {
    solution: Solution,
    paths: Option<PathCounts>,
}

fn counts_of(
    function: &Function,
    planned: &[u64],
    counters: Option<&PathCounters<'_>>,
    prepared: Option<&Prepared>,
) -> Result<Counts, Fault> {
    let Some((counters, numbering)) = counters.zip(function.path_numbering()) else {
        let solution = match prepared {
            Some(prepared) => solve_prepared(prepared, planned)?,
            None => solve_and_check(&function.cfg()?, &function.plan(), planned)?,
        };
        return Ok(Counts { solution, paths: None });
    };
    let (solution, paths) = counters.solve(&numbering?)?;
    Ok(Counts { solution, paths: Some(paths) })
}

/// Solves counters of nodes and edges, and has the solution checked.
pub(crate) fn solve_and_check(cfg: &Cfg, plan: &CounterPlan, counts: &[u64]) -> Result<Solution, Fault> {
    let solution = solve(cfg, plan, counts)?;
    check(cfg, plan, counts, &solution).map_err(refused)?;
    Ok(solution)
}

/// Likewise, with what is known of the function.
fn solve_prepared(Prepared { cfg, plan, determined }: &Prepared, counts: &[u64]) -> Result<Solution, Fault> {
    let solution = solve(cfg, plan, counts)?;
    check_determined(cfg, plan, counts, &solution, determined).map_err(refused)?;
    Ok(solution)
}

fn refused(error: CheckError) -> Fault {
    format!("the checker refuses the solution: {error}").into()
}

/// What the counters say if activations were interrupted, when that explains them.
fn explained(function: &Function, planned: &[u64], counters: Option<&PathCounters<'_>>) -> Option<Explained> {
    match counters {
        None => interrupted::explain(function, planned),
        Some(counters) => interrupted_paths::explain(counters),
    }
}

/// A counter of check mode that does not agree with the solution.
struct Difference {
    block: Option<u32>,
    reason: String,
}

fn differences(function: &Function, solution: &Solution, checks: &[u64]) -> impl Iterator<Item = Difference> {
    function.check_sites.iter().zip(checks).filter_map(|(site, counted)| {
        let (block, what, solved) = solved_at(function, solution, *site);
        if solved == Some(i128::from(*counted)) {
            return None;
        }
        let solved = solved.map_or_else(|| "nothing".to_owned(), |count| count.to_string());
        Some(Difference { block, reason: format!("{what}: its own counter says {counted}, the planned counters give {solved}") })
    })
}

/// What the solution says of a counter's place: the block, the place in words, and the count.
fn solved_at(function: &Function, solution: &Solution, site: Site) -> (Option<u32>, String, Option<i128>) {
    let block_of = |node: u32| function.nodes[node as usize].block;
    match site {
        Site::Node(node) => {
            let block = block_of(node);
            (Some(block), format!("node {node}"), Some(i128::from(solution.nodes[node as usize])))
        }
        Site::Edge(position) | Site::PhiEdge(position) | Site::BeforeLoop(position) => {
            let edge = &function.edges[position as usize];
            let end = |node: Option<u32>| node.map_or_else(|| "outside".to_owned(), |node| format!("block {}", block_of(node)));
            let what = format!("edge {position} ({} -> {})", end(edge.from), end(edge.to));
            (edge.from.or(edge.to).map(block_of), what, solution.edges[position as usize])
        }
    }
}

/// The sum over all nodes of count times instructions.
fn instructions(function: &Function, solution: &Solution) -> u128 {
    let nodes = function.nodes.iter().zip(&solution.nodes);
    nodes.map(|(node, count)| u128::from(node.num_instructions()) * u128::from(*count)).sum()
}

/// Executions of X -> entry; where the placement leaves that edge open, those of the entry, to which no edge
/// leads back (LLVM's `Verifier`: an entry has no predecessors).
fn entries(function: &Function, solution: &Solution) -> u64 {
    let entry = function.edges.iter().zip(&solution.edges).find(|(edge, _)| edge.from.is_none());
    match entry {
        Some((_, Some(count))) => u64::try_from(*count).unwrap_or(solution.nodes[0]),
        _ => solution.nodes[0],
    }
}
