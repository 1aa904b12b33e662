//! Lines that ran where they have no code.
//!
//! A generic function, or a template, is many in the program. An instantiation may have no code at a line of it (`&self.first`,
//! a value that stays in its register) where others have. If those never ran, the line's count would be 0 although it is
//! executed whenever the function is: such a line has no count.

use crate::generic_name::source_name;
use crate::lines::LineTable;
use crate::reach::{reached, returns};
use crate::view::FunctionView;
use crate::{FileId, demangle};
use bbprof_format::manifest::{EdgeKind, LocationId};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// A function of the source: where it begins, and its name without arguments of generics.
type Source = (FileId, u32, String);

/// Takes out of a table of the lines of these functions what another copy of its function executed without code.
pub(crate) fn leave_out(table: &mut LineTable, functions: &[FunctionView<'_>]) {
    let mut idle: BTreeMap<Source, Vec<FunctionView<'_>>> = BTreeMap::new();
    for function in functions.iter().filter(|function| function.counts.entries == 0) {
        if let Some(source) = source(function) {
            idle.entry(source).or_default().push(*function);
        }
    }
    let ran = ran(table, &idle);
    let mut at_lines: BTreeMap<&Source, HashSet<(FileId, u32)>> = BTreeMap::new();
    for function in functions.iter().filter(|function| function.counts.entries > 0) {
        if let Some((source, _)) = source(function).and_then(|source| idle.get_key_value(&source)) {
            at_lines.entry(source).or_default().extend(own_lines(*function).into_keys());
        }
    }
    let silent: Vec<(FileId, u32)> = ran
        .par_iter()
        .flat_map_iter(|source| {
            let has_code = |place: &(FileId, u32)| at_lines.get(source).is_some_and(|lines| lines.contains(place));
            let never = |(file, line): &(FileId, u32)| {
                table.files.get(file).and_then(|source| source.lines.get(line)).is_some_and(|line| line.count == 0)
            };
            let lines = |function: &FunctionView<'_>| -> Vec<(FileId, u32)> {
                let lines = own_lines(*function).into_iter().filter(|(place, _)| never(place) && !has_code(place));
                lines.filter(|(_, nodes)| is_on_all_ways(*function, nodes)).map(|(place, _)| place).collect()
            };
            idle[*source].iter().flat_map(lines).collect::<Vec<_>>()
        })
        .collect();
    for (file, line) in silent {
        table.files.entry(file).or_default().leave_out(line);
    }
}

fn source(function: &FunctionView<'_>) -> Option<Source> {
    let file = function.file().filter(|_| function.line() > 0)?;
    Some((file, function.line(), source_name(function.name())))
}

/// Those of `idle` functions that ran in another copy, its own or an inlined one.
fn ran<'i>(table: &LineTable, idle: &'i BTreeMap<Source, Vec<FunctionView<'_>>>) -> Vec<&'i Source> {
    let begins: HashSet<(FileId, u32)> = idle.keys().map(|(file, line, _)| (*file, *line)).collect();
    let mut executed: BTreeSet<Source> = BTreeSet::new();
    for (file, lines) in &table.files {
        for ((line, symbol), function) in &lines.functions {
            if function.entries + function.inlined > 0 && begins.contains(&(*file, *line)) {
                executed.insert((*file, *line, source_name(&demangle(symbol))));
            }
        }
    }
    idle.keys().filter(|source| executed.contains(source)).collect()
}

/// The lines of a function's own code, each with its nodes.
fn own_lines(function: FunctionView<'_>) -> BTreeMap<(FileId, u32), Vec<u32>> {
    let place = |id: &LocationId| {
        let location = function.module.location(*id);
        let file = function.file_of(location.file).filter(|_| location.inlined_at.is_none() && location.line > 0)?;
        Some((file, location.line))
    };
    let mut lines: BTreeMap<(FileId, u32), Vec<u32>> = BTreeMap::new();
    for (position, node) in (0..).zip(&function.manifest.nodes) {
        for place in node.locations.iter().filter_map(|(id, _)| place(id)) {
            lines.entry(place).or_default().push(position);
        }
    }
    lines
}

/// Whether control cannot go from the function's entry to a return but through one of `nodes` (ascending).
fn is_on_all_ways(function: FunctionView<'_>, nodes: &[u32]) -> bool {
    let is_elsewhere = |node: u32| nodes.binary_search(&node).is_err();
    let by_others = reached(function.manifest, |edge| edge.kind != EdgeKind::Unwind && edge.from.is_none_or(is_elsewhere));
    let mut returning = (0..).zip(by_others).filter(|(node, _)| returns(function, *node)).peekable();
    returning.peek().is_some() && returning.all(|(node, is_reached)| !(is_reached && is_elsewhere(node)))
}
