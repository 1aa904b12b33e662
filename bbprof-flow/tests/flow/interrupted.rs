//! Interrupted activations: what was interrupted is among what the counters admit, and nothing is that solving would refuse.

use crate::notation::{X, edge, graph, on_edges, on_nodes};
use crate::random_graph::{Random, random_graph};
use crate::walk::Walked;
use bbprof_flow::{
    Cfg, Costs, CounterPlan, CounterSite, EdgeId, EdgeRole, Endpoint, FlowEdge, Interruptions, NodeId, Place, Placement, Splitting,
    interruptions, plan_counters, solve, solve_interrupted,
};
use proptest::prelude::*;

fn begun(node: u32) -> Place {
    Place { node: NodeId::new(node), begun: true }
}

fn on_the_way(node: u32) -> Place {
    Place { node: NodeId::new(node), begun: false }
}

/// 0 -> 1 -> X, counted where it is entered and where it returns: one entry too many is an interruption somewhere between.
#[test]
fn between_two_counters() {
    let cfg = graph(2, vec![edge(X, 0), edge(0, 1), edge(1, X)]);
    let plan = CounterPlan { sites: vec![CounterSite::Edge(EdgeId::new(0))] };
    // One counter: nothing contradicts, so it may be anywhere behind it.
    let found = interruptions(&cfg, &plan, &[3]).unwrap();
    assert_eq!((found.least, &found.places_of_least[..]), (0, &[][..]));
    assert_eq!(found.places, [on_the_way(0), begun(0), on_the_way(1), begun(1)]);
    // Never entered: nobody can be there.
    assert_eq!(interruptions(&cfg, &plan, &[0]).unwrap().places, []);
}

/// A loop whose way out is counted, and its way back: who was never seen to come in is in the loop.
#[test]
fn an_activation_in_a_loop() {
    // X -> 0 -> 1 -> 1, 1 -> 2 -> X
    let cfg = graph(3, vec![edge(X, 0), edge(0, 1), edge(1, 1), edge(1, 2), edge(2, X)]);
    let plan = on_edges(&[2, 3]);
    let found = interruptions(&cfg, &plan, &[7, 0]).unwrap();
    assert_eq!(found.least, 0, "a loop that nobody enters conserves flow");
    assert!(found.places.contains(&begun(1)) && !found.places.contains(&begun(2)));
    // Branches: 0 -> 1 or 2, both back to 3; node 1 ran twice, the function was entered once.
    let cfg = graph(4, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3), edge(3, X)]);
    let plan = CounterPlan { sites: vec![CounterSite::Node(NodeId::new(1)), CounterSite::Edge(EdgeId::new(5))] };
    let found = interruptions(&cfg, &plan, &[2, 1]).unwrap();
    assert_eq!(found.least, 1);
    assert_eq!(found.places_of_least, [begun(1), on_the_way(3), begun(3)]);
}

#[test]
fn plans_that_leave_edges_open_tell_nothing() {
    let cfg = graph(4, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3), edge(3, X)]);
    assert_eq!(interruptions(&cfg, &on_nodes(&[0]), &[1]), None);
    assert_eq!(interruptions(&cfg, &on_edges(&[0, 1]), &[1]), None, "one value missing");
}

/// The graph with a way from this node to X that no code counts but that we know was taken once.
fn solves_with_one_interrupted(cfg: &Cfg, plan: &CounterPlan, counts: &[u64], node: NodeId) -> bool {
    let mut edges = cfg.edges().to_vec();
    edges.push(FlowEdge { from: Endpoint::Node(node), to: Endpoint::X, role: EdgeRole::Flow, splitting: Splitting::Possible });
    let extended = Cfg::new(cfg.num_nodes() as u32, edges).expect("the graph with one edge more");
    let mut sites = plan.sites.clone();
    sites.push(CounterSite::Edge(EdgeId::new(cfg.num_edges() as u32)));
    let mut counts = counts.to_vec();
    counts.push(1);
    solve(&extended, &CounterPlan { sites }, &counts).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn what_was_interrupted_is_found(cfg in random_graph(16), seed: u64, num_interrupted in 0..4_u64) {
        let mut random = Random::new(seed);
        let mut walked = Walked::at_random(&cfg, &mut random, 3, 60);
        let mut at = Vec::new();
        for _ in 0..num_interrupted {
            at.extend(walked.interrupt(&cfg, &mut random));
        }
        let plan = plan_counters(&cfg, &random.weights(&cfg), Placement::Tree, &Costs::default());
        let counts = walked.counts(&plan);
        let Interruptions { least, places_of_least, places } = interruptions(&cfg, &plan, &counts).expect("they explain it");
        prop_assert!(least <= at.len() as u64, "{least} for {at:?}");
        prop_assert_eq!(least == 0, solve(&cfg, &plan, &counts).is_ok());
        let known = if least == at.len() as u64 { &places_of_least } else { &places };
        for node in at {
            prop_assert!(known.contains(&Place { node, begun: true }), "{node:?} is not in {known:?}");
        }
        prop_assert!(places_of_least.iter().all(|place| places.contains(place)));
        let near = solve_interrupted(&cfg, &plan, &counts).expect("they explain it");
        let is_near = |found: i128, walked: i128| found.abs_diff(walked) <= u128::from(num_interrupted);
        prop_assert!(near.nodes.iter().zip(walked.nodes()).all(|(found, walked)| is_near(i128::from(*found), i128::from(*walked))));
        prop_assert!(near.edges.iter().zip(walked.edges()).all(|(found, walked)| is_near(found.expect("a tree's plan"), *walked)));
        // Exactly the places that one interruption can explain.
        if least <= 1 {
            let claimed = if least == 1 { &places_of_least } else { &places };
            for node in cfg.node_ids() {
                let expected = solves_with_one_interrupted(&cfg, &plan, &counts, node);
                prop_assert_eq!(claimed.contains(&Place { node, begun: true }), expected, "{:?} of {:?}", node, claimed);
            }
        }
    }
}
