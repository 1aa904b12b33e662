//! How often control came to a line.
//!
//! An *instance* of a line is the line in one function of the program, or in one inlined copy of its source function (the
//! inlined-at chain tells copies apart). Its count is the number of times control arrives at it: the executions of edges that enter
//! its nodes from elsewhere, and the turns of loops that stay on it. A line's count is the sum over its instances. Several blocks
//! on a line (`a && b`, a `for` header) are thus counted once a visit, as gcov does. The line of a function's definition counts its
//! entries. Inlined code counts at its own source line; the line that calls it is visited while it runs, so it counts once,
//! whatever remains of the call. While control is in nodes of which no source line is known, it has not left the line.
//!
//! A node that has nothing of a line but the jump at its end does not visit it ([`Part::Jump`]).
//!
//! Measured at -O0 on the 47,098 lines of SQLite 3.51 that gcc 12's gcov lists, too: 81 have another count there. 68 of them have
//! this one in clang's gcov (the head of a `for (;;)`, parts of a `&&`, a `?:` or a `break` that the two put on different lines);
//! 13 in neither: mostly calls whose arguments are on several lines, which gcov counts twice, and lines that begin with a `&&`.

use crate::arrivals::{Arrival, Flow};
use crate::decided::decided;
use crate::line_parts::{Instance, Part, instance, leaves, line_within, only_jumps, stands_behind};
use crate::parted::WaysOn;
use crate::reach::{behind_landing_pads, lost, reached};
use crate::scopes::{is_within, may_be_common};
use crate::turned;
use crate::view::FunctionView;
use bbprof_format::manifest::{Function, Location, LocationId, Scope};
use std::collections::BTreeMap;

/// A node that is part of an instance of a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) instance: Instance,
    pub(crate) node: u32,
    pub(crate) part: Part,
    /// Executed instructions.
    pub(crate) executed: u128,
}

/// Nodes of a function of the source.
#[derive(Clone, Copy)]
pub(crate) enum Whose<'a> {
    /// Those of the function of the program.
    All,
    /// Those of an inlined copy, ascending.
    Of(&'a [u32]),
}

/// Counts visits to lines of one function.
pub(crate) struct Visits<'p> {
    function: FunctionView<'p>,
    /// By node, whether control reaches it through landing pads only.
    is_behind_pads: Vec<bool>,
    /// By node, whether control can reach it at all: compilers leave code behind what they know never goes on.
    is_reached: Vec<bool>,
    /// By node, whether all that control does from there ends in a call that does not return, but for exceptions.
    is_lost: Vec<bool>,
    /// Of inlined copies that the optimiser parted.
    ways_on: &'p BTreeMap<Scope, WaysOn>,
    nodes: NodeSet,
}

/// The nodes of one instance of a line, ascending.
#[derive(Default)]
struct NodeSet {
    /// Those with its code, or with code of callees that are inlined there.
    visited: Vec<u32>,
    /// Those of them that only have code of callees.
    guests: Vec<u32>,
    /// Those that jump, without those of `turns`.
    jumps: Vec<u32>,
    /// Those that jump back.
    turns: Vec<u32>,
    /// Those that do nothing else.
    passages: Vec<u32>,
    /// Those of `jumps` that have code of callees, too.
    calling: Vec<u32>,
}

impl NodeSet {
    fn take(&mut self, places: &[Place], function: FunctionView<'_>, flow: &Flow) {
        let (manifest, own) = (function.manifest, places[0].instance);
        for list in [&mut self.visited, &mut self.guests, &mut self.jumps, &mut self.turns, &mut self.passages, &mut self.calling] {
            list.clear();
        }
        for place in places.chunk_by(|a, b| a.node == b.node) {
            let calls = place.iter().any(|place| place.part == Part::Guest);
            let part = if calls && place[0].part == Part::Turn { Part::Code } else { place[0].part };
            if calls && part == Part::Jump {
                self.calling.push(place[0].node);
            }
            self.add(place[0].node, part, manifest, flow);
        }
        if self.turns.is_empty() {
            return;
        }
        let computing: Vec<u32> = self.visited.iter().copied().filter(|node| !only_jumps(function, own, *node)).collect();
        let (inner, own): (Vec<u32>, Vec<u32>) =
            std::mem::take(&mut self.turns).into_iter().partition(|node| flow.is_in_loop(*node, &computing));
        for node in inner {
            self.add(node, Part::Jump, manifest, flow);
        }
        self.visited.extend(own);
        self.jumps.sort_unstable();
        self.passages.sort_unstable();
        self.visited.sort_unstable();
    }

