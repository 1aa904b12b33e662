//! The numbered DAG of a function for graphviz, as its paths were counted: a path's
//! number is the sum of the values on its way from ROOT to EXIT.

use crate::dot::quoted;
use bbprof_profile::{DagArc, FunctionView, PathEnd};
use std::io::{self, Write};

/// Writes the DAG of one function; nothing where its paths were not counted.
///
/// # Errors
/// When `out` cannot be written.
pub fn write_path_dag(function: FunctionView<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (Some(arcs), Some(num_paths)) = (function.path_dag(), function.num_paths()) else { return Ok(()) };
    let title = quoted(&format!("{}\n{num_paths} paths", function.name()));
    writeln!(out, "digraph {} {{", quoted(function.symbol()))?;
    writeln!(out, "  label={title}; labelloc=t; fontname=\"sans-serif\";")?;
    writeln!(out, "  node [shape=box, fontname=\"monospace\"]; edge [fontname=\"monospace\"];")?;
    writeln!(out, "  root [label=\"ROOT\", shape=oval]; exit [label=\"EXIT\", shape=oval];")?;
    for (node, block) in function.node_blocks().enumerate() {
        writeln!(out, "  n{node} [label=\"#{block}\"];")?;
    }
    for DagArc { from, to, value, end } in arcs {
        let from = from.map_or_else(|| "root".to_owned(), |node| format!("n{node}"));
        let to = to.map_or_else(|| "exit".to_owned(), |node| format!("n{node}"));
        let (what, style) = match end {
            None | Some(PathEnd::Leaves) => (String::new(), ""),
            Some(PathEnd::Vanishes) => (" vanishes".to_owned(), ", style=dotted"),
            Some(PathEnd::GoesOn(block)) => (format!(" goes on at #{block}"), ", style=dashed"),
        };
        writeln!(out, "  {from} -> {to} [label=\"+{value}{what}\"{style}];")?;
    }
    writeln!(out, "}}")
}
