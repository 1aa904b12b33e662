//! Blocks to nodes, on functions written down by hand.

use super::register_loops::{ADDRESSES, ADDRESSES_BY_ESTIMATE, COUNTERS, Tight};
use super::unrolled_loops::{self, Unrolled};
use super::*;
use crate::view::{Block, Call, Function, Successor};
use bbprof_flow::{CounterSite, EdgeId, NodeId};

/// A function whose blocks are (number of instructions, terminator, successors), with
/// these calls: (block, position, flags, callee + 1).
struct Sample {
    blocks: Vec<Block>,
    calls: Vec<Call>,
    successors: Vec<Successor>,
    loops: Vec<view::Loop>,
    tight_loops: Vec<view::TightLoop>,
    loop_blocks: Vec<u32>,
}

impl Sample {
    fn new(blocks: &[(u32, u32, &[u32])], calls: &[(u32, u32, u32, u32)]) -> Self {
        let mut sample = Self {
            blocks: Vec::new(),
            calls: Vec::new(),
            successors: Vec::new(),
            loops: Vec::new(),
            tight_loops: Vec::new(),
            loop_blocks: Vec::new(),
        };
        let mut instructions = 0;
        for (id, (len, terminator, successors)) in blocks.iter().enumerate() {
            let calls_begin = sample.calls.len() as u32;
            for (_, position, flags, callee) in calls.iter().filter(|call| call.0 == id as u32) {
                sample.calls.push(Call {
                    position: *position,
                    flags: *flags,
                    callee_kind: view::CALLEE_INDIRECT,
                    callee: 0,
                    callee_function: *callee,
                });
            }
            let successors_begin = sample.successors.len() as u32;
            sample.successors.extend(successors.iter().map(|block| Successor { block: *block, reserved: 0, weight: 10 }));
            sample.blocks.push(Block {
                instructions_begin: instructions,
                instructions_end: instructions + len,
                calls_begin,
                calls_end: sample.calls.len() as u32,
                successors_begin,
                successors_end: sample.successors.len() as u32,
                terminator: *terminator,
                phis: 0,
                weight: 100,
                decided_before: 0,
                reserved: 0,
            });
            instructions += len;
        }
        sample
    }

    fn graph(&self, comes_back: &[bool]) -> Graph {
        build(&self.function(), comes_back)
    }

    fn function(&self) -> Function<'_> {
        Function {
            symbol: 0,
            linkage: 0,
            unit: 0,
            file: 0,
            line: 0,
            skip_reason: 0,
            exact: true,
            blocks: &self.blocks,
            opcodes: &[],
            instruction_locations: &[],
            ir: &[],
            calls: &self.calls,
            successors: &self.successors,
            loops: &self.loops,
            tight_loops: &self.tight_loops,
            loop_blocks: &self.loop_blocks,
        }
    }
}

/// (from, to, kind) with X as None.
fn edges(graph: &Graph) -> Vec<(Option<u32>, Option<u32>, EdgeKind)> {
    graph.edges.iter().map(|edge| (edge.from, edge.to, edge.kind)).collect()
}

fn spans(graph: &Graph) -> Vec<(u32, u32, u32)> {
    graph.nodes.iter().map(|node| (node.block, node.begin, node.end)).collect()
}

const VANISHES: u32 = view::CALL_MAY_VANISH;
const ENDS: u32 = view::CALL_MAY_VANISH | view::CALL_ENDS_FUNCTION;

#[test]
fn a_call_that_may_not_return_ends_its_node() {
    let graph = Sample::new(&[(5, 0, &[])], &[(0, 1, VANISHES, 0), (0, 3, VANISHES, 0)]).graph(&[]);
    assert_eq!(spans(&graph), [(0, 0, 2), (0, 2, 4), (0, 4, 5)]);
    assert_eq!(
        edges(&graph),
        [
            (None, Some(0), EdgeKind::Entry),
            (Some(0), Some(1), EdgeKind::Return),
            (Some(0), None, EdgeKind::Vanish),
            (Some(1), Some(2), EdgeKind::Return),
            (Some(1), None, EdgeKind::Vanish),
            (Some(2), None, EdgeKind::Exit),
        ]
    );
}