    fn add(&mut self, node: u32, part: Part, manifest: &Function, flow: &Flow) {
        match part {
            Part::Code => self.visited.push(node),
            Part::Guest => {
                self.visited.push(node);
                self.guests.push(node);
            }
            Part::Jump => {
                self.jumps.push(node);
                if manifest.nodes[node as usize].num_instructions() == 1 && flow.only_target(node).is_some() {
                    self.passages.push(node);
                }
            }
            Part::Turn => self.turns.push(node),
        }
    }

    /// Takes the jumps behind what the line's calls brought in by inlining for code of these.
    fn visit_calling(&mut self) {
        let calling = std::mem::take(&mut self.calling);
        self.visit_jumps(&calling);
        self.guests.extend(calling);
        self.guests.sort_unstable();
    }

    /// Takes these jumps (ascending) for visits.
    fn visit_jumps(&mut self, nodes: &[u32]) {
        for list in [&mut self.jumps, &mut self.passages] {
            list.retain(|node| nodes.binary_search(node).is_err());
        }
        self.visited.extend(nodes);
        self.visited.sort_unstable();
    }
}

impl<'p> Visits<'p> {
    pub(crate) fn to_lines_of(function: FunctionView<'p>, ways_on: &'p BTreeMap<Scope, WaysOn>) -> Self {
        let manifest = function.manifest;
        let (is_behind_pads, is_reached) = (behind_landing_pads(manifest), reached(manifest, |_| true));
        Self { function, is_behind_pads, is_reached, is_lost: lost(function), ways_on, nodes: NodeSet::default() }
    }

    /// Whether a node has code that control can come to.
    pub(crate) fn is_reached(&self, node: u32) -> bool {
        self.is_reached[node as usize]
    }

    /// How often control came to the line of these `places`, turns of its loops included, but not those of loops
    /// within guests. They are all of one instance, by node. On the first line of a function, `whose` nodes are
    /// told, compilers have what goes on with an exception: no visit. Nor is it one to come back there once: from
    /// the lines at which a class initialises its members, for one.
    pub(crate) fn count(&mut self, places: &[Place], whose: Option<Whose<'_>>, flow: &mut Flow) -> u128 {
        let (function, own) = (self.function, places[0].instance);
        self.nodes.take(places, function, flow);
        if !self.nodes.visited.is_empty() {
            let is_statement = |node: &u32| leaves(function, flow, *node, own);
            let statements: Vec<u32> = self.nodes.passages.extract_if(.., |node| is_statement(node)).collect();
            self.nodes.jumps.retain(|node| !statements.contains(node));
            self.nodes.visited.extend(statements);
            self.nodes.visit_calling();
            self.nodes.visited.sort_unstable();
            let decided = decided(function, own, &self.nodes.visited, &self.nodes.jumps, flow);
            self.nodes.visit_jumps(&decided);
        }
        if whose.is_some() {
            self.nodes.visited.retain(|node| !self.is_behind_pads[*node as usize]);
        }
        let at =
            |flow: &mut Flow, nodes: &[u32]| if flow.is_complete() { flow.arrivals(nodes, &[]) } else { hottest(function, nodes) };
        if let Some(asserting) = self.asserting(own, flow) {
            return at(flow, &asserting);
        }
        let decisions = self.deciding_behind(own, flow).map_or(0, |deciding| at(flow, &deciding));
        self.visits(own, whose, flow).max(decisions)
    }

