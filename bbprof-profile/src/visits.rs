//! How often control came to a line.
//!
//! An *instance* of a line is the line in one function of the program, or in one inlined copy of its source function (the
//! inlined-at chain tells copies apart). Its count is the number of times control arrives at it: the executions of edges that
//! enter its nodes from elsewhere, and the turns of loops that stay on it. A line's count is the sum over its instances.
//! Several blocks on a line (`a && b`, a `for` header) are thus counted once a visit, as gcov does. The line of a function's
//! definition counts its entries. Inlined code counts at its own source line; the line that calls it is visited while it
//! runs, so it counts once, whatever remains of the call. While control is in nodes of which no source line is known, it has not left the line.
//!
//! A node that has nothing of a line but the jump at its end does not visit it ([`Part::Jump`]).
//!
//! Measured at -O0 on the 47,098 lines of SQLite 3.51 that gcc 12's gcov lists, too: 81 have another count there. 68 of them have this one in clang's gcov (the
//! head of a `for (;;)`, parts of a `&&`, a `?:` or a `break` that the two put on different lines); 13 in neither: mostly calls whose arguments are
//! on several lines, which gcov counts twice, and lines that begin with a `&&`.

use crate::arrivals::Flow;
use crate::scopes::{Scope, is_within};
use crate::view::FunctionView;
use bbprof_format::manifest::{EdgeKind, Function, Location, LocationId, StringId};

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
    /// Code that the line's call brought in by inlining.
    Guest,
}

/// A node that is part of an instance of a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) instance: Instance,
    pub(crate) node: u32,
    pub(crate) part: Part,
    /// Executed instructions.
    pub(crate) executed: u128,
}

/// The instance of a line that a location belongs to.
pub(crate) fn instance(location: &Location) -> Instance {
    ((location.function, location.inlined_at), location.file, location.line)
}

/// Counts visits to lines of one function.
pub(crate) struct Visits<'p> {
    function: FunctionView<'p>,
    /// By node, whether control reaches it through landing pads only.
    is_behind_pads: Vec<bool>,
    nodes: NodeSet,
}

/// The nodes of one instance of a line, ascending.
#[derive(Default)]
struct NodeSet {
    /// Those with its code, or with code of callees that are inlined there.
    visited: Vec<u32>,
    /// Those of them that only have code of callees.
    guests: Vec<u32>,
    /// Those that jump.
    jumps: Vec<u32>,
    /// Those that do nothing else.
    passages: Vec<u32>,
}

impl NodeSet {
    fn take(&mut self, places: &[Place], manifest: &Function) {
        for list in [&mut self.visited, &mut self.guests, &mut self.jumps, &mut self.passages] {
            list.clear();
        }
        for place in places.chunk_by(|a, b| a.node == b.node) {
            self.add(place[0].node, place[0].part, manifest);
        }
    }

    fn add(&mut self, node: u32, part: Part, manifest: &Function) {
        match part {
            Part::Code => self.visited.push(node),
            Part::Guest => {
                self.visited.push(node);
                self.guests.push(node);
            }
            Part::Jump => {
                self.jumps.push(node);
                if manifest.nodes[node as usize].num_instructions() == 1 {
                    self.passages.push(node);
                }
            }
        }
    }
}

impl<'p> Visits<'p> {
    pub(crate) fn to_lines_of(function: FunctionView<'p>) -> Self {
        Self { function, is_behind_pads: behind_landing_pads(function.manifest), nodes: NodeSet::default() }
    }

    /// How often control came to the line of these `places`, turns of its loops included, but not those of loops within guests. They are all of one instance, by
    /// node. On the `first_line` of a function, compilers have what goes on with an exception: no visit.
    pub(crate) fn count(&mut self, places: &[Place], first_line: bool, flow: &mut Flow) -> u128 {
        let (function, own) = (self.function, places[0].instance);
        self.nodes.take(places, function.manifest);
        if first_line {
            self.nodes.visited.retain(|node| !self.is_behind_pads[*node as usize]);
        }
        let by_jumps = self.visiting_jumps(own, flow);
        let nodes = &self.nodes;
        let (visited, passages) = if by_jumps.is_empty() { (&nodes.visited, &nodes.passages) } else { (&by_jumps, &Vec::new()) };
        let hottest = hottest(function, visited);
        if !flow.is_complete() || hottest == 0 {
            return hottest;
        }
        let mut reached = visited.clone();
        if by_jumps.is_empty() {
            flow.add_reached_only_from(&mut reached, &nodes.jumps);
            reached.sort_unstable();
        }
        let blank = flow.add_blank_between(&mut reached);
        let arrivals = flow.arrivals(&reached, passages);
        reached.extend(passages);
        reached.sort_unstable();
        reached.dedup();
        let is_guest = |node: u32| nodes.guests.binary_search(&node).is_ok();
        let is_blank = |node: u32| blank.binary_search(&node).is_ok();
        let module = function.module;
        let is_called_here =
            |location: &Location| location.inlined_at.is_some_and(|call| instance(&module.locations[call.0 as usize]) == own);
        let is_inner = |from, to| {
            (is_blank(from) && is_blank(to)) || (is_guest(from) && is_guest(to) && is_within(function, from, is_called_here))
        };
        arrivals + flow.turns(&reached, is_inner)
    }

