//! Tables that fit a width: number columns as wide as they need, the last column cut where it says least; with colour where wanted.

use std::io::{self, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How text may look on the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Columns of the output.
    pub width: usize,
    /// Whether the output shows colours (ANSI escapes).
    pub colour: bool,
}

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Paint {
    /// A heading.
    Heading,
    /// Most of something.
    Hot,
    /// Much of something.
    Warm,
    /// Of little interest.
    Faint,
    /// As it should be.
    Good,
}

impl Style {
    /// The text in the colour of `paint`, where there are colours.
    pub(crate) fn paint(self, paint: Option<Paint>, text: &str) -> String {
        let code = match paint {
            Some(Paint::Heading) => "1",
            Some(Paint::Hot) => "1;31",
            Some(Paint::Warm) => "33",
            Some(Paint::Faint) => "2",
            Some(Paint::Good) => "32",
            None => return text.to_owned(),
        };
        if self.colour && !text.trim().is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// The line above a table, behind an empty one.
pub(crate) fn heading(style: Style, title: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}", style.paint(Some(Paint::Heading), title))
}

/// How warm a share is: a tenth of the whole is hot, a fiftieth warm.
pub(crate) fn warmth(part: u128, whole: u128) -> Option<Paint> {
    match part.saturating_mul(50) {
        0 => Some(Paint::Faint),
        scaled if scaled >= whole.saturating_mul(5) => Some(Paint::Hot),
        scaled if scaled >= whole => Some(Paint::Warm),
        _ => None,
    }
}

/// A bar of at most `width` columns, in eighths of a column; something is never shown as nothing.
pub(crate) fn bar(part: u128, whole: u128, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if part == 0 || whole == 0 {
        return " ".repeat(width);
    }
    let full = width as u128 * 8;
    let eighths = part.checked_mul(full).map_or(full, |scaled| (scaled / whole).clamp(1, full)) as usize;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(EIGHTHS[eighths % 8]);
    let drawn = eighths.div_ceil(8);
    bar + &" ".repeat(width - drawn)
}

/// A table: all columns but the last are right-aligned.
pub(crate) struct Table {
    header: Vec<String>,
    rows: Vec<(Option<Paint>, Vec<String>)>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { header: header.iter().map(|title| (*title).to_owned()).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push((None, cells));
    }

    /// A row whose numbers have this colour.
    pub(crate) fn painted_row(&mut self, paint: Option<Paint>, cells: Vec<String>) {
        self.rows.push((paint, cells));
    }

