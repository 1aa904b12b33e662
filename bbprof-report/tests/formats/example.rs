//! The profile that all formats show.

use crate::support::*;
use bbprof_profile::{CounterMode, Linkage, Profile};

/// `f` and `g` of [`crate::support`]: 3 entries, 5 turns one way and 2 the other, one activation that `g` never returns to; a
/// function that never ran; one that was not instrumented.
pub(crate) fn run() -> Run {
    run_turning(5)
}

/// The same with so many turns one way.
pub(crate) fn run_turning(turns: u64) -> Run {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let g = leaf(&mut maker, "g", Linkage::External);
    leaf(&mut maker, "_ZN5never3runE", Linkage::External);
    maker.module.functions[g].line = 7;
    maker.module.functions[2].line = 9;
    let (symbol, reason) = (maker.string("naked_one"), maker.string("it is naked"));
    maker.module.skipped.push(bbprof_format::manifest::Skipped { symbol, reason, linkage: Some(Linkage::External) });
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &ENTER, 3);
    run.walk(&maker, f, &THEN, turns);
    run.walk(&maker, f, &ELSE, 2);
    run.walk(&maker, f, &GONE, 1);
    run.walk(&maker, f, &LEAVE, 2);
    run.walk(&maker, g, &[0, 1], 8);
    run
}

/// Two functions of one line each, the same one, that ran so often each.
pub(crate) fn run_one_line(times: u64) -> Run {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let functions = ["f", "g"].map(|symbol| leaf(&mut maker, symbol, Linkage::External));
    let mut run = Run::new(&[(&maker, None)]);
    functions.iter().for_each(|function| run.walk(&maker, *function, &[0, 1], times));
    run
}

pub(crate) fn profile() -> Profile {
    run().profile().expect("counters fit the map")
}

/// What a writer writes.
pub(crate) fn text<T>(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<T>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory can be written");
    String::from_utf8(out).expect("text")
}

/// 80 columns, no colours.
pub(crate) const PLAIN: bbprof_report::Style = bbprof_report::Style { width: 80, colour: false };
