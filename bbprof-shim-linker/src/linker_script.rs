//! The inputs that a linker script names: `INPUT(...)` and `GROUP(...)`, with `AS_NEEDED(...)` inside them. `libc.so` is such a
//! script in most systems. What scripts name by other words (`SEARCH_DIR`, `INCLUDE`) is seen when the linker has read it.

use crate::command_line::InputName;
use std::ffi::OsString;
use std::path::PathBuf;

/// Commands a script may begin with; other text is no script.
const COMMANDS: &[&str] = &[
    "AS_NEEDED",
    "ASSERT",
    "ENTRY",
    "EXTERN",
    "FORCE_COMMON_ALLOCATION",
    "GROUP",
    "INCLUDE",
    "INPUT",
    "INSERT",
    "LD_FEATURE",
    "MEMORY",
    "NOCROSSREFS",
    "OUTPUT",
    "OUTPUT_ARCH",
    "OUTPUT_FORMAT",
    "PHDRS",
    "PROVIDE",
    "SEARCH_DIR",
    "SECTIONS",
    "STARTUP",
    "TARGET",
    "VERSION",
];

/// What a script names, in order; `None` when the text is no linker script.
pub(crate) fn inputs(text: &[u8]) -> Option<Vec<InputName>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut tokens = Tokens { rest: text }.peekable();
    let first = tokens.peek()?;
    let assigns = || Tokens { rest: text }.nth(1).is_some_and(|second| second.starts_with('='));
    let is_script = COMMANDS.contains(first) || assigns() && text.contains("SECTIONS");
    if !is_script {
        return None;
    }
    let mut inputs = Vec::new();
    let mut braces = 0_u32;
    while let Some(token) = tokens.next() {
        match token {
            "{" => braces += 1,
            "}" => braces = braces.saturating_sub(1),
            "INPUT" | "GROUP" | "STARTUP" if braces == 0 && tokens.peek() == Some(&"(") => {
                let mut depth = 0_u32;
                for token in tokens.by_ref() {
                    match token {
                        "(" => depth += 1,
                        ")" if depth <= 1 => break,
                        ")" => depth -= 1,
                        "AS_NEEDED" | "," => {}
                        name => inputs.push(input(name)),
                    }
                }
            }
            _ => {}
        }
    }
    Some(inputs)
}

fn input(name: &str) -> InputName {
    match name.strip_prefix("-l") {
        Some(library) => match library.strip_prefix(':') {
            Some(file) => InputName::LibraryFile(OsString::from(file)),
            None => InputName::Library(OsString::from(library)),
        },
        None => InputName::File(PathBuf::from(name)),
    }
}

/// Words, quoted names and punctuation; comments left out.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            self.rest = self.rest.trim_start();
            let rest = self.rest;
            let first = rest.chars().next()?;
            if let Some(comment) = rest.strip_prefix("/*") {
                self.rest = comment.split_once("*/").map_or("", |(_, after)| after);
            } else if first == '#' {
                self.rest = rest.split_once('\n').map_or("", |(_, after)| after);
            } else if first == '"' {
                let (name, after) = rest[1..].split_once('"').unwrap_or((&rest[1..], ""));
                self.rest = after;
                return Some(name);
            } else {
                let ends = |c: char| c.is_whitespace() || "(){},;\"".contains(c);
                let end = rest.find(ends).unwrap_or(rest.len()).max(first.len_utf8());
                let word = &rest[..end];
                let word = word.find("/*").filter(|at| *at > 0).map_or(word, |at| &word[..at]);
                self.rest = &rest[word.len()..];
                return Some(word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        let show = |name: InputName| match name {
            InputName::File(path) => path.display().to_string(),
            InputName::Library(name) => format!("-l{}", name.display()),
            InputName::LibraryFile(name) => format!("-l:{}", name.display()),
        };
        Some(inputs(text.as_bytes())?.into_iter().map(show).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_c_library_of_debian() {
        let text = "/* GNU ld script\n   Use the shared library */\nOUTPUT_FORMAT(elf64-x86-64)\nGROUP ( /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libc_nonshared.a  AS_NEEDED ( /lib64/ld-linux-x86-64.so.2 ) )\n";
        assert_eq!(
            shown(text).as_deref(),
            Some("/lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libc_nonshared.a /lib64/ld-linux-x86-64.so.2")
        );
    }

    #[test]
    fn names_in_all_forms() {
        for (text, expected) in [
            ("INPUT(a.o, -lb \"c d.a\")", Some("a.o -lb c d.a")),
            ("INPUT(a.o)GROUP(AS_NEEDED(-l:x.a)b.a)", Some("a.o -l:x.a b.a")),
            ("SECTIONS { .text : { INPUT(x) *(.text) } } INPUT(y.o)", Some("y.o")),
            ("start = 0x100;\nSECTIONS { }", Some("")),
            ("int main(void) { return 0; }", None),
            ("", None),
            ("GROUP(", Some("")),
            ("/* unterminated INPUT(a)", None),
        ] {
            assert_eq!(shown(text).as_deref(), expected, "{text}");
        }
        assert_eq!(inputs(b"\xff\xfe"), None);
    }
}
