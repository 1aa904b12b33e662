//! The build map: everything needed to solve the raw profiles of one link, without sources, objects or IR.
//!
//! ```text
//! offset  size  field
//!      0     8  magic "BBPROFMP"
//!      8     4  version (u32, little-endian)
//!     12     4  zero
//!     16    16  build id
//!     32    16  checksum: digest of bytes 0..32, bytes 48..64 and the body as it stands in the file
//!     48     8  size in bytes of the body
//!     56     8  zero
//!     64   ...  body: [`Body`], postcard
//! ```
//!
//! The body is not compressed: nearly all of it are manifests, which are, since their objects were compiled.

use crate::kind::Kind;
use crate::manifest::ArrayHeader;
use crate::words::{digest_at, u64_at};
use crate::{BuildId, Digest, FormatError};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

/// First bytes of a build map.
pub const MAGIC: &[u8; 8] = b"BBPROFMP";
/// Version written and read here.
pub const VERSION: u32 = 4;
/// File name extension.
pub const EXTENSION: &str = "bbmap";

const KIND: Kind = Kind { name: "build map", magic: MAGIC, version: VERSION };

/// Where the map of a linked file is: `app` -> `app.bbmap`.
#[must_use]
pub fn path_beside(linked: &Path) -> PathBuf {
    let mut name = linked.as_os_str().to_owned();
    name.push(".");
    name.push(EXTENSION);
    name.into()
}

/// What a map is called in a folder with those of many links.
#[must_use]
pub fn file_name(build_id: BuildId) -> String {
    format!("{build_id}.{EXTENSION}")
}

/// The build map of one link.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildMap<'m> {
    /// Stands in the image, too.
    pub build_id: BuildId,
    /// What it says.
    pub body: Body<'m>,
}

/// What a build map says.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Body<'m> {
    /// File name (without folder) of the linked image.
    pub output: String,
    /// Digest of the names and lengths of all arrays in order; the image record and each raw profile carry it as well.
    pub layout: Digest,
    /// Number of counters in the thread-local bank.
    pub tls_counters: u64,
    /// Number of counters in the global bank.
    pub global_counters: u64,
    /// Where each counter array begins.
    pub arrays: Vec<ArrayPlacement>,
    /// The modules in link order.
    pub modules: Vec<LinkedModule<'m>>,
}

/// Where a counter array ended up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ArrayPlacement {
    /// Its name.
    pub name: Digest,
    /// Its bank.
    pub bank: Bank,
    /// Position of its first counter in the bank.
    pub first: u64,
    /// How many counters it has.
    pub len: u32,
}

/// The two stretches of counters of an image.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Bank {
    /// Thread-local counters ([`crate::manifest::Storage::Tls`]).
    Tls,
    /// Global counters (all other storages).
    Global,
}

/// One module of the link.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct LinkedModule<'m> {
    /// Where it came from: `a.o` or `liba.a(a.o)`, as named on the link line.
    pub origin: String,
    /// Position in the presence table, when the linker was free to leave the module out; `None` = always linked.
    pub optional: Option<u32>,
    /// Its manifest, all bytes; see [`crate::manifest::Manifest::read`].
    #[serde(deserialize_with = "whole_bytes")]
    pub manifest: Cow<'m, [u8]>,
}

/// Bytes as a block, of their own. Serde takes them one after another, which is the same in the file but slow for most of a map.
fn whole_bytes<'de, 'm, D: Deserializer<'de>>(deserializer: D) -> Result<Cow<'m, [u8]>, D::Error> {
    struct Bytes;

    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }

    deserializer.deserialize_byte_buf(Bytes).map(Cow::Owned)
}

/// The digest of counter arrays in order, for [`Body::layout`].
#[must_use]
pub fn layout_digest(arrays: &[ArrayPlacement]) -> Digest {
    let mut bytes = Vec::with_capacity(arrays.len() * 21);
    for array in arrays {
        bytes.push(array.bank as u8);
        bytes.extend_from_slice(&array.name.0);
        bytes.extend_from_slice(&array.len.to_le_bytes());
    }
    Digest::of(&bytes)
}

impl ArrayPlacement {
    /// Places an array.
    #[must_use]
    pub fn new(array: ArrayHeader, bank: Bank, first: u64) -> Self {
        Self { name: array.name, bank, first, len: array.len }
    }
}

/// The digest of a header and the pieces of the body behind it.
fn checksum(header: &[u8], body: &[&[u8]]) -> Digest {
    Digest::of_pieces([&[&header[..32]][..], &[&header[48..64]], body])
}

