//! Loops whose turns are counted in front of them: one addition of the trip count instead of a counter in the loop.

use crate::cfg::{Cfg, EdgeId, Splitting};
use crate::costs::{Costs, Weights};
use crate::degrees::Degrees;
use std::collections::BTreeMap;

/// A loop that tells in front of it how often it will take its back edge, and that
/// nothing leaves otherwise: one addition there counts that edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CountedLoop {
    /// The back edge.
    pub back_edge: EdgeId,
    /// How often the loop is entered.
    pub entries: u64,
    /// Instructions that work out the number of turns, beside the addition.
    pub instructions: u32,
    /// Whether the addition needs a block of its own.
    pub splits: bool,
}

/// The back edges that are counted in front of their loops, should they be counted at
/// all: where it is cheaper than on the edge itself.
pub(crate) struct BeforeLoops {
    costs: BTreeMap<EdgeId, u128>,
}

impl BeforeLoops {
    /// Compares the prices of each.
    pub(crate) fn of(cfg: &Cfg, weights: &Weights, costs: &Costs) -> Self {
        let mut chosen = BTreeMap::new();
        if weights.counted_loops.is_empty() {
            return Self { costs: chosen };
        }
        let degrees = Degrees::of(cfg);
        for counted in &weights.counted_loops {
            let edge = cfg.edge(counted.back_edge);
            if edge.splitting != Splitting::Possible {
                continue;
            }
            let weight = weights.edges[counted.back_edge.index()];
            let critical = degrees.is_critical(edge.from, edge.to);
            let there = if critical { costs.critical_edge(weights, counted.back_edge) } else { costs.node(weight) };
            let before = costs.counted_loop(counted);
            if before < there {
                chosen.insert(counted.back_edge, before);
            }
        }
        Self { costs: chosen }
    }

    /// The price of counting this edge in front of its loop, if it is counted there.
    pub(crate) fn cost(&self, edge: EdgeId) -> Option<u128> {
        self.costs.get(&edge).copied()
    }
}
