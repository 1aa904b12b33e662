//! Messages to the user: on stderr, where they may be cut off (`2>&1 | head`) or find no room. That is no reason to end otherwise.

use std::fmt::Arguments;
use std::io::Write;

/// A line on stderr that says who speaks, in these words.
macro_rules! tell {
    ($($word:tt)*) => { $crate::messages::write(format_args!($($word)*)) };
}
pub(crate) use tell;

/// In one piece, as others write there, too.
pub(crate) fn write(message: Arguments<'_>) {
    let line = format!("bbprof: {message}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
}
