//! Source places with the calls that brought them in, and what stands at each place of a block.

use crate::FileId;
use crate::view::{BlockView, FunctionView};
use bbprof_format::manifest::LocationId;

/// A position in the source, in a function of the source that may be inlined into another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place<'p> {
    /// The source file.
    pub file: FileId,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 = unknown.
    pub column: u32,
    /// Linker symbol of the function whose source this is.
    pub function: &'p str,
    /// Line where that function begins; 0 = unknown.
    pub function_line: u32,
    /// The call that brought it in, when it is inlined.
    pub inlined_at: Option<LocationId>,
}

impl<'p> FunctionView<'p> {
    /// What a location of its module says; `None` where its file has no name.
    #[must_use]
    pub fn place_of(&self, id: LocationId) -> Option<Place<'p>> {
        let location = &self.module.locations[id.0 as usize];
        Some(Place {
            file: self.file_of(location.file)?,
            line: location.line,
            column: location.column,
            function: self.module.string(location.function),
            function_line: location.function_line,
            inlined_at: location.inlined_at,
        })
    }
}

impl<'p> BlockView<'p> {
    /// Its locations in the order of first appearance: instructions that stand there, and how many of them were executed.
    #[must_use]
    pub fn instructions_by_location(&self) -> Vec<(LocationId, u64, u128)> {
        let mut sums: Vec<(LocationId, u64, u128)> = Vec::new();
        for (node, count) in self.nodes() {
            for (id, instructions) in &node.locations {
                let executed = u128::from(*instructions) * u128::from(count);
                match sums.iter_mut().find(|(known, _, _)| known == id) {
                    Some((_, standing, sum)) => {
                        *standing += u64::from(*instructions);
                        *sum += executed;
                    }
                    None => sums.push((*id, u64::from(*instructions), executed)),
                }
            }
        }
        sums
    }

    /// Number of LLVM IR instructions that stand in it.
    #[must_use]
    pub fn num_instructions(&self) -> u64 {
        self.nodes().map(|(node, _)| node.num_instructions()).sum()
    }
}
