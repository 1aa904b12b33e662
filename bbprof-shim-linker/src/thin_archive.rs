//! What a thin archive names: files beside it. Read here because of members of archives within it: GNU's ar puts those in by the
//! archive's name and a position there (`/NAME:POSITION`), which the `object` crate takes for damage.
//!
//! ```text
//! !<thin>\n  header "/", symbols  header "//", names  header "/0" (f1.o)  header "/6:68" (inner.a)  header "/15" (f3.o)
//! ```

use object::archive::{Header, TERMINATOR, THIN_MAGIC};
use object::pod;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A file that a thin archive names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ThinMember<'a> {
    /// Where it is, from the archive's folder.
    pub path: &'a Path,
    /// Members of this file are meant, which is an archive itself.
    pub nested: bool,
}

/// An archive whose members cannot all be told.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{origin}: the thin archive is damaged: member {number}, at byte {offset}, {fault}; make it again")]
pub(crate) struct ThinArchiveError {
    origin: String,
    number: usize,
    offset: usize,
    fault: &'static str,
}

/// Whether these are the bytes of a thin archive.
pub(crate) fn is_thin(bytes: &[u8]) -> bool {
    bytes.starts_with(&THIN_MAGIC)
}

/// The files that a thin archive names, in order, each once.
///
/// # Errors
/// The first member that cannot be read, by its number among all, from 1.
pub(crate) fn members<'a>(bytes: &'a [u8], origin: &str) -> Result<Vec<ThinMember<'a>>, ThinArchiveError> {
    let mut rest = bytes.get(THIN_MAGIC.len()..).unwrap_or_default();
    let mut names: &[u8] = &[];
    let mut members = Vec::new();
    let mut number = 1;
    while !rest.is_empty() {
        let damaged = |fault| ThinArchiveError { origin: origin.to_owned(), number, offset: bytes.len() - rest.len(), fault };
        let (header, behind) = pod::from_bytes::<Header>(rest).map_err(|()| damaged("has half a header"))?;
        if header.terminator != TERMINATOR {
            return Err(damaged("has no header"));
        }
        rest = match header.name.trim_ascii_end() {
            // Symbols and names alone are in the archive itself.
            special @ (b"/" | b"/SYM64/" | b"//") => {
                let size = decimal(header.size.trim_ascii_end());
                let (contents, behind) =
                    size.and_then(|size| behind.split_at_checked(size)).ok_or_else(|| damaged("is cut off"))?;
                if special == b"//" {
                    names = contents;
                }
                let padding = contents.len() % 2;
                behind.get(padding..).unwrap_or_default()
            }
            name => {
                members.push(member(name, names).ok_or_else(|| damaged("has no name"))?);
                number += 1;
                behind
            }
        };
    }
    let mut seen = HashSet::new();
    members.retain(|member| seen.insert(*member));
    Ok(members)
}

fn member<'a>(name: &'a [u8], names: &'a [u8]) -> Option<ThinMember<'a>> {
    let (name, nested) = match name.strip_prefix(b"/") {
        None => (name.strip_suffix(b"/").unwrap_or(name), false),
        Some(place) => {
            let mut numbers = place.split(|byte| *byte == b':');
            let name = names.get(decimal(numbers.next()?)?..)?;
            let end = name.iter().position(|byte| matches!(byte, b'\n' | b'\0'))?;
            let name = name[..end].strip_suffix(b"/").unwrap_or(&name[..end]);
            (name, numbers.next().is_some())
        }
    };
    (!name.is_empty()).then(|| ThinMember { path: Path::new(OsStr::from_bytes(name)), nested })
}

fn decimal(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, size: usize) -> String {
        format!("{name:<16}0           0     0     644     {size:<10}`\n")
    }

    fn archive(members: &[&str]) -> String {
        let names = "f1.o/\nsub/in.a/\nf3.o/\n";
        let members: String = members.iter().map(|name| header(name, 1000)).collect();
        format!("!<thin>\n{}odd\n{}{names}{members}", header("/", 3), header("//", names.len()))
    }

    fn told(archive: &str) -> Result<Vec<(&str, bool)>, String> {
        let members = members(archive.as_bytes(), "out.a").map_err(|error| error.to_string())?;
        Ok(members.into_iter().map(|member| (member.path.to_str().unwrap(), member.nested)).collect())
    }

    #[test]
    fn files_and_archives() {
        let expected = [("f1.o", false), ("sub/in.a", true), ("f3.o", false), ("short.o", false)];
        assert_eq!(told(&archive(&["/0", "/6:86", "/6:1322", "/16", "short.o/", "/0"])).unwrap(), expected);
        assert_eq!(told(&archive(&["/6"])).unwrap(), [("sub/in.a", false)]);
        assert!(told("!<thin>\n").unwrap().is_empty());
    }

    #[test]
    fn no_member_is_left_out_in_silence() {
        let whole = archive(&["/0", "/16"]);
        for (archive, expected) in [
            (
                archive(&["/0", "/99", "/16"]),
                "out.a: the thin archive is damaged: member 2, at byte 214, has no name; make it again",
            ),
            (archive(&["/0", "/x"]), "member 2, at byte 214, has no name"),
            (whole[..whole.len() - 1].to_owned(), "member 2, at byte 214, has half a header"),
            (whole.replace("`\n/16", "``/16"), "member 1, at byte 154, has no header"),
            (whole[..140].to_owned(), "member 1, at byte 72, is cut off"),
        ] {
            let said = told(&archive).unwrap_err();
            assert!(said.contains(expected), "{said}");
        }
    }
}
