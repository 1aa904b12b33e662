//! Errors that must not go unseen: a lost increment, a flipped edge, exchanged counters, a
//! solution that was tampered with, a plan of another graph.

use crate::notation::{X, edge, graph, on_edges, on_nodes, vanish};
use crate::random_graph::{Random, random_graph};
use crate::walk::Walked;
use bbprof_flow::{
    Cfg, CfgError, CheckError, Costs, CounterId, CounterPlan, CounterSite, EdgeId, Endpoint, NodeId, Placement, Solution,
    SolveError, Weights, check, plan_counters, solve,
};
use proptest::prelude::*;

fn tree_plan(cfg: &Cfg, random: &mut Random) -> CounterPlan {
    plan_counters(cfg, &random.weights(cfg), Placement::Tree, &Costs::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_lost_increment_shows(cfg in random_graph(16), seed: u64) {
        let mut random = Random::new(seed);
        let walked = Walked::at_random(&cfg, &mut random, 4, 100);
        let plan = tree_plan(&cfg, &mut random);
        let mut counts = walked.counts(&plan);
        for counter in 0..counts.len() {
            if counts[counter] > 0 {
                counts[counter] -= 1;
                prop_assert_ne!(solve(&cfg, &plan, &counts), Ok(walked.solution()));
                prop_assert!(check(&cfg, &plan, &counts, &walked.solution()).is_err());
                counts[counter] += 1;
            }
        }
    }

    #[test]
    fn a_flipped_edge_shows(cfg in random_graph(16), seed: u64) {
        let mut random = Random::new(seed);
        let walked = Walked::at_random(&cfg, &mut random, 4, 100);
        let plan = tree_plan(&cfg, &mut random);
        let counts = walked.counts(&plan);
        for flipped in cfg.edge_ids() {
            let edge = *cfg.edge(flipped);
            if edge.vanishes() || edge.from == edge.to || walked.edges()[flipped.index()] == 0 {
                continue;
            }
            let mut edges = cfg.edges().to_vec();
            (edges[flipped.index()].from, edges[flipped.index()].to) = (edge.to, edge.from);
            let mutant = Cfg::new(cfg.num_nodes() as u32, edges).expect("a well-formed graph");
            prop_assert_ne!(solve(&mutant, &plan, &counts), Ok(walked.solution()));
            prop_assert!(check(&mutant, &plan, &counts, &walked.solution()).is_err());
        }
    }

    #[test]
    fn exchanged_counters_show(cfg in random_graph(16), seed: u64) {
        let mut random = Random::new(seed);
        let walked = Walked::at_random(&cfg, &mut random, 4, 100);
        let plan = tree_plan(&cfg, &mut random);
        let mut counts = walked.counts(&plan);
        for counter in 1..counts.len() {
            if counts[counter - 1] != counts[counter] {
                counts.swap(counter - 1, counter);
                prop_assert_ne!(solve(&cfg, &plan, &counts), Ok(walked.solution()));
                counts.swap(counter - 1, counter);
            }
        }
    }

    #[test]
    fn a_missing_counter_shows(cfg in random_graph(16), seed: u64) {
        let mut random = Random::new(seed);
        let walked = Walked::at_random(&cfg, &mut random, 4, 100);
        let whole = tree_plan(&cfg, &mut random);
        for missing in 0..whole.num_counters() {
            let mut plan = whole.clone();
            plan.sites.remove(missing);
            let counts = walked.counts(&plan);
            prop_assert_ne!(solve(&cfg, &plan, &counts), Ok(walked.solution()));
            let error = check(&cfg, &plan, &counts, &walked.solution()).expect_err("one counter is missing");
            let is_open = matches!(error, CheckError::NodeOpen { .. } | CheckError::EdgeKnowledge { determined: false, .. });
            prop_assert!(is_open, "{}", error);
        }
    }

    #[test]
    fn the_checker_sees_every_changed_count(cfg in random_graph(16), seed: u64) {
        let mut random = Random::new(seed);
        let walked = Walked::at_random(&cfg, &mut random, 4, 100);
        let plan = tree_plan(&cfg, &mut random);
        let counts = walked.counts(&plan);
        for node in cfg.node_ids() {
            let mut solution = walked.solution();
            solution.nodes[node.index()] += 1;
            prop_assert!(check(&cfg, &plan, &counts, &solution).is_err());
        }
        for edge in cfg.edge_ids() {
            for change in [-1, 1] {
                let mut solution = walked.solution();
                solution.edges[edge.index()] = Some(walked.edges()[edge.index()] + change);
                prop_assert!(check(&cfg, &plan, &counts, &solution).is_err());
            }
        }
    }
}

/// X -> {0, 3, 4}; 0 and 3 -> {1, 2}, which counters on nodes leave open; 4 -> 1; {1, 2} -> X.
fn crossing() -> Cfg {
    let entries = [edge(X, 0), edge(X, 3), edge(X, 4)];
    let crossed = [edge(0, 1), edge(0, 2), edge(3, 1), edge(3, 2)];
    graph(5, [&entries[..], &crossed, &[edge(4, 1), edge(1, X), edge(2, X)]].concat())
}

#[test]
fn the_checker_sees_what_open_edges_cannot_make_up_for() {
    let plan = on_nodes(&[0, 1, 2, 3, 4]);
    let solution = |counts: [u64; 5]| {
        let count = |node: usize| Some(i128::from(counts[node]));
        let edges = vec![count(0), count(3), count(4), None, None, None, None, count(4), count(1), count(2)];
        Solution { nodes: counts.to_vec(), edges }
    };
    let errors = |counts: [u64; 5]| check(&crossing(), &plan, &counts, &solution(counts));
    assert_eq!(solve(&crossing(), &plan, &[1, 6, 1, 1, 5]), Ok(solution([1, 6, 1, 1, 5])));
    assert_eq!(errors([1, 6, 1, 1, 5]), Ok(()));
    // 4 -> 1 alone brings more than 1 was executed. As a system of equations it adds up: the open edges would be negative.
    let at = Endpoint::Node(NodeId::new(1));
    assert_eq!(errors([1, 3, 4, 1, 5]), Err(CheckError::NotConserved { at, on_edges: 5, expected: 3 }));
    // Every node can be right, but more leaves the function than enters it.
    assert_eq!(errors([1, 6, 2, 1, 5]), Err(CheckError::NotConserved { at: Endpoint::X, on_edges: 7, expected: 8 }));
    solve(&crossing(), &plan, &[1, 6, 2, 1, 5]).expect_err("the solver sees it too");
}

#[test]
fn the_checker_looks_at_both_sides_of_a_node() {
    let cfg = graph(4, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3), edge(3, X)]);
    let plan = on_nodes(&[1, 2]);
    let mut wrong = solve(&cfg, &plan, &[2, 3]).expect("a flow");
    (wrong.edges[3], wrong.edges[4]) = (Some(1), Some(4));
    let at = Endpoint::Node(NodeId::new(1));
    assert_eq!(check(&cfg, &plan, &[2, 3], &wrong), Err(CheckError::NotConserved { at, on_edges: 1, expected: 2 }));
}

