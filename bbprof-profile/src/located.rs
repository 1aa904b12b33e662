//! Instructions by where they come from: of a function, and of a block.

use crate::LocationId;
use crate::view::{BlockView, FunctionView};
use std::collections::HashMap;

impl FunctionView<'_> {
    /// Executed instructions by location, ascending; `None` for those without one. Locations that were not executed are left out.
    #[must_use]
    pub fn instructions_by_location(self) -> Vec<(Option<LocationId>, u128)> {
        let mut sums: HashMap<Option<LocationId>, u128> = HashMap::new();
        for (node, count) in self.manifest.nodes.iter().zip(&self.counts.nodes).filter(|(_, count)| **count > 0) {
            for (location, instructions) in &node.locations {
                *sums.entry(Some(*location)).or_default() += u128::from(*instructions) * u128::from(*count);
            }
            let rest = node.num_instructions() - node.num_located();
            if rest > 0 {
                *sums.entry(None).or_default() += u128::from(rest) * u128::from(*count);
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable();
        sums
    }
}

impl BlockView<'_> {
    /// Its locations in the order of first appearance: instructions that stand there, and how many of them were executed.
    #[must_use]
    pub fn instructions_by_location(&self) -> Vec<(LocationId, u64, u128)> {
        let mut sums: Vec<(LocationId, u64, u128)> = Vec::new();
        let mut positions: HashMap<LocationId, usize> = HashMap::new();
        for (node, count) in self.nodes() {
            for (id, instructions) in &node.locations {
                let position = *positions.entry(*id).or_insert(sums.len());
                if position == sums.len() {
                    sums.push((*id, 0, 0));
                }
                let (_, standing, executed) = &mut sums[position];
                *standing += u64::from(*instructions);
                *executed += u128::from(*instructions) * u128::from(count);
            }
        }
        sums
    }
}
