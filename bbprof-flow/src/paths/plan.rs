//! What code does on which edge so that each path counts under its number: Ball and Larus 1996, figures 6 and 8; Ball 1994.
//!
//! The values of the numbering are moved to the chords of a maximum spanning tree, where they may be negative; a path's sum stays
//! the same, in 64 bits that wrap. Then the beginning `r = 0` sinks into the first chord, and the count `count[r]++` rises into the
//! last one, as far as nothing else can happen in between.
//!
//! Departure: arcs that leave ROOT to a vertex with other ways in, and arcs that enter EXIT from a vertex with other ways out,
//! carry a beginning or a count in any case, and a value on them costs nothing. They are offered to the tree last. Edges that
//! cannot be split are offered first, and neither beginnings sink onto them nor counts rise onto them: of the hundred targets of an
//! interpreter's jump no estimate knows the hot ones, and code would stand in all of them.
//!
//! Nothing is done in parts with obvious paths. Parts meet at ROOT and EXIT alone, so
//! what is done in the others is the same without them.

use super::arcs::{Arc, ArcKind, ROOT, Vertex};
use super::numbering::PathNumbering;
use crate::cfg::{Cfg, EdgeId, Splitting};
use crate::union_find::UnionFind;
use std::cmp::Reverse;

/// Which counter of a path: a constant, or the register and a constant. Sums wrap.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Commit {
    /// `count[c]`
    At(u64),
    /// `count[r + c]`
    Behind(u64),
}

/// One thing that code does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathStep {
    /// `r = c`
    Set(u64),
    /// `r += c`
    Add(u64),
    /// `count[..]++`
    Count(Commit),
}

/// What code does, by edge of the graph, in order. What is on a vanishing edge stands before the call that ends the node: it
/// counts all that reach the call, see [`PathNumbering::settle`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathPlan {
    /// By edge.
    pub steps: Vec<Vec<PathStep>>,
}

/// What an arc does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Action {
    Nothing,
    Set(u64),
    Add(u64),
    Count(Commit),
}

/// Plans the counting of numbered paths.
#[must_use]
pub fn plan_paths(cfg: &Cfg, numbering: &PathNumbering) -> PathPlan {
    let incoming = incoming(numbering);
    let hard = Hard::of(cfg, numbering);
    let increments = chord_increments(numbering, &incoming, &hard);
    let actions = actions(numbering, &incoming, &increments, &hard);
    let mut steps = vec![Vec::new(); cfg.num_edges()];
    let mut begins = vec![None; cfg.num_nodes()];
    let is_obvious = |vertex: Vertex| vertex != ROOT && vertex != numbering.exit() && numbering.is_obvious(vertex.node());
    for (arc, action) in numbering.arcs.iter().zip(&actions).filter(|(arc, _)| !is_obvious(arc.from) && !is_obvious(arc.to)) {
        match arc.what {
            ArcKind::Edge(edge) | ArcKind::End(edge) => steps[edge.index()].extend(step(*action)),
            ArcKind::Start(head) => begins[head.index()] = step(*action),
        }
    }
    for cut in numbering.cuts() {
        let head = cfg.edge(*cut).to.node().expect("cuts lead to nodes");
        steps[cut.index()].extend(begins[head.index()]);
    }
    PathPlan { steps }
}

/// Arcs of edges that cannot be split: code is kept off them.
struct Hard {
    /// By arc.
    arcs: Vec<bool>,
    /// By vertex: whether such an arc leaves it.
    leave: Vec<bool>,
    /// By vertex: whether such an arc enters it.
    enter: Vec<bool>,
}

impl Hard {
    fn of(cfg: &Cfg, numbering: &PathNumbering) -> Self {
        let is_hard = |edge: EdgeId| matches!(cfg.edge(edge).splitting, Splitting::Landing | Splitting::PhiOnly);
        let arcs: Vec<bool> = numbering.arcs.iter().map(|arc| matches!(arc.what, ArcKind::Edge(edge) if is_hard(edge))).collect();
        let mut hard = Self { arcs, leave: vec![false; numbering.num_vertices], enter: vec![false; numbering.num_vertices] };
        for (arc, is_hard) in numbering.arcs.iter().zip(&hard.arcs) {
            hard.leave[arc.from.index()] |= is_hard;
            hard.enter[arc.to.index()] |= is_hard;
        }
        hard
    }
}

fn step(action: Action) -> Option<PathStep> {
    match action {
        Action::Nothing => None,
        Action::Set(value) => Some(PathStep::Set(value)),
        Action::Add(value) => Some(PathStep::Add(value)),
        Action::Count(commit) => Some(PathStep::Count(commit)),
    }
}

