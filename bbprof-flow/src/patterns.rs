//! The four patterns of Hucovic 2024, section 5.6: nodes whose counts follow from counts of other nodes.
//!
//! They are here as the yardstick that the spanning tree is compared with. Departures from the text, which has
//! no node X, no parallel edges and no calls that end a node:
//!
//! - A pattern holds only if nothing vanishes inside it. It asks for successors that are nodes, and a vanishing
//!   edge leads to X, so such an edge breaks it by itself; the sum of exits asks that whatever leaves the
//!   function leaves it from a node without other successors.
//! - A diamond may have any number of branches (the text defines it so, its implementation stops at two).
//! - Successors are sets: parallel edges to one node are one.
//! - Chains of equal nodes (unconditional jumps, half-diamonds) keep one counter each,
//!   even where they close into an unreachable loop.

use crate::cfg::{Cfg, EdgeId, Endpoint, NodeId};
use crate::lists::Lists;
use crate::union_find::UnionFind;

/// For each node, whether the patterns infer it, so that it needs no counter.
pub(crate) fn inferable_nodes(cfg: &Cfg) -> Vec<bool> {
    let graph = Neighbours::of(cfg);
    let mut inferable = vec![false; cfg.num_nodes()];
    let mut equal = UnionFind::new(cfg.num_nodes() as u32);
    for node in cfg.node_ids() {
        // The later node keeps the counter, and stays inferable from what follows it. A node is no news of itself.
        if let Some(later) = graph.unconditional_jump(node).or_else(|| graph.half_diamond(node))
            && equal.union(node.index() as u32, later.index() as u32)
        {
            inferable[node.index()] = true;
        }
    }
    for node in cfg.node_ids() {
        // The branches of a diamond are in no other pattern, so they are counted.
        if let Some(join) = graph.diamond(node) {
            inferable[node.index()] = true;
            inferable[join.index()] = true;
        }
    }
    if let Some(entry) = graph.sum_of_exits() {
        inferable[entry.index()] = true;
    }
    inferable
}

/// Edges by node, and neighbours that are alone.
struct Neighbours<'a> {
    cfg: &'a Cfg,
    outgoing: Lists<EdgeId>,
    incoming: Lists<EdgeId>,
    /// The only successor of each node; `None` when it has several or none.
    successor: Vec<Option<Endpoint>>,
    /// The only predecessor of each node; `None` when it has several or none.
    predecessor: Vec<Option<Endpoint>>,
}

impl<'a> Neighbours<'a> {
    fn of(cfg: &'a Cfg) -> Self {
        let outgoing = edges_at(cfg, |edge| cfg.edge(edge).from);
        let incoming = edges_at(cfg, |edge| cfg.edge(edge).to);
        let successor =
            cfg.node_ids().map(|node| only(outgoing.of_key(node.index()).iter().map(|edge| cfg.edge(*edge).to))).collect();
        let predecessor =
            cfg.node_ids().map(|node| only(incoming.of_key(node.index()).iter().map(|edge| cfg.edge(*edge).from))).collect();
        Self { cfg, outgoing, incoming, successor, predecessor }
    }

    fn successors(&self, node: NodeId) -> impl Iterator<Item = Endpoint> {
        self.outgoing.of_key(node.index()).iter().map(|edge| self.cfg.edge(*edge).to)
    }

    fn predecessors(&self, node: NodeId) -> impl Iterator<Item = Endpoint> {
        self.incoming.of_key(node.index()).iter().map(|edge| self.cfg.edge(*edge).from)
    }

    /// 5.6.3: succ(b1) = {b2}, pred(b2) = {b1}. Gives b2, whose count b1 shares.
    fn unconditional_jump(&self, first: NodeId) -> Option<NodeId> {
        let second = self.successor[first.index()]?.node()?;
        (self.predecessor[second.index()] == Some(Endpoint::Node(first))).then_some(second)
    }

    /// 5.6.2: succ(entry) = {b, join}, succ(b) = {join}, pred(b) = {entry}, pred(join) = {b, entry}. Gives the join, whose count
    /// the entry shares.
    fn half_diamond(&self, entry: NodeId) -> Option<NodeId> {
        let one = self.successors(entry).next()?;
        let other = self.successors(entry).find(|successor| *successor != one)?;
        if self.successors(entry).any(|successor| successor != one && successor != other) {
            return None;
        }
        let (one, other) = (one.node()?, other.node()?);
        let holds = |branch: NodeId, join: NodeId| {
            self.predecessor[branch.index()] == Some(Endpoint::Node(entry))
                && self.successor[branch.index()] == Some(Endpoint::Node(join))
                && self.predecessors(join).all(|from| from == Endpoint::Node(entry) || from == Endpoint::Node(branch))
        };
        if holds(one, other) {
            Some(other)
        } else if holds(other, one) {
            Some(one)
        } else {
            None
        }
    }

    /// 5.6.1: succ(entry) = {b1 .. bn}, each with pred = {entry} and succ = {join}, pred(join) = {b1 .. bn}. Gives the
    /// join; entry and join are both the sum of the branches.
    fn diamond(&self, entry: NodeId) -> Option<NodeId> {
        if self.successor[entry.index()].is_some() {
            return None;
        }
        let first = self.successors(entry).next()?.node()?;
        let join = self.successor[first.index()]?.node()?;
        let is_branch = |end: Endpoint| {
            end.node().is_some_and(|node| {
                self.predecessor[node.index()] == Some(Endpoint::Node(entry))
                    && self.successor[node.index()] == Some(Endpoint::Node(join))
            })
        };
        (self.successors(entry).all(is_branch) && self.predecessors(join).all(is_branch)).then_some(join)
    }

    /// 5.6.4: the entry's count is the sum of those of the nodes that leave the function.
    /// Gives the entry, unless it is an exit itself.
    fn sum_of_exits(&self) -> Option<NodeId> {
        let edges = self.cfg.edges();
        let entry = only(edges.iter().filter(|edge| edge.from == Endpoint::X).map(|edge| edge.to))?.node()?;
        let mut exits = edges.iter().filter(|edge| edge.to == Endpoint::X).peekable();
        exits.peek()?;
        let leaves = |from: Endpoint| from.node().is_some_and(|node| self.successor[node.index()] == Some(Endpoint::X));
        let holds = self.predecessor[entry.index()] == Some(Endpoint::X)
            && exits.all(|edge| leaves(edge.from) && edge.from != Endpoint::Node(entry));
        holds.then_some(entry)
    }
}

/// What all items are, if there are any and they are equal.
fn only(mut items: impl Iterator<Item = Endpoint>) -> Option<Endpoint> {
    let first = items.next()?;
    items.all(|item| item == first).then_some(first)
}

/// The edges at each node, on one side.
fn edges_at(cfg: &Cfg, side: impl Fn(EdgeId) -> Endpoint) -> Lists<EdgeId> {
    let at_nodes = cfg.edge_ids().filter_map(|edge| Some((side(edge).node()?.index(), edge)));
    Lists::of(cfg.num_nodes(), at_nodes)
}
