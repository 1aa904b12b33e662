//! Counters of paths that are no flow because activations were interrupted for ever: each
//! went into a path at a head, and never came to its end.
//!
//! Then more executions come to some heads than paths begin there, and nowhere fewer. An activation interrupted on its first path
//! leaves no trace. In parts with obvious paths edges are counted, which tell of interruptions as they do without paths.

use crate::interrupted::{Explained, loops_in_words};
use crate::path_counters::PathCounters;
use bbprof_flow::{NodeId, ObviousGraph, Solution};
use bbprof_format::manifest::{EdgeKind, Function};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What was interrupted; `None` when interruptions do not explain the counters. The counts are those of all paths that came to
/// their ends, and of the heads behind which others did not.
pub(crate) fn explain(counters: &PathCounters<'_>) -> Option<Explained> {
    let function = counters.function;
    let numbering = function.path_numbering()?.ok()?;
    let cfg = function.cfg().ok()?;
    let (mut paths, mut edges) = counters.settled(&numbering).ok()?;
    let graph = ObviousGraph::new(&cfg, &numbering);
    let (obvious, solution) = graph.solve_interrupted(&counters.sites(), counters.of_sites, &mut edges)?;
    let is_obvious = |node: usize| numbering.is_obvious(NodeId::new(node as u32));
    let mut nodes = vec![0_i128; function.nodes.len()];
    for (edge, count) in function.edges.iter().zip(&edges) {
        if let Some(to) = edge.to {
            nodes[to as usize] += count;
        }
        if edge.kind != EdgeKind::Vanish && *count < 0 {
            return None;
        }
    }
    for (node, count) in solution.nodes.iter().enumerate().filter(|(node, _)| is_obvious(*node)) {
        nodes[node] = i128::from(*count);
    }
    let mut surplus = vec![0_i128; function.nodes.len()];
    for (edge, count) in function.edges.iter().zip(&edges) {
        if let Some(from) = edge.from {
            surplus[from as usize] -= count;
        }
        if let Some(to) = edge.to {
            surplus[to as usize] += count;
        }
    }
    let interrupted: i128 = surplus.iter().sum();
    if interrupted == 0 || surplus.iter().any(|surplus| *surplus < 0) {
        return None;
    }
    let cuts = function.paths.as_ref().map_or(&[][..], |paths| &paths.cuts);
    let behind = surplus.iter().enumerate().map(|(node, surplus)| *surplus > 0 && !is_obvious(node)).collect();
    let mut blocks: BTreeSet<u32> = blocks_behind(function, cuts, behind).into_iter().collect();
    blocks.extend(obvious.places_of_least.iter().map(|place| function.nodes[place.node.index()].block));
    let blocks: Vec<u32> = blocks.into_iter().collect();
    paths.extend(numbering.obvious_counts(&cfg, &edges));
    let mut words = match interrupted {
        1 => "an activation was interrupted in it".to_owned(),
        many => format!("{many} activations were interrupted in it"),
    };
    let listed = blocks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let loops = loops_in_words(function);
    write!(words, ", in or on the way into block {listed}; each of its counts may be as many off{loops}")
        .expect("a String takes all");
    let nodes = nodes.into_iter().map(u64::try_from).collect::<Result<_, _>>().ok()?;
    let solution = Solution { nodes, edges: edges.into_iter().map(Some).collect() };
    Some(Explained { words, blocks, solution, paths: Some(paths) })
}

/// The blocks of the paths that begin at these nodes.
fn blocks_behind(function: &Function, cuts: &[u32], mut seen: Vec<bool>) -> Vec<u32> {
    let mut pending: Vec<u32> = (0..).zip(&seen).filter(|(_, seen)| **seen).map(|(node, _)| node).collect();
    let mut outgoing = vec![Vec::new(); function.nodes.len()];
    for (position, edge) in (0..).zip(&function.edges) {
        if let (Some(from), Some(to), Err(_)) = (edge.from, edge.to, cuts.binary_search(&position)) {
            outgoing[from as usize].push(to);
        }
    }
    while let Some(node) = pending.pop() {
        for to in &outgoing[node as usize] {
            if !std::mem::replace(&mut seen[*to as usize], true) {
                pending.push(*to);
            }
        }
    }
    let mut blocks: Vec<u32> = function.nodes.iter().zip(seen).filter(|(_, seen)| *seen).map(|(node, _)| node.block).collect();
    blocks.dedup();
    blocks
}
