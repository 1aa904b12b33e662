//! Size: everything is linear or a sort, and nothing recurses. Each case runs on a stack of 64 KiB.

use crate::notation::{X, edge, graph, indirect, on_nodes, vanish};
use crate::random_graph::Random;
use crate::walk::Walked;
use bbprof_flow::{Cfg, Costs, Placement, Weights, check, plan_counters, solve};
use std::time::{Duration, Instant};

/// For one step. Unoptimised builds take a few tenths of a second, more on a busy
/// machine; quadratic work takes far longer than this.
const LIMIT: Duration = Duration::from_secs(10);

/// Plans, solves and checks each placement for a random execution, in the time allowed.
fn in_time(cfg: Cfg) {
    let walked = Walked::at_random(&cfg, &mut Random::new(1), 3, 200_000);
    assert!(walked.nodes()[0] > 0, "something was executed");
    let work = move || {
        for placement in [Placement::Tree, Placement::Blocks, Placement::Patterns] {
            let start = Instant::now();
            let plan = plan_counters(&cfg, &Weights::uniform(&cfg), placement, &Costs::default());
            let planned = start.elapsed();
            let counts = walked.counts(&plan);
            let start = Instant::now();
            let solution = solve(&cfg, &plan, &counts).expect("an execution is a flow");
            let solved = start.elapsed();
            assert_eq!(solution.nodes, walked.nodes());
            let start = Instant::now();
            check(&cfg, &plan, &counts, &solution).expect("exact");
            let checked = start.elapsed();
            println!(
                "{placement:?}: {} counters, planned {planned:?}, solved {solved:?}, checked {checked:?}",
                plan.num_counters()
            );
            assert!(planned.max(solved).max(checked) < LIMIT);
        }
    };
    let small_stack = std::thread::Builder::new().stack_size(64 << 10);
    small_stack.spawn(work).expect("a thread").join().expect("no overflow, no panic");
}

#[test]
fn a_chain_of_50_000_nodes() {
    let size = 50_000;
    let links = (1..size).map(|node| edge(node - 1, node));
    in_time(graph(size, links.chain([edge(X, 0), edge(size - 1, X)]).collect()));
}

#[test]
fn a_chain_of_50_000_calls() {
    let size = 50_000;
    let links = (1..size).flat_map(|node| [edge(node - 1, node), vanish(node - 1)]);
    in_time(graph(size, links.chain([edge(X, 0), edge(size - 1, X)]).collect()));
}

#[test]
fn a_chain_of_50_000_diamonds() {
    let diamonds = 50_000;
    let links = (0..diamonds)
        .map(|diamond| 3 * diamond)
        .flat_map(|top| [edge(top, top + 1), edge(top, top + 2), edge(top + 1, top + 3), edge(top + 2, top + 3)]);
    in_time(graph(3 * diamonds + 1, links.chain([edge(X, 0), edge(3 * diamonds, X)]).collect()));
}

#[test]
fn a_switch_of_100_000_edges() {
    let cases = 50_000;
    let arms = (1..=cases).flat_map(|case| [edge(0, case), edge(case, cases + 1)]);
    in_time(graph(cases + 2, arms.chain([edge(X, 0), edge(cases + 1, X)]).collect()));
}

#[test]
fn a_switch_of_100_000_parallel_edges() {
    let arms = (0..100_000).map(|_| edge(0, 1));
    in_time(graph(2, arms.chain([edge(X, 0), edge(1, X)]).collect()));
}

#[test]
fn an_interpreter_of_300_handlers_with_indirect_jumps() {
    let handlers = 300;
    let jumps = (0..handlers).flat_map(|from| (1..handlers).map(move |to| indirect(from, to)));
    let returns = (1..handlers).flat_map(|node| [edge(node, X), vanish(node)]);
    in_time(graph(handlers, jumps.chain(returns).chain([edge(X, 0)]).collect()));
}

/// Counters on nodes leave a path of 100,000 edges open here, and 50,000 further edges each lie over half of it.
#[test]
fn a_loop_at_each_of_50_000_nodes_that_all_jump_to_the_last() {
    let last = 49_999;
    let steps = (0..last).flat_map(|node| [edge(node, node), edge(node, node + 1)]);
    let jumps = (0..last).map(|node| edge(node, last));
    in_time(graph(last + 1, steps.chain(jumps).chain([edge(X, 0), edge(last, X)]).collect()));
}

#[test]
fn counts_up_to_the_limit_of_64_bits_stay_exact() {
    let cfg = graph(3, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, X), edge(2, X)]);
    let plan = on_nodes(&[1, 2]);
    let solution = solve(&cfg, &plan, &[u64::MAX / 2, u64::MAX / 2 + 1]).expect("within 64 bits");
    assert_eq!(solution.nodes[0], u64::MAX);
    assert_eq!(solution.edges[0], Some(i128::from(u64::MAX)));
    solve(&cfg, &plan, &[u64::MAX / 2 + 1, u64::MAX / 2 + 1]).expect_err("one more than 64 bits hold");
}
