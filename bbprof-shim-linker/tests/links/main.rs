//! Links through the shim, by every linker, of objects that are made as the plugin makes them.
#![allow(clippy::unwrap_used, reason = "test code")]

mod executables;
mod inputs;
mod libraries;
mod support;
mod surroundings;
