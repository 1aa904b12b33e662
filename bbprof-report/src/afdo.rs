//! LLVM's sample profile in its text form (`llvm-profdata merge --sample --text`, `clang -fprofile-sample-use`).
//!
//! Counts stand at line offsets from the function's first line and base discriminators, by source function and by inlined copy.
//! What is said of a place is the count of the most frequent code there, as LLVM's own tools have it; where discriminators tell how
//! often the optimiser duplicated it (`-fdebug-info-for-profiling`), that many times. Functions that never ran are there with 0.

use crate::names::one_line;
use crate::number::in_64_bits;
use bbprof_profile::{CalleeView, Frame, FunctionView, LocationId, Profile, without_llvm_suffix};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Line offset and base discriminator.
type Place = (u32, u32);

/// What is known of one source function, or of one inlined copy.
#[derive(Default)]
struct Body<'p> {
    places: BTreeMap<Place, PlaceCounts<'p>>,
    inlined: BTreeMap<(Place, &'p str), Body<'p>>,
    head: u128,
}

#[derive(Default)]
struct PlaceCounts<'p> {
    count: u128,
    callees: BTreeMap<&'p str, u128>,
}

impl<'p> Body<'p> {
    /// The body that this chain of frames (innermost first) leads to, and the place in it; `None` without a line.
    fn at(&mut self, chain: &[Frame<'p>]) -> Option<(&mut Body<'p>, Place)> {
        let mut body = self;
        for position in (0..chain.len()).rev() {
            let place = place_of(&chain[position])?;
            match position {
                0 => return Some((body, place)),
                _ => body = body.inlined.entry((place, without_llvm_suffix(chain[position - 1].function))).or_default(),
            }
        }
        None
    }

    /// Sums what another function of the same name has.
    fn add(&mut self, other: Self) {
        self.head += other.head;
        for (place, counts) in other.places {
            let sum = self.places.entry(place).or_default();
            sum.count += counts.count;
            for (callee, count) in counts.callees {
                *sum.callees.entry(callee).or_default() += count;
            }
        }
        for (key, body) in other.inlined {
            self.inlined.entry(key).or_default().add(body);
        }
    }

    fn total(&self) -> u128 {
        let own: u128 = self.places.values().map(|place| place.count).sum();
        own + self.inlined.values().map(Body::total).sum::<u128>()
    }

    /// Lines of a body and its inlined copies, each level one space further in. Chains are as deep as inlining went. No
    /// count of a place is larger than the function's total.
    fn write(&self, depth: usize, out: &mut dyn Write) -> io::Result<()> {
        for (place, counts) in &self.places {
            write!(out, "{:depth$}{}: {}", "", Offset(*place), counts.count)?;
            for (callee, count) in counts.callees.iter().filter(|(_, count)| **count > 0) {
                write!(out, " {}:{}", one_line(callee), held(*count, callee)?)?;
            }
            writeln!(out)?;
        }
        for ((place, name), body) in &self.inlined {
            writeln!(out, "{:depth$}{}: {}:{}", "", Offset(*place), one_line(name), body.total())?;
            body.write(depth + 1, out)?;
        }
        Ok(())
    }
}

struct Offset(Place);

impl std::fmt::Display for Offset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            (line, 0) => write!(f, "{line}"),
            (line, discriminator) => write!(f, "{line}.{discriminator}"),
        }
    }
}

/// Writes a profile for LLVM's sample loader.
///
/// # Errors
/// When `out` cannot be written, or a number does not fit into the 64 bits in which LLVM reads it.
pub fn write_afdo(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut functions: BTreeMap<&str, Body<'_>> = BTreeMap::new();
    for function in profile.functions() {
        functions.entry(without_llvm_suffix(function.symbol())).or_default().add(body_of(function));
    }
    let mut functions: Vec<(u128, &str, Body<'_>)> = functions.into_iter().map(|(name, body)| (body.total(), name, body)).collect();
    functions.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    for (total, name, body) in functions {
        writeln!(out, "{}:{}:{}", one_line(name), held(total, name)?, held(body.head, name)?)?;
        if total > 0 {
            body.write(1, out)?;
        }
    }
    Ok(())
}

/// A number of this function's, where LLVM can read it.
fn held(executions: u128, function: &str) -> io::Result<u64> {
    in_64_bits(executions, function, "executions", "LLVM's sample profile")
}

fn body_of(function: FunctionView<'_>) -> Body<'_> {
    let mut body = Body { head: u128::from(function.counts.entries), ..Body::default() };
    if !function.is_executed() {
        return body;
    }
    let mut chains: BTreeMap<LocationId, Vec<Frame<'_>>> = BTreeMap::new();
    for block in function.blocks() {
        for (node, count) in block.nodes() {
            for (location, _) in &node.locations {
                let chain = chains.entry(*location).or_insert_with(|| function.frames(*location));
                let count = u128::from(count) * u128::from(duplication_factor(chain[0].discriminator));
                if let Some((body, place)) = body.at(chain) {
                    let counts = body.places.entry(place).or_default();
                    counts.count = counts.count.max(count);
                }
            }
        }
    }
    for call in function.calls() {
        let (CalleeView::Symbol(callee), Some(location)) = (call.callee, call.location) else { continue };
        let chain = chains.entry(location).or_insert_with(|| function.frames(location));
        if let Some((body, place)) = body.at(chain) {
            *body.places.entry(place).or_default().callees.entry(without_llvm_suffix(callee)).or_default() +=
                u128::from(call.count);
        }
    }
    body
}

/// Offset and base discriminator of a frame. LLVM takes the offset as 16 bits.
fn place_of(frame: &Frame<'_>) -> Option<Place> {
    if frame.line == 0 {
        return None;
    }
    Some((frame.line.wrapping_sub(frame.function_line) & 0xffff, component(frame.discriminator)))
}

/// The first component of a discriminator (LLVM, `DebugInfoMetadata.h`): bit 0 says that
/// it is 0; else 5 bits, or 12 when bit 6 is set.
fn component(discriminator: u32) -> u32 {
    if discriminator & 1 == 1 {
        return 0;
    }
    let bits = discriminator >> 1;
    if bits & 0x20 == 0 { bits & 0x1f } else { (bits >> 1) & 0xfe0 | bits & 0x1f }
}

/// How many copies of the code the optimiser says there are: the second component, where 0 stands for 1.
fn duplication_factor(discriminator: u32) -> u32 {
    let rest = match (discriminator & 1, discriminator & 0x40) {
        (1, _) => discriminator >> 1,
        (_, 0) => discriminator >> 7,
        _ => discriminator >> 14,
    };
    component(rest).max(1)
}

#[cfg(test)]
mod tests {
    use super::{component, duplication_factor};

    /// Worked out by hand from the encoding: base 3 is 3 << 1; factor 4 behind it 4 << 1, seven bits up.
    #[test]
    fn discriminators() {
        for (discriminator, base, factor) in
            [(0, 0, 1), (3 << 1, 3, 1), ((4 << 1) << 7 | 3 << 1, 3, 4), ((8 << 1) << 1 | 1, 0, 8), (0x1f << 1, 31, 1)]
        {
            assert_eq!((component(discriminator), duplication_factor(discriminator)), (base, factor), "{discriminator:#x}");
        }
        // 33 = 0b100001 takes the long form: low 5 bits, a bit that says more, 7 more bits.
        assert_eq!(component((1 << 6 | 1 << 5 | 1) << 1), 33);
    }
}
