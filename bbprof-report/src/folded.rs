//! Folded stacks, as flamegraph.pl, inferno and speedscope read them: `outer;inlined;innermost INSTRUCTIONS`.
//!
//! The stacks are those of inlining: counts do not say who called whom. The last space of a line ends the names, so spaces in
//! them stay; `;` in a name (Rust's `[u8; 4]`) becomes `:`.

use crate::names::one_line;
use crate::number::in_64_bits;
use crate::stacks::stacks;
use bbprof_profile::Profile;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a profile as folded stacks, sorted.
///
/// # Errors
/// When `out` cannot be written, or the sum does not fit into the 64 bits in which readers add it up.
pub fn write_folded(profile: &Profile, out: &mut dyn Write) -> io::Result<()> {
    let mut lines: BTreeMap<String, u128> = BTreeMap::new();
    for (_, stacks) in stacks(profile) {
        for (stack, instructions) in stacks {
            let names: Vec<String> = stack.iter().map(|frame| one_line(&frame.name).replace(';', ":")).collect();
            *lines.entry(names.join(";")).or_default() += instructions;
        }
    }
    in_64_bits(lines.values().sum(), "all stacks", "instructions", "folded stacks")?;
    for (stack, instructions) in lines {
        writeln!(out, "{stack} {instructions}")?;
    }
    Ok(())
}