#[test]
fn a_call_that_comes_back_does_not() {
    let sample = Sample::new(&[(3, 0, &[])], &[(0, 1, VANISHES, 1)]);
    assert_eq!(spans(&sample.graph(&[true])), [(0, 0, 3)]);
    assert_eq!(spans(&sample.graph(&[false])), [(0, 0, 2), (0, 2, 3)]);
}

#[test]
fn a_call_that_never_returns_leaves_the_function() {
    let graph = Sample::new(&[(4, 0, &[])], &[(0, 0, VANISHES, 0), (0, 2, ENDS, 0)]).graph(&[]);
    assert_eq!(spans(&graph), [(0, 0, 1), (0, 1, 4)]);
    assert!(graph.nodes[1].ends_in_call && !graph.nodes[0].ends_in_call);
    assert_eq!(edges(&graph)[3], (Some(1), None, EdgeKind::Exit));
    assert_eq!(graph.edges.len(), 4);
}

#[test]
fn an_invoke_may_return_unwind_or_vanish() {
    let graph = Sample::new(
        &[(2, view::TERMINATOR_INVOKE, &[1, 2]), (1, 0, &[]), (1, view::TERMINATOR_RESUME, &[])],
        &[(0, 1, VANISHES, 0)],
    )
    .graph(&[]);
    assert_eq!(graph.nodes.len(), 3, "an invoke has no rest of its block");
    assert_eq!(
        edges(&graph)[1..4],
        [(Some(0), Some(1), EdgeKind::Invoke), (Some(0), Some(2), EdgeKind::Unwind), (Some(0), None, EdgeKind::Vanish)]
    );
}

#[test]
fn slots_with_one_target_are_one_edge() {
    let graph = Sample::new(&[(1, view::TERMINATOR_SWITCH, &[2, 1, 1, 2, 1]), (1, 0, &[]), (1, 0, &[])], &[]).graph(&[]);
    let switch: Vec<_> =
        graph.edges.iter().filter(|e| e.kind == EdgeKind::Switch).map(|e| (e.to, e.successor, e.multiplicity, e.weight)).collect();
    assert_eq!(switch, [(Some(2), 0, 2, 20), (Some(1), 1, 3, 30)]);
}

#[test]
fn a_loop_enters_the_first_node_of_its_head() {
    // Block 1 has a call in its middle; the back edge goes to its first node.
    let graph = Sample::new(
        &[(1, view::TERMINATOR_JUMP, &[1]), (3, view::TERMINATOR_BRANCH, &[1, 2]), (1, 0, &[])],
        &[(1, 0, VANISHES, 0)],
    )
    .graph(&[]);
    assert!(edges(&graph).contains(&(Some(2), Some(1), EdgeKind::Branch)));
    assert!(edges(&graph).contains(&(Some(2), Some(3), EdgeKind::Branch)));
}

#[test]
fn code_generation_is_told_the_shares_of_each_slot() {
    // Block 0 has a call that may not return in its middle; three of its five slots lead to block 1. Block 2 never ran.
    let blocks: [(u32, u32, &[u32]); 4] = [
        (3, view::TERMINATOR_SWITCH, &[2, 1, 1, 3, 1]),
        (1, view::TERMINATOR_BRANCH, &[1, 3]),
        (1, view::TERMINATOR_BRANCH, &[1, 3]),
        (1, 0, &[]),
    ];
    let sample = Sample::new(&blocks, &[(0, 0, VANISHES, 0)]);
    let graph = sample.graph(&[]);
    let executions = |edge: &Edge| match (edge.from, edge.to) {
        (Some(1), Some(2)) => 6 * u64::from(u32::MAX),
        (Some(1), Some(4)) => 7,
        (Some(2), Some(2)) => u64::from(u32::MAX),
        (Some(2), Some(4)) => 9,
        (Some(0), _) => 1 << 40,
        _ => 0,
    };
    let measured: Vec<u64> = graph.edges.iter().map(executions).collect();
    // Three slots share 6 * (2^32-1), which makes 2 * (2^32-1) for each: a third of that fits into 32 bits.
    let third = (2 * u64::from(u32::MAX) / 3) as u32;
    let shares = branch_weights::of(&sample.function(), &graph, &measured);
    assert_eq!(shares, [0, third, third, 3, third, 1 << 31, 5, 0, 0]);
}