#[test]
fn the_checker_wants_no_negative_edge() {
    let cfg = graph(2, vec![edge(X, 0), edge(0, 1), edge(0, X), edge(1, X)]);
    let conserved = Solution { nodes: vec![1, 2], edges: vec![Some(1), Some(2), Some(-1), Some(2)] };
    let error = check(&cfg, &on_nodes(&[0, 1]), &[1, 2], &conserved).expect_err("negative");
    assert_eq!(error, CheckError::NegativeEdge { edge: EdgeId::new(2), value: -1 });
    assert_eq!(error.to_string(), "edge e2 has the count -1");
}

/// X -> 0 -> {1, 2} -> X.
fn fork() -> Cfg {
    graph(3, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, X), edge(2, X)])
}

#[test]
fn solve_names_what_is_wrong() {
    let (node, edge_id) = (NodeId::new, EdgeId::new);
    let message = |plan: &CounterPlan, counts: &[u64]| {
        let error = solve(&fork(), plan, counts).expect_err("no solution");
        (error.clone(), error.to_string())
    };

    let (error, text) = message(&on_nodes(&[1, 2]), &[1]);
    assert_eq!(error, SolveError::WrongNumberOfCounters { expected: 2, found: 1 });
    assert_eq!(text, "1 counter values for a plan of 2 counters");

    let (error, text) = message(&on_nodes(&[0, 1]), &[1, 3]);
    assert_eq!(error, SolveError::NodeOutOfRange { node: node(2), value: -2 });
    assert_eq!(text, "node n2 would have the count -2");

    let (error, _) = message(&on_nodes(&[1, 2]), &[u64::MAX, u64::MAX]);
    assert_eq!(error, SolveError::NodeOutOfRange { node: node(0), value: 2 * i128::from(u64::MAX) });

    let (error, text) = message(&on_nodes(&[0]), &[1]);
    assert_eq!(error, SolveError::NodeUndetermined { node: node(1) });
    assert_eq!(text, "the counters do not determine the count of node n1");

    let (error, _) = message(&on_nodes(&[0, 1, 2]), &[1, 1, 1]);
    assert!(matches!(error, SolveError::NotConserved { .. }), "{error}");

    let (error, text) = message(&on_nodes(&[1, 1, 2]), &[5, 4, 0]);
    let (counter, site) = (CounterId::new(1), CounterSite::Node(node(1)));
    assert_eq!(error, SolveError::CountersDiffer { counter, site, expected: 5, found: 4 });
    assert_eq!(text, "two counters on node n1 differ: 5 and, in counter 1, 4");

    let (error, text) = message(&on_edges(&[9]), &[0]);
    let (counter, site) = (CounterId::new(0), CounterSite::Edge(edge_id(9)));
    assert_eq!(error, SolveError::NoSuchSite { counter, site });
    assert_eq!(text, "counter 0 sits on edge e9, which the graph does not have or nothing can count");

    let leaf = graph(1, vec![edge(X, 0), edge(0, X), vanish(0)]);
    let error = solve(&leaf, &on_edges(&[0, 2]), &[1, 0]).expect_err("nothing can count edge 2");
    let (counter, site) = (CounterId::new(1), CounterSite::Edge(edge_id(2)));
    assert_eq!(error, SolveError::NoSuchSite { counter, site });

    // 0 is left 3 times by edge 1 alone, but entered twice.
    let (error, _) = message(&CounterPlan { sites: [on_nodes(&[0]).sites, on_edges(&[1]).sites].concat() }, &[2, 3]);
    assert_eq!(error, SolveError::NodeOutOfRange { node: node(2), value: -1 });
    let skip = graph(2, vec![edge(X, 0), edge(0, 1), edge(0, X), edge(1, X)]);
    let error = solve(&skip, &on_nodes(&[0, 1]), &[1, 2]).expect_err("negative");
    assert_eq!(error, SolveError::EdgeOutOfRange { edge: edge_id(2), value: -1 });
    assert_eq!(error.to_string(), "edge e2 would have the count -1");
}

