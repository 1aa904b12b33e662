//! The example of Ball and Larus 1996, "Efficient Path Profiling", figures 1 to 3, and a loop around it.

use crate::notation::{X, edge, graph, indirect, vanish};
use bbprof_flow::{
    Cfg, Commit, Costs, EdgeId, NodeId, PathError, PathNumbering, PathStart, PathStep, Weights, plan_counters_beside, plan_paths,
};

const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;
const D: u32 = 3;
const E: u32 = 4;
const F: u32 = 5;

/// The graph of figure 1, with weights that order siblings as its numbers do.
fn figure_1() -> (Cfg, Weights) {
    let edges = [
        (edge(X, A), 8),
        (edge(A, C), 5),
        (edge(A, B), 3),
        (edge(B, C), 2),
        (edge(B, D), 1),
        (edge(C, D), 7),
        (edge(D, F), 6),
        (edge(D, E), 2),
        (edge(E, F), 2),
        (edge(F, X), 8),
    ];
    let weights = Weights {
        nodes: vec![8; 6],
        edges: edges.iter().map(|(_, weight)| *weight).collect(),
        counted_loops: Vec::new(),
        splits: Vec::new(),
    };
    (graph(6, edges.map(|(edge, _)| edge).to_vec()), weights)
}

/// The nodes of a path.
fn nodes(cfg: &Cfg, numbering: &PathNumbering, number: u64) -> Vec<u32> {
    let path = numbering.path(number).expect("a number of a path");
    let begin = match path.start {
        PathStart::Entry(_) => None,
        PathStart::Head(head) => Some(head.index() as u32),
    };
    let ends = path.edges.iter().filter_map(|edge| cfg.edge(*edge).to.node());
    begin.into_iter().chain(ends.map(|node| node.index() as u32)).collect()
}

#[test]
fn figure_1_numbers_six_paths() {
    let (cfg, weights) = figure_1();
    let numbering = PathNumbering::new(&cfg, &weights, &[], 100_000_000);
    assert_eq!(numbering.num_paths(), 6);
    let expected: [&[u32]; 6] =
        [&[A, C, D, F], &[A, C, D, E, F], &[A, B, C, D, F], &[A, B, C, D, E, F], &[A, B, D, F], &[A, B, D, E, F]];
    for (number, path) in (0..).zip(expected) {
        assert_eq!(nodes(&cfg, &numbering, number), path);
    }
    let too_high = PathError::NoSuchPath { number: 6, num_paths: 6 };
    assert_eq!(numbering.path(6), Err(too_high));
}

#[test]
fn figure_2_values() {
    let (cfg, weights) = figure_1();
    let values: Vec<_> = PathNumbering::new(&cfg, &weights, &[], 6).values(&cfg).into_iter().map(|(value, _)| value).collect();
    assert_eq!(values, [0, 0, 2, 0, 2, 0, 0, 1, 0, 0].map(Some));
}

/// Figure 3 d: the tree of the heavy edges leaves A -> B, B -> D and D -> E (here) to carry code. The beginning
/// sinks into the ways out of A, the count stands at the end.
#[test]
fn figure_3_moves_code_off_the_heavy_edges() {
    let (cfg, weights) = figure_1();
    let plan = plan_paths(&cfg, &PathNumbering::new(&cfg, &weights, &[], 6));
    for hot in [(A, C), (C, D)] {
        let position = cfg.edges().iter().position(|e| *e == edge(hot.0, hot.1)).expect("an edge");
        assert!(plan.steps[position].iter().all(|step| matches!(step, PathStep::Set(0))), "{hot:?}: {:?}", plan.steps[position]);
    }
    let adds = plan.steps.iter().flatten().filter(|step| matches!(step, PathStep::Add(_))).count();
    assert!(adds <= 1, "{:?}", plan.steps);
}

/// One `if`: its edges tell its paths.
#[test]
fn a_lone_branch_needs_no_register() {
    let cfg = graph(4, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3), edge(3, X)]);
    let weights = Weights { nodes: vec![2, 1, 1, 2], edges: vec![2, 1, 1, 1, 1, 2], counted_loops: Vec::new(), splits: Vec::new() };
    let numbering = PathNumbering::new(&cfg, &weights, &[], 100);
    assert_eq!((numbering.num_paths(), numbering.num_counted()), (2, 0));
    let steps = plan_paths(&cfg, &numbering).steps;
    assert!(steps.iter().all(Vec::is_empty), "{steps:?}");
    assert_eq!(plan_counters_beside(&cfg, &weights, &Costs::default(), &numbering).sites.len(), 2);
    assert_eq!(numbering.obvious_counts(&cfg, &[7, 5, 2, 5, 2, 7]).into_values().collect::<Vec<_>>(), [5, 2]);
}

