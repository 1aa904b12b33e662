//! Size: what is linear in the source is linear here.

use super::support::*;
use bbprof_profile::{CounterMode, EdgeKind, LineTable, Linkage};
use std::time::{Duration, Instant};

/// For one step. Quadratic work takes many times longer.
const LIMIT: Duration = Duration::from_secs(5);

/// Three `goto`s in each of 4,000 states, each on a line of its own, to the next state and to wherever.
#[test]
fn lines_of_a_state_machine_of_gotos() {
    use EdgeKind::{Entry, Exit, Fallthrough, Switch};
    let states = 4_000_u32;
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let (mut nodes, mut edges) = (Vec::new(), vec![(None, Some(0), Entry)]);
    let mut random = 1_u32;
    for state in 0..states {
        let decides = 4 * state;
        nodes.push(node(decides, &[(1 + decides, 2)]));
        edges.extend((1..4).map(|way| (Some(decides), Some(decides + way), Switch)));
        for jump in decides + 1..decides + 4 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let next = if jump == decides + 1 { state + 1 } else { random >> 8 };
            nodes.push(node(jump, &[(1 + jump, 1)]));
            edges.push((Some(jump), Some(4 * (next % states)), Fallthrough));
        }
    }
    nodes.push(node(4 * states, &[(1 + 4 * states, 1)]));
    edges.extend([(Some(0), Some(4 * states), Switch), (Some(4 * states), None, Exit)]);
    let f = maker.function("f", Linkage::External, nodes, &edges);
    let br = maker.string("br");
    for jump in maker.module.functions[f].nodes.iter_mut().filter(|node| node.block % 4 != 0) {
        jump.opcodes = vec![(br, 1)];
    }
    let profile = Run::new(&[(&maker, None)]).profile().expect("it fits");
    let start = Instant::now();
    let table = LineTable::new(&profile);
    let elapsed = start.elapsed();
    assert_eq!(table.files.values().next().map(|source| source.lines.len()), Some(4 * states as usize + 1));
    assert!(elapsed < LIMIT, "{elapsed:?}");
}

/// A table that is filled without a call, 200,000 lines in one block.
#[test]
fn locations_of_a_long_block() {
    let lines = 200_000;
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let f = leaf(&mut maker, "f", Linkage::External);
    let location = maker.module.locations[0].clone();
    maker.module.locations.extend((9..lines + 8).map(|line| bbprof_format::manifest::Location { line, ..location.clone() }));
    let node = &mut maker.module.functions[f].nodes[0];
    node.locations = (0..lines).map(|position| (bbprof_format::manifest::LocationId(position), 2)).collect();
    node.opcodes_at = vec![1; lines as usize];
    node.opcodes[0].1 = 2 * lines;
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &[0, 1], 3);
    let profile = run.profile().expect("it fits");
    let function = profile.functions().next().expect("f");
    let start = Instant::now();
    let by_location = function.blocks().next().expect("its block").instructions_by_location();
    let elapsed = start.elapsed();
    assert_eq!((by_location.len(), by_location[1].1, by_location[1].2), (lines as usize, 2, 6));
    assert!(elapsed < LIMIT, "{elapsed:?}");
}