    /// Arrivals at the line's own code, and its turns.
    fn visits(&self, own: Instance, whose: Option<Whose<'_>>, flow: &mut Flow) -> u128 {
        let function = self.function;
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
        let bodies = self.bodies(visited, own, flow);
        let is_inside = |from| match whose {
            None => false,
            Some(Whose::All) => true,
            Some(Whose::Of(nodes)) => nodes.binary_search(&from).is_ok(),
        };
        let goes_on_here = |way| self.goes_on_with_call(way, own) || self.goes_on_with_line(way, own);
        let goes_on = |way: Arrival| (is_inside(way.from) && !way.is_in_cycle) || goes_on_here(way);
        let arrivals = flow.arrivals_but(&reached, passages, &bodies, goes_on);
        reached.extend(passages);
        reached.sort_unstable();
        reached.dedup();
        let is_guest = |node: u32| nodes.guests.binary_search(&node).is_ok();
        let is_blank = |node: u32| blank.binary_search(&node).is_ok();
        let module = function.module;
        let is_called_here = |location: &Location| location.inlined_at.is_some_and(|call| instance(module.location(call)) == own);
        // As where an inlined copy is executed.
        let begins = flow.entered_from_elsewhere(&reached);
        let is_inner = |from, to| match (is_guest(to), is_blank(to)) {
            (false, false) => false,
            (is_guest_next, _) if is_blank(from) => !is_guest_next || begins.binary_search(&to).is_err(),
            _ => is_guest(from) && is_within(function, from, is_called_here),
        };
        arrivals + flow.turns(&reached, &bodies, is_inner)
    }

    /// Whether control comes to code that calls brought in by inlining, and goes on with executions that began on the line, or
    /// where its function has this line in what it has in common with other copies, which counts there.
    fn goes_on_with_call(&self, way: Arrival, own: Instance) -> bool {
        if self.ways_on.is_empty() || self.nodes.guests.binary_search(&way.at).is_err() {
            return false;
        }
        let place = |id: LocationId| self.function.module.location(id);
        let ids = self.function.manifest.nodes[way.at as usize].locations.iter().map(|(id, _)| *id);
        let scopes = ids.flat_map(|id| self.function.module.inline_chain(id));
        let mut called = scopes
            .filter(|location| location.inlined_at.is_some_and(|call| instance(place(call)) == own))
            .map(|location| location.scope())
            .peekable();
        let began_in_common = self.goes_on_with_function(way, own);
        let goes_on = |ways: &WaysOn| ways.stays(way.from, way.to) || began_in_common && ways.contains(way.from, way.to);
        called.peek().is_some() && called.all(|scope| self.ways_on.get(&scope).is_some_and(goes_on))
    }

    /// Whether control goes on with an execution of the line's function, straight from what its copies have in common, which has
    /// this line, too: the visit counts there.
    fn goes_on_with_line(&self, way: Arrival, own: Instance) -> bool {
        let (scope, file, line) = own;
        let is_same = |place: &Location| {
            let is_here = (place.function, place.file, place.line) == (scope.0, file, line);
            is_here && may_be_common(self.function, place.scope(), scope)
        };
        let has_line = |node: u32| {
            let mut ids = self.function.manifest.nodes[node as usize].locations.iter().map(|(id, _)| *id);
            ids.any(|id| self.function.module.inline_chain(id).any(is_same))
        };
        self.goes_on_with_function(way, own) && has_line(way.from)
    }

    /// Whether control goes on with an execution of the inlined copy that the line is of.
    fn goes_on_with_function(&self, way: Arrival, own: Instance) -> bool {
        self.ways_on.get(&own.0).is_some_and(|ways| ways.contains(way.from, way.to))
    }

