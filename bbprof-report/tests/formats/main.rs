//! Every format, on a profile made by hand: its text, and what the tools that read it say.

#[path = "../../../bbprof-profile/tests/support/mod.rs"]
mod support;

mod annotated;
mod bias_and_copies;
mod coverage;
mod diffs;
mod example;
mod exports;
mod json;
mod lcov;
mod mixes;
mod odd_names;
mod paths;
mod readers;
mod schema;
mod summary;
