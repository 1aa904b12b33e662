//! The comparison of two profiles: its sums, its text, and its JSON by the shipped schema.

use crate::example::{PLAIN, run, text};
use crate::schema::check;
use crate::support::*;
use bbprof_profile::{Change, CounterMode, Diff, Linkage, MatchedBy, Profile};
use bbprof_report::{write_diff, write_diff_json};
use serde_json::Value;

/// The same modules as the example's, run by other walks.
fn other() -> Profile {
    let mut maker = ModuleMaker::new("a.c", CounterMode::Edges);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    leaf(&mut maker, "h", Linkage::External);
    let mut run = Run::new(&[(&maker, None)]);
    run.walk(&maker, f, &ENTER, 3);
    run.walk(&maker, f, &THEN, 6);
    run.walk(&maker, f, &LEAVE, 3);
    run.walk(&maker, 1, &[0, 1], 2);
    run.profile().expect("counters fit the map")
}

#[test]
fn a_profile_and_itself() {
    let profile = run().profile().expect("counters fit the map");
    let diff = Diff::new(&profile, &profile);
    assert_eq!(diff.change, Change::default());
    assert_eq!(text(|out| write_diff(&diff, 10, PLAIN, out)), "instructions    137 -> 137\nno difference in 3 functions\n");
}

/// One-block functions have one shape, which says nothing: `g` vanished and `h` is new.
#[test]
fn parts_of_a_change() {
    let (a, b) = (run().profile().expect("counters fit the map"), other());
    let diff = Diff::new(&a, &b);
    assert_eq!((diff.a, diff.b, diff.moved), (137, 98, 0));
    // f turns 6 times in 3 loops, instead of 7 times and once in part; by hand, block by block.
    let f = diff.functions.iter().find(|function| function.name == "f").expect("f is in both");
    assert_eq!((f.matched_by, f.change), (Some(MatchedBy::Symbol), Change { ran: 90 - 105, ..Change::default() }));
    assert_eq!(diff.change, Change { ran: -15, new: 8, vanished: -32, ..Change::default() });
    let said = text(|out| write_diff(&diff, 10, PLAIN, out));
    assert!(
        said.contains("change          -39  (-28.5 %)\n  ran more/less -15  (-10.9 %)\n  new           +8  (+5.8 %)\n  vanished      -32  (-23.4 %)\n"),
        "{said}"
    );
    assert!(said.contains("\n   -32  -100.0 %            -32  g  a.c:7\n"), "{said}");
}

#[test]
fn json_follows_the_schema() {
    let (a, b) = (run().profile().expect("counters fit the map"), other());
    let value: Value = serde_json::from_str(&text(|out| write_diff_json(&Diff::new(&a, &b), [true, false], out))).expect("JSON");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema/bbprof-diff-1.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the shipped schema")).expect("JSON");
    assert_eq!(check(&schema, &value, "$"), Ok(()));
    assert_eq!((&value["a"]["exact"], &value["b"]["exact"]), (&Value::Bool(true), &Value::Bool(false)));
    assert_eq!(value["change"]["total"], -39);
    let mut wrong = value.clone();
    wrong["functions"][0]["matched_by"] = "guess".into();
    assert!(check(&schema, &wrong, "$").is_err());
}
