//! Loops that the optimiser turned: their condition stands in front of them and, once more, at their end.
//!
//! Both have code of the condition's line. Control that goes from the first to the second has left the line for the loop's body,
//! although that may be part of the node in which it comes back.

use crate::arrivals::Flow;
use crate::line_parts::{Instance, instance, lines_within};
use crate::view::FunctionView;
use bbprof_format::manifest::LocationId;

/// Those of `nodes` (ascending), all with code that `is_own`, at whose end a loop decides where another of them decides, too, and
/// in which control leaves what is own and comes back: they begin with other code; or they are the whole loop, and have other code,
/// or a jump that `is_own_jump`: all of the loop is on the condition's line.
pub(crate) fn bodies(
    function: FunctionView<'_>,
    flow: &Flow,
    nodes: &[u32],
    is_own: impl Fn(LocationId) -> bool,
    is_own_jump: impl Fn(LocationId) -> bool,
) -> Vec<u32> {
    if !nodes.iter().any(|node| flow.may_go_back(*node)) {
        return Vec::new();
    }
    let place = |node: u32| -> Option<(Instance, u32)> {
        let last = function.manifest.nodes[node as usize].last_location.filter(|_| flow.only_target(node).is_none())?;
        let location = function.module.location(last);
        Some((instance(location), location.column))
    };
    let mut places: Vec<(Instance, u32)> = nodes.iter().filter_map(|node| place(*node)).collect();
    places.sort_unstable();
    let decides_again = |node: u32| {
        place(node).is_some_and(|place| {
            let first = places.partition_point(|other| *other < place);
            places.get(first + 1) == Some(&place)
        })
    };
    let leaves = |position: u32| {
        let node = &function.manifest.nodes[position as usize];
        let is_own = |index: usize| node.locations.get(index).is_none_or(|(id, _)| is_own(*id));
        let is_loop = || flow.sources(position).any(|from| from == Some(position));
        let has_others = || (0..node.locations.len()).any(|index| !is_own(index));
        !is_own(0) || (is_loop() && (has_others() || node.last_location.is_some_and(&is_own_jump)))
    };
    nodes.iter().copied().filter(|node| flow.may_go_back(*node) && decides_again(*node) && leaves(*node)).collect()
}

/// Whether a node that is a loop by itself begins with lines behind this one, as the body of a loop does whose condition was turned
/// to its end: control comes there from the condition that is in front of the loop, and comes back.
pub(crate) fn is_body_before(function: FunctionView<'_>, flow: &Flow, node: u32, own: Instance) -> bool {
    flow.sources(node).any(|from| from == Some(node)) && lines_within(function, node, own).next().is_some_and(|first| first > own.2)
}