/// Two `if`s, one behind the other: the count rises into the arms of the second.
#[test]
fn counts_rise_into_the_last_arms() {
    let ways = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)];
    let edges = std::iter::once(edge(X, 0)).chain(ways.map(|(from, to)| edge(from, to))).chain([edge(6, X)]).collect();
    let cfg = graph(7, edges);
    let edges = vec![2, 1, 1, 1, 1, 1, 1, 1, 1, 2];
    let weights = Weights { nodes: vec![2, 1, 1, 2, 1, 1, 2], edges, counted_loops: Vec::new(), splits: Vec::new() };
    let numbering = PathNumbering::new(&cfg, &weights, &[], 100);
    assert_eq!((numbering.num_paths(), numbering.num_counted()), (4, 4));
    let steps: Vec<PathStep> = plan_paths(&cfg, &numbering).steps.into_iter().flatten().collect();
    let sets = steps.iter().filter(|step| matches!(step, PathStep::Set(_))).count();
    let counts = steps.iter().filter(|step| matches!(step, PathStep::Count(Commit::Behind(_)))).count();
    assert_eq!((sets, counts, steps.len()), (2, 2, 4), "{steps:?}");
}

/// `while (P) Q;`: one path into the loop and out of it, one into it, one a turn, one out.
#[test]
fn a_back_edge_ends_one_path_and_begins_another() {
    let cfg = graph(3, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 0), edge(2, X)]);
    let numbering = PathNumbering::new(
        &cfg,
        &Weights { nodes: vec![10; 3], edges: vec![1, 9, 1, 9, 1], counted_loops: Vec::new(), splits: Vec::new() },
        &[],
        100,
    );
    assert_eq!(numbering.cuts(), [EdgeId::new(3)]);
    assert_eq!(numbering.num_paths(), 4);
    let mut all: Vec<_> = (0..4).map(|number| numbering.path(number).expect("a path")).collect();
    all.sort_by_key(|path| (matches!(path.start, PathStart::Head(_)), path.edges.len(), path.edges.clone()));
    let edges = |edges: &[u32]| edges.iter().map(|edge| EdgeId::new(*edge)).collect::<Vec<_>>();
    let expected = [
        (PathStart::Entry(EdgeId::new(0)), edges(&[0, 1, 3])),
        (PathStart::Entry(EdgeId::new(0)), edges(&[0, 2, 4])),
        (PathStart::Head(NodeId::new(0)), edges(&[1, 3])),
        (PathStart::Head(NodeId::new(0)), edges(&[2, 4])),
    ];
    assert_eq!(all.into_iter().map(|path| (path.start, path.edges)).collect::<Vec<_>>(), expected);
    // In, three turns, out.
    let number = |wanted: &[u32], start| {
        (0..4)
            .find(|number| numbering.path(*number).is_ok_and(|path| path.edges == edges(wanted) && path.start == start))
            .expect("a path")
    };
    let counts = [(number(&[0, 1, 3], expected[0].0), 1), (number(&[1, 3], expected[2].0), 2), (number(&[2, 4], expected[2].0), 1)];
    assert_eq!(numbering.edge_counts(counts), Ok(vec![1, 3, 1, 3, 1]));
}

