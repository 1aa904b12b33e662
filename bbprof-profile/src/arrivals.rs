//! How often control arrives at a set of nodes, and how often it turns in loops inside the set.
//!
//! A line's blocks are such a set: simply adding their counts would count a visit several times. The sum of the edges that enter
//! the set counts each visit once; a loop that stays in the set comes back without entering, so its turns are added: cycles of
//! positive flow are taken out one after the other, each with the count of its rarest edge (the rule of gcov's line counts).
//!
//! Nodes without anything of the source that control reaches from the set only belong to it ([`BlankRegions`]).
//!
//! Nodes that only pass control on (one way out, nothing of the source in them) are looked through: what comes into the set
//! by them arrives from where they got it.

use crate::blank::BlankRegions;
use crate::cycles::{Arc, cycle_flow, strongly_connected, walk};
use crate::loop_nest::LoopNest;
use bbprof_flow::Lists;
use bbprof_format::manifest::{Edge, EdgeKind, Node};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::{Range, RangeInclusive};

/// The flow of one function, by node.
#[derive(Debug)]
pub(crate) struct Flow {
    /// By node: the edges that enter it.
    entering: Lists<WayIn>,
    /// Whether every edge has a count.
    is_complete: bool,
    /// By node: where it leads, when it has one way out and that stays in the function.
    only_target: Vec<Option<u32>>,
    /// By node: whether no way out of it stays in the function, but for landing pads.
    leads_nowhere: Vec<bool>,
    /// By node: whether a way out of it is a loop's way back.
    goes_back: Vec<bool>,
    /// By node: whether it only passes control on, whichever set is asked for.
    is_passage: Vec<bool>,
    /// By node: whether it goes on behind a call that ended the node before it, in the same block.
    goes_on: Vec<bool>,
    /// By node: the cycles that it is in, by a number that all their nodes share.
    cycles_of: Vec<u32>,
    /// What `loops` is made of; see `Walk`.
    below: Vec<Range<u32>>,
    loops: OnceCell<LoopNest>,
    /// By node: the set it was last part of, and the one for which it was last a passage.
    member_of: Vec<u32>,
    passage_of: Vec<u32>,
    /// By node: the set for which it was last looked through.
    passed_in: Vec<u32>,
    set: u32,
    blank: BlankRegions,
}

/// How a node belongs to a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Belongs {
    /// With all that it does.
    Wholly,
    /// With what it does last.
    InPart,
}

/// A way on which control comes to a set of nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The node of the set to which it leads: `to`, or where that passes control on.
    pub(crate) at: u32,
    /// Whether its source and target are in a cycle.
    pub(crate) is_in_cycle: bool,
}

/// An edge into a node.
#[derive(Clone, Copy, Debug)]
struct WayIn {
    /// `None` = from outside the function.
    from: Option<u32>,
    /// Executions.
    count: u128,
    /// Whether it is a loop's way back, to a node that control came through on each way to where it comes from.
    is_back: bool,
}

impl Flow {
    /// The flow of this function.
    pub(crate) fn of(function: crate::view::FunctionView<'_>) -> Self {
        let manifest = function.manifest;
        let goes_on = going_on(&manifest.edges, manifest.nodes.len());
        // Behind a call on whose value control goes on: a jump on it may have the line of what comes next.
        let decides = |node: &Node| node.decided_before && node.num_instructions() == 1;
        let is_blank =
            manifest.nodes.iter().zip(goes_on).map(|(node, goes_on)| node.locations.is_empty() || (goes_on && decides(node)));
        Self::new(&is_blank.collect::<Vec<_>>(), &manifest.edges, &function.counts.edges)
    }

