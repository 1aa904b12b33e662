//! The file format of speedscope (`file-format-schema.json` of its package): one sampled profile for each image, whose samples are
//! stacks of inlined functions weighed by executed instructions.

use crate::stacks::{StackFrame, stacks};
use bbprof_profile::Profile;
use serde::Serialize;
use std::collections::HashMap;
use std::io::{self, Write};

#[derive(Serialize)]
struct File<'p> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    exporter: &'static str,
    name: &'p str,
    shared: Shared<'p>,
    profiles: Vec<Sampled<'p>>,
}

#[derive(Serialize)]
struct Shared<'p> {
    frames: Vec<FrameJson<'p>>,
}

#[derive(Serialize)]
struct FrameJson<'p> {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sampled<'p> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'p str,
    unit: &'static str,
    start_value: u8,
    end_value: u128,
    samples: Vec<Vec<usize>>,
    weights: Vec<u128>,
}

/// speedscope computes with JavaScript's numbers, which have gaps from here on.
const FIRST_WITH_GAPS: u128 = 1 << 53;

/// Writes a profile for speedscope.
///
/// # Errors
/// When `out` cannot be written, or the sum of an image does not fit into the 53 bits in which speedscope adds it up.
pub fn write_speedscope(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut frames = Vec::new();
    let mut ids: HashMap<StackFrame, usize> = HashMap::new();
    let mut profiles = Vec::new();
    for (path, stacks) in stacks(profile) {
        let (mut samples, mut weights) = (Vec::with_capacity(stacks.len()), Vec::with_capacity(stacks.len()));
        for (stack, instructions) in stacks {
            let mut id_of = |frame: StackFrame| {
                *ids.entry(frame).or_insert_with_key(|frame| {
                    let file = frame.file.map(|file| profile.files.path(file));
                    frames.push(FrameJson { name: frame.name.clone(), file, line: Some(frame.line).filter(|line| *line > 0) });
                    frames.len() - 1
                })
            };
            samples.push(stack.into_iter().map(&mut id_of).collect());
            weights.push(instructions);
        }
        let end_value: u128 = weights.iter().sum();
        if end_value >= FIRST_WITH_GAPS {
            let what = format!(
                "{path}: {end_value} instructions do not fit into the 53 bits of speedscope's numbers; folded= and pprof= hold more"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        profiles.push(Sampled { kind: "sampled", name: path, unit: "none", start_value: 0, end_value, samples, weights });
    }
    let file = File {
        schema: "https://www.speedscope.app/file-format-schema.json",
        exporter: concat!("bbprof ", env!("CARGO_PKG_VERSION")),
        name: profile.processes.first().map_or("profile", |process| process.executable.as_str()),
        shared: Shared { frames },
        profiles,
    };
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}
