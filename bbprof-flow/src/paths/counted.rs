//! From what was counted to how often paths and edges were taken.

use super::arcs::Vertex;
use super::numbering::{PathError, PathNumbering};
use crate::cfg::Cfg;
use std::collections::BTreeMap;

impl PathNumbering {
    /// From what code counted to how often each path was taken, by path number; paths that were not are left out.
    ///
    /// The count of a path that ends in a call is that of all who reached the call on it. Those who came back were counted again
    /// further on: at the next call, or where their path ended. What is left vanished.
    ///
    /// # Errors
    /// When a number is that of no path.
    pub fn settle(&self, counts: impl IntoIterator<Item = (u64, u64)>) -> Result<BTreeMap<u64, i128>, PathError> {
        let mut settled: BTreeMap<u64, i128> = BTreeMap::new();
        for (number, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            *settled.entry(number).or_default() += i128::from(count);
            // The calls passed on the way, and the last one before the path's end.
            let mut passed = None;
            let mut at = None;
            self.walk(number, |step, sum| {
                if let Some(vertex) = at.take() {
                    passed = self.vanish_number(vertex, sum - step.value).filter(|vanished| *vanished != number).or(passed);
                }
                at = Some(step.to);
            })?;
            if let Some(vanished) = passed {
                *settled.entry(vanished).or_default() -= i128::from(count);
            }
        }
        settled.retain(|_, count| *count != 0);
        Ok(settled)
    }

    /// The number of the path that came to this vertex with this sum and vanishes there, if it can.
    fn vanish_number(&self, vertex: Vertex, sum: u64) -> Option<u64> {
        self.vanish[vertex.index()].map(|value| sum + value)
    }

    /// How often each obvious path was taken, by path number, when edges were taken this often; those that were not are left out.
    ///
    /// # Panics
    /// When `edges` does not have one count for each edge of the graph.
    #[must_use]
    pub fn obvious_counts(&self, cfg: &Cfg, edges: &[i128]) -> BTreeMap<u64, i128> {
        assert_eq!(edges.len(), self.num_edges, "one count for each edge");
        if edges.iter().all(|count| *count == 0) {
            return BTreeMap::new();
        }
        let mut begun = vec![0_i128; self.num_vertices];
        for cut in self.cuts() {
            let head = cfg.edge(*cut).to.node().expect("cuts lead to nodes");
            begun[Vertex::of(head).index()] += edges[cut.index()];
        }
        let count_of = |number| {
            let mut count = None;
            self.walk(number, |step, _| {
                if step.defines && count.is_none() {
                    count = Some(step.edge.map_or_else(|| begun[step.to.index()], |edge| edges[edge.index()]));
                }
            })
            .expect("a number of a path");
            count.expect("an arc defines an obvious path")
        };
        (self.num_counted()..self.num_paths()).map(|number| (number, count_of(number))).filter(|(_, count)| *count != 0).collect()
    }

    /// How often each edge was taken, by edge, when paths were taken this often.
    ///
    /// # Errors
    /// When a number is that of no path.
    pub fn edge_counts(&self, counts: impl IntoIterator<Item = (u64, i128)>) -> Result<Vec<i128>, PathError> {
        let mut edges = vec![0; self.num_edges];
        for (number, count) in counts {
            for edge in self.path(number)?.edges {
                edges[edge.index()] += count;
            }
        }
        Ok(edges)
    }
}
