//! `@file` arguments: the file's contents stand in the argument's place, split at white space, with GNU's quoting.
//!
//! For looking at the command; the linker gets its arguments as they were, or, where the shim puts others in their places,
//! a file of its own.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Deeper nesting is a file that names itself.
const MAX_DEPTH: u32 = 32;

/// The arguments with every `@file` replaced by what it holds. A file that `read` does not give stays as it is, as with GNU ld.
pub(crate) fn expand(arguments: &[OsString], read: &dyn Fn(&Path) -> Option<Vec<u8>>) -> Vec<OsString> {
    let mut expanded = Vec::with_capacity(arguments.len());
    expand_into(arguments, read, MAX_DEPTH, &mut expanded);
    // A driver hands such a file to the linker, who expands it in its own language.
    let for_linker = |argument: OsString| {
        let file = argument.as_bytes().strip_prefix(b"-Wl,@").filter(|file| !file.contains(&b','));
        let Some(contents) = file.and_then(|file| read(Path::new(OsStr::from_bytes(file)))) else { return vec![argument] };
        let mut tokens_of_linker = Vec::new();
        expand_into(&tokens(&contents), read, MAX_DEPTH, &mut tokens_of_linker);
        tokens_of_linker.into_iter().flat_map(|token| [OsString::from("-Xlinker"), token]).collect()
    };
    expanded.into_iter().flat_map(for_linker).collect()
}

fn expand_into(arguments: &[OsString], read: &dyn Fn(&Path) -> Option<Vec<u8>>, depth: u32, expanded: &mut Vec<OsString>) {
    for argument in arguments {
        let contents =
            argument.as_bytes().strip_prefix(b"@").filter(|_| depth > 0).and_then(|file| read(Path::new(OsStr::from_bytes(file))));
        match contents {
            Some(contents) => expand_into(&tokens(&contents), read, depth - 1, expanded),
            None => expanded.push(argument.clone()),
        }
    }
}

/// The words of a text.
pub(crate) fn tokens(contents: &[u8]) -> Vec<OsString> {
    let mut tokens = Vec::new();
    let mut token: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = contents.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => token.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                token.get_or_insert_default();
            }
            (b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c, None) => tokens.extend(token.take()),
            _ => token.get_or_insert_default().push(byte),
        }
    }
    tokens.extend(token);
    tokens.into_iter().map(OsString::from_vec).collect()
}

/// A text whose words are these.
pub(crate) fn quoted(words: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        if word.is_empty() {
            text.extend(b"''");
        }
        for byte in word.as_bytes() {
            if matches!(byte, b'\\' | b'\'' | b'"' | b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c) {
                text.push(b'\\');
            }
            text.push(*byte);
        }
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(arguments: &[&str]) -> Vec<String> {
        let files = |path: &Path| match path.to_str() {
            Some("one") => Some(b"a.o 'b c.o'\n\"d\\\"e\" f\\ g ''".to_vec()),
            Some("outer") => Some(b"x @one\r\n@none y".to_vec()),
            Some("self") => Some(b"z @self".to_vec()),
            Some("linker") => Some(b"-Wl,@linker".to_vec()),
            Some("driver") => Some(b"-Wl,@one".to_vec()),
            _ => None,
        };
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        expand(&arguments, &files).into_iter().map(|a| a.into_string().unwrap()).collect()
    }

    #[test]
    fn quotes_and_escapes() {
        assert_eq!(expanded(&["-o", "@one", "q"]), ["-o", "a.o", "b c.o", "d\"e", "f g", "", "q"]);
    }

    #[test]
    fn what_is_quoted_is_read_as_it_was() {
        let words = ["a.o", "", "b c", "it's", "\"q\"", "\\", "x\ty\nz"].map(OsString::from);
        assert_eq!(tokens(&quoted(&words)), words);
    }

    #[test]
    fn nested_and_missing() {
        assert_eq!(expanded(&["@outer"]), ["x", "a.o", "b c.o", "d\"e", "f g", "", "@none", "y"]);
    }

    #[test]
    fn files_for_the_linker() {
        assert_eq!(expanded(&["-Wl,@outer"])[..4], ["-Xlinker", "x", "-Xlinker", "a.o"]);
        assert_eq!(expanded(&["-Wl,@none"]), ["-Wl,@none"]);
        assert_eq!(expanded(&["@driver"])[..2], ["-Xlinker", "a.o"]);
    }

    #[test]
    fn a_file_that_names_itself_ends() {
        assert_eq!(expanded(&["@self"]).len(), MAX_DEPTH as usize + 1);
        assert_eq!(expanded(&["-Wl,@linker"]), ["-Xlinker", "-Wl,@linker"]);
    }
}
