//! A piece of data on its way to the page: JSON, deflated (RFC 1951, as `DecompressionStream("deflate-raw")` reads it), base 64.

use base64::prelude::{BASE64_STANDARD, Engine};
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use std::io::{self, BufWriter, Write};

/// How hard to compress, of 9. At 5, 200,000 blocks take about a second of one core; 9 takes three times as long for 3 % less.
const EFFORT: u32 = 5;

/// What the page can ask for by name.
#[derive(Debug)]
pub(super) struct Piece {
    /// Its name: letters, digits and dots.
    pub(super) name: String,
    /// Base 64, so it may stand in markup and in a script as it is.
    pub(super) data: String,
}

pub(super) fn pack(name: String, value: &impl Serialize) -> io::Result<Piece> {
    let mut out = BufWriter::with_capacity(1 << 16, DeflateEncoder::new(Vec::new(), Compression::new(EFFORT)));
    serde_json::to_writer(&mut out, value)?;
    out.flush()?;
    let deflated = out.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    Ok(Piece { name, data: BASE64_STANDARD.encode(deflated) })
}
