//! How often control arrives at a set of nodes, and how often it turns in loops inside the set.
//!
//! A line's blocks are such a set: simply adding their counts would count a visit several times. The sum of the edges that enter
//! the set counts each visit once; a loop that stays in the set comes back without entering, so its turns are added: cycles of
//! positive flow are taken out one after the other, each with the count of its rarest edge (the rule of gcov's line counts).

use bbprof_format::manifest::Edge;

/// The flow of one function, by node.
#[derive(Debug)]
pub(crate) struct Flow {
    /// By node: first of its entering edges in `entering`; one more at the end.
    entering_begin: Vec<u32>,
    /// Source (`None` = outside) and executions.
    entering: Vec<(Option<u32>, u128)>,
    /// Whether every edge has a count.
    is_complete: bool,
    /// By node: the set it was last part of.
    member_of: Vec<u32>,
    set: u32,
}

impl Flow {
    /// `edges` and their `counts`, of a function with `num_nodes` nodes.
    pub(crate) fn new(num_nodes: usize, edges: &[Edge], counts: &[Option<i128>]) -> Self {
        let mut begin = vec![0_u32; num_nodes + 1];
        for to in edges.iter().filter_map(|edge| edge.to) {
            begin[to as usize + 1] += 1;
        }
        for node in 0..num_nodes {
            begin[node + 1] += begin[node];
        }
        let mut next = begin.clone();
        let mut entering = vec![(None, 0); begin[num_nodes] as usize];
        let mut is_complete = true;
        for (edge, count) in edges.iter().zip(counts) {
            let Some(to) = edge.to else { continue };
            is_complete &= count.is_some();
            // Edges into a node are never negative: only vanishing ones are, and they leave.
            let count = count.and_then(|count| u128::try_from(count).ok()).unwrap_or(0);
            entering[next[to as usize] as usize] = (edge.from, count);
            next[to as usize] += 1;
        }
        Self { entering_begin: begin, entering, is_complete, member_of: vec![0; num_nodes], set: 0 }
    }

    /// Whether the count of every edge is known: without that, arrivals are not.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Executions of edges into `nodes` from elsewhere.
    pub(crate) fn arrivals(&mut self, nodes: &[u32]) -> u128 {
        self.set += 1;
        for node in nodes {
            self.member_of[*node as usize] = self.set;
        }
        let from_elsewhere = |from: Option<u32>| from.is_none_or(|from| self.member_of[from as usize] != self.set);
        nodes.iter().flat_map(|node| self.entering(*node)).filter(|(from, _)| from_elsewhere(*from)).map(|(_, count)| count).sum()
    }

    /// Turns of the loops among `nodes`, each node once.
    pub(crate) fn turns(&mut self, nodes: &[u32]) -> u128 {
        if let [node] = *nodes {
            return self.entering(node).iter().filter(|(from, _)| *from == Some(node)).map(|(_, count)| count).sum();
        }
        let position = |node: u32| nodes.binary_search(&node).ok();
        let mut arcs: Vec<Vec<Arc>> = vec![Vec::new(); nodes.len()];
        for (to, node) in nodes.iter().enumerate() {
            for (from, count) in self.entering(*node) {
                if let Some(from) = from.and_then(position)
                    && *count > 0
                {
                    arcs[from].push(Arc { to, left: *count });
                }
            }
        }
        cycle_flow(&mut arcs)
    }

    fn entering(&self, node: u32) -> &[(Option<u32>, u128)] {
        let node = node as usize;
        &self.entering[self.entering_begin[node] as usize..self.entering_begin[node + 1] as usize]
    }
}

#[derive(Clone, Debug)]
struct Arc {
    to: usize,
    left: u128,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Open,
    /// On the path of the walk, at this position.
    OnPath(usize),
    /// No cycle with flow leads through it any more.
    Done,
}

