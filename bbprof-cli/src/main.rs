//! `bbprof`, `cargo bbprof`, `bbprof-cc`, `bbprof-c++` and the tools behind them: one binary, see [`roles`].

#![warn(clippy::print_stderr, reason = "`tell!` does not panic where stderr cannot be written")]

mod cache;
mod cache_lock;
mod cargo;
mod cc;
mod clean;
mod cli;
mod cmake;
mod commands;
mod completions;
mod config;
mod doctor;
mod env;
mod exit;
mod installation;
mod last_run;
mod locate;
mod messages;
mod plugin;
mod roles;
mod shim;
mod tools;
mod weights;

use messages::tell;
use roles::Role;
use std::ffi::{OsStr, OsString};
use std::process::ExitCode;

fn main() -> ExitCode {
    let argv: Vec<OsString> = std::env::args_os().collect();
    let role = Role::of(argv.first().map_or(OsStr::new("bbprof"), |argv0| argv0));
    let result = match role {
        Role::Bbprof | Role::CargoBbprof => cli::run(role, argv),
        Role::Compiler(language) => cc::run(language, &argv),
        Role::RustcWrapper => cargo::rustc_wrapper(&argv),
        Role::Rustc => cargo::rustc(&argv),
        Role::Rustdoc => cargo::rustdoc(&argv),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            tell!("error: {error:#}");
            ExitCode::from(exit::Exit::of(&error) as u8)
        }
    }
}
