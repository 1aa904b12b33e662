//! The command line of `bbprof` and `cargo bbprof`.

use crate::cargo::{self, CargoOptions, Subcommand};
use crate::clean::{self, CleanOptions};
use crate::cmake;
use crate::commands::{self, ColourArgs, ProfileCommand};
use crate::completions::{self, Dialect};
use crate::doctor;
use crate::env::{self, EnvOptions};
use crate::exit::Exit;
use crate::installation::Installation;
use crate::roles::Role;
use anyhow::{Context as _, Result};
use clap::{CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// Exact execution counts of every block and edge of Rust, C and C++ programs
#[derive(Parser, Debug)]
#[command(name = "bbprof", version, disable_help_subcommand = false, subcommand_required = true, arg_required_else_help = true)]
struct Cli {
    /// Commands that have colours read their own; the others take it as well, for those who always write it.
    #[command(flatten)]
    colour: ColourArgs,
    #[command(subcommand)]
    command: Command,
}

/// Cargo's options follow ours in any order; what we do not know goes to cargo.
const CARGO_HELP: &str = "Any of cargo's own options may stand among these (-p, --bin, --release, --features, --target, ...).\n\
    The target directory is `bbprof/` within cargo's. Settings may also stand in bbprof.toml, [package.metadata.bbprof] \
    and [workspace.metadata.bbprof], with the same names (but --no-report); the command line wins, repeatable ones add up.\n\
    Programs with counters read BBPROF_OUT (where their profiles go, such as /tmp/%e-%p.bbraw), BBPROF_DUMP (every:10s, signal:USR2: more of them, while \
    they run) and BBPROF_OFF (1: none).";

#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Compile with counters, as `cargo build`
    #[command(after_help = CARGO_HELP, visible_alias = "b", override_usage = "cargo bbprof build [OPTIONS] [CARGO'S OPTIONS]")]
    Build(CargoOptions),
    /// Run a program with counters, as `cargo run`, and print what it counted
    #[command(after_help = CARGO_HELP, visible_alias = "r", override_usage = "cargo bbprof run [OPTIONS] [CARGO'S OPTIONS] [-- ARGUMENTS]")]
    Run(CargoOptions),
    /// Run tests with counters, as `cargo test`, and print what they counted
    #[command(after_help = CARGO_HELP, visible_alias = "t", override_usage = "cargo bbprof test [OPTIONS] [CARGO'S OPTIONS] [-- ARGUMENTS]")]
    Test(CargoOptions),
    /// Run benchmarks with counters, as `cargo bench`, and print what they counted
    #[command(after_help = CARGO_HELP, override_usage = "cargo bbprof bench [OPTIONS] [CARGO'S OPTIONS] [-- ARGUMENTS]")]
    Bench(CargoOptions),
    /// Run tests with counters, as `cargo nextest run`, and print what they counted
    #[command(after_help = CARGO_HELP, override_usage = "cargo bbprof nextest [run|list|archive] [OPTIONS] [NEXTEST'S OPTIONS]")]
    Nextest(CargoOptions),
    #[command(flatten)]
    Profile(ProfileCommand),
    Env(EnvOptions),
    /// Print the path of a CMake toolchain file that compiles with counters
    CmakeToolchain,
    /// Look at everything that bbprof needs, and say what is missing
    Doctor,
    Clean(CleanOptions),
    /// Print a completion script for this shell
    Completions {
        /// Which shell
        #[arg(value_enum)]
        shell: Dialect,
    },
}

/// Runs `bbprof ...` or `cargo-bbprof bbprof ...`; gives the exit code.
pub(crate) fn run(role: Role, argv: Vec<OsString>) -> Result<u8> {
    let mut words = argv.into_iter().skip(1).peekable();
    let bin = if role == Role::CargoBbprof { "cargo bbprof" } else { "bbprof" };
    if role == Role::CargoBbprof {
        // Cargo repeats the subcommand's name; a direct call does not.
        words.next_if(|word| word == "bbprof");
    }
    let words: Vec<OsString> = words.collect();
    let mut line = vec![OsString::from(bin)];
    if let Some((subcommand, words)) = cargo_line(&words) {
        line.push(subcommand.name().into());
        let split = cargo::split(subcommand, words);
        line.extend(split.own);
        if !split.cargo.is_empty() {
            line.push("--".into());
            line.extend(split.cargo);
        }
    } else {
        line.extend(words);
    }
    let matches = match Cli::command().bin_name(bin).try_get_matches_from(line) {
        Ok(matches) => matches,
        Err(error) => {
            // Help and version go to stdout with 0, the rest to stderr.
            let printed = error.print();
            if error.use_stderr() {
                return Ok(Exit::Usage as u8);
            }
            // A closed pipe (`| head`) is no failure.
            return match printed {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error).context("stdout: cannot be written"),
                _ => Ok(0),
            };
        }
    };
    execute(Cli::from_arg_matches(&matches)?.command)
}

/// The subcommand of cargo's that a line begins with, and its words. A `--color` may stand before it, as with cargo.
fn cargo_line(words: &[OsString]) -> Option<(Subcommand, Vec<OsString>)> {
    let num_colour_words = match words.first()?.to_str()? {
        "--color" => 2,
        word => usize::from(word.starts_with("--color=")),
    };
    let (colour, line) = words.split_at_checked(num_colour_words)?;
    let (subcommand, rest) = line.split_first()?;
    let subcommand = Subcommand::of(subcommand.to_str()?)?;
    Some((subcommand, [colour, rest].concat()))
}

fn execute(command: Command) -> Result<u8> {
    match command {
        Command::Build(options) => cargo::run(Subcommand::Build, options),
        Command::Run(options) => cargo::run(Subcommand::Run, options),
        Command::Test(options) => cargo::run(Subcommand::Test, options),
        Command::Bench(options) => cargo::run(Subcommand::Bench, options),
        Command::Nextest(options) => cargo::run(Subcommand::Nextest, options),
        Command::Profile(command) => commands::run(command).map(|outcome| outcome as u8),
        Command::Env(options) => env::print(options).map(|()| 0),
        Command::CmakeToolchain => {
            let file = cmake::toolchain_file(&Installation::find()?)?;
            commands::to_stdout(|out| out.write_all(&[file.as_os_str().as_bytes(), b"\n"].concat())).map(|()| 0)
        }
        Command::Doctor => Ok(if doctor::examine()? { 0 } else { Exit::Usage as u8 }),
        Command::Clean(options) => clean::clean(&options).map(|()| 0),
        Command::Completions { shell } => {
            let script = completions::script(shell, &mut Cli::command(), "bbprof");
            commands::to_stdout(|out| out.write_all(&script)).map(|()| 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn colours_may_stand_before_the_subcommand() {
        let words = |text: &str| text.split_whitespace().map(OsString::from).collect::<Vec<_>>();
        for (line, rest) in [
            ("r --bin a", "--bin a"),
            ("--color never run --bin a", "--color never --bin a"),
            ("--color=never run -- x", "--color=never -- x"),
        ] {
            assert_eq!(cargo_line(&words(line)), Some((Subcommand::Run, words(rest))), "{line}");
        }
        for line in ["", "--color", "--color run", "--color never", "--color never report", "-x run"] {
            assert_eq!(cargo_line(&words(line)), None, "{line}");
        }
    }

    #[test]
    fn every_shell_completes_the_names_of_commands() {
        for shell in Dialect::value_variants() {
            let script = completions::script(*shell, &mut Cli::command(), "bbprof");
            assert!(String::from_utf8_lossy(&script).contains("cmake-toolchain"), "{shell:?}");
        }
    }
}
