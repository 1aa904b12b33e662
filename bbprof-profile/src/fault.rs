//! Why the counters of a function give no counts.

use bbprof_flow::{CfgError, Endpoint, FlowEdge, SolveError};
use bbprof_format::manifest::Function;

/// What was expected and what was found, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Position of the node where it shows, when it is one.
    node: Option<usize>,
    pub(crate) reason: String,
}

impl Fault {
    /// At the node that an edge leaves.
    pub(crate) fn at_source(edge: &FlowEdge, reason: String) -> Self {
        Self { node: node(edge.from), reason }
    }

    /// The block where it shows, when it is one.
    pub(crate) fn block(&self, function: &Function) -> Option<u32> {
        self.node.and_then(|node| function.nodes.get(node)).map(|node| node.block)
    }
}

fn node(end: Endpoint) -> Option<usize> {
    end.node().map(|node| node.index())
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self { node: None, reason }
    }
}

impl From<CfgError> for Fault {
    fn from(error: CfgError) -> Self {
        error.to_string().into()
    }
}

impl From<SolveError> for Fault {
    fn from(error: SolveError) -> Self {
        let node = match &error {
            SolveError::NodeUndetermined { node } | SolveError::NodeOutOfRange { node, .. } => Some(node.index()),
            SolveError::NotConserved { at, .. } => node(*at),
            _ => None,
        };
        Self { node, reason: error.to_string() }
    }
}
