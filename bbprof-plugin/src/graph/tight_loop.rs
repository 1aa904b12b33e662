//! A tight loop of the view, in the graph.

use super::Graph;
use crate::view::{self, TightLoop};
use bbprof_flow::CounterSite;
use bbprof_format::manifest::Edge;
use rustc_hash::FxHashSet;

/// The nodes of a tight loop, and what enters it.
pub(super) struct InGraph<'g> {
    graph: &'g Graph,
    blocks: FxHashSet<u32>,
    header: u32,
}

impl<'g> InGraph<'g> {
    pub(super) fn of(view: &view::Function<'_>, graph: &'g Graph, tight_loop: &TightLoop) -> Self {
        Self { graph, blocks: view.blocks_of_loop(tight_loop).iter().copied().collect(), header: tight_loop.header }
    }

    fn contains(&self, node: u32) -> bool {
        self.blocks.contains(&self.graph.nodes[node as usize].block)
    }

    fn stays_inside(&self, edge: &Edge) -> bool {
        edge.from.is_some_and(|from| self.contains(from)) && edge.to.is_some_and(|to| self.contains(to))
    }

    /// The first node of the header.
    fn begins_at(&self, node: u32) -> bool {
        let span = &self.graph.nodes[node as usize];
        span.block == self.header && span.begin == 0
    }

    /// Whether a counter there is incremented in the loop.
    pub(super) fn counts(&self, site: &CounterSite) -> bool {
        match *site {
            CounterSite::Node(node) => self.contains(node.index() as u32),
            CounterSite::Edge(id) => self.stays_inside(&self.graph.edges[id.index()]),
            // A phi may be fed from outside.
            CounterSite::PhiEdge(_) | CounterSite::BeforeLoop(_) => false,
        }
    }

    /// How often control comes into the loop.
    pub(super) fn entries(&self) -> u64 {
        let enters = |edge: &&Edge| edge.to.is_some_and(|to| self.begins_at(to)) && !self.stays_inside(edge);
        self.graph.edges.iter().filter(enters).fold(0, |sum, edge| sum.saturating_add(edge.weight))
    }

    /// How often a counter there is incremented.
    pub(super) fn executions(&self, site: &CounterSite) -> u64 {
        match *site {
            CounterSite::Node(node) => self.graph.weights[node.index()],
            CounterSite::Edge(id) | CounterSite::PhiEdge(id) | CounterSite::BeforeLoop(id) => self.graph.edges[id.index()].weight,
        }
    }

    /// Whether each turn of the loop, from its header to its header, increments a counter there.
    pub(super) fn is_in_each_turn(&self, site: &CounterSite) -> bool {
        let is_site = |node: u32| matches!(*site, CounterSite::Node(counted) if counted.index() as u32 == node);
        let Some(header) = (0..self.graph.nodes.len() as u32).find(|node| self.begins_at(*node)) else { return false };
        let (mut reached, mut waiting) = (FxHashSet::default(), vec![header]);
        while let Some(node) = waiting.pop() {
            if is_site(node) {
                continue;
            }
            for (position, edge) in self.graph.edges.iter().enumerate().filter(|(_, edge)| edge.from == Some(node)) {
                let is_counted = matches!(*site, CounterSite::Edge(id) if id.index() == position);
                if is_counted || !self.stays_inside(edge) {
                    continue;
                }
                let to = edge.to.expect("an edge inside leads somewhere");
                if to == header {
                    return false;
                }
                if reached.insert(to) {
                    waiting.push(to);
                }
            }
        }
        true
    }
}
