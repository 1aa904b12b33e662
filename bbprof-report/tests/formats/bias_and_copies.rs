//! Branch bias and the copy ledger, on the made profile and on one with inlined copies.

use crate::example::{PLAIN, profile, text};
use crate::support::*;
use bbprof_profile::{CounterMode, EdgeKind, FunctionView, Linkage};
use bbprof_report::{MixBy, MixReport, write_bias, write_copies, write_ledger};
use unicode_width::UnicodeWidthStr;

/// By hand: the loop's test goes on 8 of 10 times, the `if` one way 5 of 7 times.
#[test]
fn bias() {
    let said = text(|out| write_bias(&profile(), 10, PLAIN, out));
    let head = "\
branches          2 of 2 executed, 0 of them one way only
never executed    0 in functions that ran, 0 in others
executions        17
the usual way     13 (76.5 %)

Hardest branches, by executions against the usual way
against     %          of  usual %  branch
      2  50.0  ██████  10     80.0  f #1  a.c:2
      2  50.0  ██████   7     71.4  f #2  a.c:3

Functions by the same
against      %  of  usual %  branches  function
      4  100.0  17     76.5         2  f  a.c:1
";
    assert!(said.starts_with(head), "{said}");
    assert!(said.lines().all(|line| line.width() <= 80), "{said}");
}

/// A function of its own, entered 4 times, and twice inlined into `h`, in nodes that ran 6 and 3 times.
fn copied(symbol: &str) -> bbprof_profile::Profile {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    leaf(&mut maker, symbol, Linkage::External);
    let edges = [(None, Some(0), EdgeKind::Entry), (Some(0), Some(1), EdgeKind::Fallthrough), (Some(1), None, EdgeKind::Exit)];
    let h = maker.function("h", Linkage::External, vec![node(0, &[(20, 2)]), node(1, &[(21, 2)])], &edges);
    let calls = [20, 21].map(|line| maker.location("h", line, None));
    for (node, call) in calls.into_iter().enumerate() {
        let inlined = maker.location(symbol, 8, Some(call));
        let node = &mut maker.module.functions[h].nodes[node];
        node.locations.push((inlined, 3));
        node.opcodes_at.push(1);
        node.opcodes[0].1 += 3;
    }
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, 0, &[0, 1], 4);
    run.walk(&maker, h, &[0, 1, 2], 6);
    run.profile().expect("counters fit the map")
}

#[test]
fn ledger() {
    let profile = copied("s");
    let said = text(|out| write_ledger(&profile, 10, PLAIN, out));
    let expected = "\
functions of the source  2
with several copies      1, 68.4 % of the instructions

By executed instructions (copies: own + inlined)
instructions     %  executions  in code  copies  function
          52  68.4          16       10     1+2  s  a.c:1
";
    assert_eq!(said, expected);
    let mut found = 0;
    let size_of = |function: &FunctionView<'_>| (function.image_path() == "/bin/app" && function.symbol() == "s").then_some(99);
    let said = text(|out| {
        found = write_copies(&profile, "s", 10, PLAIN, &size_of, out)?;
        Ok(())
    });
    let expected = "\
s  a.c:1
3 copies, 16 executions, 52 instructions
instructions     %  executions  in code  bytes  usual %  copy
          18  34.6           6        3      -        -  in h  a.c:20
          18  34.6           6        3      -        -  in h  a.c:21
          16  30.8           4        4     99        -  own  s
";
    assert_eq!((found, &*said), (1, expected));
    let none = text(|out| write_copies(&profile, "t", 10, PLAIN, &size_of, out).map(|found| assert_eq!(found, 0)));
    assert_eq!(none, "");
}

/// In Rust, a name may begin with a type, which is not the arguments of a generic.
#[test]
fn implementations_of_traits_are_named() {
    let profile = copied("_ZN27_$LT$u8$u20$as$u20$a..T$GT$3run17h0123456789abcdefE");
    let said = text(|out| write_ledger(&profile, 10, PLAIN, out));
    assert!(said.ends_with("1+2  <u8 as a::T>::run  a.c:1\n"), "{said}");
    for wanted in ["run", "::run", "<u8 as a::T>::run"] {
        let said = text(|out| write_copies(&profile, wanted, 10, PLAIN, &|_| None, out).map(|found| assert_eq!(found, 1)));
        assert!(said.starts_with("<u8 as a::T>::run  a.c:1\n3 copies, "), "{said}");
    }
}

/// A macro defines both on its line: for the ledger, and for the mix by functions, they are two, as in the report.
#[test]
fn overloads_on_one_line_stay_apart() {
    let mut maker = ModuleMaker::new("a.cpp", CounterMode::Edges);
    let overloads = ["_Z1gi", "_Z1gd"].map(|symbol| leaf(&mut maker, symbol, Linkage::External));
    let mut run = Run::new(&[(&maker, None)]);
    for (times, overload) in (1..).zip(overloads) {
        run.walk(&maker, overload, &[0, 1], times);
    }
    let profile = run.profile().expect("counters fit the map");
    let ledger = text(|out| write_ledger(&profile, 10, PLAIN, out));
    assert!(ledger.starts_with("functions of the source  2\nwith several copies      0"), "{ledger}");
    for (wanted, number) in [("g", 2), ("g(int)", 1)] {
        text(|out| write_copies(&profile, wanted, 10, PLAIN, &|_| None, out).map(|found| assert_eq!(found, number, "{wanted}")));
    }
    let mix = text(|out| MixReport::of_run(&profile, MixBy::Function).write_text(9, PLAIN, out));
    assert!(mix.contains("g(int)") && mix.contains("g(double)"), "{mix}");
}
