//! Inlined copies: which nodes of a function of the program hold code of which source function, inlined at which place.

use crate::arrivals::Flow;
use crate::line_parts::Instance;
use crate::parted::{Place, WaysOn};
use crate::turned;
use crate::view::FunctionView;
use bbprof_format::manifest::{Location, LocationId, Scope};
use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

/// That of a function's own code. Debug information goes by the name that the function
/// had before ThinLTO or a specialisation renamed it.
pub(crate) fn own_scope(function: FunctionView<'_>) -> Scope {
    let first = function.manifest.nodes.iter().flat_map(|node| &node.locations).next();
    let outermost = first.and_then(|(id, _)| function.module.inline_chain(*id).last());
    (outermost.map_or(function.manifest.symbol, |location| location.function), None)
}

/// An inlined copy.
#[derive(Debug)]
pub(crate) struct InlinedCopy<'p> {
    /// The first location met of it.
    pub(crate) location: &'p Location,
    /// Nodes with its code, or with code inlined into it; ascending.
    pub(crate) nodes: Vec<u32>,
    /// The last line of its function, in the file where that begins, that has code here.
    pub(crate) last_line: u32,
}

impl InlinedCopy<'_> {
    /// File and line where its function begins; `None` = not known.
    pub(crate) fn first_line(&self) -> Option<Instance> {
        let Location { function, inlined_at, function_file, function_line, .. } = *self.location;
        (function_line > 0).then_some(((function, inlined_at), function_file, function_line))
    }

    /// How often it was executed: arrivals at its nodes but by `ways_on`, and the turns
    /// of loops around it, of which nothing else may be left.
    pub(crate) fn executions(&self, function: FunctionView<'_>, flow: &mut Flow, ways_on: Option<&WaysOn>) -> u128 {
        if !flow.is_complete() {
            return crate::visits::hottest(function, &self.nodes);
        }
        let scope = self.location.scope();
        let is_own = |location: &Location| location.scope() == scope;
        let mut nodes = self.nodes.clone();
        let blank = flow.add_blank_between(&mut nodes);
        let is_blank = |node: u32| blank.binary_search(&node).is_ok();
        // Nothing is known of what is blank: control that comes from there to where it comes from elsewhere,
        // too, begins an execution; else it goes on with one.
        let begins = flow.entered_from_elsewhere(&nodes);
        let goes_on = |to: u32| is_blank(to) || begins.binary_search(&to).is_err();
        let is_inner = |from, to| if is_blank(from) { goes_on(to) } else { is_within(function, from, is_own) };
        let is_within = |id| function.module.inline_chain(id).any(is_own);
        let bodies = turned::bodies(function, flow, &self.nodes, is_within, |_| false);
        flow.arrivals_but(&nodes, &[], &bodies, |way| ways_on.is_some_and(|ways| ways.contains(way.from, way.to)))
            + flow.turns(&nodes, &bodies, is_inner)
    }
}

/// Whether all that is known of the node's code stands in places like this, or in what is inlined there. A loop of such nodes is
/// one of the function that is inlined; a loop around it has code of others.
pub(crate) fn is_within(function: FunctionView<'_>, node: u32, is_place: impl Fn(&Location) -> bool) -> bool {
    let node = &function.manifest.nodes[node as usize];
    let mut own = node.locations.iter().map(|(id, _)| *id).chain(node.last_location);
    own.all(|id| function.module.inline_chain(id).any(&is_place))
}

