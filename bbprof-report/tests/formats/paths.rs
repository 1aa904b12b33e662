//! Paths as text and in JSON, and the DAG that numbers them.

use crate::example::{PLAIN, text};
use crate::schema::check;
use crate::support::*;
use bbprof_profile::{CounterMode, Linkage, Profile};
use bbprof_report::{PathOptions, Style, write_json, write_path_dag, write_paths};
use serde_json::{Value, json};

/// Enters twice: a turn then, a turn else; the second activation ends in its second call of `g`.
fn profile(mode: CounterMode) -> Profile {
    let mut maker = ModuleMaker::new("a.c", mode);
    let f = loop_with_branch(&mut maker, "f", Linkage::External);
    let mut run = Run::new(&[(&maker, None)]);
    if mode == CounterMode::Paths {
        for (path, times) in
            [(&[0, 1, 2, 5][..], 2), (&[0, 1, 2, 4, 6, 8, 10], 2), (&[2, 5], 2), (&[2, 4, 7, 9, 10], 1), (&[3, 11], 1)]
        {
            run.count_path(&maker, f, path, times);
        }
    }
    run.profile().expect("it fits")
}

#[test]
fn as_text() {
    let profile = profile(CounterMode::Paths);
    let functions: Vec<_> = profile.functions().collect();
    let written = |top, coverage_thousandths| {
        text(|out| write_paths(&profile, &functions, &PathOptions { top, coverage_thousandths, style: PLAIN }, out))
    };
    let all = written(9, None);
    assert!(
        all.starts_with(
            "4 paths taken, of 8 possible in 1 function; 50 instructions (LLVM IR)\n\n56.0 %  2 x 14 instructions  f path "
        ),
        "{all}"
    );
    assert!(all.contains("\n    entry #0 #1 #2 #3 #5 goes on at #1\n    a.c:2 3 4 2\n"), "{all}");
    assert!(all.contains("\n    ... #1 #2 vanishes in a call\n"), "{all}");
    assert!(all.ends_with("\n    ... #1 #6 leaves\n    a.c:2 6\n"), "{all}");
    assert!(all.contains("\n    100.0 % of 1 iterations from #1 to #1, 13.0 instructions on average\n"), "{all}");
    let narrow = PathOptions { top: 9, coverage_thousandths: None, style: Style { width: 40, ..PLAIN } };
    let narrow = text(|out| write_paths(&profile, &functions, &narrow, out));
    assert!(
        narrow.contains("\n    entry #0 #1 #2 #3 #5 goes on at #1\n") && narrow.contains("\n    ... #1 #2 vanishes in a call\n"),
        "{narrow}"
    );
    let half = written(9, Some(500));
    assert!(half.contains("\n1 path covers 50.0 % of them\n") && half.matches("  f path ").count() == 1, "{half}");
    assert!(written(0, Some(1000)).ends_with("\n4 paths cover 100.0 % of them\n"));
}

#[test]
fn in_json() {
    let value: Value = serde_json::from_str(&text(|out| write_json(&profile(CounterMode::Paths), false, out))).expect("JSON");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema/bbprof-profile-1.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the shipped schema")).expect("JSON");
    assert_eq!(check(&schema, &value, "$"), Ok(()));
    let paths = value["functions"][0]["paths"].as_array().expect("paths");
    assert_eq!(paths.iter().map(|path| path["count"].as_i64()).sum::<Option<i64>>(), Some(5));
    let vanished = paths.iter().find(|path| path["end"] == "vanishes").expect("one");
    assert_eq!((&vanished["blocks"], &vanished["from_entry"], vanished.get("to")), (&json!([1, 2]), &json!(false), None));
    let value: Value = serde_json::from_str(&text(|out| write_json(&profile(CounterMode::Edges), false, out))).expect("JSON");
    assert_eq!(value["functions"][0].get("paths"), None);
}

/// All ways from ROOT to EXIT, read out of the text, sum to each number once.
#[test]
fn the_dag_numbers_every_path_once() {
    let counted = profile(CounterMode::Paths);
    let dag = text(|out| write_path_dag(counted.functions().next().expect("f"), out));
    let arcs: Vec<(&str, &str, u64)> = dag
        .lines()
        .filter_map(|line| {
            let (from, rest) = line.trim().split_once(" -> ")?;
            let (to, rest) = rest.split_once(" [label=\"+")?;
            Some((from, to, rest.split(['\"', ' ']).next()?.parse().expect("a value")))
        })
        .collect();
    let mut numbers = Vec::new();
    let mut pending = vec![("root", 0)];
    while let Some((at, sum)) = pending.pop() {
        if at == "exit" {
            numbers.push(sum);
        }
        pending.extend(arcs.iter().filter(|(from, ..)| *from == at).map(|(_, to, value)| (*to, sum + value)));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..8).collect::<Vec<u64>>(), "{dag}");
    assert!(dag.contains("goes on at #1\", style=dashed]") && dag.contains("vanishes\", style=dotted]"), "{dag}");
    let edges = profile(CounterMode::Edges);
    assert_eq!(text(|out| write_path_dag(edges.functions().next().expect("f"), out)), "");
}
