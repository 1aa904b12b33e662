//! The Rust core of the LLVM plugin.
//!
//! The C++ glue flattens the IR of a module into a [`view`]; [`planner`] cuts its blocks into nodes ([`graph`]), places the
//! counters (`bbprof-flow`) and writes the manifest (`bbprof-format`); the glue then applies the plan to the IR. Only [`ffi`]
//! sees raw pointers.

mod doctest;
mod ffi;
mod graph;
mod options;
mod paths;
mod planner;
mod select;
mod view;
