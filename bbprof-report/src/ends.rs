//! How the processes of a profile ended, a line for each executable and end.

use crate::names::one_line;
use crate::number::{grouped, numbered};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// Lines at most: a test suite ends in hundreds of ways (perl's: 270), and the totals stand below them. More than a
/// screen has room for is the business of `verify`. A guess.
const MOST: usize = 20;

/// Writes the ends of most processes, by executable, and how many others there were. Takes
/// executables, their fates, and how many processes each is said of.
pub(crate) fn write_ends<'p>(fates: impl Iterator<Item = (&'p str, &'p str, u64)>, out: &mut dyn Write) -> io::Result<()> {
    let mut numbers: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (executable, fate, number) in fates {
        *numbers.entry((executable, fate)).or_default() += number;
    }
    let mut ends: Vec<((&str, &str), u64)> = numbers.into_iter().collect();
    ends.sort_by_key(|(_, number)| Reverse(*number));
    // A line that says of one more is as long as its own.
    let others = if ends.len() > MOST + 1 { ends.split_off(MOST) } else { Vec::new() };
    ends.sort();
    for ((executable, fate), number) in ends {
        let times = if number == 1 { String::new() } else { format!(" ({} processes)", grouped(number.into())) };
        writeln!(out, "{}: {}{times}", one_line(executable), one_line(fate))?;
    }
    if !others.is_empty() {
        let number: u128 = others.iter().map(|(_, number)| u128::from(*number)).sum();
        let programs: BTreeSet<&str> = others.iter().map(|((executable, _), _)| *executable).collect();
        let fates: BTreeSet<&str> = others.iter().map(|((_, fate), _)| *fate).collect();
        let of = numbered(programs.len() as u128, "program");
        let ends = match fates.first() {
            Some(fate) if fates.len() == 1 => one_line(fate).into_owned(),
            _ => format!("{} ways to end, see bbprof verify", grouped(fates.len() as u128)),
        };
        writeln!(out, "and {} processes more, of {of}: {ends}", grouped(number))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(numbers: &[u64]) -> String {
        let fates: Vec<String> = (0..numbers.len()).map(|code| format!("exit {code:02}")).collect();
        let mut out = Vec::new();
        write_ends(fates.iter().zip(numbers).map(|(fate, number)| ("/app", fate.as_str(), *number)), &mut out)
            .expect("memory takes it");
        String::from_utf8(out).expect("words")
    }

    #[test]
    fn a_screen_shows_them() {
        assert_eq!(text(&[1, 1200]), "/app: exit 00\n/app: exit 01 (1,200 processes)\n");
        assert_eq!(text(&[1; MOST + 1]).lines().count(), MOST + 1);
        let mut numbers = vec![1; 270];
        numbers[269] = 9536;
        numbers[3] = 2;
        let text = text(&numbers);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), MOST + 1);
        assert_eq!((lines[0], lines[3]), ("/app: exit 00", "/app: exit 03 (2 processes)"));
        assert_eq!(lines[MOST - 1], "/app: exit 269 (9,536 processes)");
        assert_eq!(lines[MOST], "and 250 processes more, of 1 program: 250 ways to end, see bbprof verify");
    }

    #[test]
    fn many_programs_that_end_alike() {
        let programs: Vec<String> = (0..MOST + 100).map(|test| format!("/test{test:03}")).collect();
        let mut out = Vec::new();
        write_ends(programs.iter().map(|program| (program.as_str(), "exit 0", 1)), &mut out).expect("memory takes it");
        let text = String::from_utf8(out).expect("words");
        assert_eq!(text.lines().next(), Some("/test000: exit 0"));
        assert_eq!(text.lines().last(), Some("and 100 processes more, of 100 programs: exit 0"));
    }
}