/// Blocks 1 and 2 circle for ever; block 3 is another way, which returns.
#[test]
fn an_endless_loop_vanishes() {
    let graph = Sample::new(&[(1, 2, &[1, 3]), (1, 1, &[2]), (1, 1, &[1]), (1, 0, &[])], &[]).graph(&[]);
    let vanishing: Vec<_> = edges(&graph).into_iter().filter(|(_, _, kind)| *kind == EdgeKind::Vanish).collect();
    assert_eq!(vanishing, [(Some(2), None, EdgeKind::Vanish)]);
    assert!(edges(&graph).is_sorted_by_key(|(from, _, _)| *from));
}

/// Loops one behind the other: 0 alone, then 1 or 2 alone; the later ones let the first leave.
#[test]
fn each_last_endless_loop_vanishes_once() {
    let graph = Sample::new(&[(1, 2, &[0, 1]), (1, 2, &[2, 1]), (1, 1, &[2])], &[]).graph(&[]);
    let vanishing = edges(&graph).into_iter().filter(|(_, _, kind)| *kind == EdgeKind::Vanish).count();
    assert_eq!(vanishing, 1);
    let apart = Sample::new(&[(1, 2, &[1, 2]), (1, 1, &[1]), (1, 1, &[2])], &[]).graph(&[]);
    let from: Vec<_> = edges(&apart).into_iter().filter(|edge| edge.2 == EdgeKind::Vanish).map(|edge| edge.0).collect();
    assert_eq!(from, [Some(1), Some(2)]);
}

/// As many as generated code may have, of asserts that end in an endless loop: looking
/// through the whole graph for each would take minutes.
#[test]
fn many_endless_loops_vanish() {
    const LOOPS: u32 = 50_000;
    let successors: Vec<[u32; 2]> = (0..LOOPS).map(|number| [2 * number + 1, 2 * number + 2]).collect();
    let mut blocks: Vec<(u32, u32, &[u32])> = Vec::new();
    for ways in &successors {
        blocks.extend([(1, view::TERMINATOR_BRANCH, &ways[..]), (1, view::TERMINATOR_JUMP, &ways[..1])]);
    }
    blocks.push((1, 0, &[]));
    let graph = Sample::new(&blocks, &[]).graph(&[]);
    let vanishing = graph.edges.iter().filter(|edge| edge.kind == EdgeKind::Vanish).map(|edge| edge.from);
    assert!(vanishing.eq((0..LOOPS).map(|number| Some(2 * number + 1))));
    assert!(graph.edges.is_sorted_by_key(|edge| edge.from));
}

#[test]
fn nothing_is_counted_behind_a_tail_call_that_shares_its_return() {
    let blocks: [(u32, u32, &[u32]); 3] = [(2, view::TERMINATOR_BRANCH, &[1, 2]), (3, view::TERMINATOR_JUMP, &[2]), (1, 0, &[])];
    let call = |flags| Sample::new(&blocks, &[(1, 1, view::CALL_MAY_VANISH | flags, 0)]).graph(&[]);
    assert_eq!(spans(&call(0)), [(0, 0, 2), (1, 0, 2), (1, 2, 3), (2, 0, 1)]);
    let shared = call(view::CALL_RETURNS_BY_OTHER);
    assert_eq!(spans(&shared), [(0, 0, 2), (1, 0, 3), (2, 0, 1)]);
    assert!(edges(&shared).iter().all(|(.., kind)| *kind != EdgeKind::Vanish));
}

/// Blocks 0, then 1 and 2 in a loop, then 3. Every edge has weight 10, every block 100.
fn loop_of_two(instructions: u32) -> Sample {
    loop_of_two_among(0, instructions)
}

