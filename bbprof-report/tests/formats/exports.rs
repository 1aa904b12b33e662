//! The exports' texts for the made profile, and what the tools that read them say.

use crate::example::{profile, run_turning, text};
use crate::readers::{filtered, said_of};
use crate::schema::check;
use bbprof_report::{dot_files, write_afdo, write_callgrind, write_csv, write_dot, write_folded, write_pprof, write_speedscope};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use std::io::Read;

const CALLGRIND: &str = "\
# callgrind format
version: 1
creator: bbprof VERSION
cmd: /bin/app
desc: Trigger: 1 processes
desc: Note: inclusive costs are shared out evenly over the calls of a function
positions: line
event: Instructions : LLVM IR instructions
events: Instructions
summary: 137

ob=(1) /bin/app
fl=(2) /src/a.c
fn=(3) f
2 57
3 30
4 10
5 6
6 2
cfi=(2)
cfn=(4) g
calls=8 7
0 32
jcnd=8/10 3
2
jcnd=2/10 6
2
jcnd=5/7 4
3
jcnd=2/7 5
3
jump=5 2
4
jump=2 2
5

";

/// Worked out by hand from the walks of the example: `f` enters its loop 3 times, turns 5 and 2 times; `g` has 4 instructions.
#[test]
fn callgrind() {
    let found = text(|out| write_callgrind(&profile(), out));
    let expected = CALLGRIND.replace("VERSION", env!("CARGO_PKG_VERSION"));
    let end = "ob=(1)\nfl=(2)\nfn=(4)\n8 32\n\n\ntotals: 137\n";
    assert_eq!(found, expected + end);
    // Requires valgrind.
    let said = said_of(found.as_bytes(), "callgrind.out", "callgrind_annotate", &["--inclusive=yes", "--show-percs=no", "{}"]);
    assert!(said.contains("137  PROGRAM TOTALS"), "{said}");
    assert!(said.contains("137  /src/a.c:f [/bin/app]"), "{said}");
    assert!(said.contains("32  /src/a.c:g [/bin/app]"), "{said}");
}

#[test]
fn folded_stacks() {
    assert_eq!(text(|out| write_folded(&profile(), out)), "f 105\ng 32\n");
}

#[test]
fn csv_has_a_row_for_each_block() {
    let table = text(|out| write_csv(&profile(), out));
    let script = "import csv,sys,json; print(json.dumps(list(csv.DictReader(sys.stdin))))";
    let rows: Value = serde_json::from_str(&filtered(table.as_bytes(), "python3", &["-c", script])).expect("JSON");
    let rows = rows.as_array().expect("list");
    assert_eq!(rows.len(), 9);
    let row = &rows[2];
    assert_eq!((&row["symbol"], &row["block"], &row["count"]), (&json!("f"), &json!("2"), &json!("8")));
    assert_eq!((&row["block_line"], &row["executed_instructions"]), (&json!("/src/a.c:3"), &json!("30")));
    let sum: u64 =
        rows.iter().map(|row| row["executed_instructions"].as_str().expect("text").parse::<u64>().expect("number")).sum();
    assert_eq!(sum, 137);
}

/// Requires graphviz, which writes the graph as JSON again.
#[test]
fn dot_graphs_are_read_by_graphviz() {
    let profile = profile();
    let files = dot_files(&profile);
    assert_eq!(files.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["f", "g", "_ZN5never3runE"]);
    let graph = text(|out| write_dot(&profile, files[0].1, out));
    let drawn: Value = serde_json::from_str(&filtered(graph.as_bytes(), "dot", &["-Tdot_json"])).expect("JSON");
    assert_eq!(drawn["name"], "f");
    assert_eq!(drawn["objects"].as_array().expect("list").len(), 7);
    let labels: Vec<&str> = drawn["edges"].as_array().expect("list").iter().filter_map(|edge| edge["label"].as_str()).collect();
    assert_eq!(labels, ["3", "8", "2", "5", "2", "5", "2", "7"]);
}

