//! Inlined copies that the optimiser parted: it computes one part early, in front of a
//! loop of the caller, or late, behind a branch of it.
//!
//! An execution of such a copy begins in one part and goes on in another, with code of the caller between them. An
//! unrolled loop looks like that, too, but each of its parts is an execution of its own. What tells them apart is what
//! stands there: parts that are executed one after the other have the same places of the source; parts of one execution
//! share none. So control goes on with an execution where it can only have come from other parts of the copy, and comes
//! to nothing that was executed since that execution began.

use crate::arrivals::Flow;
use bbprof_format::manifest::StringId;
use fixedbitset::FixedBitSet;
use std::collections::{BTreeMap, BTreeSet};

/// What stands in a copy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    /// Its function, file, line and column; then of the call that it was inlined at, up to the copy's own function.
    pub(crate) chain: Vec<(StringId, StringId, u32, u32)>,
    /// What is done there: another instruction of the place may be in another part.
    pub(crate) opcode: StringId,
    /// Whether that only computes an address, as part of a load, say: the optimiser does so anew where it needs one.
    pub(crate) is_address: bool,
}

/// Ways, by source and target, on which control comes to a copy from elsewhere and goes on with an execution of it; and whether
/// that was in the copy itself, rather than in what it has in common with others.
#[derive(Debug, Default)]
pub(crate) struct WaysOn(BTreeMap<(u32, u32), bool>);

/// What is gone on with depends on what was. Where that has not settled after so many rounds, nothing is gone on with.
const ROUNDS: usize = 64;

/// A way on which control came to a copy from elsewhere.
struct WayIn {
    /// Its source and target; the target is in the copy, or passes control on to there. No source: from outside the function.
    way: (Option<u32>, u32),
    /// To which part it leads.
    to: usize,
    /// The parts in which control may have been last; `None` = perhaps in none.
    last: Option<Vec<usize>>,
    /// Whether it comes straight from what the copy has in common with others, and not by a loop's way back.
    is_inner: bool,
}

impl WaysOn {
    /// Those to these `nodes` of a copy, of `parts` in which executions of it may have begun: its nodes, at least. Both
    /// are ascending; `places_in` tells what stands in one.
    pub(crate) fn to_copy(flow: &Flow, nodes: &[u32], parts: &[u32], places_in: impl Fn(u32) -> BTreeSet<Place>) -> Self {
        if parts.len() < 2 || flow.entered_from_elsewhere(parts).len() < 2 && nodes.len() == parts.len() {
            return Self::default();
        }
        let ways: Vec<WayIn> = nodes.iter().flat_map(|node| ways_in(flow, nodes, parts, *node)).collect();
        if ways.iter().all(|way| way.last.is_none()) {
            return Self::default();
        }
        let own = own_places(parts, places_in);
        let inner = inner_ways(flow, nodes, parts);
        // What may be executed before control leaves the part.
        let ahead = spread(own.clone(), &inner.iter().map(|(from, to)| (*to, *from)).collect::<Vec<_>>());
        // By part, whether it is known yet what comes before it: what control comes to first is decided first.
        let mut is_known: Vec<bool> = parts.iter().map(|part| nodes.binary_search(part).is_err()).collect();
        let mut goes_on = vec![false; ways.len()];
        for round in 0..=ROUNDS {
            let steps = ways.iter().zip(&goes_on).filter(|(_, goes_on)| **goes_on).flat_map(|(way, _)| way.steps());
            // What may have been executed since an execution began.
            let behind = spread(own.clone(), &steps.chain(inner.iter().copied()).collect::<Vec<_>>());
            let mut next = vec![false; ways.len()];
            let mut knows = is_known.clone();
            for (way, goes_on) in ways.iter().zip(&mut next) {
                let Some(last) = &way.last else {
                    knows[way.to] = true;
                    continue;
                };
                let mut known = last.iter().filter(|last| is_known[**last]).peekable();
                knows[way.to] |= known.peek().is_some();
                let is_disjoint = |last: &usize| behind[*last].is_disjoint(&ahead[way.to]);
                *goes_on = known.peek().is_some() && (way.is_inner || known.all(is_disjoint));
            }
            know_all_behind(&mut knows, &inner);
            if (&next, &knows) == (&goes_on, &is_known) {
                break;
            }
            (goes_on, is_known) = if round < ROUNDS { (next, knows) } else { (vec![false; ways.len()], is_known) };
        }
        let going_on = ways.iter().zip(goes_on).filter(|(_, goes_on)| *goes_on);
        let is_own = |part: &usize| nodes.binary_search(&parts[*part]).is_ok();
        let was_in_copy = |way: &WayIn| way.last.iter().flatten().all(is_own);
        Self(going_on.filter_map(|(way, _)| Some(((way.way.0?, way.way.1), was_in_copy(way)))).collect())
    }