/// Code before the call counts the path that would end in it; those who are counted
/// behind came back. So it is on each of two ways to the call.
#[test]
fn a_call_that_may_vanish() {
    let ways = [edge(0, 1), edge(0, 2), edge(1, 3), edge(2, 3), edge(3, 4), vanish(3), edge(4, X)];
    let cfg = graph(5, std::iter::once(edge(X, 0)).chain(ways).collect());
    let numbering = PathNumbering::new(&cfg, &Weights::uniform(&cfg), &[], 100);
    let plan = plan_paths(&cfg, &numbering);
    assert_eq!((numbering.num_paths(), numbering.num_counted()), (4, 4));
    assert!(matches!(plan.steps[6][..], [PathStep::Count(Commit::Behind(_))]), "{:?}", plan.steps);
    for way in [1, 2] {
        let number_through = |edge: u32| {
            let is_it = |number: &u64| {
                let path = numbering.path(*number).expect("a path");
                path.edges.contains(&EdgeId::new(way)) && path.edges.contains(&EdgeId::new(edge))
            };
            (0..4).find(is_it).expect("a path")
        };
        let (returned, vanished) = (number_through(5), number_through(6));
        let settled = |reached, behind| {
            numbering.settle([(vanished, reached), (returned, behind)]).map(|settled| settled.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(settled(7, 7), Ok(vec![(returned, 7)]));
        let mut some_vanished = vec![(vanished, 3), (returned, 4)];
        some_vanished.sort_unstable();
        assert_eq!(settled(7, 4), Ok(some_vanished));
        // setjmp came back a second time.
        let mut came_twice = vec![(vanished, -1), (returned, 2)];
        came_twice.sort_unstable();
        assert_eq!(settled(1, 2), Ok(came_twice));
    }
}

#[test]
fn cuts_that_do_not_fit_are_refused() {
    let cfg = graph(3, vec![edge(X, 0), edge(0, 1), edge(0, 2), edge(1, 0), edge(2, X)]);
    let weights = Weights::uniform(&cfg);
    let with = |cuts: &[u32]| {
        let cuts: Vec<EdgeId> = cuts.iter().map(|cut| EdgeId::new(*cut)).collect();
        PathNumbering::with_cuts(&cfg, &weights, &cuts).map(|numbering| numbering.num_paths())
    };
    assert_eq!(with(&[3]), Ok(4));
    assert_eq!(with(&[1, 3]), Ok(2 + 2 + 1));
    assert_eq!(with(&[]), Err(PathError::Cycle { edge: EdgeId::new(3) }));
    assert_eq!(with(&[3, 1]), Err(PathError::BadCut { position: 1 }));
    assert_eq!(with(&[3, 3]), Err(PathError::BadCut { position: 1 }));
    assert_eq!(with(&[0, 3]), Err(PathError::BadCut { position: 0 }));
    assert_eq!(with(&[3, 9]), Err(PathError::BadCut { position: 1 }));
}

/// 2^200 paths, more than any number here holds, become at most the limit; the hot way stays whole as long as it can.
#[test]
fn too_many_paths_lose_their_coldest_edges() {
    let branches = 200;
    let mut edges = vec![edge(X, 0)];
    for branch in 0..branches {
        let first = branch * 3;
        edges.extend([edge(first, first + 1), edge(first, first + 2), edge(first + 1, first + 3), edge(first + 2, first + 3)]);
    }
    edges.push(edge(branches * 3, X));
    let cfg = graph(branches * 3 + 1, edges);
    let hot = |id: usize| if id.is_multiple_of(2) && id > 0 && id < 800 { 1 } else { 1000 };
    let weights = Weights {
        nodes: vec![1; 601],
        edges: (0..cfg.num_edges()).map(hot).collect(),
        counted_loops: Vec::new(),
        splits: Vec::new(),
    };
    for limit in [1, 1_000, 100_000_000, u64::MAX] {
        let numbering = PathNumbering::new(&cfg, &weights, &[], limit);
        assert!(numbering.num_paths() <= limit.max(cfg.num_edges() as u64 + 2), "{limit}: {}", numbering.num_paths());
        let again = PathNumbering::with_cuts(&cfg, &weights, numbering.cuts()).expect("its own cuts");
        assert_eq!((again.num_paths(), again.values(&cfg)), (numbering.num_paths(), numbering.values(&cfg)));
        if limit > 1_000 {
            assert!(numbering.cuts().iter().all(|cut| weights.edges[cut.index()] == 1));
        }
    }
}

/// A computed `goto` cannot be split: as little as possible is put on its edges.
#[test]
fn edges_that_only_a_phi_can_count_go_into_the_tree_first() {
    let cfg = graph(4, vec![edge(X, 0), edge(0, 1), edge(0, 2), indirect(1, 3), indirect(2, 3), edge(3, X)]);
    let weights = Weights { nodes: vec![2; 4], edges: vec![2, 9, 9, 1, 1, 2], counted_loops: Vec::new(), splits: Vec::new() };
    let plan = plan_paths(&cfg, &PathNumbering::new(&cfg, &weights, &[], 100));
    assert!(plan.steps[3].is_empty() && plan.steps[4].is_empty(), "{:?}", plan.steps);
}
