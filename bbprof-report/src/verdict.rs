//! What `verify` says: the fate of each process, then `exact`, or each exception with its reason.

use crate::number::grouped;
use bbprof_profile::Profile;
use std::io::{self, Write};

/// Writes the verdict; `with_skipped` also lists the functions that were not instrumented. Returns whether the profile is exact.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_verdict(profile: &Profile, with_skipped: bool, out: &mut dyn Write) -> io::Result<bool> {
    for process in &profile.processes {
        writeln!(out, "process {} {}: {}", process.pid, process.executable, process.fate)?;
    }
    let skipped = profile.skipped();
    if with_skipped {
        for skip in &skipped {
            writeln!(out, "not instrumented: {} ({}): {}", bbprof_profile::demangle(skip.symbol), skip.module, skip.reason)?;
        }
    }
    let exceptions = profile.exceptions();
    for exception in &exceptions {
        writeln!(out, "not exact: {exception}")?;
    }
    let totals = profile.totals();
    let number = |count: u64| grouped(u128::from(count));
    let compared = match profile.compared_edges() {
        0 => String::new(),
        edges => format!(", {} edges compared with counters of their own", number(edges)),
    };
    let checked = format!("{} functions, {} blocks{compared}", number(totals.functions), number(totals.blocks));
    match exceptions.len() {
        0 => writeln!(out, "exact: {checked}")?,
        n => writeln!(out, "not exact: {} exceptions; {checked} otherwise exact", number(n as u64))?,
    }
    Ok(exceptions.is_empty())
}
