//! Regions of blank nodes: those that hold nothing of the source, as far as debug information
//! tells, and that control goes through from one to the next.
//!
//! rustc makes such code, the loop that fills `[x; n]` for one. Where control is in it, it has not come to another line.

use bbprof_flow::Lists;
use bbprof_format::manifest::Edge;

/// The regions of one function, connected by edges that were executed.
#[derive(Debug, Default)]
pub(crate) struct BlankRegions {
    /// By region: its nodes.
    nodes: Vec<Vec<u32>>,
    /// By region: the nodes outside it that control came from; `None` = also from outside the function.
    sources: Vec<Option<Vec<u32>>>,
    /// From which node into which region control came, ascending.
    ways_in: Vec<(u32, u32)>,
}

impl BlankRegions {
    /// `edges` and their `counts`, of a function whose nodes are `is_blank` when nothing of the source is in them.
    pub(crate) fn of(is_blank: &[bool], edges: &[Edge], counts: &[Option<i128>]) -> Self {
        if !is_blank.contains(&true) {
            return Self::default();
        }
        let executed = || edges.iter().zip(counts).filter(|(_, count)| count.is_some_and(|count| count > 0)).map(|(edge, _)| edge);
        let blank = |node: Option<u32>| node.filter(|node| is_blank[*node as usize]);
        let between = executed().filter_map(|edge| Some((blank(edge.from)?, blank(edge.to)?)));
        let neighbours = Lists::of(is_blank.len(), between.flat_map(|(from, to)| [(from as usize, to), (to as usize, from)]));
        let mut regions = Self::default();
        let mut region_of: Vec<Option<u32>> = vec![None; is_blank.len()];
        for start in (0..is_blank.len() as u32).filter(|node| is_blank[*node as usize]) {
            if region_of[start as usize].is_some() {
                continue;
            }
            let region = regions.nodes.len() as u32;
            let mut nodes = vec![start];
            region_of[start as usize] = Some(region);
            let mut next = 0;
            while let Some(node) = nodes.get(next) {
                for neighbour in neighbours.of_key(*node as usize) {
                    if region_of[*neighbour as usize].replace(region).is_none() {
                        nodes.push(*neighbour);
                    }
                }
                next += 1;
            }
            regions.nodes.push(nodes);
            regions.sources.push(Some(Vec::new()));
        }
        for edge in executed() {
            let Some(region) = edge.to.and_then(|to| region_of[to as usize]) else { continue };
            let sources = &mut regions.sources[region as usize];
            match (edge.from, &mut *sources) {
                (None, _) => *sources = None,
                (Some(from), Some(found)) if !is_blank[from as usize] => {
                    found.push(from);
                    regions.ways_in.push((from, region));
                }
                _ => {}
            }
        }
        regions.ways_in.sort_unstable();
        regions.ways_in.dedup();
        regions
    }

    /// The nodes of all regions that control came to from `nodes` (ascending), and from nowhere else.
    pub(crate) fn reached_only_from(&self, nodes: &[u32]) -> Vec<u32> {
        let mut reached: Vec<u32> = Vec::new();
        for node in nodes {
            let first = self.ways_in.partition_point(|(from, _)| from < node);
            reached.extend(self.ways_in[first..].iter().take_while(|(from, _)| from == node).map(|(_, region)| *region));
        }
        reached.sort_unstable();
        reached.dedup();
        let is_ours = |region: &u32| {
            let sources = self.sources[*region as usize].as_ref();
            sources.is_some_and(|sources| sources.iter().all(|source| nodes.binary_search(source).is_ok()))
        };
        reached.into_iter().filter(is_ours).flat_map(|region| self.nodes[region as usize].iter().copied()).collect()
    }
}
