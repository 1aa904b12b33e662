//! A table of all basic blocks, comma-separated with a header line (RFC 4180).

use bbprof_profile::Profile;
use std::io::{self, Write};

const COLUMNS: [&str; 12] = [
    "image",
    "module",
    "symbol",
    "function",
    "file",
    "line",
    "entries",
    "block",
    "block_line",
    "count",
    "instructions_in_block",
    "executed_instructions",
];

/// Writes one row for each basic block; unknown places are empty.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_csv(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    write_rows(profile, out).map_err(|error| match error.into_kind() {
        // As it is: whether the reader left is told by its kind.
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    })
}

fn write_rows(profile: &Profile, out: &mut dyn Write) -> csv::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(COLUMNS)?;
    for function in profile.functions() {
        let file = function.file().map_or("", |file| profile.files.path(file));
        let line = if function.line() > 0 { function.line().to_string() } else { String::new() };
        let entries = function.counts.entries.to_string();
        for block in function.blocks() {
            let place = block.positions().first().map(|(file, line, _)| format!("{}:{line}", profile.files.path(*file)));
            table.write_record([
                function.image_path(),
                function.module_name(),
                function.symbol(),
                function.name(),
                file,
                &line,
                &entries,
                &block.id().to_string(),
                place.as_deref().unwrap_or(""),
                &block.count().to_string(),
                &block.num_instructions().to_string(),
                &block.instructions().to_string(),
            ])?;
        }
    }
    Ok(table.flush()?)
}
