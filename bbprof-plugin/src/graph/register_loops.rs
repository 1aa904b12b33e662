//! Which counters have a register of their loop: for themselves, or in their address.
//!
//! An increment of memory that waits for the one of the turn before takes some five cycles, more than a whole turn of a tight loop.
//! In a register it takes one, and none at all where the compiler finds another variable of the loop that tells the same. But
//! whoever is killed in the loop loses its turns, and each entry costs two instructions more: so it has to be asked for.
//!
//! Some processors (AMD's Zen 5 was tried) also hand a value that was just stored to the load behind it at once, but not
//! where the address is a bare number, as that of a thread-local counter is. With a register in the address, though it is
//! zero, they do. That costs nothing but one instruction at each entry. Calls do no harm, since the counters are in memory:
//! the register is set anew behind those that a turn may make.

use super::Graph;
use super::tight_loop::InGraph;
use super::unrolled_loops::Unrolled;
use crate::view::{self, TightLoop};
use bbprof_flow::{CounterSite, is_giant};

/// Which loops are tight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tight {
    /// Instructions, in all blocks of a loop without calls and of the loops in it. In
    /// longer loops other work hides the time of an increment.
    largest: u32,
    /// If they go through memory by chunks: such loops are made to have few turns.
    largest_of_chunks: u32,
    /// In giants, see [`is_giant`].
    largest_in_giants: u32,
    /// In the shortest turn without a call, of a loop that has longer ones, or some with calls. Not in giants.
    largest_shortest: u32,
    most_counters: usize,
}

/// Those that keep counters in registers: more of them would need the registers of the loop itself.
pub(crate) const COUNTERS: Tight =
    Tight { largest: 20, largest_of_chunks: 20, largest_in_giants: 20, largest_shortest: 0, most_counters: 3 };
/// Those that keep a register for addresses. In five cycles a processor that executes six or eight
/// instructions in each has done with a loop of some thirty.
pub(crate) const ADDRESSES: Tight =
    Tight { largest: 32, largest_of_chunks: 32, largest_in_giants: 20, largest_shortest: 12, most_counters: usize::MAX };
/// And where turns are estimated. Loops of two turns pay for an instruction at each entry, and most of those
/// take chunks. Instructions of SQLite and zstd, of the plain build's (clang 22.1.8 at -O2, valgrind 3.19): with
/// up to 20 instructions, chunks and giants or not, 1.049 and 1.028; with 40, but 6 where they take chunks,
/// 1.051 and 1.002; and with 16 in giants, 1.042 and 1.002.
pub(crate) const ADDRESSES_BY_ESTIMATE: Tight = Tight { largest_of_chunks: 6, largest_in_giants: 16, ..ADDRESSES };

impl Tight {
    fn takes(&self, tight_loop: &TightLoop, is_giant: bool) -> bool {
        let largest = if is_giant { self.largest_in_giants } else { self.largest };
        let is_small = tight_loop.is_quiet != 0 && tight_loop.instructions <= largest;
        let is_short = !is_giant && tight_loop.shortest <= self.largest_shortest;
        (is_small || is_short) && (tight_loop.takes_chunks == 0 || tight_loop.instructions <= self.largest_of_chunks)
    }
}

/// Increments of one counter an entry, measured or estimated, from which on a loop is worth more instructions at its entry.
pub(super) const LEAST_INCREMENTS: u64 = 8;

/// For each of these counters, the loop of the view (position + 1) that has a register for it, or 0: the outermost that is tight.
/// Where a loop in another one set the register anew each time it is entered, processors would wait as they do without: the
/// bench's kernel `scan`, whose inner loop turns six times an entry, takes 1.05 of the plain build's time with one register for
/// both loops, and 1.28 with one for the inner alone (Zen 5). Those of unrolled loops are left to them.
pub(crate) fn choose(
    view: &view::Function<'_>,
    graph: &Graph,
    sites: &[CounterSite],
    unrolled: &[Unrolled],
    tight: Tight,
) -> Vec<u32> {
    let mut chosen = vec![0; sites.len()];
    for (tight_loop, number) in view.tight_loops.iter().zip(1..) {
        if !tight.takes(tight_loop, is_giant(graph.nodes.len())) {
            continue;
        }
        let inside = InGraph::of(view, graph, tight_loop);
        let is_free = |position: &usize| {
            let is_elsewhere = chosen[*position] != 0 || unrolled.iter().any(|unrolled| unrolled.counter == *position);
            !is_elsewhere && inside.counts(&sites[*position])
        };
        let counters: Vec<usize> = (0..sites.len()).filter(is_free).collect();
        if !(1..=tight.most_counters).contains(&counters.len()) {
            continue;
        }
        let hottest = counters.iter().map(|counter| inside.executions(&sites[*counter])).max().unwrap_or(0);
        if hottest / LEAST_INCREMENTS >= inside.entries() {
            counters.into_iter().for_each(|counter| chosen[counter] = number);
        }
    }
    chosen
}
