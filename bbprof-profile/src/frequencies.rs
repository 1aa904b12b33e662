//! What the next build can place its counters by: the frequencies of the functions that ran.

use crate::Profile;
use bbprof_format::frequencies::{Frequencies, FunctionFrequencies};

impl Profile {
    /// Frequencies of the functions that ran and whose every edge is known; the counter placements `blocks` and `patterns`
    /// leave edges open.
    #[must_use]
    pub fn frequencies(&self) -> Frequencies {
        let mut frequencies = Frequencies::default();
        for function in self.functions() {
            if !function.is_executed() {
                frequencies.add_idle(function.symbol(), function.manifest.shape);
                continue;
            }
            let executions = |count: &Option<i128>| count.map(|count| u64::try_from(count.max(0)).unwrap_or(u64::MAX));
            let Some(edges) = function.counts.edges.iter().map(executions).collect() else { continue };
            let nodes = function.counts.nodes.clone();
            frequencies.add(function.symbol(), FunctionFrequencies { shape: function.manifest.shape, nodes, edges });
        }
        frequencies
    }
}
