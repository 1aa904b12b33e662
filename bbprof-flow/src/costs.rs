//! What a counter costs where: estimated frequencies, and the price of one execution.

use crate::cfg::{Cfg, EdgeId};
use crate::counted_loops::CountedLoop;

/// Estimated frequencies of one function, all in the same unit. They decide where counters go, never what is counted: any
/// weights give exact results.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Weights {
    /// By `NodeId`; one for each node.
    pub nodes: Vec<u64>,
    /// By `EdgeId`; one for each edge.
    pub edges: Vec<u64>,
    /// Loops whose turns are known in front of them, each by another edge.
    pub counted_loops: Vec<CountedLoop>,
    /// By `EdgeId`, what code of its own brings with it. Empty: a jump on each.
    pub splits: Vec<Split>,
}

/// What the program executes besides code that stands on an edge, each time the edge is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Split {
    /// A jump from there to the edge's target.
    pub jumps: bool,
    /// How many variables move.
    pub copies: u32,
}

impl Default for Split {
    fn default() -> Self {
        Self { jumps: true, copies: 0 }
    }
}

impl Weights {
    /// The same weight everywhere: placement then saves counters and splits, knowing nothing of frequencies.
    #[must_use]
    pub fn uniform(cfg: &Cfg) -> Self {
        Self { nodes: vec![1; cfg.num_nodes()], edges: vec![1; cfg.num_edges()], counted_loops: Vec::new(), splits: Vec::new() }
    }
}

/// Whether a function has so many nodes that what the register allocator makes of it moves by more than counters cost: interpreters
/// have, as `sqlite3VdbeExec` and `_PyEval_EvalFrameDefault`.
#[must_use]
pub fn is_giant(num_nodes: usize) -> bool {
    num_nodes > 1000
}

/// The price of a counter: `weight * increment` on a node, `weight * (increment + jump + copies * copy) + size` on a critical edge.
///
/// The default says that the jump of a split edge costs a quarter of an increment: block layout saves most of these
/// jumps, but not those of interpreters, see [`Costs::of_function`]. By the counts of 58 programs, which execute 57.0
/// increments and 14.7 split edges in 1,000 IR instructions with three quarters, 54.8 and 17.6 with half, 54.3 and 18.2
/// with a quarter, 52.0 and 32.4 with nothing, a quarter is the best price where a split edge costs at most three
/// quarters of an increment. `docs/PLACEMENT.md` has what was measured.
///
/// Without code on it, a way back to a loop's header shares registers with the header's phis; with a counter in between,
/// they are copied. A copy has three quarters of the price of an increment: the bench's kernel `calls`, placed by its
/// own frequencies, executes 1.141 of the plain instructions with that price and 1.242 without (1.153 with a counter in
/// every block); Lua, SQLite and zstd change by less than 0.002.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Costs {
    /// One execution of an increment.
    pub increment: u32,
    /// One execution of the jump that a split edge needs. Higher: counters move from critical edges to nodes.
    pub jump: u32,
    /// One execution of a copy between registers on a split edge.
    pub copy: u32,
    /// What a new block costs in code size, in executions of unit weight. Only cold code, of weight near 0, is decided by it;
    /// give it in the unit of the weights.
    pub size: u64,
}

impl Default for Costs {
    fn default() -> Self {
        Self { increment: 4, jump: 1, copy: 3, size: 1 }
    }
}

impl Costs {
    /// The price in a function of so many nodes: of giants, the jump costs three quarters of an increment. Most of theirs are in
    /// an interpreter's loop, from whose switch each way out is taken by a jump: CPython executes 1.076 of the plain
    /// instructions with that price and 1.089 with half an increment.
    #[must_use]
    pub fn of_function(num_nodes: usize) -> Self {
        Self { jump: if is_giant(num_nodes) { 3 } else { 1 }, ..Self::default() }
    }

    /// A split edge costs no more than another: a maximum spanning tree as Ball and Larus have it (1994).
    pub const INCREMENTS_ALONE: Self = Self { increment: 4, jump: 0, copy: 0, size: 0 };

    /// A counter at the start of a node, or one that a phi feeds.
    pub(crate) fn node(&self, weight: u64) -> u128 {
        u128::from(weight) * u128::from(self.increment)
    }

    /// A counter in a block of its own on this edge. It saturates where no real price is.
    pub(crate) fn critical_edge(&self, weights: &Weights, edge: EdgeId) -> u128 {
        let Split { jumps, copies } = weights.splits.get(edge.index()).copied().unwrap_or_default();
        let jump = if jumps { self.jump } else { 0 };
        let one = u128::from(self.increment) + u128::from(jump) + u128::from(copies) * u128::from(self.copy);
        u128::from(weights.edges[edge.index()]).saturating_mul(one).saturating_add(u128::from(self.size))
    }

    /// An addition in front of a loop. At most (2^64-1) * (2^65) + 2^64: it saturates where no real price is.
    pub(crate) fn counted_loop(&self, counted: &CountedLoop) -> u128 {
        let work = u128::from(self.increment) * (1 + u128::from(counted.instructions));
        let (jump, size) = if counted.splits { (self.jump, self.size) } else { (0, 0) };
        u128::from(counted.entries).saturating_mul(work + u128::from(jump)).saturating_add(u128::from(size))
    }
}
