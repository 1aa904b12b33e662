//! Build maps and counters become solved profiles.
//!
//! [`Image::decode`] reads a build map; [`Image::solve`] turns the counters of that image into [`FunctionCounts`], function
//! by function; [`Profile`] gathers all images of all processes and answers what reports ask. [`Merger`] sums counters.
//! Nothing here does I/O: bytes in, values out.

mod against;
mod arrivals;
mod astray;
mod audit;
mod blank;
mod branches;
mod call_graph;
mod call_view;
mod calls;
mod copies;
mod cycles;
mod decided;
mod diff;
mod error;
mod fault;
mod frame;
mod frequencies;
mod generic_name;
mod image;
mod interrupted;
mod interrupted_paths;
mod ledger;
mod line_parts;
mod lines;
mod located;
mod memo;
mod merge;
mod mix;
mod module_names;
mod parted;
mod path_counters;
mod path_view;
mod prepared;
mod profile;
mod raw;
mod reach;
mod scopes;
mod silent_copies;
mod solve;
mod source;
mod source_branches;
mod test_harness;
mod turned;
mod uncounted;
mod view;
mod visits;

pub use against::{Comparison, Disagreement};
pub use audit::{Exception, ExceptionKind};
pub use bbprof_format::demangle;
pub use bbprof_format::manifest::{CounterMode, EdgeKind, Linkage, LocationId, WeightSource};
pub use bbprof_format::merged::{ImageCounters, MergedProfile, Process};
pub use bbprof_format::sources::{is_of_doctests, is_of_toolchain};
pub use branches::Branch;
pub use call_graph::{Call, CallGraph, FunctionId, InclusiveCosts, Target};
pub use call_view::{CallView, CalleeView};
pub use diff::{Change, Diff, EarlierLines, FunctionDiff, MatchedBy, Side, earlier_lines};
pub use error::ProfileError;
pub use frame::Frame;
pub use generic_name::{source_name, without_abi_tags, without_generics, without_parameters, without_turbofish};
pub use image::{Image, LinkedModule};
pub use interrupted::Interruptible;
pub use ledger::{CodeCopy, Inlined, LedgerEntry};
pub use lines::{Line, LineTable, SourceFunction, SourceLines};
pub use merge::Merger;
pub use mix::{BranchWays, FunctionMix, Mix, OpcodeCount, OpcodeGroup};
pub use path_view::{DagArc, PathEnd, PathView};
pub use profile::{Profile, SkippedFunction, Totals};
pub use raw::merged_from_raw;
pub use solve::{FunctionCounts, Inexact, PathCounts, SolvedImage};
pub use source::{FileId, Files};
pub use source_branches::{BranchKey, ToldBy, Way};
pub use view::{BlockEdge, BlockView, FunctionView};