/// The same in a function that has other blocks, too.
fn loop_of_two_among(others: usize, instructions: u32) -> Sample {
    let mut blocks: Vec<(u32, u32, &[u32])> = vec![
        (1, view::TERMINATOR_JUMP, &[1]),
        (3, view::TERMINATOR_BRANCH, &[2, 3]),
        (3, view::TERMINATOR_JUMP, &[1]),
        (1, 0, &[]),
    ];
    blocks.resize(blocks.len() + others, (1, 0, &[]));
    let mut sample = Sample::new(&blocks, &[]);
    sample.tight_loops.push(view::TightLoop {
        header: 1,
        instructions,
        shortest: instructions,
        blocks_begin: 0,
        blocks_end: 2,
        takes_chunks: 0,
        is_quiet: 1,
        can_unroll: 0,
    });
    sample.loop_blocks = vec![1, 2];
    sample
}

#[test]
fn counters_of_a_tight_loop_stand_in_its_registers() {
    let chosen = |sample: &Sample, sites: &[CounterSite]| {
        register_loops::choose(&sample.function(), &sample.graph(&[]), sites, &[], COUNTERS)
    };
    let node = |node| CounterSite::Node(NodeId::new(node));
    // 0: X -> 0, 1: 0 -> 1, 2: 1 -> 2, 3: 1 -> 3, 4: 2 -> 1.
    let edge = |edge| CounterSite::Edge(EdgeId::new(edge));
    let tight = loop_of_two(20);
    let sites = [node(0), node(2), edge(1), edge(2), edge(3), edge(4)];
    assert_eq!(chosen(&tight, &sites), [0, 1, 0, 1, 0, 1]);
    assert_eq!(chosen(&tight, &[CounterSite::PhiEdge(EdgeId::new(4)), node(3)]), [0, 0]);
    assert_eq!(chosen(&tight, &[node(1), node(2), edge(2), edge(4)]), [0; 4], "too many");
    assert_eq!(chosen(&loop_of_two(21), &sites), [0; 6], "too long");
    let mut short = loop_of_two(20);
    for block in [1, 2] {
        short.blocks[block].weight = 79;
    }
    assert_eq!(chosen(&short, &sites), [0; 6], "7 turns an entry");
    assert_eq!(chosen(&tight, &[edge(2), edge(4)]), [0, 0], "turned ten times an entry, but incremented once");

    let addressed_among = |others: usize, instructions: u32, takes_chunks: u32, tight: Tight| {
        let mut sample = loop_of_two_among(others, instructions);
        sample.tight_loops[0].takes_chunks = takes_chunks;
        register_loops::choose(&sample.function(), &sample.graph(&[]), &[node(1), node(2), edge(2), edge(4)], &[], tight)
    };
    let addressed = |instructions, takes_chunks, tight| addressed_among(0, instructions, takes_chunks, tight);
    assert_eq!(addressed(32, 1, ADDRESSES), [1; 4], "all have the same register");
    assert_eq!(addressed(33, 0, ADDRESSES), [0; 4], "other work hides them");
    assert_eq!(addressed(32, 0, ADDRESSES_BY_ESTIMATE), [1; 4]);
    assert_eq!(addressed(6, 1, ADDRESSES_BY_ESTIMATE), [1; 4]);
    assert_eq!(addressed(7, 1, ADDRESSES_BY_ESTIMATE), [0; 4], "it is made to end soon");
    let calling = |others, shortest| {
        let mut sample = loop_of_two_among(others, 500);
        sample.tight_loops[0] = view::TightLoop { shortest, is_quiet: 0, ..sample.tight_loops[0] };
        let choose = |tight| register_loops::choose(&sample.function(), &sample.graph(&[]), &[node(2)], &[], tight)[0];
        [choose(ADDRESSES), choose(ADDRESSES_BY_ESTIMATE), choose(COUNTERS)]
    };
    assert_eq!(calling(0, 12), [1, 1, 0], "counters in registers would be lost where a call ends the process");
    assert_eq!([calling(0, 13), calling(1000, 12)], [[0; 3]; 2]);
    let in_giant = |instructions, takes_chunks, tight| addressed_among(1000, instructions, takes_chunks, tight);
    assert_eq!([in_giant(16, 0, ADDRESSES_BY_ESTIMATE), in_giant(20, 0, ADDRESSES)], [[1; 4]; 2]);
    assert_eq!([in_giant(17, 0, ADDRESSES_BY_ESTIMATE), in_giant(21, 0, ADDRESSES)], [[0; 4]; 2], "registers are scarce");
    assert_eq!(in_giant(7, 1, ADDRESSES_BY_ESTIMATE), [0; 4]);
}