    /// Whether all of these `places` are reached through landing pads only, although the function that they are of is not: an inlined copy with these
    /// `nodes`, or the one whose code it is.
    pub(crate) fn are_cleanup(&self, places: &[Place], nodes: Option<&[u32]>) -> bool {
        let is_behind = |node: u32| self.is_behind_pads[node as usize];
        places.iter().all(|place| is_behind(place.node)) && nodes.is_none_or(|nodes| nodes.iter().any(|node| !is_behind(*node)))
    }

    /// The jumps that visit the line, and with them its code. They do where all that it has of code is what a `try` or a loop has there for
    /// the less usual: an exception, another turn; or what an assertion has there for its failure, from which control does not come back.
    fn visiting_jumps(&self, own: Instance, flow: &Flow) -> Vec<u32> {
        let NodeSet { visited, jumps, .. } = &self.nodes;
        if visited.is_empty() {
            return jumps.clone();
        }
        let is_unusual = |node: &u32| {
            self.is_behind_pads[*node as usize]
                || (self.function.counts.nodes[*node as usize] == 0 && flow.may_go_back(*node))
                || turns_back(self.function, own, flow, *node)
        };
        let usual: Vec<u32> = if visited.iter().all(|node| flow.leads_nowhere(*node)) {
            jumps.clone()
        } else if visited.iter().all(is_unusual) {
            jumps.iter().copied().filter(|node| flow.only_target(*node).is_some()).collect()
        } else {
            Vec::new()
        };
        if usual.is_empty() {
            return Vec::new();
        }
        let mut all = [usual, visited.clone()].concat();
        all.sort_unstable();
        all
    }
}

/// By node, whether control reaches it through landing pads only.
fn behind_landing_pads(manifest: &Function) -> Vec<bool> {
    let mut is_behind = vec![false; manifest.nodes.len()];
    loop {
        let mut reached_otherwise = vec![false; manifest.nodes.len()];
        let mut is_reached = reached_otherwise.clone();
        for edge in &manifest.edges {
            let Some(to) = edge.to else { continue };
            let is_from_behind = edge.from.is_some_and(|from| is_behind[from as usize]);
            is_reached[to as usize] = true;
            reached_otherwise[to as usize] |= edge.kind != EdgeKind::Unwind && !is_from_behind;
        }
        let next: Vec<bool> =
            is_reached.iter().zip(&reached_otherwise).map(|(reached, otherwise)| *reached && !otherwise).collect();
        if next == is_behind {
            return is_behind;
        }
        is_behind = next;
    }
}

/// Whether a node has nothing of the line but the jump back that ends it.
fn turns_back(function: FunctionView<'_>, own: Instance, flow: &Flow, position: u32) -> bool {
    let node = &function.manifest.nodes[position as usize];
    let is_own = |id: LocationId| instance(&function.module.locations[id.0 as usize]) == own;
    let instructions: u32 = node.locations.iter().filter(|(id, _)| is_own(*id)).map(|(_, number)| *number).sum();
    instructions == 1 && node.last_location.is_some_and(is_own) && flow.goes_back(position)
}

/// The highest count among these nodes.
pub(crate) fn hottest(function: FunctionView<'_>, nodes: &[u32]) -> u128 {
    nodes.iter().map(|node| u128::from(function.counts.nodes[*node as usize])).max().unwrap_or(0)
}

/// The location of the jump that ends a node, when no other instruction of the node has it. Such jumps are code where they are a loop's way back, where they
/// decide on what was computed earlier, and where they decide and their block has nothing else of the source.
pub(crate) fn jump(function: FunctionView<'_>, flow: &Flow, position: u32) -> Option<LocationId> {
    let nodes = &function.manifest.nodes;
    let node = &nodes[position as usize];
    let branches = |(opcode, _): &(StringId, u32)| function.module.string(*opcode) == "br";
    let is_alone = || flow.block_up_to(position).map(|node| nodes[node as usize].locations.len()).sum::<usize>() == 1;
    let is_code = match flow.only_target(position) {
        Some(_) => flow.goes_back(position),
        None => !node.decided_before || is_alone(),
    };
    let last = node.last_location.filter(|_| !is_code && node.opcodes.last().is_some_and(branches))?;
    node.locations.contains(&(last, 1)).then_some(last)
}
