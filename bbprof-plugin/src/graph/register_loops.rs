//! Which counters stand in registers while their loop runs.
//!
//! An increment of memory that waits for the one of the turn before takes some five cycles, more than a whole turn of a tight loop. In a register
//! it takes one, and none at all where the compiler finds another variable of the loop that tells the same. But whoever is killed
//! in the loop loses its turns, and each entry costs two instructions more: so it has to be asked for.

use super::Graph;
use crate::view;
use bbprof_flow::CounterSite;
use bbprof_format::manifest::Edge;

/// In longer loops other work hides the time of an increment.
const LARGEST: u32 = 20;
/// More counters than this would need the registers of the loop itself.
const MOST_COUNTERS: usize = 3;
/// Turns, measured or estimated, from which on a loop is worth two instructions more at its entry.
const LEAST_TURNS: u64 = 8;

/// For each of these counters, the loop of the view (position + 1) in a register of which it stands, or 0.
pub(crate) fn choose(view: &view::Function<'_>, graph: &Graph, sites: &[CounterSite]) -> Vec<u32> {
    let nodes = &graph.nodes;
    let mut chosen = vec![0; sites.len()];
    for (quiet, number) in view.quiet_loops.iter().zip(1..) {
        let blocks = view.blocks_of_loop(quiet);
        let is_inside = |node: Option<u32>| node.is_some_and(|node| blocks.contains(&nodes[node as usize].block));
        let edge = |position: usize| &graph.edges[position];
        let is_counted_inside = |site: &CounterSite| match *site {
            CounterSite::Node(node) => is_inside(Some(node.index() as u32)),
            CounterSite::Edge(id) => is_inside(edge(id.index()).from) && is_inside(edge(id.index()).to),
            // A phi may be fed from outside.
            CounterSite::PhiEdge(_) | CounterSite::BeforeLoop(_) => false,
        };
        let counters: Vec<usize> = (0..sites.len()).filter(|position| is_counted_inside(&sites[*position])).collect();
        if quiet.instructions > LARGEST || !(1..=MOST_COUNTERS).contains(&counters.len()) {
            continue;
        }
        let header = |node: Option<u32>| node.is_some_and(|node| nodes[node as usize].block == quiet.header);
        let enters = |edge: &&Edge| header(edge.to) && !is_inside(edge.from);
        let entries: u64 = graph.edges.iter().filter(enters).fold(0, |sum, edge| sum.saturating_add(edge.weight));
        let turns = nodes.iter().position(|node| node.block == quiet.header).map_or(0, |header| graph.weights[header]);
        if turns / LEAST_TURNS >= entries {
            counters.into_iter().for_each(|counter| chosen[counter] = number);
        }
    }
    chosen
}
