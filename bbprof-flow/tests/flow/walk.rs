//! Executions of a graph, and what they count: calls, returns, throws, stops, and setjmp with its second return.
//!
//! An activation vanishes only in a node with a vanishing edge, and only such a node can call: that is what these edges are for.

use crate::random_graph::Random;
use bbprof_flow::{Cfg, CounterPlan, CounterSite, EdgeId, Endpoint, NodeId, Solution};

/// How often each node and edge was executed, counted one execution at a time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Walked {
    nodes: Vec<u64>,
    edges: Vec<i128>,
}

/// One call of the function that is still running.
struct Activation {
    at: NodeId,
    /// Calls that returned and may return again, should they be setjmp's.
    passed_calls: Vec<NodeId>,
}

/// What an activation can do next, by node.
struct Routes {
    entries: Vec<EdgeId>,
    flow: Vec<Vec<EdgeId>>,
    vanish: Vec<Option<EdgeId>>,
    /// Edges to the nearest place where the activation can end; `None` where it never can.
    distance: Vec<Option<u32>>,
}

impl Walked {
    fn nothing(cfg: &Cfg) -> Self {
        Self { nodes: vec![0; cfg.num_nodes()], edges: vec![0; cfg.num_edges()] }
    }

    /// One activation along these nodes from X, ending by a return or, failing that, by
    /// vanishing. Takes the first of parallel edges.
    pub(crate) fn along(cfg: &Cfg, path: &[u32]) -> Self {
        let mut walked = Self::nothing(cfg);
        let ends = path.iter().map(|node| Endpoint::Node(NodeId::new(*node))).chain([Endpoint::X]);
        let mut from = Endpoint::X;
        for to in ends {
            let passes = |edge: &EdgeId| cfg.edge(*edge).from == from && cfg.edge(*edge).to == to;
            let flow = cfg.edge_ids().find(|edge| passes(edge) && !cfg.edge(*edge).vanishes());
            walked.take(cfg, flow.or_else(|| cfg.edge_ids().find(passes)).expect("an edge of the graph"));
            from = to;
        }
        walked
    }

    /// `processes` processes that run until they end by themselves or, after `steps` steps each, as soon as they can.
    pub(crate) fn at_random(cfg: &Cfg, random: &mut Random, processes: u32, steps: u32) -> Self {
        let routes = Routes::of(cfg);
        let mut walked = Self::nothing(cfg);
        for _ in 0..processes {
            let mut stack = Vec::new();
            let mut left = steps;
            walked.enter(cfg, &routes, random, &mut stack);
            while !stack.is_empty() {
                left = left.saturating_sub(1);
                walked.step(cfg, &routes, random, &mut stack, left == 0);
            }
        }
        walked
    }

    /// A new activation on the stack, if any can end.
    fn enter(&mut self, cfg: &Cfg, routes: &Routes, random: &mut Random, stack: &mut Vec<Activation>) {
        let entries: Vec<EdgeId> = routes.entries.iter().copied().filter(|edge| routes.can_end(cfg, *edge)).collect();
        if let Some(edge) = random.pick(&entries)
            && let Some(at) = self.take(cfg, edge)
        {
            stack.push(Activation { at, passed_calls: Vec::new() });
        }
    }

    /// The innermost activation does something.
    fn step(&mut self, cfg: &Cfg, routes: &Routes, random: &mut Random, stack: &mut Vec<Activation>, hurry: bool) {
        let depth = stack.len();
        let activation = stack.last_mut().expect("an activation");
        let Some(vanish) = routes.vanish[activation.at.index()] else {
            return self.go_on(cfg, routes, random, stack, hurry);
        };
        match random.below(if hurry { 1 } else { 16 }) {
            // The process ends in this call, or the dump finds it waiting there: every activation stands at a call.
            0 => {
                for activation in stack.drain(..) {
                    let edge = routes.vanish[activation.at.index()].expect("only calls have activations above them");
                    self.take(cfg, edge);
                }
            }
            // A throw out of this activation; the caller then takes its unwind edge, or vanishes in its turn.
            1 => {
                self.take(cfg, vanish);
                stack.pop();
            }
            // A recursive call.
            2 | 3 if depth < 6 => self.enter(cfg, routes, random, stack),
            // A longjmp to a setjmp passed earlier, here or further out: all activations inside it vanish at their calls, and so
            // does this place in its own; the setjmp gives one back.
            4..=6 => {
                let target = random.below(depth as u32) as usize;
                if let Some(setjmp) = random.pick(&stack[target].passed_calls) {
                    for activation in stack.drain(target + 1..) {
                        self.take(cfg, routes.vanish[activation.at.index()].expect("a call"));
                    }
                    let jumps_from = stack[target].at;
                    self.take(cfg, routes.vanish[jumps_from.index()].expect("a call"));
                    self.edges[routes.vanish[setjmp.index()].expect("a call").index()] -= 1;
                    stack[target].at = setjmp;
                    self.go_on(cfg, routes, random, stack, false);
                }
            }
            _ => {
                activation.passed_calls.push(activation.at);
                self.go_on(cfg, routes, random, stack, hurry);
            }
        }
    }

