//! Where code comes from: chains of inlined frames, and executed instructions by such chains.

use crate::view::FunctionView;
use crate::{FileId, LocationId};
use bbprof_format::manifest::Callee;
use std::collections::HashMap;

/// One function of the source at one place in it: the code itself, or where what is inside was inlined.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame<'p> {
    /// Linker symbol of the source function (in C its name).
    pub function: &'p str,
    /// Line where that function begins; 0 = unknown.
    pub function_line: u32,
    /// The file of the line.
    pub file: Option<FileId>,
    /// The line; 0 = unknown.
    pub line: u32,
    /// The column; 0 = unknown.
    pub column: u32,
    /// DWARF discriminator of the line.
    pub discriminator: u32,
}

/// A call instruction of one function of the program.
#[derive(Clone, Copy, Debug)]
pub struct CallView<'p> {
    /// Who is called.
    pub callee: CalleeView<'p>,
    /// How often.
    pub count: u64,
    /// Where from, when it is known.
    pub location: Option<LocationId>,
    /// The block it stands in.
    pub block: u32,
}

/// Who is called.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CalleeView<'p> {
    /// The function with this linker symbol.
    Symbol(&'p str),
    /// Through a pointer.
    Indirect,
    /// Inline assembly.
    Asm,
}

impl<'p> FunctionView<'p> {
    /// The frames of a location, the innermost first; the last one is this function's own.
    #[must_use]
    pub fn frames(self, location: LocationId) -> Vec<Frame<'p>> {
        let mut frames = Vec::new();
        let mut next = Some(location);
        // Chains are finite: manifests with circular ones are refused when they are read.
        while let Some(id) = next {
            let location = &self.module.locations[id.0 as usize];
            frames.push(Frame {
                function: self.module.string(location.function),
                function_line: location.function_line,
                file: self.file_of(location.file),
                line: location.line,
                column: location.column,
                discriminator: location.discriminator,
            });
            next = location.inlined_at;
        }
        frames
    }

    /// File and line of a location.
    #[must_use]
    pub fn file_and_line(self, location: LocationId) -> Option<(FileId, u32)> {
        self.place(location)
    }

    /// Executed instructions by location, ascending; `None` for those without one. Locations that were not executed are left out.
    #[must_use]
    pub fn instructions_by_location(self) -> Vec<(Option<LocationId>, u128)> {
        let mut sums: HashMap<Option<LocationId>, u128> = HashMap::new();
        for (node, count) in self.manifest.nodes.iter().zip(&self.counts.nodes).filter(|(_, count)| **count > 0) {
            let mut rest = node.num_instructions();
            for (location, instructions) in &node.locations {
                *sums.entry(Some(*location)).or_default() += u128::from(*instructions) * u128::from(*count);
                // An instruction has at most one location.
                rest = rest.saturating_sub(u64::from(*instructions));
            }
            if rest > 0 {
                *sums.entry(None).or_default() += u128::from(rest) * u128::from(*count);
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable();
        sums
    }

    /// Its calls, in the order they stand in the code.
    pub fn calls(self) -> impl Iterator<Item = CallView<'p>> {
        let nodes = self.manifest.nodes.iter().zip(self.counts.nodes.iter().copied());
        nodes.flat_map(move |(node, count)| {
            node.calls.iter().map(move |call| CallView {
                callee: match call.callee {
                    Callee::Symbol(symbol) => CalleeView::Symbol(self.module.string(symbol)),
                    Callee::Indirect => CalleeView::Indirect,
                    Callee::Asm => CalleeView::Asm,
                },
                count,
                location: call.location,
                block: node.block,
            })
        })
    }

    /// Executions of a node of this function.
    #[must_use]
    pub fn node_count(self, node: u32) -> u64 {
        self.counts.nodes[node as usize]
    }

    /// Names the link of its image.
    #[must_use]
    pub fn build_id(self) -> bbprof_format::BuildId {
        self.image.image.build_id
    }

    /// The location of the instruction that ends a node of this function (position in [`crate::BlockEdge::from_node`]).
    #[must_use]
    pub fn end_of_node(self, node: u32) -> Option<LocationId> {
        self.manifest.nodes[node as usize].last_location
    }
}
