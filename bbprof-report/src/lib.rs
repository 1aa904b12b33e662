//! Profiles as text and as files that other tools read: one file for each format.
//!
//! Every writer takes a [`bbprof_profile::Profile`] and something to write to. None reads files: source text comes through a
//! function that the caller passes in.

mod annotate;
mod json;
mod lcov;
mod number;
mod summary;
mod table;
mod verdict;

pub use annotate::{AnnotateError, Subject, annotate, find_subject};
pub use json::write_json;
pub use lcov::write_lcov;
pub use summary::{GroupBy, SortBy, SummaryOptions, write_summary};
pub use verdict::{Verdict, write_skipped};
