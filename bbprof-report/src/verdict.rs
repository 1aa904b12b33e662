//! What `verify` says: the fate of each process with what is not exact in it, then `exact` or the number of exceptions.

use crate::number::grouped;
use bbprof_profile::{Profile, demangle};
use std::io::{self, Write};

/// The verdict on any number of profiles, each by itself: errors of one cannot hide behind another.
#[derive(Debug, Default)]
pub struct Verdict {
    exceptions: u64,
    processes: u64,
    functions: u64,
    blocks: u64,
    compared_edges: u64,
}

impl Verdict {
    /// Writes the fate of the processes of `profile`, and its exceptions.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn add(&mut self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        for process in &profile.processes {
            writeln!(out, "process {} {}: {}", process.pid, process.executable, process.fate)?;
        }
        let exceptions = profile.exceptions();
        for exception in &exceptions {
            writeln!(out, "not exact: {exception}")?;
        }
        let totals = profile.totals();
        self.exceptions += exceptions.len() as u64;
        self.processes += profile.processes.len() as u64;
        self.functions += totals.functions;
        self.blocks += totals.blocks;
        self.compared_edges += profile.compared_edges();
        Ok(())
    }

    /// Whether nothing that was added has an exception.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exceptions == 0
    }

    /// Writes the sum of it.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn finish(&self, out: &mut dyn Write) -> io::Result<()> {
        let number = |count: u64| grouped(u128::from(count));
        let mut checked = format!("{} functions, {} blocks", number(self.functions), number(self.blocks));
        if self.compared_edges > 0 {
            checked += &format!(", {} edges compared with counters of their own", number(self.compared_edges));
        }
        if self.processes > 1 {
            checked += &format!(", in {} processes", number(self.processes));
        }
        match self.exceptions {
            0 => writeln!(out, "exact: {checked}"),
            1 => writeln!(out, "not exact: 1 exception; otherwise exact: {checked}"),
            n => writeln!(out, "not exact: {} exceptions; otherwise exact: {checked}", number(n)),
        }
    }
}

/// Writes the functions that were not instrumented, and why.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_skipped(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    for skip in profile.skipped() {
        writeln!(out, "not instrumented: {} ({}): {}", demangle(skip.symbol), skip.module, skip.reason)?;
    }
    Ok(())
}
