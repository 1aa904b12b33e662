//! Solved = walked, on thousands of random graphs, for every placement and any weights.

use crate::random_graph::{Random, random_graph};
use crate::rank::determined_by_rank;
use crate::walk::Walked;
use bbprof_flow::{
    Cfg, Costs, CounterPlan, CounterSite, EdgeId, Endpoint, FlowEdge, Placement, Splitting, Weights, check, check_sites,
    determined, plan_counters, solve,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Connected parts of the graph with X, directions ignored, by repeated sweeps.
fn num_components(cfg: &Cfg) -> usize {
    let outside = cfg.num_nodes();
    let mut part: Vec<usize> = (0..=outside).collect();
    let position = |end: Endpoint| end.node().map_or(outside, |node| node.index());
    loop {
        let before = part.clone();
        for edge in cfg.edges() {
            let (from, to) = (position(edge.from), position(edge.to));
            let least = part[from].min(part[to]);
            (part[from], part[to]) = (least, least);
        }
        if part == before {
            return part.iter().enumerate().filter(|(vertex, part)| vertex == *part).count();
        }
    }
}

/// Whether an edge shares both its ends, where they are nodes, with other edges.
fn is_critical(cfg: &Cfg, edge: EdgeId) -> bool {
    let FlowEdge { from, to, .. } = *cfg.edge(edge);
    let shares_source = from == Endpoint::X || cfg.edges().iter().filter(|other| other.from == from).count() > 1;
    let shares_target = to == Endpoint::X || cfg.edges().iter().filter(|other| other.to == to).count() > 1;
    shares_source && shares_target
}

fn plan(cfg: &Cfg, weights: &Weights, placement: Placement) -> CounterPlan {
    plan_counters(cfg, weights, placement, &Costs::default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn tree_plans_give_back_what_was_walked(cfg in random_graph(24), seed: u64) {
        let mut random = Random::new(seed);
        let walked = Walked::at_random(&cfg, &mut random, 4, 200);
        for weights in [random.weights(&cfg), Weights::uniform(&cfg)] {
            let plan = plan(&cfg, &weights, Placement::Tree);
            prop_assert_eq!(plan.num_counters(), cfg.num_edges() + num_components(&cfg) - (cfg.num_nodes() + 1));
            let counts = walked.counts(&plan);
            let solved = solve(&cfg, &plan, &counts);
            prop_assert_eq!(solved.as_ref(), Ok(&walked.solution()));
            prop_assert_eq!(check(&cfg, &plan, &counts, &walked.solution()), Ok(()));
        }
    }

    #[test]
    fn counters_sit_where_code_can_put_them(cfg in random_graph(24), seed: u64) {
        let weights = Random::new(seed).weights(&cfg);
        let plan = plan(&cfg, &weights, Placement::Tree);
        let before_loop = |edge| weights.counted_loops.iter().any(|counted| counted.back_edge == edge);
        for site in plan.sites.iter().copied().chain(check_sites(&cfg)) {
            match site {
                CounterSite::Node(_) => {}
                CounterSite::Edge(edge) => {
                    prop_assert!(matches!(cfg.edge(edge).splitting, Splitting::Possible | Splitting::Landing));
                    prop_assert!(!plan.sites.contains(&site) || is_critical(&cfg, edge), "the node beside {:?} counts the same", edge);
                }
                CounterSite::BeforeLoop(edge) => prop_assert!(before_loop(edge) && cfg.edge(edge).splitting == Splitting::Possible),
                CounterSite::PhiEdge(edge) => {
                    prop_assert_eq!(cfg.edge(edge).splitting, Splitting::PhiOnly);
                    // Only the source block tells a phi where control came from.
                    let twins = cfg.edge_ids().filter(|twin| cfg.edge(*twin).from == cfg.edge(edge).from && cfg.edge(*twin).to == cfg.edge(edge).to);
                    for twin in twins.filter(|twin| *twin != edge) {
                        prop_assert!(check_sites(&cfg).contains(&CounterSite::Edge(twin)));
                        let in_plan = plan.sites.contains(&site);
                        prop_assert!(!in_plan || plan.sites.contains(&CounterSite::Edge(twin)), "a twin that is split has its own block");
                    }
                }
            }
        }
        let nodes = plan.sites.iter().take_while(|site| matches!(site, CounterSite::Node(_))).count();
        let position = |site: &CounterSite| match site {
            CounterSite::Node(node) => node.index(),
            CounterSite::Edge(edge) | CounterSite::PhiEdge(edge) | CounterSite::BeforeLoop(edge) => edge.index(),
        };
        prop_assert!(plan.sites[..nodes].is_sorted_by_key(position));
        prop_assert!(plan.sites[nodes..].is_sorted_by_key(position));
        prop_assert!(plan.sites[nodes..].iter().all(|site| !matches!(site, CounterSite::Node(_))));
    }

    #[test]
    fn blocks_and_patterns_give_back_all_nodes_and_no_wrong_edge(cfg in random_graph(24), seed: u64) {
        let walked = Walked::at_random(&cfg, &mut Random::new(seed), 4, 200);
        let mut num_counters = cfg.num_nodes();
        for placement in [Placement::Blocks, Placement::Patterns] {
            let plan = plan(&cfg, &Weights::uniform(&cfg), placement);
            prop_assert!(plan.num_counters() <= num_counters);
            num_counters = plan.num_counters();
            let counts = walked.counts(&plan);
            let solved = solve(&cfg, &plan, &counts).map_err(|error| TestCaseError::fail(error.to_string()))?;
            prop_assert_eq!(&solved.nodes, walked.nodes());
            for (solved, walked) in solved.edges.iter().zip(walked.edges()) {
                prop_assert!(solved.is_none_or(|value| value == *walked));
            }
            prop_assert_eq!(check(&cfg, &plan, &counts, &solved), Ok(()));
        }
    }

    #[test]
    fn counters_on_every_edge_solve_too(cfg in random_graph(16), seed: u64) {
        let walked = Walked::at_random(&cfg, &mut Random::new(seed), 4, 200);
        let mut plan = plan(&cfg, &Weights::uniform(&cfg), Placement::Tree);
        plan.sites.extend(check_sites(&cfg));
        let counts = walked.counts(&plan);
        prop_assert_eq!(solve(&cfg, &plan, &counts), Ok(walked.solution()));
        prop_assert_eq!(check(&cfg, &plan, &counts, &walked.solution()), Ok(()));
    }

    #[test]
    fn what_is_determined_is_what_linear_algebra_says(cfg in random_graph(7), seed: u64) {
        let mut random = Random::new(seed);
        let tree = plan(&cfg, &random.weights(&cfg), Placement::Tree);
        prop_assert!(determined_by_rank(&cfg, &tree).everything());
        let mut thinned = tree.clone();
        thinned.sites.retain(|_| random.below(4) != 0);
        let mut nodes = plan(&cfg, &Weights::uniform(&cfg), Placement::Blocks);
        nodes.sites.retain(|_| random.below(8) != 0);
        let patterns = plan(&cfg, &Weights::uniform(&cfg), Placement::Patterns);
        prop_assert!(determined_by_rank(&cfg, &patterns).all_nodes());

        let walked = Walked::at_random(&cfg, &mut random, 4, 200);
        for plan in [tree, thinned, nodes, patterns] {
            let known = determined_by_rank(&cfg, &plan);
            prop_assert_eq!(determined(&cfg, &plan), Ok(known.clone()));
            match solve(&cfg, &plan, &walked.counts(&plan)) {
                Ok(solved) => {
                    prop_assert!(known.all_nodes());
                    prop_assert_eq!(solved.edges.iter().map(Option::is_some).collect::<Vec<_>>(), known.edges);
                }
                Err(error) => prop_assert!(!known.all_nodes(), "{}", error),
            }
        }
    }
}

/// What random graphs and walks must contain for the properties above to mean something.
#[test]
fn the_random_cases_are_rich() {
    let mut runner = TestRunner::deterministic();
    let (mut executed, mut negative, mut phi, mut irregular, mut open, mut saved) = (0, 0, 0, 0, 0, 0);
    for seed in 0..1000 {
        let cfg = random_graph(24).new_tree(&mut runner).expect("a graph").current();
        let walked = Walked::at_random(&cfg, &mut Random::new(seed), 4, 200);
        executed += usize::from(walked.nodes().iter().filter(|count| **count > 0).count() > 4);
        negative += usize::from(walked.edges().iter().any(|count| *count < 0));
        irregular += usize::from(num_components(&cfg) > 1);
        let tree = plan(&cfg, &Weights::uniform(&cfg), Placement::Tree);
        phi += usize::from(tree.sites.iter().any(|site| matches!(site, CounterSite::PhiEdge(_))));
        let blocks = plan(&cfg, &Weights::uniform(&cfg), Placement::Blocks);
        let known = determined(&cfg, &blocks).expect("counters on nodes");
        open += usize::from(!known.everything());
        saved += usize::from(plan(&cfg, &Weights::uniform(&cfg), Placement::Patterns).num_counters() < cfg.num_nodes());
    }
    println!("of 1000: executed {executed}, negative {negative}, phi {phi}, irregular {irregular}, open {open}, saved {saved}");
    assert!(executed > 300 && negative > 100 && phi > 10 && irregular > 10 && open > 100 && saved > 100);
}
