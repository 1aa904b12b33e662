//! Counters and maps that do not belong together, and manifests that lie.

use super::support::*;
use bbprof_format::manifest::{LocationId, Manifest, Site, StringId};
use bbprof_profile::{CounterMode, Linkage, ProfileError};

fn example() -> (ModuleMaker, Run) {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    loop_with_branch(&mut maker, "f", Linkage::External);
    let run = Run::new(&[(&maker, None)]);
    (maker, run)
}

#[test]
fn counters_of_another_build_are_refused() {
    let (_, mut run) = example();
    run.counters.build_id = bbprof_format::Digest::of(b"another");
    assert!(matches!(run.profile(), Err(ProfileError::BuildId { .. })));
    let (_, mut run) = example();
    run.counters.layout = bbprof_format::Digest::of(b"another");
    assert!(matches!(run.profile(), Err(ProfileError::Layout { .. })));
    let (_, mut run) = example();
    run.counters.tls.pop();
    assert!(matches!(run.profile(), Err(ProfileError::Length { what: "thread-local counters", .. })));
    let (_, mut run) = example();
    run.counters.presence.push(true);
    assert!(matches!(run.profile(), Err(ProfileError::Length { what: "optional modules", .. })));
}

#[test]
fn arrays_outside_their_bank_are_refused() {
    let (_, mut run) = example();
    run.map.body.arrays[0].first += 1;
    assert!(matches!(run.profile(), Err(ProfileError::Placement { .. })));
    let (_, mut run) = example();
    run.map.body.arrays.clear();
    assert!(matches!(run.profile(), Err(ProfileError::Placement { .. })));
    let (_, mut run) = example();
    run.map.body.modules[0].manifest.to_mut().truncate(100);
    assert!(matches!(run.profile(), Err(ProfileError::Module { .. })));
}

/// Each change makes an index point nowhere, or a number too large; the checksum is
/// right, so only the proof of the module can tell.
#[test]
fn manifests_that_cannot_be_right_are_refused() {
    type Change = fn(&mut ModuleMaker);
    let changes: [(&str, Change); 15] = [
        ("symbol", |m| m.module.functions[0].symbol = StringId(999)),
        ("file", |m| m.module.functions[0].file = Some(StringId(999))),
        ("callee", |m| m.module.functions[0].nodes[2].calls[0].callee = bbprof_format::manifest::Callee::Symbol(StringId(999))),
        ("opcode", |m| m.module.functions[0].nodes[0].opcodes[0].0 = StringId(999)),
        ("location", |m| m.module.functions[0].nodes[0].locations[0].0 = LocationId(999)),
        ("located", |m| m.module.functions[0].nodes[0].locations[0].1 = 999),
        ("opcodes at locations", |m| m.module.functions[0].nodes[0].opcodes_at.push(1)),
        ("opcode at a location", |m| m.module.functions[0].nodes[0].opcodes_at[0] = 1 << 63),
        ("inlined at itself", |m| m.module.locations[0].inlined_at = Some(LocationId(0))),
        ("edge", |m| m.module.functions[0].edges[1].to = Some(99)),
        ("block order", |m| m.module.functions[0].nodes[1].block = 5),
        ("blocks", |m| m.module.functions[0].num_blocks += 1),
        ("array", |m| m.module.functions[0].array = 1),
        ("first counter", |m| m.module.functions[0].first_counter = 1),
        ("site", |m| m.module.functions[0].sites[0] = Site::Node(99)),
    ];
    for (what, change) in changes {
        let (mut maker, _) = example();
        change(&mut maker);
        let bytes = maker.manifest();
        assert!(Manifest::read(&bytes).expect("header and checksum are right").module().is_err(), "{what}");
    }
}

#[test]
fn long_and_circular_inlining_chains() {
    let (mut maker, _) = example();
    let mut outer = None;
    for line in 1..10_000 {
        outer = Some(maker.location("f", line + 100, outer));
    }
    assert!(Manifest::read(&maker.manifest()).expect("sound").module().is_ok());
    let (first, last) = (maker.module.locations.len() - 9_999, outer.expect("made"));
    maker.module.locations[first].inlined_at = Some(last);
    assert!(Manifest::read(&maker.manifest()).expect("sound").module().is_err());
}
