//! The call instructions of a function, with their counts.

use crate::LocationId;
use crate::view::FunctionView;
use bbprof_format::manifest::Callee;

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
}
