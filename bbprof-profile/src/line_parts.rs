//! What nodes have of a line: its code, only a jump, or what leads to it.

use crate::arrivals::{Belongs, Flow};
use crate::view::FunctionView;
use bbprof_format::manifest::{Location, LocationId, Scope, StringId};

/// A line of a file, in this scope.
pub(crate) type Instance = (Scope, StringId, u32);

/// What a node has of a line; the first that applies.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    /// Code.
    Code,
    /// Nothing but the jump that ends the node. Compilers put the end of an `if` at the line of the `if`, and the test of
    /// `a &&` at the line of what follows: no visit, unless the line has nothing else (`break;`).
    Jump,
    /// The same where the jump is a loop's way back: code, unless the line computes something in the loop. At the
    /// end of a loop's body it may be the end of an `if`, too.
    Turn,
    /// Code that the line's call brought in by inlining.
    Guest,
}

/// The instance of a line that a location belongs to.
pub(crate) fn instance(location: &Location) -> Instance {
    (location.scope(), location.file, location.line)
}

/// The location of the jump that ends a node, when no other instruction of the node has it; and whether it
/// is a loop's way back. Such jumps are code where they decide on what was computed earlier, and where
/// they decide and their block has nothing else of the source.
pub(crate) fn jump(function: FunctionView<'_>, flow: &Flow, position: u32) -> Option<(LocationId, Part)> {
    let nodes = &function.manifest.nodes;
    let node = &nodes[position as usize];
    let branches = |(opcode, _): &(StringId, u32)| function.module.string(*opcode) == "br";
    let is_alone = || flow.block_up_to(position).map(|node| nodes[node as usize].locations.len()).sum::<usize>() == 1;
    let is_code = match flow.only_target(position) {
        Some(_) => false,
        None => !node.decided_before || is_alone(),
    };
    let last = node.last_location.filter(|_| !is_code && node.opcodes.last().is_some_and(branches))?;
    let part = if flow.goes_back(position) { Part::Turn } else { Part::Jump };
    node.locations.contains(&(last, 1)).then_some((last, part))
}

/// Whether a node has nothing of the line but the jump that ends it.
pub(crate) fn only_jumps(function: FunctionView<'_>, own: Instance, position: u32) -> bool {
    let node = &function.manifest.nodes[position as usize];
    let is_own = |id: LocationId| instance(function.module.location(id)) == own;
    let instructions: u32 = node.locations.iter().filter(|(id, _)| is_own(*id)).map(|(_, number)| *number).sum();
    instructions == 1 && node.last_location.is_some_and(is_own)
}

/// Whether a node that only jumps is a statement (`break`, `continue`, `goto`) behind a condition on several lines, of which the
/// last is its own: control comes there from decisions only, on its line and on some before. It comes to the end of an `if` from an
/// arm, or from lines that are behind the first; to that of a loop, which may have the line of the body's end, from its head.
pub(crate) fn leaves(function: FunctionView<'_>, flow: &Flow, node: u32, (scope, file, line): Instance) -> bool {
    let lines = |node: u32| {
        let ids = function.manifest.nodes[node as usize].locations.iter().map(|(id, _)| function.module.location(*id));
        ids.filter(|location| location.scope() == scope && location.file == file).map(|location| location.line)
    };
    let decides = |from: Option<u32>| from.filter(|from| flow.only_target(*from).is_none());
    let mut sources = flow.sources(node);
    let (mut from_here, mut from_before) = (false, false);
    sources.all(|from| {
        let Some(from) = decides(from) else { return false };
        from_here |= lines(from).any(|found| found == line);
        from_before |= lines(from).any(|found| found < line);
        lines(from).all(|found| found <= line)
    }) && from_here
        && from_before
}

/// Whether a node has code on lines behind this one, of the same function or of what is inlined there; wholly if it has no code
/// before it. So it is where it jumps by what was computed there.
pub(crate) fn stands_behind(function: FunctionView<'_>, flow: &Flow, node: u32, own: Instance) -> Option<Belongs> {
    let computes = |node: u32| match (lines_within(function, node, own).min()?, lines_within(function, node, own).max()?) {
        (_, last) if last <= own.2 => None,
        (first, _) if first < own.2 => Some(Belongs::InPart),
        _ => Some(Belongs::Wholly),
    };
    let jumps =
        || only_jumps(function, own, node) && flow.sources(node).all(|from| from.is_some_and(|from| computes(from).is_some()));
    computes(node).or_else(|| jumps().then_some(Belongs::Wholly))
}

/// At which lines of its function and file an instance's line is called from, or stands
/// beside, in a node, in their order: 0 is what is elsewhere.
pub(crate) fn lines_within(function: FunctionView<'_>, node: u32, own: Instance) -> impl Iterator<Item = u32> {
    let node = &function.manifest.nodes[node as usize];
    node.locations.iter().map(|(id, _)| *id).chain(node.last_location).map(move |id| line_within(function, id, own))
}

/// The same of one location.
pub(crate) fn line_within(function: FunctionView<'_>, id: LocationId, (scope, file, _): Instance) -> u32 {
    let mut places = function.module.inline_chain(id);
    let own = places.find(|location| location.scope() == scope && location.file == file);
    own.map_or(0, |location| location.line)
}
