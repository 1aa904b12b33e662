//! The fixed part of a manifest, all that a link needs.

use super::body::{Function, Module};
use crate::kind::Kind;
use crate::words::{digest_at, u32_at, u64_at};
use crate::{Digest, FormatError};

/// First bytes of a manifest.
pub const MAGIC: &[u8; 8] = b"BBPROFMF";
/// Version of the manifest written and read here.
pub const VERSION: u32 = 18;

const KIND: Kind = Kind { name: "manifest", magic: MAGIC, version: VERSION };
const HEADER_BYTES: usize = 64;
const ARRAY_BYTES: usize = 24;
/// The size of the body before compression stands in front of it.
const PLAIN_SIZE_BYTES: usize = 8;
/// Fast rather than small: it runs in every compilation, and saves a link from compressing the same bytes again and again. zstd's
/// fastest regular level; higher ones are a guess not taken.
const ZSTD_LEVEL: i32 = 1;

/// How a module's counters are stored and reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Storage {
    /// Thread-local, local-exec: for executables.
    Tls = 0,
    /// A block per thread, reached through the image's delta: for code that may end up in a shared library.
    Delta = 1,
    /// One global array for all threads, plain increments: loses counts when threads race.
    Shared = 2,
    /// One global array, `lock` increments.
    Atomic = 3,
}

impl Storage {
    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Tls, Self::Delta, Self::Shared, Self::Atomic].into_iter().find(|s| *s as u8 == byte)
    }
}

/// One counter array of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArrayHeader {
    /// Names its symbol and COMDAT group, see [`crate::names::counter_array_symbol`].
    pub name: Digest,
    /// How many 64-bit counters.
    pub len: u32,
}

/// The fixed part of a manifest.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// How the counters are stored.
    pub storage: Storage,
    /// Whether paths of some functions are counted in hash tables.
    pub hashes_paths: bool,
    /// Digest of storage and body.
    pub module_id: Digest,
    /// The counter arrays; the first belongs to the module (it may be empty), the others to one COMDAT function each.
    pub arrays: Vec<ArrayHeader>,
}

/// A manifest as it stands in the section: header read, body still encoded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Manifest<'a> {
    /// The fixed part.
    pub header: Header,
    /// All its bytes, header and padding included.
    pub bytes: &'a [u8],
    body: &'a [u8],
}

fn checksum(bytes: &[u8]) -> Digest {
    Digest::of_parts([&bytes[..48], &bytes[HEADER_BYTES..]])
}

impl<'a> Manifest<'a> {
    /// Encodes a module. The name of its own (first) counter array is the module id, so `module.arrays[0]` is left out of
    /// `comdat_arrays`: these are those of its COMDAT functions, in the order the functions refer to them (1, 2, ...).
    #[must_use]
    pub fn encode(module: &Module, storage: Storage, module_counters: u32, comdat_arrays: &[ArrayHeader]) -> Vec<u8> {
        let plain = postcard::to_stdvec(module).expect("a module always serialises");
        let module_id = Digest::of_parts([&[storage as u8][..], &plain]);
        let mut body = (plain.len() as u64).to_le_bytes().to_vec();
        body.extend(zstd::bulk::compress(&plain, ZSTD_LEVEL).expect("zstd compresses any slice"));
        let arrays = std::iter::once(ArrayHeader { name: module_id, len: module_counters }).chain(comdat_arrays.iter().copied());
        let num_arrays = comdat_arrays.len() + 1;
        let size = (HEADER_BYTES + num_arrays * ARRAY_BYTES + body.len()).next_multiple_of(8);
        let mut bytes = KIND.begin();
        bytes.reserve(size);
        let hashes_paths = module.functions.iter().any(Function::is_hashed);
        bytes.extend_from_slice(&[storage as u8, u8::from(hashes_paths), 0, 0]);
        bytes.extend_from_slice(&(size as u64).to_le_bytes());
        bytes.extend_from_slice(&(num_arrays as u32).to_le_bytes());
        bytes.extend_from_slice(&(body.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&module_id.0);
        bytes.extend_from_slice(&[0; 16]);
        for array in arrays {
            bytes.extend_from_slice(&array.name.0);
            bytes.extend_from_slice(&array.len.to_le_bytes());
            bytes.extend_from_slice(&[0; 4]);
        }
        bytes.extend_from_slice(&body);
        bytes.resize(size, 0);
        let sum = checksum(&bytes);
        bytes[48..64].copy_from_slice(&sum.0);
        bytes
    }

    /// Reads the manifest at the start of `bytes`, which may go on behind it.
    ///
    /// # Errors
    /// Foreign, truncated, damaged or of another version.
    pub fn read(bytes: &'a [u8]) -> Result<Self, FormatError> {
        KIND.admit(bytes, HEADER_BYTES)?;
        let size = u64_at(bytes, 16);
        if size > bytes.len() as u64 {
            return Err(KIND.truncated(size, bytes));
        }
        let (num_arrays, body_bytes) = (u32_at(bytes, 24) as usize, u32_at(bytes, 28) as usize);
        let body_at = HEADER_BYTES + num_arrays * ARRAY_BYTES;
        if (body_at + body_bytes).next_multiple_of(8) as u64 != size {
            return Err(
                KIND.malformed(format!("{num_arrays} counter arrays and a body of {body_bytes} bytes do not make {size} bytes"))
            );
        }
        let bytes = &bytes[..size as usize];
        KIND.agree(digest_at(bytes, 48), checksum(bytes))?;
        let storage = Storage::from_byte(bytes[12]).ok_or_else(|| KIND.malformed(format!("storage {} is not known", bytes[12])))?;
        let array = |at: usize| ArrayHeader { name: digest_at(bytes, at), len: u32_at(bytes, at + 16) };
        let arrays = (0..num_arrays).map(|n| array(HEADER_BYTES + n * ARRAY_BYTES)).collect();
        let header = Header { storage, hashes_paths: bytes[13] != 0, module_id: digest_at(bytes, 32), arrays };
        Ok(Self { header, bytes, body: &bytes[body_at..body_at + body_bytes] })
    }

    /// Decodes the body and proves its indices: every id in it points at something.
    ///
    /// # Errors
    /// When it is not what [`Manifest::encode`] writes, or an index points nowhere.
    pub fn module(&self) -> Result<Module, FormatError> {
        let damaged = |e: &dyn std::fmt::Display| KIND.malformed(format!("body: {e}"));
        let (size, packed) = self.body.split_at_checked(PLAIN_SIZE_BYTES).ok_or_else(|| damaged(&"too short"))?;
        let size = usize::try_from(u64_at(size, 0)).map_err(|e| damaged(&e))?;
        let plain = zstd::bulk::decompress(packed, size).map_err(|e| damaged(&e))?;
        let module: Module = postcard::from_bytes(&plain).map_err(|e| damaged(&e))?;
        module.validate(&self.header.arrays).map_err(|what| KIND.malformed(what))?;
        Ok(module)
    }
}

/// Takes the contents of a manifest section apart: one manifest, or several that `ld -r` put behind one another.
///
/// # Errors
/// At the first manifest that cannot be read.
pub fn split(mut section: &[u8]) -> Result<Vec<Manifest<'_>>, FormatError> {
    let mut manifests = Vec::new();
    while !section.iter().take(8).all(|byte| *byte == 0) {
        let manifest = Manifest::read(section)?;
        section = &section[manifest.bytes.len()..];
        manifests.push(manifest);
    }
    Ok(manifests)
}
