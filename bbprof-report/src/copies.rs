//! The copy ledger as text: what became of functions of the source; see [`bbprof_profile::LedgerEntry`].

use crate::called::is_name;
use crate::number::{grouped, numbered, percent};
use crate::one_line;
use crate::place::{file_name, place, short_name};
use crate::table::{Paint, Style, Table, heading, warmth};
use bbprof_profile::{CodeCopy, FunctionView, LedgerEntry, Profile};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// Size in bytes of the machine code of a function; `None` where it is not known.
pub type SizeOf<'s> = &'s dyn Fn(&FunctionView<'_>) -> Option<u64>;

/// Writes the functions of the source that have more than one copy, the first `top` of them.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_ledger(profile: &Profile, top: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let ledger = profile.ledger();
    let total: u128 = ledger.iter().map(LedgerEntry::instructions).sum();
    let copied: Vec<&LedgerEntry<'_>> = ledger.iter().filter(|entry| entry.copies.len() > 1).collect();
    let instructions: u128 = copied.iter().map(|entry| entry.instructions()).sum();
    writeln!(out, "functions of the source  {}", grouped(ledger.len() as u128))?;
    let share = percent(instructions, total);
    writeln!(out, "with several copies      {}, {share} % of the instructions", grouped(copied.len() as u128))?;
    heading(style, "By executed instructions (copies: own + inlined)", out)?;
    let mut table = Table::new(&["instructions", "%", "executions", "in code", "copies", "function"]);
    for entry in copied.into_iter().take(top) {
        let own = entry.copies.iter().filter(|copy| copy.inlined.is_none()).count();
        let in_code: u128 = entry.copies.iter().map(|copy| u128::from(copy.in_code)).sum();
        table.painted_row(
            warmth(entry.instructions(), total),
            vec![
                grouped(entry.instructions()),
                percent(entry.instructions(), total),
                grouped(entry.executions()),
                grouped(in_code),
                format!("{own}+{}", entry.copies.len() - own),
                label(profile, entry),
            ],
        );
    }
    table.write(style, out)
}

fn label(profile: &Profile, entry: &LedgerEntry<'_>) -> String {
    format!("{}{}", short_name(&entry.shown), place(profile, entry.file.map(|file| (file, entry.line))))
}

/// Writes all copies of the functions called `wanted`, at most `top` each; gives how many functions
/// have that name.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_copies(
    profile: &Profile,
    wanted: &str,
    top: usize,
    style: Style,
    size_of: SizeOf<'_>,
    out: &mut dyn Write,
) -> io::Result<usize> {
    let ledger = profile.ledger();
    let found: Vec<&LedgerEntry<'_>> = ledger.iter().filter(|entry| is_name(wanted, &entry.shown)).collect();
    for (position, entry) in found.iter().enumerate() {
        if position > 0 {
            writeln!(out)?;
        }
        write_entry(profile, entry, top, style, size_of, out)?;
    }
    Ok(found.len())
}

fn write_entry(
    profile: &Profile,
    entry: &LedgerEntry<'_>,
    top: usize,
    style: Style,
    size_of: SizeOf<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let at = place(profile, entry.file.map(|file| (file, entry.line)));
    writeln!(out, "{}{at}", style.paint(Some(Paint::Heading), &one_line(&entry.shown)))?;
    let (total, executions) = (entry.instructions(), entry.executions());
    let number = entry.copies.len();
    let noun = if number == 1 { "copy" } else { "copies" };
    writeln!(out, "{number} {noun}, {}, {}", numbered(executions, "execution"), numbered(total, "instruction"))?;
    let images: BTreeSet<&str> = entry.copies.iter().map(|copy| copy.host.image_path()).collect();
    let mut table = Table::new(&["instructions", "%", "executions", "in code", "bytes", "usual %", "copy"]);
    for copy in entry.copies.iter().take(top) {
        // Only a function of its own has machine code of its own, with what is inlined into it.
        let bytes = if copy.inlined.is_none() { size_of(&copy.host) } else { None };
        table.painted_row(
            warmth(copy.instructions, total),
            vec![
                grouped(copy.instructions),
                percent(copy.instructions, total),
                grouped(copy.executions),
                grouped(u128::from(copy.in_code)),
                bytes.map_or_else(|| "-".to_owned(), |bytes| grouped(u128::from(bytes))),
                percent(copy.usual, copy.branches),
                copy_label(profile, copy, images.len() > 1),
            ],
        );
    }
    table.write(style, out)?;
    if number > top {
        writeln!(out, "({} more)", grouped((number - top) as u128))?;
    }
    Ok(())
}

/// What the copy is, or is part of; where they are in several programs and libraries, of which.
fn copy_label(profile: &Profile, copy: &CodeCopy<'_>, with_image: bool) -> String {
    let image = if with_image { format!(" ({})", file_name(copy.host.image_path())) } else { String::new() };
    match copy.inlined {
        None => format!("own{image}  {}", copy.host.name()),
        Some(inlined) => format!("in {}{image}{}", short_name(copy.host.name()), place(profile, inlined.at)),
    }
}
