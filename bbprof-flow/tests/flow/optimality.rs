//! No set of counters is cheaper: the tree against every subset of the sites of small graphs.

use crate::notation::{X, edge, graph, indirect, on_edges, on_nodes};
use crate::random_graph::{Random, random_graph};
use crate::rank::determined_by_rank;
use crate::walk::Walked;
use bbprof_flow::{
    Cfg, Costs, CountedLoop, CounterPlan, CounterSite, EdgeId, Endpoint, Placement, Split, Splitting, Weights, check_sites,
    plan_counters, price_of_counters,
};
use proptest::prelude::*;

/// Phi counters come first, since the placement avoids them at any price; then the estimated cost.
fn price(cfg: &Cfg, weights: &Weights, costs: &Costs, plan: &[CounterSite]) -> (usize, u128) {
    let degree = |end: Endpoint, outgoing: bool| {
        cfg.edges().iter().filter(|edge| if outgoing { edge.from == end } else { edge.to == end }).count()
    };
    let cost = |site: &CounterSite| match site {
        CounterSite::Node(node) => u128::from(weights.nodes[node.index()]) * u128::from(costs.increment),
        CounterSite::PhiEdge(edge) => u128::from(weights.edges[edge.index()]) * u128::from(costs.increment),
        CounterSite::BeforeLoop(edge) => {
            let counted = weights.counted_loops.iter().find(|counted| counted.back_edge == *edge).expect("a counted loop");
            let one = u128::from(costs.increment) * (1 + u128::from(counted.instructions));
            let (jump, size) = if counted.splits { (costs.jump, costs.size) } else { (0, 0) };
            u128::from(counted.entries) * (one + u128::from(jump)) + u128::from(size)
        }
        CounterSite::Edge(edge) => {
            let Split { jumps, copies } = weights.splits.get(edge.index()).copied().unwrap_or_default();
            let more = u128::from(if jumps { costs.jump } else { 0 }) + u128::from(copies) * u128::from(costs.copy);
            let (weight, edge) = (u128::from(weights.edges[edge.index()]), cfg.edge(*edge));
            let end_is_alone = (edge.from != Endpoint::X && degree(edge.from, true) == 1)
                || (edge.to != Endpoint::X && degree(edge.to, false) == 1);
            let split = if end_is_alone { 0 } else { weight * more + u128::from(costs.size) };
            weight * u128::from(costs.increment) + split
        }
    };
    (plan.iter().filter(|site| matches!(site, CounterSite::PhiEdge(_))).count(), plan.iter().map(cost).sum())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_subset_of_the_sites_is_cheaper(cfg in random_graph(4).prop_filter("few sites", |cfg| cfg.num_nodes() + cfg.num_edges() <= 12), seed: u64) {
        let mut random = Random::new(seed);
        // Weights that are a flow, as the compiler's estimates are.
        let walked = Walked::at_random(&cfg, &mut random, 10, 50);
        let positive = |weight: &i128| u64::try_from(*weight).unwrap_or(0);
        let edges = walked.edges().iter().map(positive).collect();
        let counted = (cfg.edge_ids().filter(|edge| cfg.edge(*edge).splitting == Splitting::Possible)).nth(random.below(4) as usize);
        let counted_loops = counted.into_iter().map(|back_edge| CountedLoop {
            back_edge,
            entries: u64::from(random.below(8)),
            instructions: random.below(3),
            splits: random.below(2) == 0,
        });
        let weights = Weights { nodes: walked.nodes().to_vec(), edges, counted_loops: counted_loops.collect(), splits: cfg.edges().iter().map(|_| Split { jumps: random.below(2) == 1, copies: random.below(3) }).collect() };
        let costs = Costs { increment: 1 + random.below(3), jump: random.below(3), copy: random.below(3), size: u64::from(random.below(3)) };
        let plan = plan_counters(&cfg, &weights, Placement::Tree, &costs);
        let planned = price(&cfg, &weights, &costs, &plan.sites);
        prop_assert_eq!(price_of_counters(&cfg, &weights, &costs, &plan.sites), planned.1);

        let before_loops = weights.counted_loops.iter().map(|counted| CounterSite::BeforeLoop(counted.back_edge));
        let sites: Vec<CounterSite> = cfg.node_ids().map(CounterSite::Node).chain(check_sites(&cfg)).chain(before_loops).collect();
        for subset in 0u32..1 << sites.len() {
            if subset.count_ones() as usize > plan.num_counters() {
                continue;
            }
            let chosen: Vec<CounterSite> = sites.iter().enumerate().filter(|(bit, _)| subset >> bit & 1 == 1).map(|(_, site)| *site).collect();
            if price(&cfg, &weights, &costs, &chosen) < planned {
                let cheaper = CounterPlan { sites: chosen };
                prop_assert!(!determined_by_rank(&cfg, &cheaper).everything(), "{:?} is cheaper than {:?}", cheaper, plan);
            }
        }
    }
}

