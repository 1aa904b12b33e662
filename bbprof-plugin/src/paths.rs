//! Path counters of one function: from its graph to steps at places of the IR.
//!
//! A call that returns twice (setjmp) may come back when the path register has long gone on, so its node must not depend on it: all
//! edges to that node are cut, and the register is a constant there.

use crate::graph::Graph;
use crate::place::on_edge;
use crate::view::{self, IrPathStep, PathStepKind, PlaceKind};
use bbprof_flow::{
    Cfg, Commit, Costs, CounterSite, EdgeId, PathNumbering, PathPlan, PathStep, Placement, Weights, obvious_loops, plan_counters,
    plan_counters_beside, plan_paths, price_of_counters, price_of_paths,
};
use bbprof_format::manifest::{Edge, Function, Paths};

/// What the manifest tells of the paths, and what the glue does.
pub(crate) struct PlannedPaths {
    pub paths: Paths,
    pub steps: Vec<IrPathStep>,
    /// Counters beside those of paths.
    pub sites: Vec<CounterSite>,
}

/// Where steps at one place of the IR belong: what leads to the node, what is counted before the call that
/// ends it, what leaves it. Splits have places of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StepOrder {
    Enter,
    Vanish,
    Leave,
    Split,
}

/// How many paths a function may have, as far as cutting edges helps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathLimits {
    /// In an array; `None`: what suits the function.
    pub array: Option<u64>,
    /// In all.
    pub all: u64,
    /// Which functions with more paths than an array holds count them in hash tables;
    /// those of others are cut until an array holds them.
    pub hashed: Hashed,
}

/// Which functions count their paths in hash tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Hashed {
    /// None.
    Never,
    /// Where it costs little beside what the function does itself.
    WhereCheap,
    /// All that have too many for an array.
    Always,
}

/// Most paths in an array when nothing else is said: this many, or so many for each edge, since all edges cut would leave
/// one for each. Each has a counter of 8 bytes in each thread.
#[derive(Clone, Copy)]
struct ArraySize {
    paths: u64,
    for_edge: u64,
}

/// Where edges are cut to come to it. Instructions of Lua, SQLite and zstd beyond the plain build's, in units
/// of the edge mode's: 1.36, 1.49, 1.42; with 1,024 and 4 for each edge 1.43, 1.60, 1.57; with 4,096 and 8 Lua
/// 1.78 and zstd 2.3, because of registers that live longer.
const CUT_TO_ARRAY: ArraySize = ArraySize { paths: 256, for_edge: 2 };
/// Where more paths than this are counted in a hash table instead, which costs more than any cut.
const HASHED_BEYOND: ArraySize = ArraySize { paths: 1024, for_edge: 4 };

/// Instructions of counting a path in a hash table: some 24 of `__bbprof_count_path_tls`, and those that call it. Measured on Lua.
const HASHED_COUNT_INSTRUCTIONS: u128 = 30;
/// Hashing is cheap where its instructions are at most this share of the function's own ones, by estimated frequencies. A guess
/// that keeps the whole below what `docs/PLACEMENT.md` promises.
const CHEAP_SHARE: u128 = 16;

/// Counting paths may cost so much more than counting edges, by estimated frequencies, before they are cut to be shorter:
/// half again. Measured on Lua, SQLite 3.51, SQLite 3.50 and zstd at -O2 (clang 22.1.8, valgrind 3.19), instructions beyond
/// the plain build's in units of the edge mode's: 1.25, 1.46, 1.27, 1.67; with twice as much 1.33, 1.52, 1.31, 2.17 (without
/// doubt of turns); without a bound 1.40, 2.20, 1.48, 1.58.
const MOST_PRICE: (u128, u128) = (3, 2);
/// A guess of 31 turns is what compilers make of a loop of which they know nothing. Paths are too dear only if they are so with
/// this many times fewer turns, too: with 4, SQLite 3.51 has 1.46; with 8, 1.83.
const DOUBT: u64 = 4;

/// Paths with their numbers, and what counts them.
struct Counting {
    numbering: PathNumbering,
    plan: PathPlan,
    /// Counters beside those of paths.
    sites: Vec<CounterSite>,
}

/// Plans the paths of a function.
pub(crate) fn plan(
    function: &Function,
    graph: &Graph,
    view: &view::Function<'_>,
    limits: PathLimits,
    costs: &Costs,
    weights: &Weights,
) -> Result<PlannedPaths, String> {
    let cfg = function.cfg().map_err(|e| e.to_string())?;
    let (Counting { numbering, plan, sites }, hashed) = choose(&cfg, function, graph, view, limits, costs, weights);
    let (num_paths, num_counted) = (numbering.num_paths(), numbering.num_counted());
    if !hashed && u32::try_from(num_counted).is_err() {
        return Err(format!("{num_counted} paths are left with all edges cut, more than an array can hold"));
    }
    let cuts = numbering.cuts().iter().map(|cut| cut.index() as u32).collect();
    let mut steps: Vec<(StepOrder, IrPathStep)> = Vec::new();
    for (edge, of_edge) in function.edges.iter().zip(&plan.steps).filter(|(_, steps)| !steps.is_empty()) {
        let place = on_edge(edge, graph);
        let turn = order_of(place.kind, edge);
        steps.extend(of_edge.iter().map(|step| {
            let (what, value) = match *step {
                PathStep::Set(value) => (PathStepKind::Set, value),
                PathStep::Add(value) => (PathStepKind::Add, value),
                PathStep::Count(Commit::At(value)) => (PathStepKind::CountAt, value),
                PathStep::Count(Commit::Behind(value)) => (PathStepKind::CountBehind, value),
            };
            (turn, IrPathStep { place, what, value })
        }));
    }
    // Stable: the steps of one edge stay in their order.
    steps.sort_by_key(|(turn, _)| *turn);
    let steps = steps.into_iter().map(|(_, step)| step).collect();
    Ok(PlannedPaths { paths: Paths { num_paths, num_counted, hashed, cuts }, steps, sites })
}

