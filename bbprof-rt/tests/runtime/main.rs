//! The runtime alone: hand-instrumented programs (`tests/c`), without plugin and shim.
#![allow(clippy::unwrap_used, reason = "test code")]

mod api;
mod children;
mod confined;
mod endings;
mod killed;
mod libraries;
mod support;
mod surroundings;
mod threads;
mod tools;
