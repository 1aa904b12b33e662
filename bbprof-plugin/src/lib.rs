//! The Rust core of the LLVM plugin.
//!
//! The C++ glue flattens the IR of a module into a [`view`]; [`planner`] has its blocks cut into nodes ([`graph`]), described for the
//! manifest ([`describe`], `bbprof-format`) and counters placed (`bbprof-flow`), and says where in the IR they stand ([`place`]); the glue
//! then applies the plan. Only [`ffi`] sees raw pointers.

mod describe;
mod doctest;
mod ffi;
mod graph;
mod options;
mod paths;
mod place;
mod planner;
mod select;
mod strings;
mod view;