    /// `edges` and their `counts`, of a function whose nodes are `is_blank` when nothing of the source is in them.
    pub(crate) fn new(is_blank: &[bool], edges: &[Edge], counts: &[Option<i128>]) -> Self {
        let num_nodes = is_blank.len();
        let walk = walk(edges, num_nodes);
        // Edges into a node are never negative: only vanishing ones are, and they leave.
        let executions = |count: &Option<i128>| count.and_then(|count| u128::try_from(count).ok()).unwrap_or(0);
        let ways_in = edges.iter().zip(counts).zip(&walk.is_back).filter_map(|((edge, count), is_back)| {
            Some((edge.to? as usize, WayIn { from: edge.from, count: executions(count), is_back: *is_back }))
        });
        let is_complete = edges.iter().zip(counts).all(|(edge, count)| edge.to.is_none() || count.is_some());
        let mut goes_back = vec![false; num_nodes];
        for from in ways_in.clone().filter(|(_, way)| way.is_back).filter_map(|(_, way)| way.from) {
            goes_back[from as usize] = true;
        }
        let goes_on = going_on(edges, num_nodes);
        let mut ways_out = vec![0_u32; num_nodes];
        let mut only_target = vec![None; num_nodes];
        for edge in edges {
            if let Some(from) = edge.from {
                ways_out[from as usize] += 1;
                only_target[from as usize] = edge.to.filter(|_| ways_out[from as usize] == 1);
            }
        }
        let mut leads_nowhere = vec![true; num_nodes];
        for edge in edges.iter().filter(|edge| edge.to.is_some() && edge.kind != EdgeKind::Unwind) {
            if let Some(from) = edge.from {
                leads_nowhere[from as usize] = false;
            }
        }
        let blank = BlankRegions::of(is_blank, edges, counts);
        let is_passage = is_blank.iter().zip(&only_target).map(|(blank, target)| *blank && target.is_some()).collect();
        Self {
            entering: Lists::of(num_nodes, ways_in),
            is_complete,
            only_target,
            leads_nowhere,
            goes_back,
            is_passage,
            goes_on,
            cycles_of: strongly_connected(edges, num_nodes),
            below: walk.below,
            loops: OnceCell::new(),
            member_of: vec![0; num_nodes],
            passage_of: vec![0; num_nodes],
            passed_in: vec![0; num_nodes],
            set: 0,
            blank,
        }
    }

    /// Whether the count of every edge is known: without that, arrivals are not.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Where a node leads that has one way out.
    pub(crate) fn only_target(&self, node: u32) -> Option<u32> {
        self.only_target[node as usize]
    }

    /// Whether control does not go on from a node within the function, unless by an exception.
    pub(crate) fn leads_nowhere(&self, node: u32) -> bool {
        self.leads_nowhere[node as usize]
    }

    /// Whether the one way out of a node is a loop's way back.
    pub(crate) fn goes_back(&self, node: u32) -> bool {
        self.may_go_back(node) && self.only_target[node as usize].is_some()
    }

    /// Whether one of its ways out is.
    pub(crate) fn may_go_back(&self, node: u32) -> bool {
        self.goes_back[node as usize]
    }

    /// From where control comes to a node; `None` = from outside the function.
    pub(crate) fn sources(&self, node: u32) -> impl Iterator<Item = Option<u32>> {
        self.entering(node).iter().map(|way| way.from)
    }

    /// The same where it did so at least once.
    pub(crate) fn taken_from(&self, node: u32) -> impl Iterator<Item = Option<u32>> {
        self.entering(node).iter().filter(|way| way.count > 0).map(|way| way.from)
    }

    /// Whether control comes from one node to another by a loop's way back.
    pub(crate) fn is_way_back(&self, from: u32, to: u32) -> bool {
        self.entering(to).iter().any(|way| way.from == Some(from) && way.is_back)
    }

    /// In which of `nodes` (ascending; their indices) control may have been last where it is in `node`, which is none of them,
    /// on its way to `target`; `None` = perhaps in none. Where it left a loop that `target` is not in, and some of `nodes` are,
    /// it may have been in any of these: what is done once behind a loop, of all that its turns did, is done without a turn, too.
    pub(crate) fn last_in(&self, node: u32, target: u32, nodes: &[u32]) -> Option<Vec<usize>> {
        let in_none = |_| Vec::new();
        self.last_by_ways(node, nodes, in_none)
            .or_else(|| self.last_by_ways(node, nodes, |from| self.left_on_way(from, target, nodes)))
    }

