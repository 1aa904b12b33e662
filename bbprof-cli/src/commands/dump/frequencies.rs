//! Frequencies in words.

use bbprof_format::frequencies::Frequencies;
use bbprof_profile::demangle;
use std::io::{self, Write};

pub(super) fn write(frequencies: &Frequencies, full: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "frequencies of {} functions", frequencies.functions.len())?;
    for (symbol, shapes) in &frequencies.functions {
        writeln!(out, "function {} ({symbol})", demangle(symbol))?;
        for function in shapes {
            let most = function.nodes.iter().chain(&function.edges).max().copied().unwrap_or(0);
            writeln!(
                out,
                "  shape {}: {} nodes, {} edges, at most {most} times",
                function.shape,
                function.nodes.len(),
                function.edges.len()
            )?;
            for (what, counts) in [("node", &function.nodes), ("edge", &function.edges)].into_iter().filter(|_| full) {
                for (position, count) in counts.iter().enumerate() {
                    writeln!(out, "    {what} {position}: {count}")?;
                }
            }
        }
    }
    Ok(())
}
