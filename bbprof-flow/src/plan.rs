//! A counter plan: which counter is incremented where.

use crate::cfg::{EdgeId, NodeId};

/// A counter of one function, dense, `0..plan.num_counters()`: its position in the function's stretch of the counter array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CounterId(u32);

impl CounterId {
    /// The counter at this position.
    #[must_use]
    pub const fn new(position: u32) -> Self {
        Self(position)
    }
    /// Its position, for indexing.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where one counter is incremented. Each counter has exactly one site, each site one increment.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CounterSite {
    /// At the start of the node: counts how often it is entered.
    Node(NodeId),
    /// On the edge: in a block put on it, or at that end of it which no other edge shares.
    Edge(EdgeId),
    /// In the edge's target, by a phi that is 1 when control came along this edge and 0 otherwise.
    PhiEdge(EdgeId),
}

/// The counters of one function, by [`CounterId`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CounterPlan {
    /// `sites[c]` is where counter `c` is incremented.
    pub sites: Vec<CounterSite>,
}

impl CounterPlan {
    /// How many counters the function needs.
    #[must_use]
    pub fn num_counters(&self) -> usize {
        self.sites.len()
    }
}
