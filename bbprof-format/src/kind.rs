//! The kinds of files: each begins with eight bytes that name it, and the version of its format.

use crate::words::u32_at;
use crate::{Digest, FormatError};
use std::cmp::Ordering;

const MAGIC_BYTES: usize = 8;

/// What tells one kind of file from another, and what errors call it.
pub(crate) struct Kind {
    /// Its name in errors.
    pub(crate) name: &'static str,
    pub(crate) magic: &'static [u8; MAGIC_BYTES],
    /// Version written and read.
    pub(crate) version: u32,
}

/// What else a file may be that begins so.
fn known(start: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 7] = [
        (crate::map::MAGIC, "a build map"),
        (crate::raw::MAGIC, "a raw profile"),
        (crate::merged::MAGIC, "a merged profile"),
        (crate::manifest::MAGIC, "a manifest"),
        (crate::frequencies::MAGIC, "frequencies"),
        (b"\x7fELF", "a program, library or object"),
        (b"!<arch>\n", "an archive"),
    ];
    KNOWN.into_iter().find(|(magic, _)| start.starts_with(magic)).map(|(_, what)| what)
}

impl Kind {
    /// How such a file begins: magic and version, 12 bytes.
    pub(crate) fn begin(&self) -> Vec<u8> {
        [&self.magic[..], &self.version.to_le_bytes()].concat()
    }

    /// Refuses what is not such a file, ends before `header_bytes`, or has another version.
    pub(crate) fn admit(&self, bytes: &[u8], header_bytes: usize) -> Result<(), FormatError> {
        let start = &bytes[..bytes.len().min(MAGIC_BYTES)];
        if !self.magic.starts_with(start) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let found = match known(start) {
                Some(what) => format!("{:?} ({what})", text(start)),
                None => format!("{:?}", text(start)),
            };
            return Err(FormatError::Foreign { kind: self.name, expected: text(self.magic), found });
        }
        if bytes.len() < header_bytes {
            return Err(self.truncated(header_bytes as u64, bytes));
        }
        let found = u32_at(bytes, MAGIC_BYTES);
        if found != self.version {
            return Err(FormatError::Version { kind: self.name, expected: self.version, found });
        }
        Ok(())
    }

    /// What stands behind the header, which must be `body_bytes` long.
    pub(crate) fn body<'a>(&self, bytes: &'a [u8], header_bytes: usize, body_bytes: u64) -> Result<&'a [u8], FormatError> {
        let (expected, found) = (body_bytes.saturating_add(header_bytes as u64), bytes.len() as u64);
        match expected.cmp(&found) {
            Ordering::Greater => Err(self.truncated(expected, bytes)),
            Ordering::Equal => Ok(&bytes[header_bytes..]),
            Ordering::Less => Err(self.malformed(format!("{} bytes behind its end", found - expected))),
        }
    }

    /// Refuses a checksum that is not the one of what the file holds.
    pub(crate) fn agree(&self, expected: Digest, found: Digest) -> Result<(), FormatError> {
        if expected == found { Ok(()) } else { Err(FormatError::Checksum { kind: self.name, expected, found }) }
    }

    pub(crate) fn truncated(&self, expected_bytes: u64, found: &[u8]) -> FormatError {
        FormatError::Truncated { kind: self.name, expected_bytes, found_bytes: found.len() as u64 }
    }

    pub(crate) fn overflow(&self, what: String) -> FormatError {
        FormatError::Overflow { kind: self.name, what }
    }

    pub(crate) fn malformed(&self, what: impl Into<String>) -> FormatError {
        FormatError::Malformed { kind: self.name, what: what.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { name: "example", magic: b"BBPROFEX", version: 3 };

    #[test]
    fn foreign_short_and_other_versions() {
        let mut bytes = KIND.begin();
        assert_eq!(KIND.admit(&bytes, 12), Ok(()));
        assert_eq!(KIND.admit(&bytes, 16), Err(KIND.truncated(16, &bytes)));
        assert_eq!(KIND.admit(b"BBP", 12), Err(KIND.truncated(12, b"BBP")));
        for foreign in [&b"#!/"[..], b"BBPROFMP\x03\0\0\0"] {
            assert!(matches!(KIND.admit(foreign, 64), Err(FormatError::Foreign { kind: "example", .. })));
        }
        bytes[8] = 4;
        assert_eq!(KIND.admit(&bytes, 12), Err(FormatError::Version { kind: "example", expected: 3, found: 4 }));
    }
}
