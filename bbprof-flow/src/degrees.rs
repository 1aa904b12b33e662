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
        let alone_out = from.node().is_some_and(|node| self.outgoing[node.index()] == 1);
        let alone_in = to.node().is_some_and(|node| self.incoming[node.index()] == 1);
        !alone_out && !alone_in
    }
}
