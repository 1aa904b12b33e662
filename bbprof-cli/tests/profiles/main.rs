//! The commands on profiles, as a user calls them: what they print, their exit codes, and what they say of bad input.

#[path = "../../../bbprof-profile/tests/support/mod.rs"]
mod support;

mod bad_input;
mod commands;
mod finding;
mod folder;
