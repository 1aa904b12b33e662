//! What `verify` says: the fate of each process with what is not exact in it, then `exact` or the number of exceptions.

use crate::number::{grouped, numbered};
use crate::one_line;
use crate::table::{Paint, Style};
use bbprof_profile::{Profile, demangle, late_in_words};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The verdict on any number of profiles, each by itself: errors of one cannot hide behind another.
#[derive(Debug)]
pub struct Verdict {
    style: Style,
    exceptions: u64,
    processes: u64,
    functions: u64,
    blocks: u64,
    compared_edges: u64,
    /// The processes whose exceptions they are, as far as that is known of each.
    inexact: BTreeSet<u32>,
}

/// Processes that are named.
const MOST_NAMED: usize = 5;

impl Verdict {
    /// On nothing yet; with colours where `style` has them.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self { style, exceptions: 0, processes: 0, functions: 0, blocks: 0, compared_edges: 0, inexact: BTreeSet::new() }
    }

    /// Writes the fate of the processes of `profile`, and its exceptions.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn add(&mut self, profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
        let exceptions = profile.exceptions();
        // Whoever reads may leave early; the verdict is of all.
        self.exceptions += exceptions.len() as u64;
        self.processes += profile.num_processes();
        for function in profile.functions() {
            self.functions += 1;
            self.blocks += u64::from(function.num_blocks());
        }
        self.compared_edges += profile.compared_edges();
        let is_alone = profile.processes.len() == 1 && !exceptions.is_empty();
        let inexact = profile.processes.iter().filter(|process| is_alone || process.caveat.is_some());
        self.inexact.extend(inexact.map(|process| process.pid).filter(|pid| *pid != 0));
        for process in &profile.processes {
            let (executable, fate) = (one_line(&process.executable), one_line(&process.fate));
            match process.pid {
                0 if process.number == 1 => writeln!(out, "1 process of {executable}: {fate}")?,
                0 => writeln!(out, "{} processes of {executable}: {fate}", grouped(u128::from(process.number)))?,
                pid => writeln!(out, "process {pid} {executable}: {fate}")?,
            }
        }
        for exception in &exceptions {
            writeln!(out, "{} {}", self.style.paint(Some(Paint::Hot), "not exact:"), one_line(&exception.to_string()))?;
        }
        Ok(())
    }

    /// Whether nothing that was added has an exception.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.exceptions == 0
    }

    /// Of which processes the exceptions are, where they stand among others.
    fn whose(&self) -> String {
        if self.processes < 2 || self.inexact.is_empty() {
            return String::new();
        }
        let named: Vec<String> = self.inexact.iter().take(MOST_NAMED).map(u32::to_string).collect();
        let processes = if self.inexact.len() == 1 { "process" } else { "processes" };
        let others = match self.inexact.len() - named.len() {
            0 => String::new(),
            n => format!(" and {}", numbered(n as u128, "other")),
        };
        format!(", {processes} {}{others}", named.join(", "))
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
            0 => writeln!(out, "{} {checked}", self.style.paint(Some(Paint::Good), "exact:")),
            n => {
                let verdict = self.style.paint(Some(Paint::Hot), "not exact:");
                writeln!(out, "{verdict} {}{}; otherwise exact: {checked}", numbered(n.into(), "exception"), self.whose())
            }
        }
    }
}

/// Writes the functions that were not instrumented, and why.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_skipped(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    for skip in profile.skipped() {
        let text = format!("{} ({}): {}", demangle(skip.symbol), skip.module, skip.reason);
        writeln!(out, "not instrumented: {}", one_line(&text))?;
    }
    Ok(())
}

/// Writes where activations may have been interrupted, if the end of a process, or its counters, say that some were.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_interruptible(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    if profile.processes.iter().all(|process| process.caveat.is_none()) && profile.exceptions().is_empty() {
        return Ok(());
    }
    let late = late_in_words();
    for function in profile.interruptible() {
        let blocks = function.blocks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
        writeln!(out, "may be interrupted: {}: block {blocks}", one_line(function.name))?;
        let loops = [
            (&function.ahead, "whose turns are counted when the loop begins, so ahead by those that were not taken"),
            (&function.behind, "whose counters stand in registers, so behind by the turns that were taken"),
            (&function.late, late.as_str()),
        ];
        for (blocks, what) in loops.into_iter().filter(|(blocks, _)| !blocks.is_empty()) {
            let listed = blocks.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            writeln!(out, "  block {listed}: in loops {what}")?;
        }
    }
    Ok(())
}
