//! Profiles as text and as files that other tools read: one file for each format.
//!
//! Every writer takes a [`bbprof_profile::Profile`] and something to write to. None reads files: source text comes through a
//! function that the caller passes in.

mod afdo;
mod annotate;
mod annotate_ir;
mod bias;
mod blocks_csv;
mod called;
mod callgrind;
mod cobertura;
mod copies;
mod covered;
mod diff_json;
mod diff_text;
mod dot;
mod ends;
mod exclusions;
mod folded;
mod html;
mod json;
mod lcov;
mod mix;
mod names;
mod number;
mod path_dag;
mod paths;
mod place;
mod pprof;
mod speedscope;
mod stacks;
mod subject;
mod summary;
mod table;
mod verdict;

use names::one_line;

pub use afdo::write_afdo;
pub use annotate::annotate;
pub use annotate_ir::write_ir;
pub use bias::write_bias;
pub use blocks_csv::write_csv;
pub use called::Called;
pub use callgrind::write_callgrind;
pub use cobertura::write_cobertura;
pub use copies::{SizeOf, write_copies, write_ledger};
pub use covered::{Coverage, CoveredLines};
pub use diff_json::write_diff_json;
pub use diff_text::write_diff;
pub use dot::{dot_files, write_dot};
pub use exclusions::SourceReader;
pub use folded::write_folded;
pub use html::{Doubt, Earlier, ReadSource, SourceText, write_html_file, write_html_folder};
pub use json::write_json;
pub use lcov::write_lcov;
pub use mix::{MixBy, MixReport};
pub use path_dag::write_path_dag;
pub use paths::{PathOptions, write_paths};
pub use pprof::write_pprof;
pub use speedscope::write_speedscope;
pub use subject::{Subject, SubjectError, find_subject};
pub use summary::{GroupBy, SortBy, SummaryOptions, write_summary};
pub use table::Style;
pub use verdict::{Verdict, write_interruptible, write_skipped};
