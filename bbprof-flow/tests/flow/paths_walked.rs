//! Random graphs, executed at random by a machine that does what the plan says: the counts are those of the paths that were walked.

use crate::notation::{edge, graph};
use crate::random_graph::{Random, random_graph};
use bbprof_flow::{
    Cfg, Commit, Costs, CounterPlan, CounterSite, EdgeId, Endpoint, NodeId, ObviousGraph, Path, PathNumbering, PathPlan, PathStart,
    PathStep, Weights, obvious_loops, plan_counters_beside, plan_paths,
};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::collections::HashMap;
use std::time::Instant;

/// What the generated code keeps: a register, unknown until it is set, and counters.
#[derive(Default)]
struct Machine {
    register: Option<u64>,
    counts: HashMap<u64, u64>,
}

impl Machine {
    fn run(&mut self, steps: &[PathStep]) {
        let number = |register: Option<u64>, commit: Commit| match commit {
            Commit::At(c) => c,
            Commit::Behind(c) => register.expect("the register is set before it is used").wrapping_add(c),
        };
        for step in steps {
            match *step {
                PathStep::Set(c) => self.register = Some(c),
                PathStep::Add(c) => self.register = Some(number(self.register, Commit::Behind(c))),
                PathStep::Count(commit) => *self.counts.entry(number(self.register, commit)).or_default() += 1,
            }
        }
    }
}

/// A place that a longjmp can come back to: the call, the register as it was there, the path so far.
struct Passed {
    node: NodeId,
    register: Option<u64>,
    path: Path,
}

/// The walk, and what it walked: the oracle.
struct Walk<'w> {
    cfg: &'w Cfg,
    numbering: &'w PathNumbering,
    plan: &'w PathPlan,
    outgoing: Vec<Vec<EdgeId>>,
    vanish: Vec<Option<EdgeId>>,
    /// Edges to the nearest end; `None` where there is none.
    distance: Vec<Option<u32>>,
    machine: Machine,
    /// Counters beside those of paths, and what they counted.
    beside: CounterPlan,
    counted: Vec<u64>,
    paths: HashMap<Path, i128>,
    edges: Vec<i128>,
    vanished: usize,
    came_back: usize,
}

impl<'w> Walk<'w> {
    fn new(cfg: &'w Cfg, weights: &Weights, numbering: &'w PathNumbering, plan: &'w PathPlan) -> Self {
        let beside = plan_counters_beside(cfg, weights, &Costs::default(), numbering);
        let mut outgoing = vec![Vec::new(); cfg.num_nodes()];
        let mut vanish = vec![None; cfg.num_nodes()];
        for (id, edge) in cfg.edge_ids().zip(cfg.edges()) {
            if let Some(from) = edge.from.node() {
                if edge.vanishes() { vanish[from.index()] = Some(id) } else { outgoing[from.index()].push(id) }
            }
        }
        let mut distance = vec![None; cfg.num_nodes()];
        for _ in 0..cfg.num_nodes() {
            for edge in cfg.edges() {
                let behind = match edge.to {
                    Endpoint::X => Some(0),
                    Endpoint::Node(to) => distance[to.index()],
                };
                if let (Some(from), Some(behind)) = (edge.from.node(), behind) {
                    let known: &mut Option<u32> = &mut distance[from.index()];
                    *known = Some(known.map_or(behind + 1, |known| known.min(behind + 1)));
                }
            }
        }
        let edges = vec![0; cfg.num_edges()];
        Self {
            cfg,
            numbering,
            plan,
            outgoing,
            vanish,
            distance,
            machine: Machine::default(),
            counted: vec![0; beside.sites.len()],
            beside,
            paths: HashMap::new(),
            edges,
            vanished: 0,
            came_back: 0,
        }
    }

    fn distance_behind(&self, edge: EdgeId) -> Option<u32> {
        match self.cfg.edge(edge).to {
            Endpoint::X => Some(0),
            Endpoint::Node(to) => self.distance[to.index()],
        }
    }

