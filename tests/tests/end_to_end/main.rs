//! From outside: real tools on real programs. One test binary, so that no processor waits for the last test of a file; a part of a
//! test's path chooses some (`cargo xtask test fates::pool`).

mod allocators;
mod bad_input;
mod bench;
mod build_systems;
mod cases;
mod cost;
mod debug_information;
mod determinism;
mod diff;
mod exit_codes;
mod exports;
mod fates;
mod first_counts;
mod html;
mod large;
mod last_run;
mod libraries;
mod library_search;
mod lines {
    mod copies;
    mod decisions;
    mod loops;
    mod semantics;
}
mod linked_twice;
mod lto;
mod merge;
mod mix;
mod musl;
mod mutants;
mod oracles;
mod paths;
mod programs;
mod random_gotos;
mod rust {
    mod applications;
    mod libraries;
    mod programs;
    mod settings;
    mod workspace;
}
mod sources;
mod unrolled;
mod unseen_threads;
mod weights;
mod windows;
