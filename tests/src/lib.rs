//! What the end-to-end tests share: the installed tools, a folder per test, commands that say everything when they fail,
//! and profiles read back through the JSON export.
//!
//! The tests run what a user would run. `cargo xtask test` installs bbprof into a private root and passes it in `BBPROF_ROOT`.

mod application;
mod browser;
mod cargo;
mod case;
mod command;
mod coverage;
mod exported;
mod musl;
mod named_lines;
mod parcel;
mod profiled_run;
mod programs;
mod tally;
mod tools;
mod truth;

pub use application::Application;
pub use browser::{Browser, grouped};
pub use cargo::{Cargo, Verdict, is_long, profiles_in, verify};
pub use case::{Case, Language};
pub use command::{Outcome, Run};
pub use coverage::{LineCounts, TracedFile, differences, gcov_lines, traced_files};
pub use exported::{Exported, Function};
pub use musl::{MuslImage, for_musl};
pub use named_lines::{RENAMED, lines, named_lines, package, profile_of, renamed, symbol_of_area};
pub use parcel::Parcel;
pub use profiled_run::ProfiledRun;
pub use programs::{CProgram, ada, calm_lua, gcd, lua, package_source, sqlite, zstd};
pub use tools::{Sandbox, tool};
pub use truth::Truth;

/// The optimisation levels that everything in C and C++ is tested at.
pub const LEVELS: [&str; 5] = ["-O0", "-O1", "-O2", "-O3", "-Os"];
