//! Which loops count several of their turns at once.
//!
//! An increment of memory waits for the one of the turn before it, some five cycles, which is more than a whole turn of a tight
//! loop takes. So the code of a turn is repeated, as LLVM does it for loops whose turns it knows (LoopUnroll.cpp), and the last of
//! these turns adds for all of them; who leaves the loop in another one adds there for those that are done. That is for loops with
//! one counter, which each turn increments: whoever is interrupted in one is behind by fewer turns than are added at once, and
//! nothing in the loop contradicts that.

use super::Graph;
use super::register_loops::LEAST_INCREMENTS;
use super::tight_loop::InGraph;
use crate::view;
use bbprof_flow::CounterSite;
use bbprof_format::manifest::MOST_TURNS_AT_ONCE;

/// The most instructions that the turns which are added at once may have together.
const LARGEST: u32 = 48;

/// The fewest increments an entry that are worth the code, where they are measured: there are half as many additions then.
const LEAST_MEASURED: u64 = 4;

/// The most blocks of a function in which that is done. What the register allocator makes of larger ones moves by more than
/// counters cost.
const LARGEST_FUNCTION: usize = 50;

/// A loop that counts several turns at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unrolled {
    /// The counter, by its place among the sites.
    pub counter: usize,
    /// The tight loop of the view.
    pub tight_loop: usize,
    /// How many.
    pub turns: u32,
}

/// Those of a function.
pub(crate) fn choose(view: &view::Function<'_>, graph: &Graph, sites: &[CounterSite]) -> Vec<Unrolled> {
    if view.blocks.len() > LARGEST_FUNCTION {
        return Vec::new();
    }
    let least = if graph.are_measured { LEAST_MEASURED } else { LEAST_INCREMENTS };
    let mut chosen = Vec::new();
    for (position, tight_loop) in view.tight_loops.iter().enumerate() {
        // Those that take chunks are made to have few turns.
        if tight_loop.can_unroll == 0 || (tight_loop.takes_chunks != 0 && !graph.are_measured) {
            continue;
        }
        let Some(turns) = turns_at_once(tight_loop.instructions) else { continue };
        let inside = InGraph::of(view, graph, tight_loop);
        let counters: Vec<usize> = (0..sites.len()).filter(|site| inside.counts(&sites[*site])).collect();
        let &[counter] = counters.as_slice() else { continue };
        let site = &sites[counter];
        if inside.executions(site) / least >= inside.entries() && inside.is_in_each_turn(site) {
            chosen.push(Unrolled { counter, tight_loop: position, turns });
        }
    }
    chosen
}

/// As many turns as fit.
fn turns_at_once(instructions: u32) -> Option<u32> {
    [MOST_TURNS_AT_ONCE, MOST_TURNS_AT_ONCE / 2].into_iter().find(|turns| turns * instructions <= LARGEST)
}