#[test]
fn loops_with_one_counter_are_unrolled() {
    let node = |node| CounterSite::Node(NodeId::new(node));
    // 0: X -> 0, 1: 0 -> 1, 2: 1 -> 2, 3: 1 -> 3, 4: 2 -> 1.
    let edge = |edge| CounterSite::Edge(EdgeId::new(edge));
    let turns_among = |others: usize, instructions: u32, change: &dyn Fn(&mut Sample), sites: &[CounterSite]| {
        let mut sample = loop_of_two_among(others, instructions);
        sample.tight_loops[0].can_unroll = 1;
        change(&mut sample);
        let chosen = unrolled_loops::choose(&sample.function(), &sample.graph(&[]), sites);
        assert!(chosen.iter().all(|unrolled| unrolled.tight_loop == 0));
        chosen.iter().map(|unrolled| (unrolled.counter, unrolled.turns)).collect::<Vec<_>>()
    };
    let as_it_is = |_: &mut Sample| {};
    let turns = |instructions, sites: &[CounterSite]| turns_among(0, instructions, &as_it_is, sites);
    assert_eq!(turns(12, &[node(0), node(1), node(3)]), [(1, 4)]);
    assert_eq!(turns(13, &[edge(2)]), [], "turned ten times an entry, but counted once");
    assert_eq!(turns(13, &[node(2)]), [(0, 2)]);
    assert_eq!(turns(24, &[node(2)]), [(0, 2)]);
    assert_eq!(turns(25, &[node(2)]), [], "too long");
    assert_eq!(turns(6, &[node(1), node(2)]), [], "both would have to be behind by as much");
    assert_eq!(turns(6, &[node(0), edge(1), edge(3), CounterSite::PhiEdge(EdgeId::new(4))]), [], "none is in it");
    assert_eq!(turns_among(46, 6, &as_it_is, &[node(2)]), [(0, 4)]);
    assert_eq!(turns_among(47, 6, &as_it_is, &[node(2)]), [], "a large function");
    let few = |sample: &mut Sample| sample.blocks[1].weight = 79;
    assert_eq!(turns_among(0, 6, &few, &[node(1)]), [], "7 turns an entry");
    let chunks = |sample: &mut Sample| sample.tight_loops[0].takes_chunks = 1;
    assert_eq!(turns_among(0, 6, &chunks, &[node(2)]), [], "it is made to end soon");
    let measured = |sample: &mut Sample, executions: u64| {
        let mut graph = sample.graph(&[]);
        sample.tight_loops[0].takes_chunks = 1;
        // 0: X -> 0, 1: 0 -> 1, 2: 1 -> 2, 3: 1 -> 3, 4: 2 -> 1.
        graph.measure_weights(&[10, executions, executions - 10, 10], &[10, 10, executions - 10, 10, executions - 10]);
        unrolled_loops::choose(&sample.function(), &graph, &[node(1)]).len()
    };
    let mut sample = loop_of_two(6);
    sample.tight_loops[0].can_unroll = 1;
    assert_eq!([39, 40].map(|executions| measured(&mut sample, executions)), [0, 1], "four turns an entry, measured");
    let fixed = |sample: &mut Sample| sample.tight_loops[0].can_unroll = 0;
    assert_eq!(turns_among(0, 6, &fixed, &[node(2)]), []);
}

/// Block 1 leads to 2 or past it, and 3 goes back.
#[test]
fn what_not_each_turn_counts_is_counted_at_once() {
    let blocks: [(u32, u32, &[u32]); 5] = [
        (1, view::TERMINATOR_JUMP, &[1]),
        (2, view::TERMINATOR_BRANCH, &[2, 3]),
        (2, view::TERMINATOR_JUMP, &[3]),
        (2, view::TERMINATOR_BRANCH, &[1, 4]),
        (1, 0, &[]),
    ];
    let mut sample = Sample::new(&blocks, &[]);
    let whole = view::TightLoop {
        header: 1,
        instructions: 6,
        shortest: 4,
        blocks_begin: 0,
        blocks_end: 3,
        takes_chunks: 0,
        is_quiet: 1,
        can_unroll: 1,
    };
    (sample.tight_loops, sample.loop_blocks) = (vec![whole], vec![1, 2, 3]);
    let chosen = |node| unrolled_loops::choose(&sample.function(), &sample.graph(&[]), &[CounterSite::Node(NodeId::new(node))]);
    for each in [1, 3] {
        assert_eq!(chosen(each), [Unrolled { counter: 0, tight_loop: 0, turns: 4 }]);
    }
    assert_eq!(chosen(2), []);
}