/// The arcs into each vertex.
fn incoming(numbering: &PathNumbering) -> Vec<Vec<u32>> {
    let mut incoming = vec![Vec::new(); numbering.num_vertices];
    for (position, arc) in numbering.arcs.iter().enumerate() {
        incoming[arc.to.index()].push(position as u32);
    }
    incoming
}

/// By arc: its increment when it is a chord, else `None`.
fn chord_increments(numbering: &PathNumbering, incoming: &[Vec<u32>], hard: &Hard) -> Vec<Option<u64>> {
    let arcs = &numbering.arcs;
    let rank = |position: &u32| {
        let arc = &arcs[*position as usize];
        let alone = arc.from != ROOT && numbering.outgoing(arc.from).len() == 1
            || arc.to != numbering.exit() && incoming[arc.to.index()].len() == 1;
        let is_free = !alone && (arc.from == ROOT || arc.to == numbering.exit());
        (is_free, !hard.arcs[*position as usize], Reverse(arc.weight), *position)
    };
    let mut order: Vec<u32> = (0..arcs.len() as u32).collect();
    order.sort_by_cached_key(rank);
    let mut sets = UnionFind::new(numbering.num_vertices as u32);
    sets.union(numbering.exit().0, ROOT.0);
    let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); numbering.num_vertices];
    let mut in_tree = vec![false; arcs.len()];
    for position in order {
        let arc = &arcs[position as usize];
        if sets.union(arc.from.0, arc.to.0) {
            in_tree[position as usize] = true;
            neighbours[arc.from.index()].push(position);
            neighbours[arc.to.index()].push(position);
        }
    }
    let potentials = potentials(numbering, &neighbours);
    let increment = |(position, arc): (usize, &Arc)| {
        let moved = potentials[arc.from.index()].wrapping_sub(potentials[arc.to.index()]);
        (!in_tree[position]).then(|| arc.value.wrapping_add(moved))
    };
    arcs.iter().enumerate().map(increment).collect()
}

/// The sum of values along the tree from ROOT to each vertex; arcs taken backwards count negative, and EXIT is where ROOT is.
fn potentials(numbering: &PathNumbering, neighbours: &[Vec<u32>]) -> Vec<u64> {
    let mut potentials: Vec<Option<u64>> = vec![None; numbering.num_vertices];
    potentials[ROOT.index()] = Some(0);
    potentials[numbering.exit().index()] = Some(0);
    let mut pending = vec![ROOT, numbering.exit()];
    while let Some(vertex) = pending.pop() {
        let here = potentials[vertex.index()].expect("set before it is pending");
        for position in &neighbours[vertex.index()] {
            let arc = &numbering.arcs[*position as usize];
            let (other, there) =
                if arc.from == vertex { (arc.to, here.wrapping_add(arc.value)) } else { (arc.from, here.wrapping_sub(arc.value)) };
            if potentials[other.index()].is_none() {
                potentials[other.index()] = Some(there);
                pending.push(other);
            }
        }
    }
    // Vertices on no path have no arcs.
    potentials.into_iter().map(Option::unwrap_or_default).collect()
}

fn actions(numbering: &PathNumbering, incoming: &[Vec<u32>], increments: &[Option<u64>], hard: &Hard) -> Vec<Action> {
    let arcs = &numbering.arcs;
    let mut actions = vec![Action::Nothing; arcs.len()];
    let mut pending = vec![ROOT];
    while let Some(vertex) = pending.pop() {
        for position in numbering.outgoing(vertex) {
            let to = arcs[position].to;
            let sinks = to != numbering.exit() && incoming[to.index()].len() == 1 && !hard.leave[to.index()];
            match increments[position] {
                Some(increment) => actions[position] = Action::Set(increment),
                None if sinks => pending.push(to),
                None => actions[position] = Action::Set(0),
            }
        }
    }
    pending.push(numbering.exit());
    while let Some(vertex) = pending.pop() {
        for position in incoming[vertex.index()].iter().map(|position| *position as usize) {
            let from = arcs[position].from;
            let rises = from != ROOT && numbering.outgoing(from).len() == 1 && !hard.enter[from.index()];
            actions[position] = match (actions[position], increments[position]) {
                (Action::Set(value), _) => Action::Count(Commit::At(value)),
                (_, Some(increment)) => Action::Count(Commit::Behind(increment)),
                (_, None) if rises => {
                    pending.push(from);
                    continue;
                }
                (_, None) => Action::Count(Commit::Behind(0)),
            };
        }
    }
    for (action, increment) in actions.iter_mut().zip(increments) {
        if let (Action::Nothing, Some(increment)) = (*action, increment)
            && *increment != 0
        {
            *action = Action::Add(*increment);
        }
    }
    actions
}
