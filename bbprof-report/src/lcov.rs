//! The lcov trace file (man geninfo, TRACEFILE FORMAT), in the records that lcov 1.16 and lcov 2 both read.
//!
//! - `FN`/`FNDA`: one for each function of the source, named by the linker symbol of its first instantiation (symbols survive
//!   the format: names with commas do not; `genhtml --demangle-cpp` shows them). Its count is the entries of all instantiations
//!   plus the arrivals at inlined copies, so a function with a hit line is hit.
//! - `DA`: the line's count, see `bbprof_profile::LineTable`.
//! - `BRDA`: conditional branches and switches, `-` where the line was never reached. Left out are ways to a landing pad;
//!   branches whose counts the counter placement does not tell; and, because lcov 2 refuses a hit line without a hit branch,
//!   the branches of a line that only ran in copies of its code which need no branch.

use crate::summary::without_generics;
use bbprof_profile::{BranchKey, LineTable, Outcome, Profile, SourceFunction, SourceLines, demangle};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a profile as an lcov trace file; `test_name` goes into `TN` (letters, digits and `_`; others become `_`).
///
/// # Errors
/// When `out` cannot be written.
pub fn write_lcov(profile: &Profile, test_name: &str, out: &mut dyn Write) -> io::Result<()> {
    let table = LineTable::new(profile);
    let test_name: String = test_name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
    let mut files: Vec<(&str, &SourceLines)> =
        table.files.iter().map(|(file, source)| (profile.files.path(*file), source)).collect();
    files.sort_by_key(|(path, _)| *path);
    for (path, source) in files {
        if source.lines.is_empty() {
            continue;
        }
        writeln!(out, "TN:{test_name}\nSF:{path}")?;
        write_functions(source, out)?;
        write_branches(source, out)?;
        write_lines(source, out)?;
        writeln!(out, "end_of_record")?;
    }
    Ok(())
}

fn write_functions(source: &SourceLines, out: &mut dyn Write) -> io::Result<()> {
    let mut functions: BTreeMap<(u32, String), (&str, SourceFunction)> = BTreeMap::new();
    for ((line, symbol), function) in &source.functions {
        let key = (*line, without_generics(&demangle(symbol)));
        let (_, total) = functions.entry(key).or_insert_with(|| (symbol.as_str(), SourceFunction::default()));
        total.entries += function.entries;
        total.inlined += function.inlined;
    }
    // Functions of one name on several lines (the same static function under `#if`): the line tells them apart.
    let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
    for (symbol, _) in functions.values() {
        *uses.entry(symbol).or_default() += 1;
    }
    let record = |line: u32, symbol: &str| match uses.get(symbol) {
        Some(1) | None => symbol.replace(',', ";"),
        _ => format!("{}:{line}", symbol.replace(',', ";")),
    };
    for ((line, _), (symbol, _)) in &functions {
        writeln!(out, "FN:{line},{}", record(*line, symbol))?;
    }
    let mut hit = 0;
    for ((line, _), (symbol, function)) in &functions {
        let count = function.entries + function.inlined;
        hit += u64::from(count > 0);
        writeln!(out, "FNDA:{count},{}", record(*line, symbol))?;
    }
    writeln!(out, "FNF:{}\nFNH:{hit}", functions.len())
}

/// Numbers the branches of each line from 0: `block` is the branch instruction, `branch` its way out.
fn write_branches(source: &SourceLines, out: &mut dyn Write) -> io::Result<()> {
    let (mut found, mut hit) = (0_u64, 0_u64);
    let branches = merged_instantiations(source);
    for of_line in branches.chunk_by(|(a, _), (b, _)| a.line == b.line) {
        let line = of_line[0].0.line;
        let is_reached = source.lines.get(&line).is_some_and(|line| line.count > 0);
        let ways = |outcomes: &[Outcome]| -> Option<Vec<u64>> {
            outcomes.iter().filter(|outcome| !outcome.unwinds).map(|outcome| outcome.count).collect()
        };
        let known: Vec<Vec<u64>> = of_line.iter().filter_map(|(_, outcomes)| ways(outcomes)).collect();
        if is_reached != known.iter().flatten().any(|count| *count > 0) {
            continue;
        }
        for (block, ways) in known.iter().enumerate() {
            for (branch, count) in ways.iter().enumerate() {
                found += 1;
                hit += u64::from(*count > 0);
                let taken = if is_reached { count.to_string() } else { "-".to_owned() };
                writeln!(out, "BRDA:{line},{block},{branch},{taken}")?;
            }
        }
    }
    writeln!(out, "BRF:{found}\nBRH:{hit}")
}

/// Instantiations of one function have the same branches: where line, place and number of ways agree, they are one branch.
fn merged_instantiations(source: &SourceLines) -> Vec<(BranchKey, Vec<Outcome>)> {
    let mut merged: BTreeMap<BranchKey, Vec<Outcome>> = BTreeMap::new();
    for (key, outcomes) in &source.branches {
        let plain = BranchKey { symbol: without_generics(&demangle(&key.symbol)), ..key.clone() };
        match merged.entry(plain) {
            std::collections::btree_map::Entry::Vacant(vacant) => {
                vacant.insert(outcomes.clone());
            }
            std::collections::btree_map::Entry::Occupied(mut occupied) if occupied.get().len() == outcomes.len() => {
                for (sum, outcome) in occupied.get_mut().iter_mut().zip(outcomes) {
                    sum.count = sum.count.zip(outcome.count).and_then(|(a, b)| a.checked_add(b));
                }
            }
            std::collections::btree_map::Entry::Occupied(_) => {
                merged.insert(key.clone(), outcomes.clone());
            }
        }
    }
    merged.into_iter().collect()
}

fn write_lines(source: &SourceLines, out: &mut dyn Write) -> io::Result<()> {
    let mut hit = 0_u64;
    for (number, line) in &source.lines {
        hit += u64::from(line.count > 0);
        writeln!(out, "DA:{number},{}", line.count)?;
    }
    writeln!(out, "LF:{}\nLH:{hit}", source.lines.len())
}
