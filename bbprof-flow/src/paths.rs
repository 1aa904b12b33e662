//! Acyclic paths of a control-flow graph (Ball and Larus 1996): which there are, their numbers, and how code counts them.
//!
//! The graph becomes a DAG from ROOT to EXIT, the two sides of X. An edge that closes a cycle, and where there are too
//! many paths other edges too, is *cut*: a path ends on it, and one begins at its target, the *head*.
//! [`PathNumbering`] numbers the paths of the DAG `0..num_paths`, each the sum of the values on its edges;
//! [`plan_paths`] says what code does on which edge so that each path's number comes out; [`PathNumbering::path`]
//! gives the edges of a number back; [`PathNumbering::edge_counts`] the counts of all edges.
//!
//! Where the counts of edges tell those of the paths, [`PathNumbering::obvious_counts`], paths are not counted at all, but edges,
//! as [`plan_counters_beside`](crate::plan_counters_beside) says; [`ObviousGraph`] solves them.
//!
//! An activation that vanishes in a call ends its path on the node's vanishing edge. As no code can run there, it
//! is counted before the call, whether the call returns or not; of those that reached a call,
//! [`PathNumbering::settle`] takes those away that were counted behind it. When setjmp returns a second time, more
//! are counted behind the call than before: such paths may have negative counts.

mod arcs;
mod cheap_cuts;
mod counted;
mod dag;
mod doubt;
mod limit;
mod numbering;
mod obvious_graph;
mod obvious_loops;
mod parts;
mod plan;
mod price;

pub use numbering::{Path, PathError, PathNumbering, PathStart};
pub use obvious_graph::ObviousGraph;
pub use obvious_loops::obvious_loops;
pub use plan::{Commit, PathPlan, PathStep, plan_paths};
pub use price::{price_of_counters, price_of_paths};
