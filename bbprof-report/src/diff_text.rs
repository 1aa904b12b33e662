//! What changed between two profiles, as text: the sums, then the functions that changed most.

use crate::names::one_line;
use crate::number::{grouped, numbered, percent};
use crate::table::{Style, Table};
use bbprof_profile::{Change, Diff, FunctionDiff};
use std::io::{self, Write};

/// A column of the table: its title, and the part of a change that it shows.
type Column = (&'static str, fn(&Change) -> i128);

/// Writes the comparison; at most `top` functions.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_diff(diff: &Diff, top: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let change = diff.change.total();
    writeln!(out, "instructions    {} -> {}", grouped(diff.a), grouped(diff.b))?;
    let changed: Vec<&FunctionDiff> = diff.functions.iter().filter(|function| function.change != Change::default()).collect();
    if changed.is_empty() {
        return writeln!(out, "no difference in {}", numbered(diff.functions.len() as u128, "function"));
    }
    writeln!(out, "change          {}  ({})", signed(change), relative(change, diff.a))?;
    for (what, part) in [
        ("ran more/less", diff.change.ran),
        ("code", diff.change.code),
        ("new", diff.change.new),
        ("vanished", diff.change.vanished),
    ] {
        if part != 0 {
            writeln!(out, "  {what:<14}{}  ({})", signed(part), relative(part, diff.a))?;
        }
    }
    if diff.moved > 0 {
        writeln!(out, "moved by inlining, in the sum nothing: {}", grouped(diff.moved))?;
    }
    writeln!(out, "\nFunctions that changed, {} of {}", grouped(changed.len().min(top) as u128), grouped(changed.len() as u128))?;
    let columns: [Column; 4] = [
        ("ran", |change| change.ran),
        ("code", |change| change.code),
        ("new/gone", |change| change.new + change.vanished),
        ("inlining", |change| change.inlining),
    ];
    // Columns that are empty everywhere are left out.
    let used: Vec<_> =
        columns.iter().filter(|(_, part)| changed.iter().take(top).any(|function| part(&function.change) != 0)).collect();
    let mut header = vec!["change", "%"];
    header.extend(used.iter().map(|(title, _)| *title));
    header.push("function");
    let mut table = Table::new(&header);
    for function in changed.iter().take(top) {
        let before = function.a.as_ref().map_or(0, |side| side.instructions);
        let mut row = vec![signed(function.change.total()), relative(function.change.total(), before)];
        row.extend(used.iter().map(|(_, part)| match part(&function.change) {
            0 => String::new(),
            part => signed(part),
        }));
        row.push(label(function));
        table.row(row);
    }
    table.write(style, out)
}

fn label(function: &FunctionDiff) -> String {
    let place = function.place.as_ref().map_or_else(String::new, |(file, line)| {
        let file = file.rsplit('/').next().unwrap_or(file);
        format!("  {file}:{line}")
    });
    format!("{}{place}", crate::place::short_name(&one_line(&function.name)))
}

fn signed(number: i128) -> String {
    let sign = if number < 0 { "-" } else { "+" };
    if number == 0 { "0".to_owned() } else { format!("{sign}{}", grouped(number.unsigned_abs())) }
}

/// With its sign and in percent of the whole, with three decimals below 1 %.
fn relative(part: i128, whole: u128) -> String {
    if whole == 0 || part == 0 {
        return if part == 0 { "0 %".to_owned() } else { "-".to_owned() };
    }
    let sign = if part < 0 { "-" } else { "+" };
    let amount = part.unsigned_abs();
    let thousandths = amount.checked_mul(100_000).map_or(u128::MAX, |scaled| scaled / whole);
    match thousandths {
        0 => format!("{sign}<0.001 %"),
        1..1_000 => format!("{sign}0.{thousandths:03} %"),
        _ => format!("{sign}{} %", percent(amount, whole)),
    }
}

#[cfg(test)]
mod tests {
    use super::{relative, signed};

    #[test]
    fn changes() {
        assert_eq!([signed(0), signed(-1234), signed(5)], ["0", "-1,234", "+5"]);
        for (part, whole, text) in [
            (0, 0, "0 %"),
            (5, 0, "-"),
            (1, 1_000, "+0.100 %"),
            (-1, 10_000_000, "-<0.001 %"),
            (-25, 100, "-25.0 %"),
            (999, 1000, "+99.9 %"),
            (1000, 1000, "+100.0 %"),
            (1234, 1000, "+123.4 %"),
        ] {
            assert_eq!(relative(part, whole), text);
        }
    }
}
