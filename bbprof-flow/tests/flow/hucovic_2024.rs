//! The patterns of Hucovic 2024, section 5.6, and where they do not hold.

use crate::notation::{X, edge, graph, indirect, known_by, vanish};
use bbprof_flow::{Cfg, Costs, CounterSite, Placement, Weights, plan_counters};

/// The nodes that Patterns leaves a counter on; proves that they determine the others.
fn counted(cfg: &Cfg) -> Vec<usize> {
    let plan = plan_counters(cfg, &Weights::uniform(cfg), Placement::Patterns, &Costs::default());
    assert!(known_by(cfg, &plan).all_nodes(), "the patterns must let every node be solved");
    let node = |site: &CounterSite| match site {
        CounterSite::Node(node) => node.index(),
        other => panic!("a counter on {other}"),
    };
    plan.sites.iter().map(node).collect()
}

#[test]
fn figure_5_1_diamond() {
    // entry, if.then, if.else, if.end
    let cfg = graph(4, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3), edge(3, X)]);
    assert_eq!(counted(&cfg), [1, 2]);
}

#[test]
fn diamond_with_many_branches_and_parallel_edges() {
    let branches = (1..=5).flat_map(|branch| [edge(0, branch), edge(0, branch), edge(branch, 6)]);
    let cfg = graph(7, branches.chain([edge(X, 0), edge(6, X)]).collect());
    assert_eq!(counted(&cfg), [1, 2, 3, 4, 5]);
}

#[test]
fn figure_5_2_half_diamond() {
    // entry, if.then, if.end
    let cfg = graph(3, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 2), edge(2, X)]);
    assert_eq!(counted(&cfg), [1, 2]);
}

#[test]
fn figure_5_3_for_loop() {
    // entry, for.cond, for.body, for.inc, for.end: the body follows from the increment, the entry from the exit.
    let cfg = graph(5, vec![edge(X, 0), edge(0, 1), edge(1, 2), edge(2, 3), edge(3, 1), edge(1, 4), edge(4, X)]);
    assert_eq!(counted(&cfg), [1, 3, 4]);
}

#[test]
fn sum_of_exits() {
    let cfg = graph(3, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, X), edge(2, X)]);
    assert_eq!(counted(&cfg), [1, 2]);
    let alone = graph(1, vec![edge(X, 0), edge(0, X)]);
    assert_eq!(counted(&alone), [0], "a function of one block has no pattern");
    let endless = graph(2, vec![edge(X, 0), edge(0, 1), edge(1, 1)]);
    assert_eq!(counted(&endless), [0, 1], "there is no exit to sum");
}

#[test]
fn a_vanishing_edge_breaks_what_it_touches() {
    let diamond = || vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3), edge(3, X)];
    for at in 0..3 {
        let mut edges = diamond();
        edges.push(vanish(at));
        assert_eq!(counted(&graph(4, edges)), [0, 1, 2, 3], "vanishing in {at}");
    }
    // After the join's start it is outside the diamond, though the sum of exits is broken.
    let mut edges = diamond();
    edges.push(vanish(3));
    assert_eq!(counted(&graph(4, edges)), [1, 2]);

    for at in 0..2 {
        let half = vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 2), edge(2, X), vanish(at)];
        assert_eq!(counted(&graph(3, half)), [0, 1, 2], "vanishing in {at}");
    }
    let jump = |at| vec![edge(X, 0), edge(0, 1), edge(1, X), vanish(at)];
    assert_eq!(counted(&graph(2, jump(0))), [0, 1]);
    assert_eq!(counted(&graph(2, jump(1))), [1]);
}

#[test]
fn an_outside_predecessor_breaks_diamond_and_half_diamond() {
    let diamond = vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(0, 4), edge(1, 3), edge(2, 3), edge(4, 3), edge(4, X), edge(3, X)];
    assert_eq!(counted(&graph(5, diamond)), [0, 1, 2, 3, 4]);
    let half = vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 2), edge(2, 2), edge(2, X)];
    assert_eq!(counted(&graph(3, half)), [0, 1, 2]);
}

#[test]
fn patterns_chain() {
    // A diamond whose join starts a half-diamond, whose join jumps on.
    let edges = vec![
        edge(X, 0),
        edge(0, 1),
        edge(0, 2),
        edge(1, 3),
        indirect(2, 3),
        edge(3, 4),
        edge(3, 5),
        edge(4, 5),
        edge(5, 6),
        edge(6, X),
    ];
    assert_eq!(counted(&graph(7, edges)), [1, 2, 4, 6]);
}

#[test]
fn an_unreachable_loop_keeps_a_counter() {
    let jumps = vec![edge(X, 0), edge(0, X), edge(1, 2), edge(2, 3), edge(3, 1)];
    assert_eq!(counted(&graph(4, jumps)).len(), 2);
    let diamond = vec![edge(X, 0), edge(0, X), edge(1, 2), edge(1, 3), edge(2, 1), edge(3, 1)];
    assert_eq!(counted(&graph(4, diamond)), [0, 2, 3]);
}
