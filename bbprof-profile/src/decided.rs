//! Jumps that are left of decisions.
//!
//! Where it is known how a decision ends (`rc = 0; ... if( rc )` behind one of two arms), the optimiser jumps past it (jump
//! threading). Of the line that decides, such a way has nothing but that jump; it has executed the line all the same.

use crate::arrivals::Flow;
use crate::line_parts::{Instance, instance};
use crate::view::FunctionView;
use std::collections::BTreeSet;

/// Those `jumps` (ascending) of an instance of a line that stand for a decision of it: the line decides at the same place
/// elsewhere, be it in a node that visits the line (`visited`, ascending) or in one that only jumps, and control came there neither
/// through that nor is it on its way there. Behind decisions stands what ends an arm of a `?:`, before them what leads into a loop.
pub(crate) fn decided(function: FunctionView<'_>, own: Instance, visited: &[u32], jumps: &[u32], flow: &Flow) -> Vec<u32> {
    let decides = |node: &u32| flow.only_target(*node).is_none();
    let mut decided: Vec<u32> = jumps.iter().copied().filter(|node| !decides(node)).collect();
    if decided.is_empty() {
        return decided;
    }
    let column = |node: u32| {
        let last = function.manifest.nodes[node as usize].last_location?;
        let location = function.module.location(last);
        (instance(location) == own).then_some(location.column)
    };
    let deciding: BTreeSet<u32> = visited.iter().chain(jumps).copied().filter(decides).collect();
    let columns: BTreeSet<u32> = deciding.iter().copied().filter_map(column).collect();
    decided.retain(|node| column(*node).is_some_and(|column| columns.contains(&column)));
    let is_own = |node: u32| visited.binary_search(&node).is_ok() || deciding.contains(&node);
    let leads_there = |jump: u32| {
        let mut way = flow.only_target(jump);
        // Jumps that lead to each other in a circle lead nowhere else.
        for _ in 0..=jumps.len() {
            let Some(target) = way else { return false };
            let last = flow.end_of_block(target);
            if (target..=last).any(is_own) {
                return true;
            }
            way = flow.only_target(last).filter(|_| jumps.binary_search(&last).is_ok());
        }
        true
    };
    decided.retain(|node| !leads_there(*node));
    let stops: BTreeSet<u32> = deciding.iter().chain(visited).chain(&decided).copied().collect();
    decided.retain(|node| flow.is_reached_past(*node, &stops));
    decided
}