    /// One activation that ends by itself, or as soon as it can after `steps` steps.
    fn activation(&mut self, random: &mut Random, steps: u32) {
        let entries: Vec<EdgeId> = self
            .cfg
            .edge_ids()
            .filter(|edge| self.cfg.edge(*edge).from == Endpoint::X && self.distance_behind(*edge).is_some())
            .collect();
        let Some(entry) = random.pick(&entries) else { return };
        self.machine.register = None;
        let mut path = Path { start: PathStart::Entry(entry), edges: vec![] };
        let mut passed: Vec<Passed> = Vec::new();
        let mut at = self.take(entry, &mut path);
        for step in 0.. {
            let Some(node) = at else { return };
            let hurry = step >= steps;
            if let Some(vanish) = self.vanish[node.index()] {
                // The call: counted before it is made.
                self.machine.run(&self.plan.steps[vanish.index()]);
                let candidates = self.ways(node, hurry);
                if candidates.is_empty() || hurry || random.below(8) == 0 {
                    self.end(vanish, &path, 1);
                    self.vanished += 1;
                    // A longjmp to a call made before, which is then setjmp.
                    match passed.pop().filter(|_| !hurry && random.below(2) == 0) {
                        Some(back) => {
                            self.came_back += 1;
                            self.machine.register = back.register;
                            path = back.path;
                            self.end(self.vanish[back.node.index()].expect("a call"), &path, -1);
                            let ways = self.ways(back.node, false);
                            let edge = random.pick(&ways).expect("it returned before");
                            at = self.take(edge, &mut path);
                        }
                        None => return,
                    }
                    continue;
                }
                passed.push(Passed { node, register: self.machine.register, path: path.clone() });
            }
            let edge = random.pick(&self.ways(node, hurry)).expect("only nodes with an end ahead are entered");
            at = self.take(edge, &mut path);
        }
    }

    /// Edges that control can pass; in a hurry, those to the nearest end.
    fn ways(&self, node: NodeId, hurry: bool) -> Vec<EdgeId> {
        let mut ways: Vec<EdgeId> =
            self.outgoing[node.index()].iter().copied().filter(|edge| self.distance_behind(*edge).is_some()).collect();
        if hurry {
            let nearest = ways.iter().filter_map(|edge| self.distance_behind(*edge)).min();
            ways.retain(|edge| self.distance_behind(*edge) == nearest);
        }
        ways
    }

    fn take(&mut self, edge: EdgeId, path: &mut Path) -> Option<NodeId> {
        self.machine.run(&self.plan.steps[edge.index()]);
        let entered = self.cfg.edge(edge).to;
        for (site, count) in self.beside.sites.iter().zip(&mut self.counted) {
            *count += u64::from(match site {
                CounterSite::Node(node) => entered == Endpoint::Node(*node),
                CounterSite::Edge(counted) | CounterSite::PhiEdge(counted) | CounterSite::BeforeLoop(counted) => *counted == edge,
            });
        }
        self.edges[edge.index()] += 1;
        path.edges.push(edge);
        let to = self.cfg.edge(edge).to.node();
        let ends = to.is_none() || self.numbering.cuts().binary_search(&edge).is_ok();
        if ends {
            let next = Path { start: to.map_or(path.start, PathStart::Head), edges: vec![] };
            *self.paths.entry(std::mem::replace(path, next)).or_default() += 1;
        }
        to
    }

    fn end(&mut self, vanish: EdgeId, path: &Path, times: i128) {
        self.edges[vanish.index()] += times;
        let mut whole = path.clone();
        whole.edges.push(vanish);
        *self.paths.entry(whole).or_default() += times;
    }