    /// Along an edge that control passes; a call that has none is where the activation vanishes.
    fn go_on(&mut self, cfg: &Cfg, routes: &Routes, random: &mut Random, stack: &mut Vec<Activation>, hurry: bool) {
        let activation = stack.last_mut().expect("an activation");
        let from = activation.at.index();
        let mut edges: Vec<EdgeId> = routes.flow[from].iter().copied().filter(|edge| routes.can_end(cfg, *edge)).collect();
        if hurry && routes.vanish[from].is_none() {
            edges.retain(|edge| routes.distance_behind(cfg, *edge) < routes.distance[from]);
        }
        let edge = random.pick(&edges).or(routes.vanish[from]).expect("the activation can end");
        match self.take(cfg, edge) {
            Some(node) => activation.at = node,
            None => drop(stack.pop()),
        }
    }

    /// Counts an edge and the node behind it.
    fn take(&mut self, cfg: &Cfg, edge: EdgeId) -> Option<NodeId> {
        self.edges[edge.index()] += 1;
        let node = cfg.edge(edge).to.node();
        if let Some(node) = node {
            self.nodes[node.index()] += 1;
        }
        node
    }

    /// One more activation from X, which stops for ever in the middle of the node that is given.
    pub(crate) fn interrupt(&mut self, cfg: &Cfg, random: &mut Random) -> Option<NodeId> {
        let routes = Routes::of(cfg);
        let mut at = random.pick(&routes.entries).and_then(|edge| self.take(cfg, edge))?;
        for _ in 0..random.below(12) {
            let inside: Vec<EdgeId> =
                routes.flow[at.index()].iter().copied().filter(|edge| cfg.edge(*edge).to != Endpoint::X).collect();
            let Some(edge) = random.pick(&inside) else { break };
            at = self.take(cfg, edge)?;
        }
        Some(at)
    }

    /// What the counters of a plan counted.
    pub(crate) fn counts(&self, plan: &CounterPlan) -> Vec<u64> {
        let count = |site: &CounterSite| match site {
            CounterSite::Node(node) => self.nodes[node.index()],
            CounterSite::Edge(edge) | CounterSite::PhiEdge(edge) | CounterSite::BeforeLoop(edge) => {
                u64::try_from(self.edges[edge.index()]).expect("control passes an edge a natural number of times")
            }
        };
        plan.sites.iter().map(count).collect()
    }

    /// What solving should give, all edges known.
    pub(crate) fn solution(&self) -> Solution {
        Solution { nodes: self.nodes.clone(), edges: self.edges.iter().copied().map(Some).collect() }
    }

    /// Executions, by edge.
    pub(crate) fn edges(&self) -> &[i128] {
        &self.edges
    }

    /// Executions, by node.
    pub(crate) fn nodes(&self) -> &[u64] {
        &self.nodes
    }
}

impl Routes {
    fn of(cfg: &Cfg) -> Self {
        let mut routes = Self {
            entries: Vec::new(),
            flow: vec![Vec::new(); cfg.num_nodes()],
            vanish: vec![None; cfg.num_nodes()],
            distance: vec![None; cfg.num_nodes()],
        };
        for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
            match edge.from {
                Endpoint::X => routes.entries.push(id),
                Endpoint::Node(node) if edge.vanishes() => routes.vanish[node.index()] = Some(id),
                Endpoint::Node(node) => routes.flow[node.index()].push(id),
            }
        }
        for node in cfg.node_ids().filter(|node| routes.vanish[node.index()].is_some()) {
            routes.distance[node.index()] = Some(0);
        }
        loop {
            let before = routes.distance.clone();
            // Backwards, since most edges lead to higher nodes.
            for node in (0..cfg.num_nodes() as u32).rev().map(NodeId::new) {
                let behind = routes.flow[node.index()].iter().filter_map(|edge| routes.distance_behind(cfg, *edge)).min();
                if let Some(behind) = behind {
                    let known = routes.distance[node.index()].get_or_insert(u32::MAX);
                    *known = (behind + 1).min(*known);
                }
            }
            if routes.distance == before {
                return routes;
            }
        }
    }

    /// How far the end is behind an edge; X is at once.
    fn distance_behind(&self, cfg: &Cfg, edge: EdgeId) -> Option<u32> {
        cfg.edge(edge).to.node().map_or(Some(0), |node| self.distance[node.index()])
    }

    fn can_end(&self, cfg: &Cfg, edge: EdgeId) -> bool {
        self.distance_behind(cfg, edge).is_some()
    }
}
