//! Path counters of one function: from its graph to steps at places of the IR.
//!
//! A call that returns twice (setjmp) may come back when the path register has long gone on, so its node must not depend on it: all
//! edges to that node are cut, and the register is a constant there.

use crate::graph::Graph;
use crate::planner::ir_site;
use crate::view::{self, IrPathStep};
use bbprof_flow::{Commit, CounterSite, EdgeId, PathNumbering, PathStep, Splitting, Weights, plan_paths};
use bbprof_format::manifest::{Edge, EdgeKind, Function, Paths};

/// What the manifest tells of the paths, and what the glue does.
pub(crate) struct PlannedPaths {
    pub paths: Paths,
    pub steps: Vec<IrPathStep>,
}

/// Where steps at one place of the IR belong: what leads to the node, what is counted before the call that ends it, what leaves it. Splits
/// have places of their own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Enter,
    Vanish,
    Leave,
    Split,
}

/// Plans the paths of a function; `limit` is the most it may have, as far as cutting edges helps.
pub(crate) fn plan(function: &Function, graph: &Graph, view: &view::Function<'_>, limit: u32) -> Result<PlannedPaths, String> {
    let cfg = function.cfg().map_err(|e| e.to_string())?;
    let weights = Weights { nodes: graph.weights.clone(), edges: graph.edges.iter().map(|edge| edge.weight).collect() };
    let numbering = PathNumbering::new(&cfg, &weights, &into_returns_twice(function, graph, view), u64::from(limit));
    let num_paths = u32::try_from(numbering.num_paths())
        .map_err(|_| format!("{} paths are left with all edges cut, more than can be counted", numbering.num_paths()))?;
    let cuts = numbering.cuts().iter().map(|cut| cut.index() as u32).collect();
    let plan = plan_paths(&cfg, &numbering);
    let mut steps: Vec<(Turn, IrPathStep)> = Vec::new();
    for ((id, edge), on_edge) in cfg.edge_ids().zip(&function.edges).zip(&plan.steps) {
        if on_edge.is_empty() {
            continue;
        }
        let (turn, kind, block, position) = place(id, edge, function, graph);
        steps.extend(on_edge.iter().map(|step| {
            let (what, value) = match *step {
                PathStep::Set(value) => (view::PATH_SET, value),
                PathStep::Add(value) => (view::PATH_ADD, value),
                PathStep::Count(Commit::At(value)) => (view::PATH_COUNT_AT, value),
                PathStep::Count(Commit::Behind(value)) => (view::PATH_COUNT_BEHIND, value),
            };
            (turn, IrPathStep { kind, block, position, what, value })
        }));
    }
    // Stable: the steps of one edge stay in their order.
    steps.sort_by_key(|(turn, _)| *turn);
    Ok(PlannedPaths { paths: Paths { num_paths, cuts }, steps: steps.into_iter().map(|(_, step)| step).collect() })
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

/// Where code on an edge stands.
fn place(id: EdgeId, edge: &Edge, function: &Function, graph: &Graph) -> (Turn, u32, u32, u32) {
    if let (EdgeKind::Vanish, Some(from)) = (edge.kind, edge.from) {
        let node = &graph.nodes[from as usize];
        let is_last = graph.nodes.get(from as usize + 1).is_none_or(|next| next.block != node.block);
        // A terminator that calls is the end of its block; other calls that end a node have the rest of the block behind them.
        return if is_last {
            (Turn::Leave, view::SITE_END, node.block, 0)
        } else {
            (Turn::Vanish, view::SITE_BEFORE, node.block, node.end - 1)
        };
    }
    let alone = |of: fn(&Edge) -> Option<u32>| function.edges.iter().filter(|other| of(other) == of(edge)).count() == 1;
    let only_phi = edge.kind.splitting() == Splitting::PhiOnly && !alone(|edge| edge.to) && !alone(|edge| edge.from);
    let site = if only_phi { CounterSite::PhiEdge(id) } else { CounterSite::Edge(id) };
    let site = ir_site(site, 0, function, graph);
    let turn = match (site.kind, edge.to) {
        (view::SITE_SPLIT, _) => Turn::Split,
        (view::SITE_END, _) => Turn::Leave,
        (_, None) => Turn::Vanish,
        (_, Some(_)) => Turn::Enter,
    };
    (turn, site.kind, site.block, site.position)
}
