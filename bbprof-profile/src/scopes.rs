//! Inlined copies: which nodes of a function of the program hold code of which source function, inlined at which place.

use crate::view::FunctionView;
use bbprof_format::manifest::{Location, LocationId, StringId};
use std::collections::BTreeMap;

/// A source function, and where it is inlined.
pub(crate) type Scope = (StringId, Option<LocationId>);

/// An inlined copy.
#[derive(Debug)]
pub(crate) struct InlinedCopy<'p> {
    /// The first location met of it.
    pub(crate) location: &'p Location,
    /// Nodes with its code, or with code inlined into it; ascending.
    pub(crate) nodes: Vec<u32>,
}

/// All inlined copies in a function; a copy holds what is inlined into it.
pub(crate) fn inlined_copies(function: FunctionView<'_>) -> BTreeMap<Scope, InlinedCopy<'_>> {
    let mut copies: BTreeMap<Scope, InlinedCopy<'_>> = BTreeMap::new();
    for (position, node) in (0..).zip(&function.manifest.nodes) {
        for (id, _) in &node.locations {
            let mut location = &function.module.locations[id.0 as usize];
            while let Some(outer) = location.inlined_at {
                let scope = (location.function, location.inlined_at);
                let copy = copies.entry(scope).or_insert_with(|| InlinedCopy { location, nodes: Vec::new() });
                if copy.nodes.last() != Some(&position) {
                    copy.nodes.push(position);
                }
                location = &function.module.locations[outer.0 as usize];
            }
        }
    }
    copies
}
