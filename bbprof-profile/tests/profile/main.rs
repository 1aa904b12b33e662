//! Solving, joining, auditing and counting lines, on modules made by hand.

#[path = "../support/mod.rs"]
mod support;

mod audit;
mod copies;
mod counts;
mod damage;
mod earlier_lines;
mod interrupted;
mod large;
mod line_counts;
mod mixes;
mod path_counts;
