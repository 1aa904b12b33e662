//! Exact counting on control-flow graphs.
//!
//! From a [`Cfg`] and its [`Weights`], [`plan_counters`] chooses the fewest and cheapest counters (a maximum spanning tree;
//! Knuth and Stevenson 1973, Ball and Larus 1994 section 3); from the plan and the counters' values, [`solve`] derives
//! the count of every node and edge; [`check`] proves the result without sharing code with the solver; [`interruptions`] says where
//! activations may have been stopped for ever. Before all that,
//! [`comes_back`] tells which calls need not end a node.
//!
//! [`PathNumbering`] numbers the acyclic paths of a graph, [`plan_paths`] says how code counts them (Ball and Larus 1996).
//!
//! The compiler plugin and the host tools call the same functions on the same graph. Nothing here does I/O.

mod cfg;
mod check;
mod comes_back;
mod costs;
mod counted_loops;
mod cuts;
mod degrees;
mod determined;
mod doubled;
mod index;
mod interrupted;
mod lists;
mod paths;
mod patterns;
mod peel;
mod plan;
mod solve;
mod spanning_tree;
mod union_find;

pub use cfg::{Cfg, CfgError, EdgeId, EdgeRole, Endpoint, FlowEdge, NodeId, Splitting};
pub use check::{CheckError, check, check_determined};
pub use comes_back::{CallSummary, FunctionId, comes_back, comes_back_from_bounded_depth};
pub use costs::{Costs, Split, Weights, is_giant};
pub use counted_loops::CountedLoop;
pub use determined::{Determined, determined};
pub use interrupted::{Interruptions, Place, interruptions, solve_interrupted};
pub use lists::Lists;
pub use paths::{
    Commit, ObviousGraph, Path, PathError, PathNumbering, PathPlan, PathStart, PathStep, obvious_loops, plan_paths,
    price_of_counters, price_of_paths,
};
pub use plan::{CounterId, CounterPlan, CounterSite, Placement, check_sites, plan_counters, plan_counters_beside};
pub use solve::{Solution, SolveError, solve};
