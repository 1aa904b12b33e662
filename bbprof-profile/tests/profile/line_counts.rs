//! Counts by line: a visit counts once, loops turn, inlined code counts at home.

use super::support::*;
use bbprof_profile::{CounterMode, EdgeKind, LineTable, Linkage, Profile};

fn lines(profile: &Profile) -> Vec<(u32, u128)> {
    let table = LineTable::new(profile);
    table.files.values().flat_map(|file| file.lines.iter().map(|(line, counts)| (*line, counts.count))).collect()
}

#[test]
fn a_for_header_counts_its_tests_and_a_split_call_once() {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &ENTER, 3);
    run.walk(&maker, f, &THEN, 5);
    run.walk(&maker, f, &ELSE, 2);
    run.walk(&maker, f, &GONE, 1);
    run.walk(&maker, f, &LEAVE, 2);
    let profile = run.profile().expect("it fits");
    // Definition, header (3 entries + 7 turns), `if (g(i))` once a visit, then, else, after the loop.
    assert_eq!(lines(&profile), [(1, 3), (2, 10), (3, 8), (4, 5), (5, 2), (6, 2)]);
}

#[test]
fn instantiations_of_a_line_add_up() {
    let mut maker = ModuleMaker::new("a.rs", CounterMode::Edges);
    let (f, g) = (leaf(&mut maker, "f1", Linkage::External), leaf(&mut maker, "f2", Linkage::External));
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &[0, 1], 5);
    run.walk(&maker, g, &[0, 1], 2);
    assert_eq!(lines(&run.profile().expect("it fits")), [(1, 7), (8, 7)]);
}

/// `host` (line 1) is: line 20 before, then a call on line 21 of a callee (defined on line 1) with code on line 30, inlined
/// there as node 1 with a loop of its own, then the rest of line 21.
#[test]
fn inlined_code_counts_at_home_and_its_call_once() {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    use EdgeKind::{Branch, Entry, Exit, Fallthrough};
    let nodes = vec![node(0, &[(20, 1), (21, 1)]), node(1, &[]), node(2, &[(21, 2), (22, 1)])];
    let edges = [
        (None, Some(0), Entry),
        (Some(0), Some(1), Fallthrough),
        (Some(1), Some(1), Branch),
        (Some(1), Some(2), Branch),
        (Some(2), None, Exit),
    ];
    let host = maker.function("host", Linkage::External, nodes, &edges);
    let call = maker.location("host", 21, None);
    let inlined = maker.location("callee", 30, Some(call));
    let function = &mut maker.module.functions[host];
    function.nodes[1].locations.push((inlined, 4));
    function.nodes[1].opcodes_at.push(1);
    function.nodes[1].opcodes = vec![(function.nodes[0].opcodes[0].0, 4)];
    function.line = 19;
    maker.module.locations[inlined.0 as usize].function_line = 29;
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, host, &[0, 1, 3, 4], 6);
    run.walk(&maker, host, &[2], 10);
    let profile = run.profile().expect("it fits");
    // The callee's loop turns on its own line, not on the line of the call.
    assert_eq!(lines(&profile), [(19, 6), (20, 6), (21, 6), (22, 6), (29, 6), (30, 16)]);
    let table = LineTable::new(&profile);
    let source = table.files.values().next().expect("one file");
    let functions: Vec<_> =
        source.functions.iter().map(|((line, symbol), function)| (*line, &**symbol, function.entries, function.inlined)).collect();
    assert_eq!(functions, [(19, "host", 6, 0), (29, "callee", 0, 6)]);
}

#[test]
fn without_edge_counts_a_line_counts_its_hottest_node() {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Blocks);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &ENTER, 3);
    run.walk(&maker, f, &THEN, 5);
    run.walk(&maker, f, &LEAVE, 3);
    assert_eq!(lines(&run.profile().expect("it fits")), [(1, 3), (2, 8), (3, 5), (4, 5), (5, 0), (6, 3)]);
}