/// Which paths are counted, and whether in hash tables: whole ones, as far as limits and price allow.
fn choose(
    cfg: &Cfg,
    function: &Function,
    graph: &Graph,
    view: &view::Function<'_>,
    limits: PathLimits,
    costs: &Costs,
    weights: &Weights,
) -> (Counting, bool) {
    // Who asks for many paths wants them whole.
    let wants_whole = limits.hashed == Hashed::Always;
    let size = if wants_whole { HASHED_BEYOND } else { CUT_TO_ARRAY };
    let array = limits.array.unwrap_or_else(|| size.paths.max(size.for_edge * function.edges.len() as u64));
    let mut always_cut = into_returns_twice(function, graph, view);
    if !wants_whole {
        always_cut.extend(obvious_loops(cfg, weights));
    }
    let count = |cuts: &[EdgeId], limit| {
        let numbering = PathNumbering::new(cfg, weights, cuts, limit);
        let plan = plan_paths(cfg, &numbering);
        let sites = plan_counters_beside(cfg, weights, costs, &numbering).sites;
        Counting { numbering, plan, sites }
    };
    let mut counting = count(&always_cut, limits.all);
    // Beyond the limit there is a path for each edge: short ones, and many counts.
    let may_hash = counting.numbering.num_counted() > array && counting.numbering.num_paths() <= limits.all;
    let hashed = may_hash
        && match limits.hashed {
            Hashed::Never => false,
            Hashed::WhereCheap => is_cheap_to_hash(function, weights, &counting.plan),
            Hashed::Always => true,
        };
    if !hashed && counting.numbering.num_counted() > array {
        counting = count(&always_cut, array.clamp(1, limits.all));
    }
    if !hashed && !wants_whole {
        let is_dear = dear(cfg, graph, costs, weights);
        let mut limit = counting.numbering.num_paths();
        while is_dear(&counting) {
            limit /= 2;
            if limit < cfg.num_edges() as u64 {
                // There is a path for each edge: edges are counted.
                let is_inner = |edge: &EdgeId| cfg.edge(*edge).from.node().is_some() && cfg.edge(*edge).to.node().is_some();
                counting = count(&cfg.edge_ids().filter(is_inner).collect::<Vec<_>>(), u64::MAX);
                break;
            }
            counting = count(&always_cut, limit);
        }
    }
    (counting, hashed)
}

/// Tells which counting costs too much beside that of edges: by estimated frequencies,
/// and also if loops turn less often than these say.
fn dear<'a>(cfg: &'a Cfg, graph: &Graph, costs: &'a Costs, weights: &'a Weights) -> impl Fn(&Counting) -> bool + 'a {
    let by_edges = plan_counters(cfg, weights, Placement::Tree, costs).sites;
    let doubted = if graph.are_measured { None } else { weights.with_fewer_turns(cfg, DOUBT) };
    let bound = |weights: Weights| {
        let most = price_of_counters(cfg, &weights, costs, &by_edges).saturating_mul(MOST_PRICE.0) / MOST_PRICE.1;
        (weights, most)
    };
    let bounds: Vec<(Weights, u128)> = std::iter::once(weights.clone()).chain(doubted).map(bound).collect();
    move |counting| {
        let price = |weights: &Weights| {
            let beside = price_of_counters(cfg, weights, costs, &counting.sites);
            price_of_paths(cfg, weights, costs, &counting.plan).saturating_add(beside)
        };
        bounds.iter().all(|(weights, most)| price(weights) > *most)
    }
}

/// Whether counting in hash tables is a small part of what the function executes.
fn is_cheap_to_hash(function: &Function, weights: &Weights, plan: &PathPlan) -> bool {
    let counts = plan.steps.iter().map(|steps| steps.iter().filter(|step| matches!(step, PathStep::Count(_))).count() as u128);
    let counted: u128 = counts.zip(&weights.edges).map(|(counts, weight)| counts * u128::from(*weight)).sum();
    let own =
        function.nodes.iter().zip(&weights.nodes).map(|(node, weight)| u128::from(node.num_instructions()) * u128::from(*weight));
    counted * HASHED_COUNT_INSTRUCTIONS * CHEAP_SHARE <= own.sum::<u128>()
}

/// Edges between nodes that lead to a node which ends in a call that returns twice.
fn into_returns_twice(function: &Function, graph: &Graph, view: &view::Function<'_>) -> Vec<EdgeId> {
    let returns_twice: Vec<bool> = graph
        .nodes
        .iter()
        .map(|node| {
            let calls = view.block_calls(&view.blocks[node.block as usize]);
            let last = |call: &&view::Call| call.position + 1 == node.end;
            calls.iter().find(last).is_some_and(|call| call.flags & view::CALL_RETURNS_TWICE != 0)
        })
        .collect();
    let is_into = |edge: &Edge| edge.from.is_some() && edge.to.is_some_and(|to| returns_twice[to as usize]);
    (0..).zip(&function.edges).filter(|(_, edge)| is_into(edge)).map(|(id, _)| EdgeId::new(id)).collect()
}

/// Where code on an edge that stands at this kind of place belongs.
fn order_of(kind: PlaceKind, edge: &Edge) -> StepOrder {
    match (kind, edge.to) {
        (PlaceKind::Split, _) => StepOrder::Split,
        (PlaceKind::End, _) => StepOrder::Leave,
        (_, None) => StepOrder::Vanish,
        (_, Some(_)) => StepOrder::Enter,
    }
}
