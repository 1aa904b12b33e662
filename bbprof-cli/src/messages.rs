//! Messages to the user: on stderr, where they may be cut off (`2>&1 | head`) or find no room. That is no reason to end otherwise.

use std::borrow::Cow;
use std::fmt::Arguments;
use std::io::Write;

/// A line on stderr that says who speaks, in these words.
macro_rules! tell {
    ($($word:tt)*) => { $crate::messages::write(format_args!($($word)*)) };
}
pub(crate) use tell;

/// Names of files may hold anything, also what terminals take for commands.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_command = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(is_command) {
        text.chars().map(|c| if is_command(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
    } else {
        text.into()
    }
}

/// In one piece, as others write there, too.
pub(crate) fn write(message: Arguments<'_>) {
    let line = format!("bbprof: {}\n", printable(&message.to_string()));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn no_commands_for_terminals() {
        assert_eq!(printable("a\x1b[31mb\u{9b}c\td\ne é"), "a\\u{1b}[31mb\\u{9b}c\td\ne é");
    }
}