    /// Writes the table in lines of at most `style.width` columns (at least 20 for the last one).
    pub(crate) fn write(&self, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let last = self.header.len() - 1;
        let heading = (Some(Paint::Heading), &self.header);
        let lines = || std::iter::once(heading).chain(self.rows.iter().map(|(paint, cells)| (*paint, cells)));
        let width_of = |column: usize| lines().map(|(_, line)| line[column].width()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..last).map(width_of).collect();
        let taken: usize = widths.iter().map(|width| width + 2).sum();
        let rest = style.width.saturating_sub(taken).max(20);
        for (position, (paint, line)) in lines().enumerate() {
            let mut numbers = String::new();
            for (cell, width) in line.iter().zip(&widths) {
                numbers.push_str(&" ".repeat(width - cell.width()));
                numbers.push_str(cell);
                numbers.push_str("  ");
            }
            let text = fitted(&line[last], rest);
            // The header is of one colour; in a row the name stays plain.
            let text = if position == 0 { style.paint(paint, &text) } else { text };
            writeln!(out, "{}{text}", style.paint(paint, &numbers))?;
        }
        Ok(())
    }
}

/// The text in `width` columns: a name without the place behind it (two spaces between them), or a place.
fn fitted(text: &str, width: usize) -> String {
    // Paths may have two spaces in them, and begin with none.
    let name = text.split_once("  ").filter(|_| !text.starts_with('/') && text.width() > width);
    name.map_or_else(|| fitted_place(text, width), |(name, _place)| cut_middle(name, width))
}

/// The place in `width` columns: a path without its first folders; what is still too wide loses its middle. Where whole folders
/// would leave much of the width empty, a part of the next one stays: paths of a family of packages
/// (`regex-syntax-0.8/src/lib.rs`) differ there.
pub(crate) fn fitted_place(text: &str, width: usize) -> String {
    if text.width() <= width {
        return cut_middle(text, width);
    }
    let ends = text.match_indices('/').map(|(at, _)| &text[at..]);
    let fitting = text.starts_with('/').then(|| ends.skip(1).find(|end| end.width() + 3 <= width)).flatten();
    match fitting {
        Some(end) if 3 * (end.width() + 3) < 2 * width => cut_middle(&format!("...{}", last_columns(text, width - 3)), width),
        Some(end) => cut_middle(&format!("...{end}"), width),
        None => cut_middle(text, width),
    }
}

/// The end of the text that `width` columns have room for.
fn last_columns(text: &str, width: usize) -> &str {
    text.char_indices().map(|(at, _)| &text[at..]).find(|end| end.width() <= width).unwrap_or("")
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

    const PLAIN: Style = Style { width: 30, colour: false };

    #[test]
    fn fits_the_width() {
        let mut table = Table::new(&["count", "function"]);
        table.row(vec!["1,000".into(), "f".into()]);
        table.row(vec!["7".into(), "a_very_long_name_that_must_be_cut_somewhere".into()]);
        let text = |style: Style| {
            let mut out = Vec::new();
            table.write(style, &mut out).expect("memory");
            String::from_utf8(out).expect("text")
        };
        let plain = text(PLAIN);
        assert_eq!(plain, "count  function\n1,000  f\n    7  a_very_lon..._somewhere\n");
        assert!(plain.lines().all(|line| line.width() <= 30));
        let coloured = text(Style { colour: true, ..PLAIN });
        assert!(coloured.starts_with("\u{1b}[1mcount  \u{1b}[0m\u{1b}[1mfunction\u{1b}[0m\n1,000  f\n"), "{coloured:?}");
    }

    #[test]
    fn names_go_before_places_and_files_before_folders() {
        for (text, fits) in [
            ("name  file.c:12", "name  file.c:12"),
            ("a_name_of_some_length  f.c:1", "a_name_of_some_length"),
            ("a_name_that_is_too_long_for_this  f.c:1", "a_name_tha..._for_this"),
            ("/code/someone/src/deep/er/file.c:12", ".../deep/er/file.c:12"),
            ("/code/a folder/of  two/spaces/f.c:1", ".../spaces/f.c:1"),
            ("/registry/regex-syntax-0.8/src/lib.rs", "...ntax-0.8/src/lib.rs"),
            ("/code/a_file_whose_name_is_too_long.c:7", "/code/a_fi..._long.c:7"),
        ] {
            assert_eq!(fitted(text, 22), fits);
        }
        assert_eq!(fitted_place("a  folder/of/some/length/f.c:1", 22), "a  folder/...gth/f.c:1");
    }

    #[test]
    fn wide_and_control_characters() {
        assert_eq!(cut_middle("日本語日本語日本語", 9).width(), 9 - 2);
        assert_eq!(cut_middle("a\u{1b}[31m\n", 20), "a?[31m?");
    }

    #[test]
    fn bars() {
        assert_eq!(bar(0, 10, 4), "    ");
        assert_eq!(bar(1, 1_000_000, 4), "▏   ");
        assert_eq!(bar(5, 10, 4), "██  ");
        assert_eq!(bar(10, 10, 4), "████");
        assert_eq!(bar(1, 4, 2), "▌ ");
        assert_eq!(bar(7, 7, 3).width(), 3);
    }

    #[test]
    fn warm_and_hot() {
        assert_eq!(
            [0, 1, 2, 9, 10].map(|part| warmth(part, 100)),
            [Some(Paint::Faint), None, Some(Paint::Warm), Some(Paint::Warm), Some(Paint::Hot)]
        );
    }
}