/// By the schema out of speedscope's own package.
#[test]
fn speedscope() {
    let value: Value = serde_json::from_str(&text(|out| write_speedscope(&profile(), out))).expect("JSON");
    let schema: Value = serde_json::from_str(include_str!("speedscope/file-format-schema.json")).expect("JSON");
    assert_eq!(check(&schema, &value, "$"), Ok(()));
    for broken in ["/shared/frames/0/name", "/profiles/0/weights", "/profiles/0/unit"] {
        let mut value = value.clone();
        *value.pointer_mut(broken).expect("it is there") = json!(null);
        assert!(check(&schema, &value, "$").is_err(), "{broken}");
    }
    let sampled = &value["profiles"][0];
    assert_eq!((&sampled["type"], &sampled["unit"], &sampled["endValue"]), (&json!("sampled"), &json!("none"), &json!(137)));
    assert_eq!((&sampled["samples"], &sampled["weights"]), (&json!([[0], [1]]), &json!([105, 32])));
    assert_eq!(value["shared"]["frames"][1], json!({"name": "g", "file": "/src/a.c", "line": 7}));
}

/// The message as protoc reads it, without a schema: field numbers and values.
#[test]
fn pprof_is_decoded_by_protoc() {
    let mut packed = Vec::new();
    write_pprof(&profile(), &mut packed).expect("memory");
    let mut message = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut message).expect("gzip");
    let said = filtered(&message, "protoc", &["--decode_raw"]);
    // sample_type = (instructions, count); f's samples by line 2 to 6, then g's; string 0 is empty.
    assert!(said.starts_with("1 {\n  1: 1\n  2: 2\n}\n2 {\n"), "{said}");
    let values: Vec<&str> = said.split("\n2 {\n").skip(1).collect();
    assert_eq!(values.len(), 6, "{said}");
    for (text, value) in values.iter().zip(["\"9\"", "\"\\036\"", "\"\\n\"", "\"\\006\"", "\"\\002\"", "\" \""]) {
        assert!(text.contains(&format!("2: {value}\n")), "{text}");
    }
    assert!(said.contains("\n6: \"\"\n6: \"instructions\"\n6: \"count\"\n"), "{said}");
    assert!(said.contains("\n5 {\n  1: 2\n"), "two functions ran: {said}");
    // The program is told, but no location is said to be at an address of it.
    assert!(said.contains("\n3 {\n  1: 1\n  5: ") && said.contains("\n4 {\n  1: 1\n  4 {\n"), "{said}");
}

/// Readers would take others for them, or refuse the file.
#[test]
fn numbers_that_a_format_cannot_hold() {
    let turning = |turns: u64| run_turning(turns).profile().expect("counters fit the map");
    let refused = |written: std::io::Result<()>| written.expect_err("a number is too large").to_string();
    // Each turn executes three of `f`'s lines; the rest of the walks, twelve.
    let turns = (u64::MAX - 12) / 3;
    assert!(text(|out| write_afdo(&turning(turns), out)).starts_with(&format!("f:{}:3\n", u64::MAX)));
    let said = refused(write_afdo(&turning(turns + 1), &mut Vec::new()));
    assert!(said.starts_with("f: 18446744073709551618 executions do not fit into the 64 bits"), "{said}");
    let instructions = |turns: u64| turning(turns).totals().instructions as u64;
    let of_turn = instructions(1) - instructions(0);
    let turns = ((1 << 53) - 1 - instructions(0)) / of_turn;
    assert!(write_speedscope(&turning(turns), &mut Vec::new()).is_ok());
    let said = refused(write_speedscope(&turning(turns + 1), &mut Vec::new()));
    assert!(said.starts_with("/bin/app: 90071992547") && said.contains("53 bits"), "{said}");
    let turns = (u64::MAX - instructions(0)) / of_turn;
    for write in [write_callgrind, write_folded] {
        assert!(write(&turning(turns), &mut Vec::new()).is_ok());
        let said = refused(write(&turning(turns + 1), &mut Vec::new()));
        assert!(said.starts_with("all ") && said.contains(": 1844674407370955") && said.contains("64 bits"), "{said}");
    }
}

/// Requires llvm-profdata of clang 22.
#[test]
fn afdo_is_read_by_llvm() {
    let found = text(|out| write_afdo(&profile(), out));
    assert_eq!(found, "f:27:3\n 1: 10\n 2: 8\n 3: 5\n 4: 2\n 5: 2\ng:8:8\n 7: 8\n_ZN5never3runE:0:0\n");
    let again = said_of(
        found.as_bytes(),
        "a.prof",
        "/usr/lib/llvm-22/bin/llvm-profdata",
        &["merge", "--sample", "--text", "{}", "-o", "-"],
    );
    assert!(again.contains("f:27:3\n 1: 10\n 2: 8\n"), "{again}");
}
