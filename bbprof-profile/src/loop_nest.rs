//! The loops of a function, one in the other: each is known by its head, which control comes through on each way into it.
//!
//! From the innermost on, a loop is what leads to its ways back without coming through its head; what inner loops hold is
//! one node by then (Tarjan 1974, "Testing flow graph reducibility"). A cycle of several entries is part of the loop around it.

use std::ops::Range;

/// By node: the head of the innermost loop that it is in and is not the head of.
#[derive(Debug)]
pub(crate) struct LoopNest {
    around: Vec<Option<u32>>,
    is_head: Vec<bool>,
}

impl LoopNest {
    /// `entering` hands on from where control comes to a node, and whether by a loop's way back; `below` has for each node
    /// the numbers of those that a walk from the function's entry came to from there, itself the first.
    pub(crate) fn new<I: Iterator<Item = (u32, bool)>>(below: &[Range<u32>], entering: impl Fn(u32) -> I) -> Self {
        let num_nodes = below.len();
        let mut nest = Self { around: vec![None; num_nodes], is_head: vec![false; num_nodes] };
        // By node: one that is in the same loops, up to those that are known so far.
        let mut stands_for: Vec<u32> = (0..).take(num_nodes).collect();
        let mut heads: Vec<u32> = (0..).take(num_nodes).filter(|node| entering(*node).any(|(_, is_back)| is_back)).collect();
        heads.sort_unstable_by_key(|head| std::cmp::Reverse(below[*head as usize].start));
        for head in heads {
            nest.is_head[head as usize] = true;
            let mut open: Vec<u32> = entering(head).filter(|(_, is_back)| *is_back).map(|(from, _)| from).collect();
            while let Some(from) = open.pop() {
                let node = outermost(&mut stands_for, from);
                let is_below = below[head as usize].contains(&below[node as usize].start);
                if node != head && is_below {
                    nest.around[node as usize] = Some(head);
                    stands_for[node as usize] = head;
                    open.extend(entering(node).filter(|(_, is_back)| !is_back).map(|(from, _)| from));
                }
            }
        }
        nest
    }

    /// The head of the outermost loop that one node is in, and the other is not.
    pub(crate) fn left(&self, from: u32, to: u32) -> Option<u32> {
        self.heads(from).take_while(|head| !self.contains(*head, to)).last()
    }

    /// Whether a node is in the loop of this head.
    pub(crate) fn contains(&self, head: u32, node: u32) -> bool {
        self.heads(node).any(|own| own == head)
    }

    /// Of the loops that a node is in, from the innermost on.
    fn heads(&self, node: u32) -> impl Iterator<Item = u32> {
        let innermost = if self.is_head[node as usize] { Some(node) } else { self.around[node as usize] };
        std::iter::successors(innermost, |head| self.around[*head as usize])
    }
}

/// The one that stands for all that a node is in a loop with; the ways to it become shorter.
fn outermost(stands_for: &mut [u32], mut node: u32) -> u32 {
    while stands_for[node as usize] != node {
        let next = stands_for[stands_for[node as usize] as usize];
        stands_for[node as usize] = next;
        node = next;
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycles::walk;
    use bbprof_format::manifest::{Edge, EdgeKind};

    fn nest(num_nodes: u32, ways: &[(u32, u32)]) -> LoopNest {
        let edge = |from, to| Edge { from, to: Some(to), kind: EdgeKind::Branch, successor: 0, multiplicity: 1, weight: 0 };
        let edges: Vec<Edge> = std::iter::once(edge(None, 0)).chain(ways.iter().map(|(from, to)| edge(Some(*from), *to))).collect();
        let walk = walk(&edges, num_nodes as usize);
        let entering = |node| {
            let into = edges.iter().zip(&walk.is_back).filter(move |(edge, _)| edge.to == Some(node));
            into.filter_map(|(edge, is_back)| Some((edge.from?, *is_back)))
        };
        LoopNest::new(&walk.below, entering)
    }

    /// The loop of 1 to 5 holds that of 2 and 3; 4 is behind that.
    #[test]
    fn one_in_the_other() {
        let nest = nest(7, &[(0, 1), (1, 2), (2, 3), (3, 2), (3, 4), (4, 5), (5, 1), (5, 6), (2, 6)]);
        assert_eq!([nest.left(3, 4), nest.left(3, 6), nest.left(5, 6), nest.left(2, 6)], [Some(2), Some(1), Some(1), Some(1)]);
        assert_eq!([nest.left(2, 3), nest.left(4, 2), nest.left(0, 1), nest.left(6, 0)], [None; 4]);
        let inside = |head| (0..7).filter(|node| nest.contains(head, *node)).collect::<Vec<_>>();
        assert_eq!([inside(1), inside(2), inside(0)], [vec![1, 2, 3, 4, 5], vec![2, 3], vec![]]);
    }

    /// 1 closes a loop by itself; 2 and 3 close another by two ways back to 2.
    #[test]
    fn one_behind_the_other() {
        let nest = nest(6, &[(0, 1), (1, 1), (1, 2), (2, 3), (3, 2), (2, 4), (4, 2), (4, 5)]);
        assert_eq!([nest.left(1, 2), nest.left(4, 5), nest.left(3, 5), nest.left(3, 4)], [Some(1), Some(2), Some(2), None]);
    }

    /// Control comes to 1 and to 2, which lead to each other, from 0: neither is a head of theirs alone, but 4 is one around both.
    #[test]
    fn a_cycle_of_several_entries() {
        let nest = nest(6, &[(0, 4), (4, 1), (4, 2), (1, 2), (2, 1), (2, 3), (3, 4), (3, 5)]);
        assert_eq!([nest.left(1, 5), nest.left(3, 5)], [Some(4), Some(4)]);
    }
}