    /// Distinct paths, how many of them nobody counted, what vanished, and what came back.
    fn check(mut self, what: &str) -> [usize; 4] {
        let mut settled = self.numbering.settle(self.machine.counts).expect("numbers of paths");
        assert!(settled.keys().all(|number| *number < self.numbering.num_counted()), "{what}: an obvious path was counted");
        let mut edges = self.numbering.edge_counts(settled.iter().map(|(number, count)| (*number, *count))).expect("their numbers");
        let graph = ObviousGraph::new(self.cfg, self.numbering);
        graph.solve(&self.beside.sites, &self.counted, &mut edges).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(edges, self.edges, "{what}");
        let obvious = self.numbering.obvious_counts(self.cfg, &edges);
        let num_obvious = obvious.len();
        settled.extend(obvious);
        self.paths.retain(|_, count| *count != 0);
        let counted: HashMap<Path, i128> = settled
            .iter()
            .map(|(number, count)| (self.numbering.path(*number).unwrap_or_else(|e| panic!("{what}: {e}")), *count))
            .collect();
        assert_eq!(counted, self.paths, "{what}");
        let edges = self.numbering.edge_counts(settled).expect("numbers of paths");
        assert_eq!(edges, self.edges, "{what}");
        [self.paths.len(), num_obvious, self.vanished, self.came_back]
    }
}

/// Every number has a path of its own, and is the sum of the values on it.
fn check_numbers(cfg: &Cfg, numbering: &PathNumbering) {
    let values = numbering.values(cfg);
    let mut seen = std::collections::HashSet::new();
    for number in 0..numbering.num_paths() {
        let path = numbering.path(number).expect("a number below the number of paths");
        let mut sum: u64 = path.edges.iter().map(|edge| values[edge.index()].0.expect("an edge on a path")).sum();
        let mut at = match path.start {
            PathStart::Entry(edge) => {
                assert_eq!(cfg.edge(edge).from, Endpoint::X);
                Endpoint::X
            }
            PathStart::Head(head) => {
                let cut =
                    numbering.cuts().iter().find(|cut| cfg.edge(**cut).to == Endpoint::Node(head)).expect("a cut to the head");
                sum += values[cut.index()].1.expect("a path begins behind it");
                Endpoint::Node(head)
            }
        };
        for (position, edge) in path.edges.iter().enumerate() {
            assert_eq!(cfg.edge(*edge).from, at);
            at = cfg.edge(*edge).to;
            let ends = at == Endpoint::X || numbering.cuts().contains(edge);
            assert_eq!(ends, position + 1 == path.edges.len());
        }
        assert_eq!(sum, number);
        assert!(seen.insert(path));
    }
}

#[test]
fn ten_thousand_graphs_count_what_was_walked() {
    let mut runner = TestRunner::deterministic();
    let (mut walked, mut cut, mut loops) = ([0; 4], 0, 0);
    for seed in 0..10_000 {
        let cfg = random_graph(if seed % 10 == 0 { 60 } else { 14 }).new_tree(&mut runner).expect("a graph").current();
        let mut random = Random::new(seed);
        let weights = if seed % 3 == 0 { Weights::uniform(&cfg) } else { random.weights(&cfg) };
        let limit = random.pick(&[1, 2, 10, 100, 1_000, 100_000_000]).expect("not empty");
        let around_loops = if seed % 2 == 0 { obvious_loops(&cfg, &weights) } else { vec![] };
        loops += usize::from(!around_loops.is_empty());
        let numbering = PathNumbering::new(&cfg, &weights, &around_loops, limit);
        assert!(numbering.num_paths() <= limit.max(3 * cfg.num_edges() as u64), "seed {seed}");
        let uncut = PathNumbering::new(&cfg, &weights, &[], u64::MAX);
        cut += usize::from(uncut.cuts().len() < numbering.cuts().len());
        if numbering.num_paths() <= 300 {
            check_numbers(&cfg, &numbering);
        }
        let again = PathNumbering::with_cuts(&cfg, &weights, numbering.cuts()).expect("its own cuts");
        assert_eq!(again.values(&cfg), numbering.values(&cfg));
        let plan = plan_paths(&cfg, &numbering);
        let mut walk = Walk::new(&cfg, &weights, &numbering, &plan);
        for _ in 0..6 {
            walk.activation(&mut random, 60);
        }
        for (sum, more) in walked.iter_mut().zip(walk.check(&format!("seed {seed}"))) {
            *sum += more;
        }
    }
    let [distinct, obvious, vanished, came_back] = walked;
    println!("{distinct} distinct paths, {obvious} obvious, {vanished} vanished, {came_back} came back");
    println!("{cut} graphs cut for the limit, {loops} with loops cut off");
    assert!(distinct > 50_000 && obvious > 10_000 && vanished > 5_000 && came_back > 1_000 && cut > 500 && loops > 500);
}

