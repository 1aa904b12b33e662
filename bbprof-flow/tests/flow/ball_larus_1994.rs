//! The figures of Ball and Larus 1994, "Optimally Profiling and Tracing Programs", section 3.
//!
//! Figure 1 shows `while P do if Q then A else B fi; if R then break fi; C od` and its graph. The weights are those of the paper's
//! heuristic (section 5.1: ten iterations a loop, a loop's exits share its entries, other branches are equally likely), which give
//! every sum that the text states: 16.75 + 36.75 = 11.5 + 42, and 21.5 for counters on vertices. They are multiplied by 4 here.

use crate::notation::{X, edge, graph, known_by, on_edges, on_nodes, solution, vanish};
use crate::walk::Walked;
use bbprof_flow::{Cfg, Costs, CounterPlan, CounterSite, Placement, Weights, check, plan_counters, solve};

const P: u32 = 0;
const Q: u32 = 1;
const A: u32 = 2;
const B: u32 = 3;
const R: u32 = 4;
const C: u32 = 5;
const EXIT: u32 = 6;

/// Edges of figure 1 in this order; EXIT -> P goes by X.
const PQ: u32 = 0;
const P_EXIT: u32 = 1;
const QA: u32 = 2;
const R_EXIT: u32 = 7;

/// The costs of the paper: an edge costs its weight.
const WEIGHT_ALONE: Costs = Costs { increment: 1, jump: 0, copy: 0, size: 0 };

fn figure_1() -> (Cfg, Weights) {
    let edges = [
        (edge(P, Q), 42),
        (edge(P, EXIT), 2),
        (edge(Q, A), 21),
        (edge(Q, B), 21),
        (edge(A, R), 21),
        (edge(B, R), 21),
        (edge(R, C), 40),
        (edge(R, EXIT), 2),
        (edge(C, P), 40),
        (edge(EXIT, X), 4),
        (edge(X, P), 4),
    ];
    let weights = Weights {
        nodes: vec![44, 42, 21, 21, 42, 40, 4],
        edges: edges.iter().map(|(_, weight)| *weight).collect(),
        counted_loops: Vec::new(),
        splits: Vec::new(),
    };
    (graph(7, edges.map(|(edge, _)| edge).to_vec()), weights)
}

fn cost(plan: &CounterPlan, weights: &Weights) -> u64 {
    let weight = |site: &CounterSite| match site {
        CounterSite::Node(node) => weights.nodes[node.index()],
        CounterSite::Edge(edge) | CounterSite::PhiEdge(edge) | CounterSite::BeforeLoop(edge) => weights.edges[edge.index()],
    };
    plan.sites.iter().map(weight).sum()
}

#[test]
fn figure_1_weights_are_a_flow_with_the_sum_of_the_text() {
    let (cfg, weights) = figure_1();
    let walked = solution(&weights.nodes, &weights.edges.iter().map(|weight| i128::from(*weight)).collect::<Vec<_>>());
    check(&cfg, &on_nodes(&[]), &[], &walked).expect_err("no counter, no knowledge");
    let every_edge = on_edges(&(0..11).collect::<Vec<_>>());
    check(&cfg, &every_edge, &weights.edges, &walked).expect("a flow");
    // EXIT -> X -> P is one edge in the figure.
    assert_eq!(weights.edges.iter().sum::<u64>() - 4, (4.0 * (42.0 + 11.5)) as u64);
}

#[test]
fn figure_3_case_b_is_what_the_tree_chooses() {
    let (cfg, weights) = figure_1();
    let plan = plan_counters(&cfg, &weights, Placement::Tree, &WEIGHT_ALONE);
    assert_eq!(plan.num_counters(), 10 - 6, "|E| - (|V| - 1)");
    assert_eq!(cost(&plan, &weights), (4.0 * 11.5) as u64);
    let tree = weights.edges.iter().sum::<u64>() - 4 - cost(&plan, &weights);
    assert_eq!(tree, 4 * 42);
    let expected = [on_nodes(&[A, B]).sites, on_edges(&[P_EXIT, R_EXIT]).sites].concat();
    assert_eq!(plan.sites, expected);
}

