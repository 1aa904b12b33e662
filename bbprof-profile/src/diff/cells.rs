//! Source functions within functions of the program: the function's own code, and each that is inlined into it; line by line.

use crate::view::FunctionView;
use crate::{LineTable, demangle};
use std::collections::BTreeMap;

/// What ran, and how often.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Work {
    /// Executed instructions.
    pub(super) instructions: i128,
    /// Activations, or arrivals at inlined copies or at a line.
    pub(super) executions: i128,
}

/// A source function within a function of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Cell {
    pub(super) work: Work,
    /// By line from the function's first one on; `None` holds what has no line.
    pub(super) lines: BTreeMap<Option<u32>, Work>,
}

impl Cell {
    fn line(&mut self, offset: Option<u32>, instructions: i128) {
        self.work.instructions += instructions;
        self.lines.entry(offset).or_default().instructions += instructions;
    }
}

/// The cells of one function, or of several that are seen as one, by name.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) by_name: BTreeMap<String, Cell>,
}

impl Cells {
    /// Their own code goes by the name `own`.
    pub(super) fn of(functions: &[FunctionView<'_>], own: &str) -> Self {
        let mut cells = Self::default();
        for function in functions {
            cells.add(*function, own);
        }
        cells
    }

    fn add(&mut self, function: FunctionView<'_>, own_name: &str) {
        let table = LineTable::of_functions(&[function]);
        let entries = i128::from(function.counts.entries);
        let own = self.by_name.entry(own_name.to_owned()).or_default();
        own.work.executions += entries;
        own.lines.entry(None).or_default().executions += entries;
        let mut names: BTreeMap<&str, String> = BTreeMap::new();
        let mut counted = std::collections::BTreeSet::new();
        for (node, count) in function.manifest.nodes.iter().zip(&function.counts.nodes) {
            for (location, instructions) in &node.locations {
                let location = function.module.location(*location);
                let symbol = function.module.string(location.function);
                let name: &str = match location.inlined_at {
                    None => own_name,
                    Some(_) => names.entry(symbol).or_insert_with(|| demangle(symbol)),
                };
                if !self.by_name.contains_key(name) {
                    self.by_name.insert(name.to_owned(), Cell::default());
                }
                let cell = self.by_name.get_mut(name).expect("just put there");
                let offset = Some(location.line.wrapping_sub(location.function_line));
                cell.line(offset, i128::from(*instructions) * i128::from(*count));
                if let Some(file) = function.file_of(location.file)
                    && counted.insert((file, location.line))
                {
                    let line = table.files.get(&file).and_then(|source| source.lines.get(&location.line));
                    let visits = line.map_or(0, |line| i128::try_from(line.count).unwrap_or(i128::MAX));
                    cell.lines.entry(offset).or_default().executions += visits;
                }
            }
            // What has no line belongs to the function itself.
            let rest = node.num_instructions() - node.num_located();
            if let Some(own) = self.by_name.get_mut(own_name)
                && rest > 0
            {
                own.line(None, i128::from(rest) * i128::from(*count));
            }
        }
        for source in table.files.into_values() {
            for ((_, symbol), counts) in source.functions {
                if let Some(cell) = names.get(&*symbol).and_then(|name| self.by_name.get_mut(name)) {
                    cell.work.executions += i128::try_from(counts.inlined).unwrap_or(i128::MAX);
                }
            }
        }
    }
}