/// Takes cycles out of the flow by a walk that keeps a path: an arc back onto the path closes one. Each cycle empties an arc,
/// and the walk goes on from the first emptied arc of the path. No recursion.
fn cycle_flow(arcs: &mut [Vec<Arc>]) -> u128 {
    let mut marks = vec![Mark::Open; arcs.len()];
    let mut cursors = vec![0_usize; arcs.len()];
    let mut turns = 0;
    for start in 0..arcs.len() {
        if marks[start] == Mark::Done {
            continue;
        }
        let mut path = vec![start];
        marks[start] = Mark::OnPath(0);
        while let Some(&at) = path.last() {
            let Some(arc) = arcs[at].get(cursors[at]) else {
                marks[at] = Mark::Done;
                path.pop();
                if let Some(before) = path.last() {
                    cursors[*before] += 1;
                }
                continue;
            };
            let (to, left) = (arc.to, arc.left);
            match marks[to] {
                _ if left == 0 => cursors[at] += 1,
                Mark::Done => cursors[at] += 1,
                Mark::Open => {
                    marks[to] = Mark::OnPath(path.len());
                    path.push(to);
                }
                Mark::OnPath(first) => {
                    let cycle = first..path.len();
                    let flow = path[cycle.clone()].iter().map(|node| arcs[*node][cursors[*node]].left).min().unwrap_or(0);
                    turns += flow;
                    let mut keep = path.len();
                    for position in cycle.rev() {
                        let arc = &mut arcs[path[position]][cursors[path[position]]];
                        arc.left -= flow;
                        if arc.left == 0 {
                            keep = position + 1;
                        }
                    }
                    for node in path.drain(keep..) {
                        marks[node] = Mark::Open;
                    }
                }
            }
        }
    }
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use bbprof_format::manifest::EdgeKind;

    fn flow(num_nodes: usize, edges: &[(Option<u32>, Option<u32>, i128)]) -> Flow {
        let shape = |&(from, to, _): &(Option<u32>, Option<u32>, i128)| Edge {
            from,
            to,
            kind: EdgeKind::Branch,
            successor: 0,
            multiplicity: 1,
            weight: 0,
        };
        let counts: Vec<Option<i128>> = edges.iter().map(|edge| Some(edge.2)).collect();
        Flow::new(num_nodes, &edges.iter().map(shape).collect::<Vec<_>>(), &counts)
    }

    /// `for (i = 0; i < 10; i++)` on a line of its own: 0 initialises, 1 tests, 3 increments; 2 is the body, on another line.
    #[test]
    fn header_of_a_loop_counts_the_tests() {
        let mut flow = flow(
            5,
            &[
                (None, Some(0), 1),
                (Some(0), Some(1), 1),
                (Some(1), Some(2), 10),
                (Some(2), Some(3), 10),
                (Some(3), Some(1), 10),
                (Some(1), Some(4), 1),
            ],
        );
        assert_eq!(flow.arrivals(&[0, 1, 3]) + flow.turns(&[0, 1, 3]), 11);
        assert_eq!(flow.arrivals(&[2]), 10);
        assert_eq!(flow.arrivals(&[0, 1, 2, 3, 4]) + flow.turns(&[0, 1, 2, 3, 4]), 11, "the whole loop on one line");
    }

    #[test]
    fn two_loops_through_one_node_are_both_counted() {
        let edges = [
            (None, Some(0), 1),
            (Some(0), Some(1), 7),
            (Some(1), Some(0), 7),
            (Some(0), Some(2), 5),
            (Some(2), Some(0), 5),
            (Some(0), Some(0), 3),
            (Some(0), None, 1),
        ];
        assert_eq!(flow(3, &edges).turns(&[0, 1, 2]), 15);
        assert_eq!(flow(3, &edges).turns(&[0]), 3);
    }

    #[test]
    fn a_cycle_that_shares_its_rarest_edge_is_taken_once() {
        // 0 -> 1 -> {2, 3} -> 0: two cycles share 0 -> 1.
        let edges = [
            (None, Some(0), 1),
            (Some(0), Some(1), 9),
            (Some(1), Some(2), 4),
            (Some(1), Some(3), 5),
            (Some(2), Some(0), 4),
            (Some(3), Some(0), 4),
            (Some(3), None, 1),
        ];
        assert_eq!(flow(4, &edges).turns(&[0, 1, 2, 3]), 8);
    }
}