    /// What copies have in common is of one execution: where control comes from there to several of them at once, it goes on in the
    /// first, which takes the way, and the others begin.
    pub(crate) fn leave_to_first(&mut self, taken: &mut BTreeSet<(u32, u32)>) {
        self.0.retain(|way, was_in_copy| *was_in_copy || taken.insert(*way));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn contains(&self, from: u32, to: u32) -> bool {
        self.0.contains_key(&(from, to))
    }

    /// Whether it is one of them on which control comes from the copy itself.
    pub(crate) fn stays(&self, from: u32, to: u32) -> bool {
        self.0.get(&(from, to)).is_some_and(|was_in_copy| *was_in_copy)
    }
}

/// By node, which places stand there: by numbers that the copy's nodes share.
fn own_places(parts: &[u32], places_in: impl Fn(u32) -> BTreeSet<Place>) -> Vec<FixedBitSet> {
    let mut places: Vec<BTreeSet<Place>> = parts.iter().map(|node| places_in(*node)).collect();
    if places.iter().flatten().any(|place| !place.is_address) {
        places.iter_mut().for_each(|places| places.retain(|place| !place.is_address));
    }
    let mut numbers: BTreeMap<&Place, usize> = BTreeMap::new();
    for place in places.iter().flatten() {
        let next = numbers.len();
        numbers.entry(place).or_insert(next);
    }
    let with = |places: &BTreeSet<Place>| {
        let mut set = FixedBitSet::with_capacity(numbers.len());
        places.iter().for_each(|place| set.insert(numbers[place]));
        set
    };
    places.iter().map(with).collect()
}

/// Adds to the set of each way's target that of its source, until all are there.
fn spread(mut sets: Vec<FixedBitSet>, ways: &[(usize, usize)]) -> Vec<FixedBitSet> {
    let from = by_source(sets.len(), ways);
    let mut open: Vec<usize> = (0..sets.len()).collect();
    while let Some(source) = open.pop() {
        for &target in &from[source] {
            let set = std::mem::take(&mut sets[source]);
            if target != source && !set.is_subset(&sets[target]) {
                sets[target].union_with(&set);
                open.push(target);
            }
            sets[source] = set;
        }
    }
    sets
}

/// Knows what control comes to on these ways from what is known.
fn know_all_behind(is_known: &mut [bool], ways: &[(usize, usize)]) {
    let from = by_source(is_known.len(), ways);
    let mut open: Vec<usize> = (0..is_known.len()).filter(|part| is_known[*part]).collect();
    while let Some(source) = open.pop() {
        open.extend(from[source].iter().copied().filter(|target| !std::mem::replace(&mut is_known[*target], true)));
    }
}

fn by_source(number: usize, ways: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut from = vec![Vec::new(); number];
    ways.iter().for_each(|(source, target)| from[*source].push(*target));
    from
}

impl WayIn {
    /// From where in the copy to where it leads on.
    fn steps(&self) -> impl Iterator<Item = (usize, usize)> {
        self.last.iter().flatten().map(|last| (*last, self.to))
    }
}

/// The ways among `parts`, by index, but for those to `nodes` from others.
fn inner_ways(flow: &Flow, nodes: &[u32], parts: &[u32]) -> Vec<(usize, usize)> {
    let is_of_copy = |node: u32| nodes.binary_search(&node).is_ok();
    let mut ways = Vec::new();
    for (to, node) in parts.iter().enumerate() {
        let sources = flow.taken_from(*node).flatten().filter(|from| is_of_copy(*from) || !is_of_copy(*node));
        ways.extend(sources.filter_map(|from| Some((parts.binary_search(&from).ok()?, to))));
    }
    ways
}

/// The ways to `node` from outside of the copy's `nodes`.
fn ways_in(flow: &Flow, nodes: &[u32], parts: &[u32], node: u32) -> Vec<WayIn> {
    let index = |node: u32| parts.binary_search(&node);
    let Ok(to) = index(node) else { return Vec::new() };
    let (mut ways, mut entered, mut passed) = (Vec::new(), vec![node], BTreeSet::new());
    while let Some(target) = entered.pop() {
        for source in flow.taken_from(target) {
            let (last, is_inner) = match source.map(|from| (from, index(from))) {
                None => (None, false),
                Some((from, _)) if nodes.binary_search(&from).is_ok() => continue,
                Some((from, Ok(part))) => (Some(vec![part]), target == node && !flow.is_way_back(from, target)),
                Some((from, Err(_))) => {
                    if flow.only_target(from).is_some() && passed.insert(from) {
                        entered.push(from);
                    }
                    (flow.last_in(from, node, parts), false)
                }
            };
            ways.push(WayIn { way: (source, target), to, last, is_inner });
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::tests::flow;

    const OUTSIDE: Option<u32> = None;
    /// Of these lines, nodes have the jump alone.
    const JUMPS: [u32; 1] = [9];
    /// Of these, an address alone.
    const ADDRESSES: [u32; 1] = [8];

    fn place(line: u32, is_jump: bool) -> Place {
        // The jump that decides on what line 4 computed stands there, too.
        let line = if is_jump { 4 } else { line };
        Place {
            chain: vec![(StringId(0), StringId(0), line, 1)],
            opcode: StringId(is_jump.into()),
            is_address: ADDRESSES.contains(&line),
        }
    }

    /// The ways of this graph on which control goes on with an execution of a copy, of whose nodes these lines are known.
    fn ways_on(num_nodes: usize, edges: &[(Option<u32>, u32, i128)], copy: &[(u32, &[u32])]) -> Vec<(u32, u32)> {
        let edges: Vec<_> = edges.iter().map(|(from, to, count)| (*from, Some(*to), *count)).collect();
        let nodes: Vec<u32> = copy.iter().map(|(node, _)| *node).collect();
        let lines = |node: u32| copy.iter().find(|(own, _)| *own == node).map_or(&[][..], |(_, lines)| *lines);
        let place = |line: &u32| place(*line, JUMPS.contains(line));
        let ways = WaysOn::to_copy(&flow(num_nodes, &edges), &nodes, &nodes, |node| lines(node).iter().map(place).collect());
        ways.0.into_keys().collect()
    }

    /// 0 begins it; the caller's 1 or 2; 3 ends it.
    #[test]
    fn a_part_behind_a_branch_of_the_caller() {
        let edges = [(OUTSIDE, 0, 20), (Some(0), 1, 10), (Some(0), 2, 10), (Some(1), 3, 10), (Some(2), 3, 10)];
        assert_eq!(ways_on(4, &edges, &[(0, &[4]), (3, &[5])]), [(1, 3), (2, 3)]);
        assert_eq!(ways_on(4, &edges, &[(0, &[4, 5]), (3, &[5])]), [], "an unrolled loop");
    }

    #[test]
    fn a_part_that_control_comes_to_without_the_other() {
        let edges = [(OUTSIDE, 0, 9), (Some(0), 1, 6), (Some(0), 2, 3), (Some(1), 2, 6), (Some(2), 3, 9)];
        assert_eq!(ways_on(4, &edges, &[(1, &[4]), (3, &[5])]), []);
        let mut never = edges;
        never[2].2 = 0;
        assert_eq!(ways_on(4, &never, &[(1, &[4]), (3, &[5])]), [(2, 3)], "that way was not taken");
    }

    /// 0 is computed once, in front of the loop of 1 and the caller's 2.
    #[test]
    fn a_part_in_front_of_a_loop() {
        let edges = [(OUTSIDE, 0, 1), (Some(0), 3, 1), (Some(3), 1, 1), (Some(1), 2, 9), (Some(2), 1, 8)];
        assert_eq!(ways_on(4, &edges, &[(0, &[4]), (1, &[5])]), [(3, 1)], "each turn is an execution");
    }

    /// 2 is kept back until the loop of 0 and 1 ends, in some of whose turns 0 leaves 1 out.
    #[test]
    fn a_part_behind_a_loop() {
        let edges =
            [(OUTSIDE, 0, 1), (Some(0), 1, 4), (Some(0), 3, 5), (Some(1), 3, 4), (Some(3), 0, 8), (Some(3), 4, 1), (Some(4), 2, 1)];
        assert_eq!(ways_on(5, &edges, &[(1, &[4]), (2, &[5])]), [(3, 4), (4, 2)]);
        assert_eq!(ways_on(5, &edges, &[(1, &[4]), (2, &[4, 5])]), [], "a turn behind an unrolled loop");
        let mut past = edges.to_vec();
        past.push((OUTSIDE, 4, 1));
        assert_eq!(ways_on(5, &past, &[(1, &[4]), (2, &[5])]), [(3, 4)], "control comes there past the loop, too");
    }

    /// A turn of the loop of 4 to 7 in front of it: 0 and 2 begin and end an execution, 4 and 6 do; 1, 3, 5 and 7 are the caller's.
    #[test]
    fn a_loop_whose_first_turn_is_in_front() {
        let chain = (0..7).map(|node| (Some(node), node + 1, if node < 4 { 1 } else { 9 }));
        let edges: Vec<_> = chain.chain([(OUTSIDE, 0, 1), (Some(7), 4, 8)]).collect();
        assert_eq!(ways_on(8, &edges, &[(0, &[4]), (2, &[5]), (4, &[4]), (6, &[5])]), [(1, 2), (5, 6)]);
    }

    /// 0 compares in front of the loop, 4 at its end; 2 increments; 1 and 3 are the caller's.
    #[test]
    fn a_loop_that_was_turned() {
        let edges = [(OUTSIDE, 0, 1), (Some(0), 1, 1), (Some(1), 2, 9), (Some(2), 3, 9), (Some(3), 4, 9), (Some(4), 1, 8)];
        assert_eq!(ways_on(5, &edges, &[(0, &[4]), (2, &[5]), (4, &[4])]), [(1, 2)]);
    }

    /// 0 computes what the jump of 2 decides on, behind the caller's 1; then in front of a loop of 1 and 2.
    #[test]
    fn a_jump_on_what_another_part_computed() {
        let edges = [(OUTSIDE, 0, 9), (Some(0), 1, 9), (Some(1), 2, 9)];
        assert_eq!(ways_on(3, &edges, &[(0, &[4]), (2, &[9])]), [(1, 2)]);
        assert_eq!(ways_on(3, &edges, &[(0, &[9]), (2, &[9])]), [], "an unrolled loop");
        let turning = [(OUTSIDE, 0, 1), (Some(0), 1, 1), (Some(1), 2, 9), (Some(2), 1, 8)];
        assert_eq!(ways_on(3, &turning, &[(0, &[4]), (2, &[9])]), [], "each turn decides anew");
    }

    /// 1 needs the address that 0 computed, and computes it again.
    #[test]
    fn an_address_that_is_computed_again() {
        let edges = [(OUTSIDE, 0, 9), (Some(0), 1, 9), (Some(1), 2, 9)];
        assert_eq!(ways_on(3, &edges, &[(0, &[4, 8]), (2, &[8])]), [(1, 2)]);
        assert_eq!(ways_on(3, &edges, &[(0, &[8]), (2, &[8])]), [], "nothing else is done: an unrolled loop");
    }

    /// 0 is what 1 and 2 have in common, with the place of all that follows; 3 leads back to it.
    #[test]
    fn what_copies_had_in_common_straight_before() {
        let edges = [(OUTSIDE, 0, 2), (Some(0), 1, 5), (Some(0), 2, 4), (Some(1), 3, 5), (Some(2), 3, 4), (Some(3), 0, 7)]
            .map(|(from, to, count)| (from, Some(to), count));
        let ways =
            |copy: &[u32], parts: &[u32]| WaysOn::to_copy(&flow(4, &edges), copy, parts, |_| BTreeSet::from([place(4, false)]));
        let (mut first, mut second) = (ways(&[1], &[0, 1]), ways(&[1, 2], &[0, 1, 2]));
        let mut taken = BTreeSet::new();
        first.leave_to_first(&mut taken);
        second.leave_to_first(&mut taken);
        assert_eq!(first.0.into_keys().collect::<Vec<_>>(), [(0, 1)]);
        assert_eq!(second.0.into_keys().collect::<Vec<_>>(), [(0, 2)], "the other goes on in the first");
        assert_eq!(ways(&[0], &[0, 1, 2]).0.into_keys().collect::<Vec<_>>(), [], "each turn begins one");
    }

    /// 1 and 2 are different copies, and 3 is what they had in common.
    #[test]
    fn what_copies_had_in_common() {
        let edges = [(OUTSIDE, 0, 9), (Some(0), 1, 5), (Some(0), 2, 4), (Some(1), 3, 5), (Some(2), 3, 4)]
            .map(|(from, to, count)| (from, Some(to), count));
        let place = |node: u32| BTreeSet::from([place(u32::from(node == 3), false)]);
        let ways = WaysOn::to_copy(&flow(4, &edges), &[3], &[1, 2, 3], place);
        assert_eq!(ways.0.into_iter().collect::<Vec<_>>(), [((1, 3), false), ((2, 3), false)]);
    }
}
