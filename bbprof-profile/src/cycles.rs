//! Cycles: which ways of a graph close them, and how much of a flow runs in them.

use bbprof_flow::Lists;
use bbprof_format::manifest::Edge;
use std::ops::Range;

/// A walk from the function's entry, to each node once.
pub(crate) struct Walk {
    /// By edge, whether it leads back onto the path on which the walk came to where it comes from: the ways back of the function's
    /// loops, where each has one head.
    pub(crate) is_back: Vec<bool>,
    /// By node: in the order in which the walk came to them, the numbers of those that it came to from there, itself the first.
    pub(crate) below: Vec<Range<u32>>,
}

/// No recursion.
pub(crate) fn walk(edges: &[Edge], num_nodes: usize) -> Walk {
    let way = |(position, edge): (usize, &Edge)| Some((edge.from? as usize, (position, edge.to?)));
    let ways = Lists::of(num_nodes, edges.iter().enumerate().filter_map(way));
    let entries = edges.iter().filter(|edge| edge.from.is_none()).filter_map(|edge| edge.to);
    let mut marks = vec![Mark::Open; num_nodes];
    let mut cursors = vec![0_usize; num_nodes];
    let mut is_back = vec![false; edges.len()];
    let mut below = vec![0..0; num_nodes];
    let mut next = 0;
    for entry in entries {
        let mut path = vec![entry as usize];
        while let Some(&at) = path.last() {
            if marks[at] == Mark::Open {
                marks[at] = Mark::OnPath(path.len());
                below[at].start = next;
                next += 1;
            }
            let Some((edge, to)) = ways.of_key(at).get(cursors[at]) else {
                if marks[at] != Mark::Done {
                    below[at].end = next;
                }
                marks[at] = Mark::Done;
                path.pop();
                continue;
            };
            cursors[at] += 1;
            match marks[*to as usize] {
                Mark::Open => path.push(*to as usize),
                Mark::OnPath(_) => is_back[*edge] = true,
                Mark::Done => {}
            }
        }
    }
    Walk { is_back, below }
}

/// By node, a number that it shares with those that are in a cycle with it. No recursion (Tarjan 1972).
pub(crate) fn strongly_connected(edges: &[Edge], num_nodes: usize) -> Vec<u32> {
    let ways = Lists::of(num_nodes, edges.iter().filter_map(|edge| Some((edge.from? as usize, edge.to?))));
    let mut components: Vec<Option<u32>> = vec![None; num_nodes];
    let (mut order, mut lowest, mut cursors) = (vec![None; num_nodes], vec![0_u32; num_nodes], vec![0_usize; num_nodes]);
    let (mut next, mut open) = (0, Vec::new());
    for start in 0..num_nodes {
        let mut path = if order[start].is_none() { vec![start] } else { Vec::new() };
        while let Some(&at) = path.last() {
            let first = *order[at].get_or_insert_with(|| {
                (lowest[at], next) = (next, next + 1);
                open.push(at);
                lowest[at]
            });
            if let Some(to) = ways.of_key(at).get(cursors[at]).map(|to| *to as usize) {
                match (order[to], components[to]) {
                    (None, _) => {
                        path.push(to);
                        continue;
                    }
                    (Some(_), None) => lowest[at] = lowest[at].min(lowest[to]),
                    (Some(_), Some(_)) => {}
                }
                cursors[at] += 1;
                continue;
            }
            path.pop();
            if lowest[at] == first {
                while let Some(node) = open.pop() {
                    components[node] = Some(first);
                    if node == at {
                        break;
                    }
                }
            }
        }
    }
    components.into_iter().map(|component| component.expect("each walk ends with all that it met in components")).collect()
}

/// A way from one node to another, by position, and the flow on it that is in no cycle taken out so far.
#[derive(Clone, Debug)]
pub(crate) struct Arc {
    pub(crate) to: usize,
    pub(crate) left: u128,
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Open,
    /// On the path of the walk, at this position.
    OnPath(usize),
    /// No cycle with flow leads through it any more.
    Done,
}

/// How much of the flow runs in cycles. By node, the arcs that leave it.
///
/// Takes cycles out by a walk that keeps a path: an arc back onto the path closes one. Each cycle empties an arc,
/// and the walk goes on from the first emptied arc of the path. No recursion.
pub(crate) fn cycle_flow(arcs: &mut [Vec<Arc>]) -> u128 {
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
