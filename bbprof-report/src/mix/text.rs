//! The mix as tables.

use super::{MixReport, Row};
use crate::number::{grouped, numbered, percent};
use crate::table::{Paint, Style, Table, cut_middle, fitted_place, warmth};
use bbprof_profile::OpcodeCount;
use std::cmp::Reverse;
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr;

pub(super) fn write(report: &MixReport<'_>, top: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let unsolved: u64 = report.rows.iter().map(|row| row.mix.unsolved).sum();
    if report.has_run && unsolved > 0 {
        let which = numbered(unsolved.into(), "function");
        writeln!(out, "executed leaves out {which} without counts, see bbprof verify")?;
    }
    if report.has_run && !report.exact {
        writeln!(out, "{}", style.paint(Some(Paint::Hot), "counts NOT exact, see bbprof verify"))?;
    }
    if report.num_skipped > 0 {
        writeln!(out, "{} not instrumented: not in any number here", numbered(report.num_skipped as u128, "function"))?;
    }
    for (position, row) in report.rows.iter().take(top).enumerate() {
        if position > 0 {
            writeln!(out)?;
        }
        write_row(report, row, style, out)?;
    }
    Ok(())
}

fn write_row(report: &MixReport<'_>, row: &Row<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    write_heading(report, row, style, out)?;
    let by_weight = |rows: &mut Vec<(&str, OpcodeCount)>| {
        rows.sort_by_key(|(name, count)| (Reverse((if report.has_run { count.executed } else { 0 }, count.in_code)), *name));
    };
    let mut opcodes: Vec<(&str, OpcodeCount)> = row.mix.opcodes.iter().map(|(name, count)| (*name, *count)).collect();
    by_weight(&mut opcodes);
    let mut groups: Vec<(&str, OpcodeCount)> = row.mix.groups().into_iter().map(|(group, count)| (group.name(), count)).collect();
    by_weight(&mut groups);
    write_counts(report, row, "opcode", &opcodes, style, out)?;
    write_counts(report, row, "group", &groups, style, out)?;
    write_ways(report, row, out)
}

/// Name and place; where both are too wide, the place has a line of its own.
fn write_heading(report: &MixReport<'_>, row: &Row<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let copies =
        if row.mix.functions > 1 { format!(" ({})", numbered(row.mix.functions.into(), "function")) } else { String::new() };
    let name = cut_middle(row.name, style.width.saturating_sub(copies.len()));
    let place = match row.file {
        Some(file) if row.line > 0 => {
            fitted_place(&format!("{}:{}", report.files.path(file), row.line), style.width.saturating_sub(2))
        }
        _ => String::new(),
    };
    let is_wide = name.width() + copies.len() + 2 + place.width() > style.width;
    let between = match place.is_empty() {
        true => "",
        false if is_wide => "\n  ",
        false => "  ",
    };
    writeln!(out, "{}{copies}{between}{place}", style.paint(Some(Paint::Heading), &name))
}

fn write_counts(
    report: &MixReport<'_>,
    row: &Row<'_>,
    title: &str,
    counts: &[(&str, OpcodeCount)],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let total = row.mix.total();
    let mut table = Table::new(&["executed", "%", "in code", "%", title][if report.has_run { 0 } else { 2 }..]);
    for (name, count) in counts.iter().chain([&("(all)", total)]) {
        let mut cells = Vec::new();
        let heat = if report.knows_executions(row) && *name != "(all)" { warmth(count.executed, total.executed) } else { None };
        if report.knows_executions(row) {
            cells.extend([grouped(count.executed), percent(count.executed, total.executed)]);
        } else if report.has_run {
            cells.extend(["unknown".to_owned(), "-".to_owned()]);
        }
        let (in_code, all) = (u128::from(count.in_code), u128::from(total.in_code));
        cells.extend([grouped(in_code), percent(in_code, all), (*name).to_owned()]);
        table.painted_row(heat, cells);
    }
    table.write(style, out)
}

fn write_ways(report: &MixReport<'_>, row: &Row<'_>, out: &mut dyn Write) -> io::Result<()> {
    let ways = row.mix.branches;
    let executed = ways.if_true + ways.if_false;
    if !report.knows_executions(row) || executed == 0 && ways.unknown == 0 {
        return Ok(());
    }
    let share = percent(ways.if_true, executed);
    write!(out, "conditional branches: true {} of {} times ({share} %)", grouped(ways.if_true), grouped(executed))?;
    match ways.unknown {
        0 => writeln!(out),
        n => writeln!(out, "; of {} in the code the way is not known", grouped(u128::from(n))),
    }
}
