//! A folder for the files of a link, which goes when the link is over.

use anyhow::{Context, Result};
use std::{env, fs};
use tempfile::TempDir;

/// Makes one whose name begins so.
///
/// # Errors
/// When the system refuses.
pub(crate) fn new(prefix: &str) -> Result<TempDir> {
    // Linkers that list what they read write paths in their shortest form.
    fs::canonicalize(env::temp_dir())
        .and_then(|parent| tempfile::Builder::new().prefix(prefix).tempdir_in(parent))
        .with_context(|| format!("{}: cannot make a temporary folder for the link", env::temp_dir().display()))
}
