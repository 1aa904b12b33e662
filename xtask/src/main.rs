//! Everything that is done to this repository: `cargo xtask TASK`. Each task starts from a fresh machine with Rust, a C compiler
//! and git, and sets up what it needs ([`setup`]).

mod command;
mod demo;
mod explorer;
mod install;
mod room;
mod setup;
mod test;
mod tidy;

use anyhow::Result;
use std::fmt;
use std::path::PathBuf;
use std::process::ExitCode;

/// One task.
struct Task {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Result<()>,
}

impl Task {
    fn usage(&self) -> String {
        format!("usage: cargo xtask {} {}", self.name, self.arguments).trim_end().to_owned()
    }
}

const TASKS: [Task; 6] = [
    Task { name: "demo", arguments: "", about: "set up, build bbprof, profile a real program, show the result", run: demo::run },
    Task {
        name: "test",
        arguments: "[--all] [FILTER]",
        about: "set up and run every test; --all: the long ones too; FILTER: only end-to-end cases with it in their name",
        run: test::run,
    },
    Task {
        name: "bench",
        arguments: "[--quick] [--compiles N] [--program NAME]... [--variant NAME]...",
        about: "measure what profiling costs, peers side by side",
        run: bench,
    },
    Task { name: "install", arguments: "[--root DIR]", about: "install into DIR (default: cargo's home)", run: install::run },
    Task {
        name: "explorer",
        arguments: "[--check]",
        about: "build the page of the HTML explorer, with npm; --check: compare only",
        run: explorer::run,
    },
    Task { name: "tidy", arguments: "", about: "check the rules of the source tree", run: tidy::run },
];

/// Words that the task does not know, or not so. Exit code 2.
#[derive(Debug)]
struct Usage(String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

impl Usage {
    /// `Err` where a task does not know this word, or misses its value.
    fn wrong<T>(word: &str) -> Result<T> {
        Err(Self(format!("{word}: unknown, or its value is missing")).into())
    }
}

/// Refuses what the benchmarks would refuse after all is built.
fn check_bench(words: &[String]) -> Result<()> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--quick" => {}
            "--program" | "--variant" if words.next().is_some() => {}
            "--compiles" if words.next().is_some_and(|number| number.parse::<std::num::NonZero<usize>>().is_ok()) => {}
            _ => return Usage::wrong(word),
        }
    }
    Ok(())
}

/// The task `bench`: the crate of that name, on an installation of its own.
fn bench(words: &[String]) -> Result<()> {
    check_bench(words)?;
    setup::ensure(&[setup::PROFILE, setup::TEST])?;
    let root = install::target_dir().join("bbprof-root");
    install::install(&root)?;
    let mut command = command::cargo(["run", "--locked", "--quiet", "-p", "bbprof-bench", "--"]);
    command.arg(&root).arg(install::target_dir().join("bench")).args(words);
    command::run(&mut command)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: error: {error:#}");
            ExitCode::from(if error.is::<setup::Missing>() || error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

fn dispatch(words: &[String]) -> Result<ExitCode> {
    let Some(name) = words.first().filter(|name| !["help", "--help", "-h"].contains(&name.as_str())) else {
        println!("cargo xtask TASK\n");
        for task in &TASKS {
            println!("  {:<28} {}", format!("{} {}", task.name, task.arguments), task.about);
        }
        return Ok(ExitCode::SUCCESS);
    };
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        return Err(Usage(format!("{name}: no such task; `cargo xtask` lists them")).into());
    };
    if words[1..].iter().any(|word| ["--help", "-h"].contains(&word.as_str())) {
        println!("{}\n\n{}", task.usage(), task.about);
        return Ok(ExitCode::SUCCESS);
    }
    if ["demo", "test", "bench"].contains(&task.name)
        && let Some(code) = room::run_elsewhere(&install::target_dir(), words)?
    {
        return Ok(code);
    }
    (task.run)(&words[1..]).map_err(|error| match error.downcast::<Usage>() {
        Ok(Usage(why)) => Usage(format!("{why}; {}", task.usage())).into(),
        Err(error) => error,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The repository's root.
fn root() -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    own.parent().map_or(own.clone(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before anything is set up or built.
    #[test]
    fn wrong_words_are_refused() {
        assert!(dispatch(&["nothing".to_owned()]).is_err_and(|error| error.is::<Usage>()));
        for (name, words) in [
            ("bench", "--foo"),
            ("bench", "--program"),
            ("install", "--foo"),
            ("install", "--root"),
            ("demo", "x"),
            ("explorer", "x"),
            ("tidy", "x"),
            ("test", "--foo"),
        ] {
            let task = TASKS.iter().find(|task| task.name == name).expect("a task");
            assert!((task.run)(&[words.to_owned()]).is_err_and(|error| error.is::<Usage>()), "{name} {words}");
        }
    }

    #[test]
    fn help_is_help() {
        assert!(TASKS.iter().all(|task| dispatch(&[task.name.to_owned(), "--help".to_owned()]).is_ok()));
    }
}