#[test]
fn check_names_what_is_wrong() {
    let plan = on_nodes(&[1, 2]);
    let right = solve(&fork(), &plan, &[2, 3]).expect("a flow");
    let message = |counts: &[u64], change: &dyn Fn(&mut Solution)| {
        let mut solution = right.clone();
        change(&mut solution);
        check(&fork(), &plan, counts, &solution).expect_err("wrong").to_string()
    };
    assert_eq!(message(&[2, 4], &|_| ()), "counter 1 on node n2 counted 4, the solution says 3");
    assert_eq!(message(&[2], &|_| ()), "1 counter values where there should be 2");
    assert_eq!(
        message(&[2, 3], &|solution| solution.nodes[0] = 6),
        "flow is not conserved at node n0: 5 on its edges for a count of 6"
    );
    assert_eq!(
        message(&[2, 3], &|solution| solution.edges[0] = None),
        "the plan determines edge e0, but the solution has no value for it"
    );
    assert_eq!(message(&[2, 3], &|solution| solution.nodes.truncate(2)), "2 node counts where there should be 3");
    let uncountable = graph(1, vec![edge(X, 0), edge(0, X), vanish(0)]);
    let solution = solve(&uncountable, &CounterPlan { sites: [on_nodes(&[0]).sites, on_edges(&[1]).sites].concat() }, &[2, 1])
        .expect("a flow");
    let error = check(&uncountable, &on_edges(&[0, 2]), &[2, 1], &solution).expect_err("nothing can count edge 2");
    assert_eq!(error.to_string(), "counter 1 sits on edge e2, where the graph has no place for it");
}

#[test]
fn graphs_that_nothing_could_count_are_refused() {
    let (node, e) = (NodeId::new, EdgeId::new);
    let error = |edges| Cfg::new(1, edges).expect_err("malformed");
    assert_eq!(error(vec![edge(0, X), vanish(0), vanish(0)]), CfgError::TwoVanish { edge: e(2), node: node(0) });
    assert_eq!(error(vec![edge(0, 1)]), CfgError::NoSuchNode { edge: e(0), node: node(1), num_nodes: 1 });
    assert_eq!(error(vec![edge(X, X)]), CfgError::OutsideOnly { edge: e(0) });
    let uncountable = bbprof_flow::FlowEdge { role: bbprof_flow::EdgeRole::Flow, ..vanish(0) };
    assert_eq!(error(vec![uncountable]), CfgError::UncountableFlow { edge: e(0) });
    let inwards = bbprof_flow::FlowEdge { to: Endpoint::Node(node(0)), ..vanish(0) };
    assert_eq!(error(vec![inwards]), CfgError::BadVanish { edge: e(0) });
    assert_eq!(Cfg::new(u32::MAX / 2 + 1, vec![]), Err(CfgError::TooLarge));
}

#[test]
fn weights_of_another_graph_are_our_bug() {
    let cfg = fork();
    let plan = std::panic::catch_unwind(|| plan_counters(&cfg, &Weights::default(), Placement::Tree, &Costs::default()));
    assert!(plan.is_err());
}