impl Body<'_> {
    /// The encoded body, in pieces.
    fn pieces(&self) -> Vec<Cow<'_, [u8]>> {
        let Self { output, layout, tls_counters, global_counters, arrays, modules } = self;
        let mut pieces = vec![made(&(output, layout, tls_counters, global_counters, arrays, modules.len()))];
        for LinkedModule { origin, optional, manifest } in modules {
            pieces.extend([made(&(origin, optional, manifest.len())), Cow::Borrowed(&**manifest)]);
        }
        pieces
    }
}

/// A piece that is made here: in postcard, fields of a struct stand behind each other as
/// those of a tuple do, and lists and bytes behind their length.
fn made(fields: &impl Serialize) -> Cow<'static, [u8]> {
    Cow::Owned(postcard::to_stdvec(fields).expect("a build map always serialises"))
}

impl BuildMap<'_> {
    /// Enough of a map to learn its build id.
    pub const HEADER_BYTES: usize = 64;

    /// Encodes the map, in pieces that stand behind each other in the file: the
    /// manifests, which are nearly all of it, are not copied.
    #[must_use]
    pub fn encode_in_pieces(&self) -> Vec<Cow<'_, [u8]>> {
        let mut pieces = self.body.pieces();
        let body: Vec<&[u8]> = pieces.iter().map(|piece| &**piece).collect();
        let size_bytes: usize = body.iter().map(|piece| piece.len()).sum();
        let mut header = KIND.begin();
        header.extend_from_slice(&[0; 4]);
        header.extend_from_slice(&self.build_id.0);
        header.extend_from_slice(&[0; 16]);
        header.extend_from_slice(&(size_bytes as u64).to_le_bytes());
        header.extend_from_slice(&[0; 8]);
        let sum = checksum(&header, &body);
        header[32..48].copy_from_slice(&sum.0);
        pieces.insert(0, Cow::Owned(header));
        pieces
    }

    /// Encodes the map.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        self.encode_in_pieces().concat()
    }

    /// The build id of a map, from its first [`BuildMap::HEADER_BYTES`] bytes: cheap enough to look through a folder of maps.
    ///
    /// # Errors
    /// Foreign, truncated or of another version.
    pub fn read_build_id(bytes: &[u8]) -> Result<BuildId, FormatError> {
        KIND.admit(bytes, Self::HEADER_BYTES)?;
        Ok(digest_at(bytes, 16))
    }

    /// Decodes a map.
    ///
    /// # Errors
    /// Foreign, truncated, damaged or of another version.
    pub fn decode(bytes: &[u8]) -> Result<Self, FormatError> {
        let build_id = Self::read_build_id(bytes)?;
        let body = KIND.body(bytes, Self::HEADER_BYTES, u64_at(bytes, 48))?;
        KIND.agree(digest_at(bytes, 32), checksum(bytes, &[body]))?;
        let body = postcard::from_bytes(body).map_err(|e| KIND.malformed(format!("body: {e}")))?;
        Ok(Self { build_id, body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(manifests: &[&'static [u8]]) -> BuildMap<'static> {
        let array = |name: u8, bank, first| ArrayPlacement { name: Digest([name; 16]), bank, first, len: 300 };
        let module = |(position, manifest): (usize, &&'static [u8])| LinkedModule {
            origin: format!("liba.a({position}.o)"),
            optional: (position as u32).checked_sub(1),
            manifest: Cow::Borrowed(*manifest),
        };
        let arrays = vec![array(1, Bank::Tls, 0), array(2, Bank::Global, 0)];
        let body = Body {
            output: "app".to_owned(),
            layout: layout_digest(&arrays),
            tls_counters: 300,
            global_counters: 300,
            arrays,
            modules: manifests.iter().enumerate().map(module).collect(),
        };
        BuildMap { build_id: Digest([7; 16]), body }
    }

    #[test]
    fn what_is_written_in_pieces_is_read_as_a_whole() {
        for map in [map(&[]), map(&[b"one"]), map(&[b"", &[9; 200], b"three"])] {
            let bytes = map.encode();
            assert_eq!(BuildMap::decode(&bytes), Ok(map));
            for damaged in 0..bytes.len() {
                let mut bytes = bytes.clone();
                bytes[damaged] ^= 1;
                assert!(BuildMap::decode(&bytes).is_err(), "byte {damaged}");
                bytes.truncate(damaged);
                assert!(BuildMap::decode(&bytes).is_err(), "cut at {damaged}");
            }
        }
    }
}
