//! The parts with obvious paths as a graph of their own, in which all other nodes are X.

use super::numbering::PathNumbering;
use crate::cfg::{Cfg, EdgeId, Endpoint, FlowEdge};
use crate::interrupted::{Interruptions, interruptions, solve_interrupted};
use crate::plan::{CounterId, CounterPlan, CounterSite};
use crate::solve::{Solution, SolveError, solve};

/// Nodes keep their ids; those whose paths are counted have no edges. What enters from one of these is known by its paths.
#[derive(Clone, Debug)]
pub struct ObviousGraph {
    cfg: Cfg,
    /// By edge, the one of the whole graph.
    originals: Vec<EdgeId>,
    /// By edge, whether paths tell its count.
    is_given: Vec<bool>,
}

impl ObviousGraph {
    /// Out of the whole graph.
    #[must_use]
    pub fn new(cfg: &Cfg, numbering: &PathNumbering) -> Self {
        let inner = |end: Endpoint| match end {
            Endpoint::Node(node) if numbering.is_obvious(node) => end,
            _ => Endpoint::X,
        };
        let mut edges = Vec::new();
        let (mut originals, mut is_given) = (Vec::new(), Vec::new());
        for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
            let (from, to) = (inner(edge.from), inner(edge.to));
            if (from, to) == (Endpoint::X, Endpoint::X) {
                continue;
            }
            edges.push(FlowEdge { from, to, ..*edge });
            originals.push(id);
            is_given.push(edge.from != from);
        }
        let cfg = Cfg::new(cfg.num_nodes() as u32, edges).expect("fewer edges of a sound graph");
        Self { cfg, originals, is_given }
    }

    /// Adds what counters beside those of paths tell to the counts of edges that paths told.
    ///
    /// `sites`, `counts`: the counters of the plan beside the paths. `edges`: by edge of the whole graph.
    ///
    /// # Errors
    /// As [`solve`]; and when paths say that an edge was taken a negative number of times.
    pub fn solve(&self, sites: &[CounterSite], counts: &[u64], edges: &mut [i128]) -> Result<(), SolveError> {
        let (plan, counts) = self.counters(sites, counts, edges)?;
        let solution = solve(&self.cfg, &plan, &counts).map_err(|error| match error {
            SolveError::EdgeOutOfRange { edge, value } => SolveError::EdgeOutOfRange { edge: self.originals[edge.index()], value },
            other => other,
        })?;
        self.put(&solution, edges);
        Ok(())
    }

    /// The same with the fewest interruptions that explain these counters, as [`solve_interrupted`]; the counts of nodes whose
    /// paths are counted are 0 in the solution.
    #[must_use]
    pub fn solve_interrupted(
        &self,
        sites: &[CounterSite],
        counts: &[u64],
        edges: &mut [i128],
    ) -> Option<(Interruptions, Solution)> {
        let (plan, counts) = self.counters(sites, counts, edges).ok()?;
        let found = interruptions(&self.cfg, &plan, &counts)?;
        let solution = solve_interrupted(&self.cfg, &plan, &counts)?;
        self.put(&solution, edges);
        Some((found, solution))
    }

    /// These counters, and behind them one for each edge that paths tell.
    fn counters(&self, sites: &[CounterSite], counts: &[u64], edges: &[i128]) -> Result<(CounterPlan, Vec<u64>), SolveError> {
        let mut plan = Vec::with_capacity(sites.len());
        let mut values = counts.to_vec();
        for (position, site) in (0..).zip(sites) {
            let here = match *site {
                CounterSite::Node(node) => Some(CounterSite::Node(node)),
                CounterSite::Edge(edge) => self.here(edge).map(CounterSite::Edge),
                CounterSite::PhiEdge(edge) => self.here(edge).map(CounterSite::PhiEdge),
                CounterSite::BeforeLoop(edge) => self.here(edge).map(CounterSite::BeforeLoop),
            };
            plan.push(here.ok_or(SolveError::NoSuchSite { counter: CounterId::new(position), site: *site })?);
        }
        for ((here, original), _) in (0..).zip(&self.originals).zip(&self.is_given).filter(|(_, given)| **given) {
            let value = edges[original.index()];
            values.push(u64::try_from(value).map_err(|_| SolveError::EdgeOutOfRange { edge: *original, value })?);
            plan.push(CounterSite::Edge(EdgeId::new(here)));
        }
        Ok((CounterPlan { sites: plan }, values))
    }

    /// The edge of this graph that stands for one of the whole graph.
    fn here(&self, original: EdgeId) -> Option<EdgeId> {
        self.originals.binary_search(&original).ok().map(|position| EdgeId::new(position as u32))
    }

    fn put(&self, solution: &Solution, edges: &mut [i128]) {
        for (original, count) in self.originals.iter().zip(&solution.edges) {
            edges[original.index()] = count.expect("counters on the chords of a tree determine all");
        }
    }
}