    /// The same; `left` says in which of them it may have been last wherever it is in that node.
    fn last_by_ways(&self, node: u32, nodes: &[u32], left: impl Fn(u32) -> Vec<usize>) -> Option<Vec<usize>> {
        let mut last = BTreeSet::new();
        let mut seen = BTreeSet::from([node]);
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            let left = left(node);
            if !left.is_empty() {
                last.extend(left);
                continue;
            }
            let first = open.len();
            for from in self.taken_from(node) {
                match (from, nodes.binary_search(&from?)) {
                    (_, Ok(index)) => {
                        last.insert(index);
                    }
                    (Some(from), Err(_)) if seen.insert(from) => open.push(from),
                    _ => {}
                }
            }
            // Nodes are numbered from the function's first on: the lowest is most likely near it.
            open[first..].sort_unstable_by(|a, b| b.cmp(a));
        }
        Some(last.into_iter().collect())
    }

    /// Those of `nodes` (ascending; their indices) that are in a loop with `from`, which control leaves on its way to `target`.
    fn left_on_way(&self, from: u32, target: u32, nodes: &[u32]) -> Vec<usize> {
        let loops = self.loops.get_or_init(|| {
            LoopNest::new(&self.below, |node| self.entering(node).iter().filter_map(|way| Some((way.from?, way.is_back))))
        });
        let Some(head) = loops.left(from, target) else { return Vec::new() };
        (0..nodes.len()).filter(|index| loops.contains(head, nodes[*index])).collect()
    }

    /// Whether one of `nodes` (ascending) is in the loop that the way back from `last` closes.
    pub(crate) fn is_in_loop(&self, last: u32, nodes: &[u32]) -> bool {
        // Most jumps are all that their line has: a function of a thousand `goto`s has as
        // many loops, each of which may be nearly all of it.
        let Some(head) = self.only_target(last).filter(|_| !nodes.is_empty()) else { return false };
        let mut inside = BTreeSet::from([head, last]);
        let mut open = vec![last];
        while let Some(node) = open.pop() {
            if nodes.binary_search(&node).is_ok() {
                return true;
            }
            open.extend(self.entering(node).iter().filter_map(|way| way.from).filter(|from| inside.insert(*from)));
        }
        nodes.binary_search(&head).is_ok()
    }

    /// Adds to `nodes` all from which control comes there, but not by a loop's way back, where they `belong`; they say
    /// whether those before them are asked, too. Ascending.
    pub(crate) fn add_leading_to(&self, nodes: &mut Vec<u32>, belong: impl Fn(u32) -> Option<Belongs>) {
        let mut found: BTreeSet<u32> = nodes.iter().copied().collect();
        let mut open = nodes.clone();
        while let Some(node) = open.pop() {
            for from in self.entering(node).iter().filter(|way| !way.is_back).filter_map(|way| way.from) {
                let Some(belongs) = belong(from) else { continue };
                if found.insert(from) && belongs == Belongs::Wholly {
                    open.push(from);
                }
            }
        }
        *nodes = found.into_iter().collect();
    }

    /// The nodes of the node's block up to it, itself the last.
    pub(crate) fn block_up_to(&self, node: u32) -> RangeInclusive<u32> {
        // Nodes of a block follow each other.
        (0..=node).rev().find(|node| !self.goes_on[*node as usize]).unwrap_or(node)..=node
    }

    /// Whether control comes to a node from outside the function by a way on which none of `stops` is, but perhaps the node itself.
    pub(crate) fn is_reached_past(&self, node: u32, stops: &BTreeSet<u32>) -> bool {
        let mut seen = BTreeSet::from([node]);
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            let first = open.len();
            for way in self.entering(node) {
                match way.from {
                    None => return true,
                    Some(from) if !stops.contains(&from) && seen.insert(from) => open.push(from),
                    Some(_) => {}
                }
            }
            // Nodes are numbered from the function's first on: the lowest is most likely near it.
            open[first..].sort_unstable_by(|a, b| b.cmp(a));
        }
        false
    }

    /// The last node of the node's block.
    pub(crate) fn end_of_block(&self, node: u32) -> u32 {
        (node..).find(|node| !self.goes_on.get(*node as usize + 1).is_some_and(|goes_on| *goes_on)).unwrap_or(node)
    }

    /// Adds those `candidates` (ascending) to `nodes` whose blocks control reaches from `nodes` only, and with them what stands
    /// before them in their blocks.
    pub(crate) fn add_reached_only_from(&mut self, nodes: &mut Vec<u32>, candidates: &[u32]) {
        self.set += 1;
        for node in nodes.iter() {
            self.member_of[*node as usize] = self.set;
        }
        for candidate in candidates {
            let block = self.block_up_to(*candidate);
            let entering = self.entering(*block.start());
            let is_member = |from: Option<u32>| from.is_some_and(|from| self.member_of[from as usize] == self.set);
            if !entering.is_empty() && entering.iter().all(|way| is_member(way.from)) {
                for node in block {
                    self.member_of[node as usize] = self.set;
                    nodes.push(node);
                }
            }
        }
    }

    /// Adds the blank nodes that control reaches from `nodes` (ascending) only; returns them, ascending. Those that
    /// control comes to from elsewhere, too, belong to no line.
    pub(crate) fn add_blank_between(&self, nodes: &mut Vec<u32>) -> Vec<u32> {
        let mut added = self.blank.reached_only_from(nodes);
        added.sort_unstable();
        if !added.is_empty() {
            nodes.extend(&added);
            nodes.sort_unstable();
            nodes.dedup();
        }
        added
    }

    /// Executions of edges into `nodes` from elsewhere; `passages`, nodes with one way out, are looked through, too.
    pub(crate) fn arrivals(&mut self, nodes: &[u32], passages: &[u32]) -> u128 {
        self.arrivals_but(nodes, passages, &[], |_| false)
    }

    /// The same with ways into those of them that control leaves the set in and comes back in, `bodies`;
    /// and without those on which it `goes_on` with a visit.
    pub(crate) fn arrivals_but(
        &mut self,
        nodes: &[u32],
        passages: &[u32],
        bodies: &[u32],
        goes_on: impl Fn(Arrival) -> bool,
    ) -> u128 {
        self.set += 1;
        for node in nodes {
            self.member_of[*node as usize] = self.set;
        }
        for node in passages {
            self.passage_of[*node as usize] = self.set;
        }
        let mut arrivals = 0;
        // A passage has one way out, so each is met once, but for those that run in circles.
        let mut entered: Vec<(u32, u32)> = nodes.iter().map(|node| (*node, *node)).collect();
        while let Some((to, at)) = entered.pop() {
            for WayIn { from, count, .. } in self.entering.of_key(to as usize).iter().copied() {
                match from {
                    None => arrivals += count,
                    Some(from) if self.member_of[from as usize] == self.set && (from == to || !bodies.contains(&to)) => {}
                    Some(from) if self.is_passage[from as usize] || self.passage_of[from as usize] == self.set => {
                        if self.passed_in[from as usize] != self.set {
                            self.passed_in[from as usize] = self.set;
                            entered.push((from, at));
                        }
                    }
                    Some(from) => {
                        let is_in_cycle = self.cycles_of[from as usize] == self.cycles_of[to as usize];
                        if !goes_on(Arrival { from, to, at, is_in_cycle }) {
                            arrivals += count;
                        }
                    }
                }
            }
        }
        arrivals
    }

    /// Those of `nodes` (ascending) that control comes to from elsewhere.
    pub(crate) fn entered_from_elsewhere(&self, nodes: &[u32]) -> Vec<u32> {
        let is_elsewhere = |from: Option<u32>| from.is_none_or(|from| nodes.binary_search(&from).is_err());
        nodes.iter().copied().filter(|node| self.entering(*node).iter().any(|way| is_elsewhere(way.from))).collect()
    }

    /// Turns of the loops among `nodes` (ascending), but not of those whose edges all are `inner` ones, by source and target;
    /// nor of those on which control arrives anew at `bodies`.
    pub(crate) fn turns(&mut self, nodes: &[u32], bodies: &[u32], is_inner: impl Fn(u32, u32) -> bool) -> u128 {
        if let [node] = *nodes {
            let turns = self.entering(node).iter().filter(|way| way.from == Some(node)).map(|way| way.count);
            return if is_inner(node, node) { 0 } else { turns.sum() };
        }
        let mut arcs: Vec<Vec<Arc>> = vec![Vec::new(); nodes.len()];
        let mut inner_arcs: Vec<Vec<Arc>> = vec![Vec::new(); nodes.len()];
        for (to, node) in nodes.iter().enumerate() {
            for way in self.entering(*node) {
                let Some(source) = way.from else { continue };
                if let Ok(from) = nodes.binary_search(&source)
                    && way.count > 0
                    && (source == *node || !bodies.contains(node))
                {
                    let arcs = if is_inner(source, *node) { &mut inner_arcs } else { &mut arcs };
                    arcs[from].push(Arc { to, left: way.count });
                }
            }
        }
        if arcs.iter().all(Vec::is_empty) {
            return 0;
        }
        // Inner turns are taken out first; what they leave may be part of a longer loop.
        if inner_arcs.iter().any(|arcs| !arcs.is_empty()) {
            cycle_flow(&mut inner_arcs);
        }
        for (arcs, inner_arcs) in arcs.iter_mut().zip(inner_arcs) {
            arcs.extend(inner_arcs);
        }
        cycle_flow(&mut arcs)
    }

    fn entering(&self, node: u32) -> &[WayIn] {
        self.entering.of_key(node as usize)
    }
}

