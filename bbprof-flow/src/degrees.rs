//! How many edges meet in each node, and so which of them are critical.

use crate::cfg::{Cfg, Endpoint};

/// How many edges leave and enter each node, vanishing ones included.
pub(crate) struct Degrees {
    outgoing: Vec<u32>,
    incoming: Vec<u32>,
}

impl Degrees {
    pub(crate) fn of(cfg: &Cfg) -> Self {
        let mut degrees = Self { outgoing: vec![0; cfg.num_nodes()], incoming: vec![0; cfg.num_nodes()] };
        for edge in cfg.edges() {
            if let Endpoint::Node(from) = edge.from {
                degrees.outgoing[from.index()] += 1;
            }
            if let Endpoint::Node(to) = edge.to {
                degrees.incoming[to.index()] += 1;
            }
        }
        degrees
    }

    /// Whether an edge shares both its ends with others. X is no end to put code at, so it never makes an edge non-critical.
    pub(crate) fn is_critical(&self, from: Endpoint, to: Endpoint) -> bool {
        !self.is_only_one_out_of(from) && !self.is_only_one_into(to)
    }

    /// Whether one edge leaves this end.
    pub(crate) fn is_only_one_out_of(&self, from: Endpoint) -> bool {
        from.node().is_some_and(|node| self.outgoing[node.index()] == 1)
    }

    /// Whether one edge enters this end.
    pub(crate) fn is_only_one_into(&self, to: Endpoint) -> bool {
        to.node().is_some_and(|node| self.incoming[node.index()] == 1)
    }
}
