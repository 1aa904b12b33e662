//! Build maps and counters become solved profiles.
//!
//! [`Image::decode`] reads a build map; [`Image::solve`] turns the counters of that image into [`FunctionCounts`], function
//! by function; [`Profile`] gathers all images of all processes and answers what reports ask. [`Merger`] sums counters.
//! Nothing here does I/O: bytes in, values out.

mod arrivals;
mod audit;
mod calls;
mod error;
mod image;
mod lines;
mod merge;
mod profile;
mod raw;
mod solve;
mod source;
mod view;

pub use audit::{Exception, ExceptionKind};
pub use bbprof_format::demangle;
pub use bbprof_format::manifest::{CounterMode, EdgeKind, Linkage};
pub use bbprof_format::merged::{ImageCounters, MergedProfile, Process};
pub use error::ProfileError;
pub use image::{Image, LinkedModule};
pub use lines::{BranchKey, Line, LineTable, Outcome, SourceFunction, SourceLines};
pub use merge::Merger;
pub use profile::{Profile, SkippedFunction, Totals};
pub use raw::merged_from_raw;
pub use solve::{FunctionCounts, Inexact, SolvedImage};
pub use source::{FileId, Files};
pub use view::{BlockEdge, BlockView, FunctionView};