/// Blocks 0, then 1 and 4 in a loop around the loop of 2 and 3, then 5: the outer as a whole, what is its own, and the
/// inner. The outer turns twice an entry, the inner ten times.
fn loop_around_a_loop(instructions_of_both: u32) -> Sample {
    let mut sample = Sample::new(
        &[
            (1, view::TERMINATOR_JUMP, &[1]),
            (1, view::TERMINATOR_JUMP, &[2]),
            (3, view::TERMINATOR_BRANCH, &[3, 4]),
            (3, view::TERMINATOR_JUMP, &[2]),
            (2, view::TERMINATOR_BRANCH, &[1, 5]),
            (1, 0, &[]),
        ],
        &[],
    );
    for block in [1, 4] {
        sample.blocks[block].weight = 20;
    }
    let whole = view::TightLoop {
        header: 1,
        instructions: instructions_of_both,
        shortest: u32::MAX,
        blocks_begin: 0,
        blocks_end: 4,
        takes_chunks: 0,
        is_quiet: 1,
        can_unroll: 0,
    };
    let own = view::TightLoop { instructions: 3, shortest: u32::MAX, blocks_begin: 4, blocks_end: 6, is_quiet: 0, ..whole };
    let inner = view::TightLoop { header: 2, instructions: 6, shortest: 6, blocks_begin: 6, blocks_end: 8, ..whole };
    sample.tight_loops = vec![whole, own, inner];
    sample.loop_blocks = vec![1, 2, 3, 4, 1, 4, 2, 3];
    sample
}

#[test]
fn loops_in_each_other_have_one_register_if_the_outer_is_tight() {
    let node = |node| CounterSite::Node(NodeId::new(node));
    let chosen = |sample: &Sample, tight: Tight| {
        register_loops::choose(&sample.function(), &sample.graph(&[]), &[node(0), node(1), node(3), node(4)], &[], tight)
    };
    assert_eq!(chosen(&loop_around_a_loop(32), ADDRESSES_BY_ESTIMATE), [0, 1, 1, 1]);
    assert_eq!(chosen(&loop_around_a_loop(33), ADDRESSES_BY_ESTIMATE), [0, 0, 3, 0], "the outer is too long");
    let mut short = loop_around_a_loop(32);
    for block in [2, 3] {
        short.blocks[block].weight = 79;
    }
    assert_eq!(chosen(&short, ADDRESSES_BY_ESTIMATE), [0; 4], "7 turns an entry of either");
}

/// A loop that is left from its header, and from its body, whose way back has to be split.
#[test]
fn a_short_header_is_repeated_behind_the_way_back() {
    let split_back = |header_length: u32, before: usize| {
        let mut blocks: Vec<(u32, u32, &[u32])> = vec![(1, view::TERMINATOR_JUMP, &[1])];
        blocks.extend([(header_length, view::TERMINATOR_BRANCH, &[2, 3][..]), (5, view::TERMINATOR_BRANCH, &[1, 3]), (1, 0, &[])]);
        blocks.extend(std::iter::repeat_n((1, 0, &[][..]), before));
        let mut sample = Sample::new(&blocks, &[]);
        sample.blocks[1].phis = 3;
        let graph = sample.graph(&[]);
        let back = graph.edges.iter().position(|edge| (edge.from, edge.to) == (Some(2), Some(1)));
        graph.splits[back.expect("the loop turns")]
    };
    assert_eq!(split_back(5, 0), Split { jumps: false, copies: 0 }, "three phis, a test and a branch");
    assert_eq!(split_back(6, 0), Split { jumps: true, copies: MOST_COPIES });
    assert_eq!(split_back(5, 1000), Split { jumps: true, copies: MOST_COPIES }, "a giant");
}
