//! The instruction mix: how often each opcode stands in the code and was executed, by program, module or function.
//!
//! [`MixReport`] gathers the rows once; as text, CSV (one line an opcode) and JSON (schema `bbprof-mix/1`,
//! `docs/schema/bbprof-mix-1.json`) they say the same.

mod json;
mod text;

use crate::Style;
use bbprof_profile::{FileId, Files, FunctionMix, Mix, Profile, source_name};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// What a row stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MixBy {
    /// Everything.
    #[default]
    Program,
    /// The source file of a compilation unit.
    Module,
    /// A function of the source: all its instantiations together.
    Function,
    /// One function of the program.
    Instantiation,
}

/// The mix of a profile, in rows.
#[derive(Debug)]
pub struct MixReport<'p> {
    by: MixBy,
    /// Whether there was a run.
    has_run: bool,
    exact: bool,
    num_skipped: usize,
    files: &'p Files,
    rows: Vec<Row<'p>>,
}

/// One row; program and modules have neither symbol nor place.
#[derive(Debug)]
struct Row<'p> {
    name: &'p str,
    /// Of the instantiation, when it is one.
    symbol: Option<&'p str>,
    module: Option<&'p str>,
    file: Option<FileId>,
    line: u32,
    mix: Mix<'p>,
}

/// What makes two functions one row.
type Key<'p> = (String, Option<&'p str>, Option<&'p str>, Option<FileId>, u32);

impl<'p> MixReport<'p> {
    /// The mix of a run.
    #[must_use]
    pub fn of_run(profile: &'p Profile, by: MixBy) -> Self {
        Self::new(profile, by, true)
    }

    /// The mix of the code; the counts of `profile` are not looked at.
    #[must_use]
    pub fn of_code(profile: &'p Profile, by: MixBy) -> Self {
        Self::new(profile, by, false)
    }

    fn new(profile: &'p Profile, by: MixBy, has_run: bool) -> Self {
        let mut rows: BTreeMap<Key<'p>, Row<'p>> = BTreeMap::new();
        for function in profile.mixes() {
            let (key, row) = row_of(by, &function);
            rows.entry(key).or_insert(row).mix.add(&function.mix);
        }
        let mut rows: Vec<Row<'p>> = rows.into_values().collect();
        let weight = |row: &Row<'_>| {
            let total = row.mix.total();
            (if has_run { total.executed } else { 0 }, total.in_code)
        };
        // Equal weights stay in the order of names, modules and places.
        rows.sort_by_cached_key(|row| std::cmp::Reverse(weight(row)));
        let (exact, num_skipped) = (profile.exceptions().is_empty(), profile.skipped().len());
        Self { by, has_run, exact, num_skipped, files: &profile.files, rows }
    }

    /// Whether the executions in a row are known at all.
    fn knows_executions(&self, row: &Row<'_>) -> bool {
        self.has_run && (row.mix.unsolved < row.mix.functions || row.mix.functions == 0)
    }

    /// The rows as text, the first `top` of them.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_text(&self, top: usize, style: Style, out: &mut dyn Write) -> io::Result<()> {
        text::write(self, top, style, out)
    }

    /// All rows as JSON.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// All rows as CSV (RFC 4180), a line for each opcode; what is not known is empty.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "name,symbol,module,file,line,group,opcode,executed,in_code")?;
        for row in &self.rows {
            let file = row.file.map_or("", |file| self.files.path(file));
            let line = if row.line > 0 { row.line.to_string() } else { String::new() };
            let fields = [row.name, row.symbol.unwrap_or(""), row.module.unwrap_or(""), file];
            let place = fields.map(quoted).join(",");
            for (opcode, count) in &row.mix.opcodes {
                let group = bbprof_profile::OpcodeGroup::of(opcode).name();
                let executed = if self.knows_executions(row) { count.executed.to_string() } else { String::new() };
                writeln!(out, "{place},{line},{group},{opcode},{executed},{}", count.in_code)?;
            }
        }
        Ok(())
    }
}

/// A field of a CSV line.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

fn row_of<'p>(by: MixBy, function: &FunctionMix<'p>) -> (Key<'p>, Row<'p>) {
    let row = |name, symbol, module, file, line| Row { name, symbol, module, file, line, mix: Mix::default() };
    match by {
        MixBy::Program => ((String::new(), None, None, None, 0), row("(program)", None, None, None, 0)),
        MixBy::Module => ((function.module.to_owned(), None, None, None, 0), row(function.module, None, None, None, 0)),
        MixBy::Function => {
            // As in the report: without debug information, the module tells functions of one name apart.
            let (name, module) = match function.file {
                Some(_) => (source_name(function.name), None),
                None => (function.name.to_owned(), Some(function.module)),
            };
            let key = (name, None, module, function.file, function.line);
            (key, row(function.name, None, Some(function.module), function.file, function.line))
        }
        MixBy::Instantiation => {
            let key = (function.name.to_owned(), Some(function.symbol), Some(function.module), function.file, function.line);
            (key, row(function.name, Some(function.symbol), Some(function.module), function.file, function.line))
        }
    }
}
