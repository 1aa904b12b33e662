//! Every format, on a profile made by hand: its text, and what the tools that read it say.

#[path = "../../../bbprof-profile/tests/support/mod.rs"]
mod support;

mod annotated;
mod example;
mod json;
mod lcov;
mod schema;
mod summary;
