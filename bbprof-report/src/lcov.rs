//! The lcov trace file (man geninfo, TRACEFILE FORMAT), in the records that lcov 1.16 and lcov 2 both read. What it shows is
//! told in `covered.rs`.
//!
//! - `FN`/`FNDA`: functions, by linker symbol (`genhtml --demangle-cpp` shows names).
//! - `DA`: the line's count, see `bbprof_profile::LineTable`.
//! - `BRDA`: branches; `-` where the line was never reached.
//!
//! In a symbol, `,` becomes `;`, because lcov takes it for the end of a field.

use crate::covered::{Coverage, CoveredFile, CoveredLines, covered_files};
use crate::names::one_line;
use crate::number::in_64_bits;
use bbprof_profile::Profile;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

/// Writes a profile as an lcov trace file; `test_name` goes into `TN` (A-Z, a-z, 0-9 and `_`, which is
/// all that lcov takes; others become `_`). Returns its total.
///
/// # Errors
/// When `out` cannot be written, or a count does not fit into the 64 bits in which readers hold it.
pub fn write_lcov(profile: &Profile, test_name: &str, coverage: Coverage<'_>, out: &mut dyn Write) -> io::Result<CoveredLines> {
    let test_name: String = test_name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let files = covered_files(profile, coverage);
    for file in &files {
        writeln!(out, "TN:{test_name}\nSF:{}", one_line(file.path))?;
        write_functions(file, out)?;
        write_branches(file, out)?;
        write_lines(file, out)?;
        writeln!(out, "end_of_record")?;
    }
    Ok(CoveredLines::of(&files))
}

/// A count of this function's or line's, where readers can hold it.
fn held(executions: u128, of: impl Display) -> io::Result<u64> {
    in_64_bits(executions, of, "executions", "lcov's trace file")
}

fn write_functions(file: &CoveredFile<'_>, out: &mut dyn Write) -> io::Result<()> {
    // Functions of one name on several lines (the same static function under `#if`): the line tells them apart.
    let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
    for function in &file.functions {
        *uses.entry(&function.symbol).or_default() += 1;
    }
    let record = |line: u32, symbol: &str| {
        let name = one_line(symbol).replace(',', ";");
        if uses.get(symbol) == Some(&1) { name } else { format!("{name}:{line}") }
    };
    for function in &file.functions {
        writeln!(out, "FN:{},{}", function.line, record(function.line, &function.symbol))?;
    }
    for function in &file.functions {
        let count = held(function.count, &function.symbol)?;
        writeln!(out, "FNDA:{count},{}", record(function.line, &function.symbol))?;
    }
    let hit = file.functions.iter().filter(|function| function.count > 0).count();
    writeln!(out, "FNF:{}\nFNH:{hit}", file.functions.len())
}

/// Numbers the branches of each line from 0: `block` is the branch instruction, `branch` its way out.
fn write_branches(file: &CoveredFile<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (mut found, mut hit) = (0_u64, 0_u64);
    for branches in &file.branches {
        for (block, ways) in branches.ways.iter().enumerate() {
            for (branch, count) in ways.iter().enumerate() {
                found += 1;
                hit += u64::from(*count > 0);
                let taken = if branches.is_reached { count.to_string() } else { "-".to_owned() };
                writeln!(out, "BRDA:{},{block},{branch},{taken}", branches.line)?;
            }
        }
    }
    writeln!(out, "BRF:{found}\nBRH:{hit}")
}

fn write_lines(file: &CoveredFile<'_>, out: &mut dyn Write) -> io::Result<()> {
    for (number, count) in &file.lines {
        writeln!(out, "DA:{number},{}", held(*count, format_args!("{}:{number}", file.path))?)?;
    }
    let hit = file.lines.iter().filter(|(_, count)| *count > 0).count();
    writeln!(out, "LF:{}\nLH:{hit}", file.lines.len())
}
