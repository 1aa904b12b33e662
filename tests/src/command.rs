//! Commands that say everything when they fail: command line, folder, exit status, both outputs.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A command to run.
#[derive(Debug)]
pub struct Run {
    command: Command,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Exit code, or 128 + signal.
    pub code: i32,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: String,
    /// What was run, for messages.
    pub what: String,
}

impl Run {
    /// A program to run.
    #[must_use]
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        // What the test runner or the developer has set must not steer the tools under test.
        let flags = ["RUSTFLAGS", "RUSTDOCFLAGS", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "RUSTC_WRAPPER"];
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let is_cargos = text.starts_with("CARGO_") && !["CARGO_HOME", "CARGO_NET_OFFLINE"].contains(&&*text);
            if is_cargos || text.starts_with("BBPROF_") || text.starts_with("NEXTEST") || flags.contains(&&*text) {
                command.env_remove(name);
            }
        }
        Self { command }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs in a folder.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn outcome(mut self) -> Outcome {
        use std::os::unix::process::ExitStatusExt;
        let words: Vec<_> = std::iter::once(self.command.get_program()).chain(self.command.get_args()).collect();
        let what = format!("{words:?}");
        let mut tries = 0;
        let output = loop {
            match self.command.stdin(Stdio::null()).output() {
                // Just written: a child that another test made meanwhile has the file open, too, until it executes its own.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy && tries < 100 => {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(10));
                }
                output => break output.unwrap_or_else(|e| panic!("cannot start {what}: {e}")),
            }
        };
        let code = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0));
        Outcome { code, stdout: output.stdout, stderr: String::from_utf8_lossy(&output.stderr).into_owned(), what }
    }

    /// Runs it and expects success.
    ///
    /// # Panics
    /// When it fails; the message says how.
    pub fn ok(self) -> Outcome {
        self.outcome().expect_code(0)
    }
}

impl Outcome {
    /// Standard output as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Expects this exit code.
    ///
    /// # Panics
    /// When it is another.
    pub fn expect_code(self, code: i32) -> Self {
        assert!(
            self.code == code,
            "exit code {} instead of {code}: {}\n--- stdout\n{}\n--- stderr\n{}",
            self.code,
            self.what,
            tail(&self.text()),
            tail(&self.stderr)
        );
        self
    }
}

fn tail(text: &str) -> &str {
    let start = text.len().saturating_sub(6_000);
    let start = (start..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sandbox;

    #[test]
    fn who_is_still_written_is_waited_for() {
        let sandbox = Sandbox::new("busy");
        let program = sandbox.join("true");
        Run::new("cp").arg("/bin/true").arg(&program).ok();
        let writer = std::fs::OpenOptions::new().append(true).open(&program).expect("a file of our own");
        let closing = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(writer);
        });
        Run::new(&program).ok();
        closing.join().expect("it only waits");
    }
}
