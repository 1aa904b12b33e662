//! Instruction mixes: every opcode times the executions of its node, and which way branches went.

use super::support::*;
use bbprof_profile::{BranchWays, CounterMode, Linkage, Mix, OpcodeCount, OpcodeGroup, Profile};

/// `f` with a branch each at the end of nodes 1 (header) and 3 (behind the call), a `ret` in node 7, the rest `add` and `call`.
/// Enters 3 times: 5 turns then, 2 turns else; one activation ends in the call of `g`, in the middle of block 2.
fn example(mode: CounterMode) -> Run {
    let mut maker = ModuleMaker::new("a.c", mode);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let (br, ret) = (maker.string("br"), maker.string("ret"));
    let add = maker.string("add");
    for (node, last) in [(1, br), (3, br), (7, ret)] {
        let opcodes = &mut maker.module.functions[f].nodes[node].opcodes;
        let number = opcodes[0].1;
        *opcodes = if number > 1 { vec![(add, number - 1), (last, 1)] } else { vec![(last, 1)] };
    }
    for edge in &mut maker.module.functions[f].edges[..8] {
        // The second successors: header -> exit, body -> else.
        edge.successor = u32::from(edge.to == Some(7) || edge.to == Some(5));
    }
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &ENTER, 3);
    run.walk(&maker, f, &THEN, 5);
    run.walk(&maker, f, &ELSE, 2);
    run.walk(&maker, f, &GONE, 1);
    run.walk(&maker, f, &LEAVE, 2);
    run
}

fn all(profile: &Profile) -> Mix<'_> {
    let mut sum = Mix::default();
    profile.mixes().for_each(|function| sum.add(&function.mix));
    sum
}

#[test]
fn opcodes_behind_a_call_that_did_not_return_are_not_executed() {
    let profile = example(CounterMode::Edges).profile().expect("it fits");
    let mix = all(&profile);
    let count = |in_code, executed| OpcodeCount { in_code, executed };
    // Node 2 ran 8 times and node 3, behind its call, 7 times.
    assert_eq!(mix.opcodes["call"], count(1, 8));
    assert_eq!(mix.opcodes["br"], count(2, 10 + 7));
    assert_eq!(mix.opcodes["ret"], count(1, 2));
    assert_eq!(mix.opcodes["add"], count(14, 3 * 2 + 10 * 2 + 8 + 7 + 5 * 2 + 2 * 3 + 7 * 3));
    assert_eq!(mix.total().executed, profile.totals().instructions);
    assert_eq!(mix.branches, BranchWays { if_true: 8 + 5, if_false: 2 + 2, unknown: 0 });
    let groups: Vec<(OpcodeGroup, OpcodeCount)> = mix.groups().into_iter().collect();
    let expected = [
        (OpcodeGroup::Arithmetic, mix.opcodes["add"]),
        (OpcodeGroup::Branch, mix.opcodes["br"]),
        (OpcodeGroup::Call, mix.opcodes["call"]),
        (OpcodeGroup::Return, mix.opcodes["ret"]),
    ];
    assert_eq!(groups, expected);
}

#[test]
fn a_function_that_is_not_solved_stands_in_the_code_and_its_executions_are_unknown() {
    let mut run = example(CounterMode::Check);
    let exact = all(&run.profile().expect("it fits")).total();
    // Fewer entries than executions of the block behind the entry's: no flow.
    let first = run.counters.tls.iter().position(|counter| *counter == 3).expect("the entry's counter");
    run.counters.tls[first] = u64::MAX;
    let profile = run.profile().expect("it fits");
    let mix = all(&profile);
    assert!(profile.functions().next().is_none(), "the damaged counter makes the function unsolvable");
    assert_eq!((mix.functions, mix.unsolved), (1, 1));
    assert_eq!(mix.total(), OpcodeCount { in_code: exact.in_code, executed: 0 });
    assert_eq!(mix.branches, BranchWays { unknown: 2, ..BranchWays::default() });
}

/// Two branches that both lead to the same two blocks: counts of blocks do not tell how each of them went.
#[test]
fn ways_that_the_placement_leaves_open_are_unknown_and_never_guessed() {
    use bbprof_profile::EdgeKind::{Branch, Entry, Exit};
    let edges = [
        (None, Some(0), Entry),
        (Some(0), Some(1), Branch),
        (Some(0), Some(2), Branch),
        (Some(1), Some(3), Branch),
        (Some(1), Some(4), Branch),
        (Some(2), Some(3), Branch),
        (Some(2), Some(4), Branch),
        (Some(3), None, Exit),
        (Some(4), None, Exit),
    ];
    for (mode, expected) in [
        (CounterMode::Edges, BranchWays { if_true: 6 + 4 + 1, if_false: 3 + 2 + 2, unknown: 0 }),
        (CounterMode::Blocks, BranchWays { if_true: 6, if_false: 3, unknown: 2 }),
    ] {
        let mut maker = ModuleMaker::new("a.c", mode);
        let f = maker.function("f", Linkage::External, (0..5).map(|block| node(block, &[(1, 1)])).collect(), &edges);
        for second in [2, 4, 6] {
            maker.module.functions[f].edges[second].successor = 1;
        }
        let mut run = Run::new(&[(&maker, None)]);
        for (times, path) in [(4, [0, 1, 3, 7]), (2, [0, 1, 4, 8]), (1, [0, 2, 5, 7]), (2, [0, 2, 6, 8])] {
            run.walk(&maker, f, &path, times);
        }
        assert_eq!(all(&run.profile().expect("it fits")).branches, expected);
    }
}

#[test]
fn a_branch_with_one_target_has_no_way() {
    use bbprof_profile::EdgeKind::{Branch, Entry, Exit};
    let mut maker = ModuleMaker::new("b.c", CounterMode::Edges);
    let edges = [(None, Some(0), Entry), (Some(0), Some(1), Branch), (Some(1), None, Exit)];
    let f = maker.function("t", Linkage::External, vec![node(0, &[(1, 1)]), node(1, &[(2, 1)])], &edges);
    maker.module.functions[f].edges[1].multiplicity = 2;
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &[0, 1, 2], 9);
    let ways = all(&run.profile().expect("it fits")).branches;
    assert_eq!(ways, BranchWays { if_true: 0, if_false: 0, unknown: 1 });
}