/// All inlined copies in a function; a copy holds what is inlined into it.
pub(crate) fn inlined_copies(function: FunctionView<'_>) -> BTreeMap<Scope, InlinedCopy<'_>> {
    let mut copies: BTreeMap<Scope, InlinedCopy<'_>> = BTreeMap::new();
    for (position, node) in (0..).zip(&function.manifest.nodes) {
        for (id, _) in &node.locations {
            let mut location = function.module.location(*id);
            while let Some(outer) = location.inlined_at {
                let scope = location.scope();
                let copy = copies.entry(scope).or_insert_with(|| InlinedCopy { location, nodes: Vec::new(), last_line: 0 });
                if location.file == location.function_file {
                    copy.last_line = copy.last_line.max(location.line);
                }
                if copy.nodes.last() != Some(&position) {
                    copy.nodes.push(position);
                }
                location = function.module.location(outer);
            }
        }
    }
    copies
}

/// Ways on which control comes to copies from elsewhere and goes on with an execution, where there are any.
pub(crate) fn ways_on(
    function: FunctionView<'_>,
    flow: &Flow,
    copies: &BTreeMap<Scope, InlinedCopy<'_>>,
) -> BTreeMap<Scope, WaysOn> {
    let mut ways_on = BTreeMap::new();
    let copies: Vec<(&Scope, &InlinedCopy<'_>)> = copies.iter().collect();
    for copies in copies.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
        let (common, own): (Vec<_>, Vec<_>) = copies.iter().copied().partition(|(scope, _)| is_common(function, **scope));
        let mut gone_on = BTreeSet::new();
        for &copy in copies {
            let is_common = is_common(function, *copy.0);
            let others: &[_] = if is_common { &own } else { &[] };
            let is_of_same = |(scope, _): &&(&Scope, &InlinedCopy<'_>)| may_be_common(function, **scope, *copy.0);
            let parts: Vec<_> = common.iter().chain(others).filter(is_of_same).chain(Some(&copy)).copied().collect();
            let mut ways = ways_on_to(function, flow, copy.1, &parts);
            if !is_common {
                ways.leave_to_first(&mut gone_on);
            }
            if !ways.is_empty() {
                ways_on.insert(*copy.0, ways);
            }
        }
    }
    ways_on
}

/// Whether a copy holds what several had in common, and the optimiser merged: LLVM knows
/// no line for the calls in which they differ.
fn is_common(function: FunctionView<'_>, (_, call): Scope) -> bool {
    call.is_some_and(|call| function.module.inline_chain(call).any(|call| call.line == 0))
}

/// Whether two copies may have code in common: their functions were called by the same ones, at lines that may be the same.
pub(crate) fn may_be_common(function: FunctionView<'_>, (_, one): Scope, (_, other): Scope) -> bool {
    let calls = |call: Option<LocationId>| call.into_iter().flat_map(|call| function.module.inline_chain(call));
    let (mut one, mut other) = (calls(one), calls(other));
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(one), Some(other)) if one.function == other.function => {
                let is_known = one.line > 0 && other.line > 0;
                if is_known && one.line != other.line {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Those to one copy. Its executions may have begun in these `parts` of copies of the same function, itself among them.
fn ways_on_to(function: FunctionView<'_>, flow: &Flow, copy: &InlinedCopy<'_>, parts: &[(&Scope, &InlinedCopy<'_>)]) -> WaysOn {
    let chain = |id| function.module.inline_chain(id);
    // Of most copies nothing more is asked.
    let scopes: LazyCell<BTreeSet<Scope>, _> = LazyCell::new(|| parts.iter().map(|(scope, _)| **scope).collect());
    let is_of_parts = |location: &Location| scopes.contains(&location.scope());
    let within = |id, opcode| {
        let depth = chain(id).position(is_of_parts)?;
        let place = |location: &Location| (location.function, location.file, location.line, location.column);
        let is_address = function.module.string(opcode) == "getelementptr";
        Some(Place { chain: chain(id).take(depth + 1).map(place).collect(), opcode, is_address })
    };
    let nodes = match parts {
        [_] => Cow::Borrowed(&copy.nodes),
        _ => Cow::Owned(BTreeSet::from_iter(parts.iter().flat_map(|(_, part)| &part.nodes).copied()).into_iter().collect()),
    };
    WaysOn::to_copy(flow, &copy.nodes, &nodes, |node| {
        function.manifest.nodes[node as usize].located_opcodes().filter_map(|(id, opcode)| within(id, opcode)).collect()
    })
}
