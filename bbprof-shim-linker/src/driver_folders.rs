//! Where a compiler driver has its linker look for libraries: it knows of more folders
//! than its options name (`musl-gcc` those of its libc).

use crate::command_line::{Level, LinkCommand, tokens};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Asks the driver for its link (`-###`, without doing it), as gcc and clang are asked. None of drivers that do not say.
pub(crate) fn driver_folders(mut driver: Command, arguments: &[OsString]) -> Vec<PathBuf> {
    let asked = driver.arg("-###").args(arguments).stdin(Stdio::null()).output();
    asked.map_or_else(|_| Vec::new(), |answer| folders(&answer.stderr))
}

/// A command a line, behind a space, its words in quotes where they need it; the last one links.
fn folders(said: &[u8]) -> Vec<PathBuf> {
    let link = said.split(|byte| *byte == b'\n').rfind(|line| line.starts_with(b" "));
    let words = link.map(tokens).unwrap_or_default();
    LinkCommand::read(Level::Ld, words.get(1..).unwrap_or_default()).library_dirs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_link_in_order() {
        let gcc = "Using built-in specs.\n /lib/cc1 -L/no a.c\n /lib/collect2 -o app \"-L/a b\" a.o -L/c -lc\nCOLLECT_GCC_OPTIONS='-static'\n";
        let clang = "Debian clang\n (in-process)\n \"/usr/bin/ld\" \"-o\" \"app\" \"-L/a b\" \"a.o\" \"-L/c\"\n";
        for said in [gcc, clang] {
            assert_eq!(folders(said.as_bytes()), [PathBuf::from("/a b"), "/c".into()], "{said}");
        }
        assert!(folders(b"-###: unknown option\n").is_empty() && folders(b"").is_empty());
    }
}
