//! Functions whose paths were asked for: from the counters of their paths, and those of
//! edges whose paths are obvious, to the counts of all.

use crate::fault::Fault;
use crate::solve::{PathCounts, solve_and_check};
use bbprof_flow::{Cfg, CounterPlan, CounterSite, ObviousGraph, PathNumbering, Solution, check_sites};
use bbprof_format::HashedPath;
use bbprof_format::manifest::Function;

/// What such a function counted.
pub(crate) struct PathCounters<'a> {
    pub function: &'a Function,
    /// Path numbers and what was counted for them.
    pub counted: Vec<(u64, u64)>,
    /// By site.
    pub of_sites: &'a [u64],
}

impl<'a> PathCounters<'a> {
    pub(crate) fn new(function: &'a Function, of_paths: &[u64], hashed: &[HashedPath], of_sites: &'a [u64]) -> Self {
        let counted = if function.is_hashed() {
            hashed.iter().map(|path| (path.number, path.count)).collect()
        } else {
            (0..).zip(of_paths.iter().copied()).filter(|(_, count)| *count > 0).collect()
        };
        Self { function, counted, of_sites }
    }

    pub(crate) fn sites(&self) -> Vec<CounterSite> {
        self.function.sites.iter().map(|site| (*site).into()).collect()
    }

    /// The paths that have counters, and the edges that these tell; those of other edges are 0.
    pub(crate) fn settled(&self, numbering: &PathNumbering) -> Result<(PathCounts, Vec<i128>), String> {
        let paths = numbering.settle(self.counted.iter().copied()).map_err(|e| e.to_string())?;
        let edges = numbering.edge_counts(paths.iter().map(|(number, count)| (*number, *count))).map_err(|e| e.to_string())?;
        Ok((paths, edges))
    }

    /// The paths taken, and the nodes and edges that follow: the solver gets the edges that code could count, so that
    /// conservation is proven as for any other counters, and what vanished must be what the paths say.
    pub(crate) fn solve(&self, numbering: &PathNumbering) -> Result<(Solution, PathCounts), Fault> {
        let cfg = self.function.cfg()?;
        let (mut paths, mut edges) = self.settled(numbering)?;
        let graph = ObviousGraph::new(&cfg, numbering);
        graph.solve(&self.sites(), self.of_sites, &mut edges)?;
        paths.extend(numbering.obvious_counts(&cfg, &edges));
        Ok((proven(&cfg, &edges)?, paths))
    }
}

/// The counts of nodes and edges, when these edges are a flow.
fn proven(cfg: &Cfg, edges: &[i128]) -> Result<Solution, Fault> {
    let plan = CounterPlan { sites: check_sites(cfg) };
    let counts = plan.sites.iter().map(|site| {
        let (CounterSite::Edge(edge) | CounterSite::PhiEdge(edge)) = site else { unreachable!("check sites are on edges") };
        let taken = edges[edge.index()];
        let wrong = || Fault::at_source(cfg.edge(*edge), format!("edge {} was taken {taken} times, say its paths", edge.index()));
        u64::try_from(taken).map_err(|_| wrong())
    });
    let counts: Vec<u64> = counts.collect::<Result<_, _>>()?;
    let solution = solve_and_check(cfg, &plan, &counts)?;
    for (edge, (solved, walked)) in cfg.edges().iter().zip(solution.edges.iter().zip(edges)) {
        if *solved != Some(*walked) {
            let reason = format!("paths say that {walked} activations vanished, the flow around says {solved:?}");
            return Err(Fault::at_source(edge, reason));
        }
    }
    Ok(solution)
}