/// A check that cannot fail proves nothing: any one step left out of the plan is noticed on some walk.
#[test]
fn a_missing_step_is_noticed() {
    let mut runner = TestRunner::deterministic();
    let (mut mutants, mut noticed) = (0, 0);
    for seed in 0..60 {
        let cfg = random_graph(8).new_tree(&mut runner).expect("a graph").current();
        let numbering = PathNumbering::new(&cfg, &Weights::uniform(&cfg), &[], 1_000);
        let plan = plan_paths(&cfg, &numbering);
        let weights = Weights::uniform(&cfg);
        for edge in 0..plan.steps.len() {
            for step in 0..plan.steps[edge].len() {
                let mut mutant = plan.clone();
                mutant.steps[edge].remove(step);
                let outcome = std::panic::catch_unwind(|| {
                    let mut walk = Walk::new(&cfg, &weights, &numbering, &mutant);
                    let mut random = Random::new(seed);
                    (0..40).for_each(|_| walk.activation(&mut random, 60));
                    let taken = walk.edges[edge] != 0;
                    walk.check("mutant");
                    taken
                });
                // An edge that no walk took proves nothing either way.
                match outcome {
                    Ok(false) => {}
                    Ok(true) => mutants += 1,
                    Err(_) => (mutants, noticed) = (mutants + 1, noticed + 1),
                }
            }
        }
    }
    println!("{noticed} of {mutants} noticed");
    assert!(mutants > 200 && noticed * 100 >= mutants * 97, "{noticed} of {mutants}");
}

/// 50,000 blocks and very many paths: how long it takes is printed, and asserted nowhere;
/// that it ends without deep recursion is the test.
#[test]
fn large_functions() {
    let num_nodes = 50_000;
    let mut random = Random::new(7);
    let mut edges = vec![edge(crate::notation::X, 0)];
    for from in 0..num_nodes - 1 {
        edges.push(edge(from, from + 1));
        let near = (from + 2 + random.below(5)).min(num_nodes - 1);
        edges.push(edge(from, if random.below(8) == 0 { from - random.below(from.min(50)) } else { near }));
    }
    edges.push(edge(num_nodes - 1, crate::notation::X));
    let cfg = graph(num_nodes, edges);
    let weights = random.weights(&cfg);
    let start = Instant::now();
    let around_loops = obvious_loops(&cfg, &weights);
    println!("{} edges around loops in {:?}", around_loops.len(), start.elapsed());
    let start = Instant::now();
    let numbering = PathNumbering::new(&cfg, &weights, &[], 100_000_000);
    let plan = plan_paths(&cfg, &numbering);
    let numbered = start.elapsed();
    assert!(numbering.num_paths() <= 100_000_000 && plan.steps.len() == cfg.num_edges());
    let start = Instant::now();
    let mut length = 0;
    // Unoptimised builds take ten times as long.
    let paths = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
    for _ in 0..paths {
        let number = random.bits() % numbering.num_paths();
        length += numbering.path(number).expect("a path").edges.len();
    }
    println!("numbered in {numbered:?}; {paths} paths of {} edges in {:?}", length / paths, start.elapsed());
}