#[test]
fn figure_3_case_a_costs_more_and_solves_the_same() {
    let (cfg, weights) = figure_1();
    let case_a = on_edges(&[PQ, P_EXIT, QA, R_EXIT]);
    assert_eq!(cost(&case_a, &weights), (4.0 * 16.75) as u64);
    assert!(known_by(&cfg, &case_a).everything());
    let case_b = plan_counters(&cfg, &weights, Placement::Tree, &WEIGHT_ALONE);

    let path = [P, Q, A, R, C, P, Q, B, R, C, P, Q, A, R, EXIT];
    let walked = Walked::along(&cfg, &path);
    let expected = solution(&[3, 3, 2, 1, 3, 2, 1], &[3, 0, 2, 1, 2, 1, 2, 1, 2, 1, 1]);
    assert_eq!(walked.solution(), expected);
    for plan in [case_a, case_b] {
        let counts = walked.counts(&plan);
        assert_eq!(solve(&cfg, &plan, &counts), Ok(expected.clone()));
        check(&cfg, &plan, &counts, &expected).expect("exact");
    }
}

#[test]
fn section_3_2_vertices_a_b_c_exit_solve_vertices_at_cost_21_5() {
    let (cfg, weights) = figure_1();
    let vertices = on_nodes(&[A, B, C, EXIT]);
    assert_eq!(cost(&vertices, &weights), (4.0 * 21.5) as u64);
    assert!(known_by(&cfg, &vertices).all_nodes());
    for dropped in [A, B, C, EXIT] {
        let rest: Vec<u32> = [A, B, C, EXIT].into_iter().filter(|vertex| *vertex != dropped).collect();
        assert!(!known_by(&cfg, &on_nodes(&rest)).all_nodes(), "without {dropped}");
    }
}

#[test]
fn an_uncounted_cycle_leaves_more_than_one_solution() {
    // Section 3.1: if E - epl has a cycle, also an undirected one, the frequencies are not determined.
    let (cfg, _) = figure_1();
    let diamond_uncounted = on_edges(&[PQ, P_EXIT, R_EXIT]);
    let known = known_by(&cfg, &diamond_uncounted);
    assert!(!known.all_nodes());
    assert!(!known.nodes[A as usize] && !known.nodes[B as usize]);
    assert!(known.nodes[R as usize] && known.nodes[C as usize]);
}

/// Figure 4: the program ends by a call of `exit` in A.
#[test]
fn figure_4_early_termination_needs_the_edge_from_a() {
    let (without, weights) = figure_1();
    let (mut edges, mut edge_weights) = (without.edges().to_vec(), weights.edges.clone());
    edges.push(vanish(A));
    edge_weights.push(0);
    let with = graph(7, edges);
    let weights_with = Weights { nodes: weights.nodes.clone(), edges: edge_weights, counted_loops: Vec::new(), splits: Vec::new() };

    let path = [P, Q, B, R, C, P, Q, A];
    let walked = Walked::along(&with, &path);

    // The first graph of the figure: incorrect values are computed.
    let plan = plan_counters(&without, &weights, Placement::Tree, &WEIGHT_ALONE);
    let wrong = solve(&without, &plan, &walked.counts(&plan)).expect("a flow, but not the one that was walked");
    assert_eq!(wrong.edges[10], Some(0), "the function seems never to have been entered");

    // The second: exact.
    let plan = plan_counters(&with, &weights_with, Placement::Tree, &WEIGHT_ALONE);
    let counts = walked.counts(&plan);
    let right = solve(&with, &plan, &counts).expect("a flow");
    assert_eq!(right, solution(&[2, 2, 1, 1, 1, 1, 0], &[2, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1]));
    assert_eq!(right, walked.solution());
    check(&with, &plan, &counts, &right).expect("exact");
}