/// By node, whether it goes on behind a call, in the same block.
fn going_on(edges: &[Edge], num_nodes: usize) -> Vec<bool> {
    let mut goes_on = vec![false; num_nodes];
    for to in edges.iter().filter(|edge| edge.kind == EdgeKind::Return).filter_map(|edge| edge.to) {
        goes_on[to as usize] = true;
    }
    goes_on
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const NONE: fn(u32, u32) -> bool = |_, _| false;

    pub(crate) fn flow(num_nodes: usize, edges: &[(Option<u32>, Option<u32>, i128)]) -> Flow {
        let shape = |&(from, to, _): &(Option<u32>, Option<u32>, i128)| Edge {
            from,
            to,
            kind: EdgeKind::Branch,
            successor: 0,
            multiplicity: 1,
            weight: 0,
        };
        let counts: Vec<Option<i128>> = edges.iter().map(|edge| Some(edge.2)).collect();
        Flow::new(&vec![false; num_nodes], &edges.iter().map(shape).collect::<Vec<_>>(), &counts)
    }

    /// `for (i = 0; i < 10; i++)` on a line of its own: 0 initialises, 1 tests, 3 increments; 2 is the body, on another line.
    #[test]
    fn header_of_a_loop_counts_the_tests() {
        let mut flow = flow(
            5,
            &[
                (None, Some(0), 1),
                (Some(0), Some(1), 1),
                (Some(1), Some(2), 10),
                (Some(2), Some(3), 10),
                (Some(3), Some(1), 10),
                (Some(1), Some(4), 1),
            ],
        );
        assert_eq!(flow.arrivals(&[0, 1, 3], &[]) + flow.turns(&[0, 1, 3], &[], NONE), 11);
        assert_eq!(flow.arrivals(&[2], &[]), 10);
        assert_eq!(
            flow.arrivals(&[0, 1, 2, 3, 4], &[]) + flow.turns(&[0, 1, 2, 3, 4], &[], NONE),
            11,
            "the whole loop on one line"
        );
    }

    #[test]
    fn two_loops_through_one_node_are_both_counted() {
        let edges = [
            (None, Some(0), 1),
            (Some(0), Some(1), 7),
            (Some(1), Some(0), 7),
            (Some(0), Some(2), 5),
            (Some(2), Some(0), 5),
            (Some(0), Some(0), 3),
            (Some(0), None, 1),
        ];
        assert_eq!(flow(3, &edges).turns(&[0, 1, 2], &[], NONE), 15);
        assert_eq!(flow(3, &edges).turns(&[0], &[], NONE), 3);
    }

    /// The line of 0 and 3; 2 ends an `if` that began in 0 and has nothing but a jump. The body of the `if`, 1, is elsewhere.
    #[test]
    fn passages_are_looked_through() {
        let edges = [
            (None, Some(0), 10),
            (Some(0), Some(1), 4),
            (Some(0), Some(2), 6),
            (Some(1), Some(2), 4),
            (Some(2), Some(3), 10),
            (Some(3), None, 10),
        ];
        assert_eq!(flow(4, &edges).arrivals(&[0, 2, 3], &[]), 14);
        assert_eq!(flow(4, &edges).arrivals(&[0, 3], &[2]), 14, "4 come back from elsewhere");
        assert_eq!(flow(4, &edges).arrivals(&[0], &[2]), 10);
        assert_eq!(flow(4, &edges).arrivals(&[0, 3], &[]), 20);
    }

    /// 0 -> 1 (loops 6 times by itself) -> 0 again, 3 times: the line's own loop turns through the guest.
    #[test]
    fn inner_loops_are_not_turns() {
        let edges = [(None, Some(0), 1), (Some(0), Some(1), 4), (Some(1), Some(1), 6), (Some(1), Some(0), 3), (Some(1), None, 1)];
        assert_eq!(flow(2, &edges).turns(&[0, 1], &[], |from, to| from == 1 && to == 1), 3);
        assert_eq!(flow(2, &edges).turns(&[0, 1], &[], NONE), 9);
        assert_eq!(flow(2, &edges).turns(&[1], &[], |_, _| true), 0);
    }

    #[test]
    fn a_cycle_that_shares_its_rarest_edge_is_taken_once() {
        // 0 -> 1 -> {2, 3} -> 0: two cycles share 0 -> 1.
        let edges = [
            (None, Some(0), 1),
            (Some(0), Some(1), 9),
            (Some(1), Some(2), 4),
            (Some(1), Some(3), 5),
            (Some(2), Some(0), 4),
            (Some(3), Some(0), 4),
            (Some(3), None, 1),
        ];
        assert_eq!(flow(4, &edges).turns(&[0, 1, 2, 3], &[], NONE), 8);
    }
}
