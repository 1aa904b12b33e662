//! Names that several formats share, for formats that have rules about them, and demangled ones, each made once.

use bbprof_profile::{EdgeKind, FunctionView, demangle};
use std::borrow::Cow;
use std::collections::HashMap;

/// Demangled names by linker symbol.
#[derive(Default)]
pub(crate) struct Demangled<'p> {
    names: HashMap<&'p str, String>,
}

impl<'p> Demangled<'p> {
    pub(crate) fn name(&mut self, symbol: &'p str) -> &str {
        self.names.entry(symbol).or_insert_with(|| demangle(symbol))
    }
}

/// The kind of an edge between blocks, as the JSON export and the explorer call it.
pub(crate) fn edge_kind(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Branch => "branch",
        EdgeKind::Switch => "switch",
        EdgeKind::Invoke => "invoke",
        EdgeKind::Unwind => "unwind",
        EdgeKind::Indirect => "indirect",
        EdgeKind::Fallthrough | EdgeKind::Return | EdgeKind::Entry | EdgeKind::Exit | EdgeKind::Vanish => "fallthrough",
    }
}

/// On one line: control characters become `?`.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains(char::is_control) {
        Cow::Owned(text.chars().map(|c| if c.is_control() { '?' } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// A name that a file can have, unique by its number where it had to be changed: letters, digits, `_`, `-` and `.` stay.
pub(crate) fn file_name(function: &FunctionView<'_>, number: usize) -> String {
    // File systems take 255 bytes; the number and the ending need some.
    const LONGEST: usize = 120;
    let symbol = function.symbol();
    let plain: String = symbol.chars().map(|c| if c.is_ascii_alphanumeric() || "_-.".contains(c) { c } else { '_' }).collect();
    let plain = plain.trim_start_matches(['.', '-']);
    if plain == symbol && plain.len() <= LONGEST {
        return plain.to_owned();
    }
    let end = plain.len().min(LONGEST);
    format!("{}-{number}", &plain[..end])
}

#[cfg(test)]
mod tests {
    use super::one_line;

    #[test]
    fn control_characters_do_not_pass() {
        assert_eq!(one_line("a\u{1b}[31m\nb\u{85}"), "a?[31m?b?");
        assert_eq!(one_line("größe; x"), "größe; x");
    }
}
