//! The generated code of one function, block by block: counts, ways out with their shares, and the IR where the build kept it.

use crate::number::{grouped, numbered, percent};
use crate::one_line;
use crate::place::place;
use crate::table::{Paint, Style, warmth};
use bbprof_profile::{BlockEdge, FunctionView, Profile};
use std::io::{self, Write};

/// Writes the blocks of a function; opcodes stand in for the IR of a build that did not keep it.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_ir(profile: &Profile, function: FunctionView<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", style.paint(Some(Paint::Heading), &one_line(function.name())))?;
    let entries = numbered(u128::from(function.counts.entries), "time");
    writeln!(out, "entered {entries}, {}", numbered(function.counts.instructions, "instruction"))?;
    if function.blocks().all(|block| block.ir().is_none()) {
        writeln!(out, "(opcodes only: the build kept no IR; --ir does, or --bbprof-ir of bbprof-cc)")?;
    }
    let mut edges: Vec<BlockEdge> = function.edges().collect();
    edges.sort_by_key(|edge| edge.from);
    for block in function.blocks() {
        let at = block.positions().first().map(|(file, line, _)| (*file, *line));
        let head = format!("\n#{}  {}{}", block.id(), grouped(u128::from(block.count())), place(profile, at));
        writeln!(out, "{}", style.paint(warmth(block.instructions(), function.counts.instructions), &head))?;
        match block.ir() {
            Some(ir) => {
                for line in ir.lines() {
                    writeln!(out, "    {}", one_line(without_location(line.trim_start())))?;
                }
            }
            None => {
                let opcodes = block.opcodes();
                let texts: Vec<String> = opcodes
                    .iter()
                    .map(|(opcode, count)| if *count == 1 { (*opcode).to_owned() } else { format!("{count} {opcode}") })
                    .collect();
                writeln!(out, "    {}", texts.join(", "))?;
            }
        }
        let begin = edges.partition_point(|edge| edge.from < block.id());
        let ways = &edges[begin..edges.partition_point(|edge| edge.from <= block.id())];
        let total: Option<u128> = ways.iter().map(|way| way.count.map(u128::from)).sum();
        for way in ways {
            let share = match (way.count, total) {
                (Some(count), Some(total)) => format!("{} ({} %)", grouped(u128::from(count)), percent(u128::from(count), total)),
                (Some(count), None) => grouped(u128::from(count)),
                (None, _) => "?".to_owned(),
            };
            writeln!(out, "    -> #{}  {share}", way.to)?;
        }
    }
    Ok(())
}

/// The instruction without the number of its debug location, which says nothing here.
fn without_location(line: &str) -> &str {
    line.split(", !dbg !").next().unwrap_or(line)
}
