//! Counting from the outside: the papers' figures first, then random graphs, executed at random, against what was executed.

mod ball_larus_1994;
mod ball_larus_1996;
mod comes_back;
mod exactness;
mod hucovic_2024;
mod interrupted;
mod large;
mod mutants;
mod notation;
mod optimality;
mod paths_walked;
mod random_graph;
mod rank;
mod walk;
