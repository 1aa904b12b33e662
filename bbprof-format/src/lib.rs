//! Every byte bbprof writes, with its version: manifest, image record, build map, raw profile, merged profile, frequencies.
//!
//! Reading and writing are pure: bytes in, values out. `docs/FORMATS.md` shows the byte tables.

pub mod bitcode;
mod demangle;
mod digest;
mod envelope;
mod error;
pub mod frequencies;
mod hashed_path;
pub mod image;
mod kind;
pub mod manifest;
pub mod map;
pub mod merged;
pub mod names;
pub mod raw;
pub mod sources;
mod words;

pub use demangle::{demangle, is_lambda_invoker, is_thunk, without_llvm_suffix};
pub use digest::{BuildId, Digest};
pub use error::FormatError;
pub use hashed_path::HashedPath;
