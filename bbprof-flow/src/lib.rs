//! Exact counting on control-flow graphs.
//!
//! From a [`Cfg`] and its weights, [`plan_counters`] chooses the fewest and cheapest counters (a maximum spanning tree;
//! Knuth and Stevenson 1973, Ball and Larus 1994 section 3); from the plan and the counters' values, [`solve`] derives
//! the count of every node and edge; [`check`] proves the result without sharing code with the solver.
//!
//! The compiler plugin and the host tools call the same functions on the same graph. Nothing here does I/O.

mod cfg;
mod plan;

pub use cfg::{Cfg, CfgError, EdgeId, EdgeRole, Endpoint, FlowEdge, NodeId, Splitting};
pub use plan::{CounterId, CounterPlan, CounterSite};
