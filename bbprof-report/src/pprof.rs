//! The profile format of pprof (`profile.proto`, protobuf in gzip): one sample for each source location of each
//! function, weighed by executed instructions. Inlined functions are lines of one location, the innermost first.
//! Locations have no addresses, and so name no mapping: pprof would disassemble the program at addresses that it
//! makes up, and its list of source lines be empty, or crash.

use crate::names::Demangled;
use bbprof_profile::{FunctionView, Profile};
use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

#[derive(Clone, PartialEq, Message)]
struct ProfileProto {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    mapping: Vec<Mapping>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Mapping {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "5")]
    filename: i64,
    #[prost(int64, tag = "6")]
    build_id: i64,
    #[prost(bool, tag = "7")]
    has_functions: bool,
    #[prost(bool, tag = "8")]
    has_filenames: bool,
    #[prost(bool, tag = "9")]
    has_line_numbers: bool,
    #[prost(bool, tag = "10")]
    has_inline_frames: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
    #[prost(int64, tag = "3")]
    column: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "3")]
    system_name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
    #[prost(int64, tag = "5")]
    start_line: i64,
}

/// Writes a profile for pprof.
///
/// # Errors
/// When `out` cannot be written, or a sum does not fit into the format's 63 bits.
pub fn write_pprof(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut tables = Tables::default();
    tables.string("");
    let (kind, unit) = (tables.string("instructions"), tables.string("count"));
    let comment = tables.string(concat!("LLVM IR instructions, exact, by bbprof ", env!("CARGO_PKG_VERSION")));
    tables.proto.sample_type.push(ValueType { kind, unit });
    tables.proto.comment.push(comment);
    for function in profile.functions().filter(|function| function.is_executed()) {
        tables.add(profile, function)?;
    }
    let mut gzip = GzEncoder::new(out, Compression::default());
    gzip.write_all(&tables.proto.encode_to_vec())?;
    gzip.finish().map(|_| ())
}

/// The tables of the format, whose ids begin with 1.
#[derive(Default)]
struct Tables<'p> {
    proto: ProfileProto,
    names: Demangled<'p>,
    strings: HashMap<String, i64>,
    functions: HashMap<(i64, i64, i64), u64>,
    mappings: HashSet<String>,
}

impl<'p> Tables<'p> {
    fn add(&mut self, profile: &'p Profile, function: FunctionView<'p>) -> io::Result<()> {
        self.add_mapping(function);
        for (location, instructions) in function.instructions_by_location() {
            let frames = location.map_or_else(Vec::new, |location| function.frames(location));
            let mut line = Vec::with_capacity(frames.len());
            for frame in &frames {
                let file = frame.file.map_or("", |file| profile.files.path(file));
                let name = self.names.name(frame.function).to_owned();
                // Its lines are taken for lines of the function's file.
                let begins_at = if frame.function_file == frame.file { frame.function_line } else { 0 };
                let function_id = self.function(&name, frame.function, file, begins_at);
                line.push(Line { function_id, line: i64::from(frame.line), column: i64::from(frame.column) });
            }
            // The outermost frame is the function itself, by its own name.
            let file = function.file().map_or("", |file| profile.files.path(file));
            let function_id = self.function(function.name(), function.symbol(), file, function.line());
            match line.last_mut() {
                Some(own) => own.function_id = function_id,
                None => line.push(Line { function_id, line: 0, column: 0 }),
            }
            let id = self.proto.location.len() as u64 + 1;
            self.proto.location.push(Location { id, line });
            let value = i64::try_from(instructions).map_err(|_| {
                let what = format!("{}: {instructions} instructions do not fit into the 63 bits of a pprof value", function.name());
                io::Error::new(io::ErrorKind::InvalidData, what)
            })?;
            self.proto.sample.push(Sample { location_id: vec![id], value: vec![value] });
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> i64 {
        if let Some(id) = self.strings.get(text) {
            return *id;
        }
        let id = self.proto.string_table.len() as i64;
        self.proto.string_table.push(text.to_owned());
        self.strings.insert(text.to_owned(), id);
        id
    }

    fn function(&mut self, name: &str, system_name: &str, file: &str, line: u32) -> u64 {
        let (name, system_name, filename) = (self.string(name), self.string(system_name), self.string(file));
        let next = self.proto.function.len() as u64 + 1;
        let id = *self.functions.entry((system_name, filename, i64::from(line))).or_insert(next);
        if id == next {
            self.proto.function.push(Function { id, name, system_name, filename, start_line: i64::from(line) });
        }
        id
    }

    fn add_mapping(&mut self, function: FunctionView<'_>) {
        let build_id = function.build_id().to_string();
        if !self.mappings.insert(build_id.clone()) {
            return;
        }
        let (filename, build_id) = (self.string(function.image_path()), self.string(&build_id));
        self.proto.mapping.push(Mapping {
            id: self.mappings.len() as u64,
            filename,
            build_id,
            has_functions: true,
            has_filenames: true,
            has_line_numbers: true,
            has_inline_frames: true,
        });
    }
}