/// `for (;;) { if (a) break; if (b) break; }`: both exits and the way back are critical edges.
#[test]
fn the_price_of_a_jump_moves_counters_from_critical_edges_to_nodes() {
    let cfg = graph(4, vec![edge(X, 0), edge(0, 1), edge(1, 2), edge(1, 3), edge(2, 1), edge(2, 3), edge(3, X)]);
    let weights = Weights {
        nodes: vec![10, 20, 15, 10],
        edges: vec![10, 10, 15, 5, 10, 5, 10],
        counted_loops: Vec::new(),
        splits: Vec::new(),
    };
    let sites = |jump| plan_counters(&cfg, &weights, Placement::Tree, &Costs { increment: 1, jump, copy: 0, size: 0 }).sites;
    assert_eq!(sites(0), on_edges(&[3, 4, 5]).sites, "three splits for 20 increments");
    assert_eq!(sites(1), [on_nodes(&[0, 2]).sites, on_edges(&[3]).sites].concat(), "30 increments, 5 jumps");
}

/// Two indirect jumps with the same two targets: a cycle of edges that only phis can count.
#[test]
fn one_phi_breaks_a_cycle_of_indirect_edges() {
    let cfg = graph(
        5,
        vec![
            edge(X, 0),
            edge(0, 1),
            edge(0, 2),
            indirect(1, 3),
            indirect(1, 4),
            indirect(2, 3),
            indirect(2, 4),
            edge(3, X),
            edge(4, X),
        ],
    );
    let weights = Weights {
        nodes: vec![10, 6, 4, 5, 5],
        edges: vec![10, 6, 4, 4, 2, 1, 3, 5, 5],
        counted_loops: Vec::new(),
        splits: Vec::new(),
    };
    let plan = plan_counters(&cfg, &weights, Placement::Tree, &Costs::default());
    let phis: Vec<_> = plan.sites.iter().filter(|site| matches!(site, CounterSite::PhiEdge(_))).collect();
    assert_eq!(phis, [&CounterSite::PhiEdge(bbprof_flow::EdgeId::new(5))], "the coldest of the four");
}

/// A computed `goto` to a target that others reach directly, and more often: where no
/// other leads there, it is counted as any critical edge.
#[test]
fn who_lands_alone_is_counted_there() {
    let cfg = graph(4, vec![edge(X, 0), edge(0, 1), edge(0, 2), indirect(1, 2), indirect(1, 3), edge(2, X), edge(3, X)]);
    assert_eq!(cfg.edge(EdgeId::new(3)).splitting, Splitting::Landing);
    let weights = Weights { nodes: vec![100, 3, 98, 2], edges: vec![100, 3, 97, 1, 2, 98, 2], ..Weights::default() };
    let plan = plan_counters(&cfg, &weights, Placement::Tree, &Costs::default());
    assert_eq!(plan.sites, [on_nodes(&[2, 3]).sites, on_edges(&[3]).sites].concat(), "cheaper than node 1");
}

/// `for (i = 0; i < n; i++)` with a branch in it: the turns are added up in front of the
/// loop where that is cheaper than counting them.
#[test]
fn the_turns_of_a_loop_are_counted_in_front_of_it() {
    let cfg = graph(5, vec![edge(X, 0), edge(0, 1), edge(1, 2), edge(1, 3), edge(2, 3), edge(3, 1), edge(3, 4), edge(4, X)]);
    let counted = |entries, instructions| CountedLoop { back_edge: EdgeId::new(5), entries, instructions, splits: false };
    let sites = |counted_loops| {
        let weights =
            Weights { nodes: vec![1, 100, 40, 100, 1], edges: vec![1, 1, 40, 60, 40, 99, 1, 1], counted_loops, splits: Vec::new() };
        plan_counters(&cfg, &weights, Placement::Tree, &Costs::default()).sites
    };
    let counts_turns = |sites: &[CounterSite]| sites.contains(&CounterSite::BeforeLoop(EdgeId::new(5)));
    assert_eq!(sites(vec![counted(1, 2)]).len(), 3);
    assert!(counts_turns(&sites(vec![counted(1, 2)])));
    assert!(!counts_turns(&sites(vec![counted(90, 2)])), "270 instructions in front of it, 99 increments in it");
    assert!(!counts_turns(&sites(Vec::new())));
}