    /// Those of the line's nodes in which control leaves it and comes back.
    fn bodies(&self, visited: &[u32], own: Instance, flow: &Flow) -> Vec<u32> {
        let function = self.function;
        let is_own = |id| line_within(function, id, own) == own.2;
        let mut bodies = turned::bodies(function, flow, visited, is_own, |id| instance(function.module.location(id)) == own);
        bodies.extend(visited.iter().filter(|node| turned::is_body_before(function, flow, **node, own)));
        bodies.sort_unstable();
        bodies
    }

    /// Whether all of these `places` are reached through landing pads only, although the function that they are of is not: an
    /// inlined copy with these `nodes`, or the one whose code it is.
    pub(crate) fn are_cleanup(&self, places: &[Place], nodes: Option<&[u32]>) -> bool {
        let is_behind = |node: u32| self.is_behind_pads[node as usize];
        places.iter().all(|place| is_behind(place.node)) && nodes.is_none_or(|nodes| nodes.iter().any(|node| !is_behind(*node)))
    }

    /// Where the condition of an assertion stands on lines behind its first, and all code of that one is what follows from its
    /// failure (from which control does not come back): that code, the line's jumps, and what computes the condition.
    fn asserting(&self, own: Instance, flow: &Flow) -> Option<Vec<u32>> {
        let NodeSet { visited, jumps, .. } = &self.nodes;
        let fails = !visited.is_empty() && visited.iter().all(|node| self.is_lost[*node as usize]);
        let usual = visited.iter().chain(jumps).copied().filter(|node| !self.is_behind_pads[*node as usize]);
        fails.then(|| self.with_conditions(&usual.collect::<Vec<_>>(), own, flow))?
    }

    /// The same of any statement, as macros make them, that goes on: its code is what follows from the
    /// condition. It is no loop, whose body stands behind, too.
    fn deciding_behind(&self, own: Instance, flow: &Flow) -> Option<Vec<u32>> {
        let NodeSet { visited, jumps, .. } = &self.nodes;
        let belongs = |node: u32| visited.binary_search(&node).is_ok() || stands_behind(self.function, flow, node, own).is_some();
        let follows = |node: &u32| !flow.may_go_back(*node) && flow.sources(*node).all(|from| from.is_some_and(belongs));
        let is_decided = !visited.is_empty() && !jumps.is_empty() && visited.iter().all(follows);
        is_decided.then(|| self.with_conditions(visited, own, flow))?
    }

    /// With what leads to these nodes on lines behind theirs, if anything does.
    fn with_conditions(&self, nodes: &[u32], own: Instance, flow: &Flow) -> Option<Vec<u32>> {
        let mut with_conditions = nodes.to_vec();
        let belongs = |node: u32| stands_behind(self.function, flow, node, own).filter(|_| !self.is_behind_pads[node as usize]);
        flow.add_leading_to(&mut with_conditions, belongs);
        Some(with_conditions).filter(|with_conditions| with_conditions.len() > nodes.len())
    }

    /// The jumps that visit the line, and with them its code. They do where all that it has of code is what a
    /// `try` or a loop has there for the less usual: an exception, another turn; or what an assertion has there
    /// for its failure, from which control does not come back.
    fn visiting_jumps(&self, own: Instance, flow: &Flow) -> Vec<u32> {
        let NodeSet { visited, jumps, .. } = &self.nodes;
        if visited.is_empty() {
            return jumps.clone();
        }
        let is_unusual = |node: &u32| {
            self.is_behind_pads[*node as usize]
                || (self.function.counts.nodes[*node as usize] == 0 && flow.may_go_back(*node))
                || (flow.goes_back(*node) && only_jumps(self.function, own, *node))
        };
        let does_not_go_on = |node: &u32| flow.leads_nowhere(*node) || self.is_lost[*node as usize];
        let usual: Vec<u32> = if visited.iter().all(does_not_go_on) {
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

/// The highest count among these nodes.
pub(crate) fn hottest(function: FunctionView<'_>, nodes: &[u32]) -> u128 {
    nodes.iter().map(|node| u128::from(function.counts.nodes[*node as usize])).max().unwrap_or(0)
}
