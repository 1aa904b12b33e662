//! The JSON export follows its schema, and its numbers are those of the run.

use crate::example::{profile, text};
use crate::schema::{Fault, check};
use bbprof_report::write_json;
use serde_json::{Value, json};

fn exported() -> Value {
    serde_json::from_str(&text(|out| write_json(&profile(), true, out))).expect("JSON")
}

fn schema() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema/bbprof-profile-1.json");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the shipped schema")).expect("JSON")
}

#[test]
fn follows_the_schema() {
    assert_eq!(check(&schema(), &exported(), "$"), Ok(()));
}

/// The checker of the schema is not blind.
#[test]
fn deviations_from_the_schema_are_found() {
    type Change = fn(&mut Value);
    let changes: [Change; 7] = [
        |v| v["schema"] = json!("bbprof-profile/2"),
        |v| v["exact"] = json!(1),
        |v| v["functions"][0]["entries"] = json!(-1),
        |v| v["functions"][0]["blocks"][0]["opcodes"]["add"] = json!("2"),
        |v| v["functions"][0]["edges"][0]["kind"] = json!("jump"),
        |v| v["more"] = json!(1),
        |v| drop(v.as_object_mut().expect("object").remove("totals")),
    ];
    for change in changes {
        let mut value = exported();
        change(&mut value);
        assert!(matches!(check(&schema(), &value, "$"), Err(Fault { .. })), "{value}");
    }
}

#[test]
fn numbers() {
    let value = exported();
    assert_eq!(value["exact"], true);
    assert_eq!(value["processes"][0]["fate"], "exit 0");
    assert_eq!(value["totals"]["block_executions"], 45);
    assert_eq!(value["skipped"][0]["symbol"], "naked_one");
    let f = &value["functions"][0];
    assert_eq!((&f["symbol"], &f["entries"], &f["file"], &f["line"]), (&json!("f"), &json!(3), &json!("/src/a.c"), &json!(1)));
    let counts: Vec<&Value> = f["blocks"].as_array().expect("list").iter().map(|block| &block["count"]).collect();
    assert_eq!(counts, [3, 10, 8, 5, 2, 7, 2]);
    assert_eq!(f["blocks"][2]["calls"], json!(["g"]));
    assert_eq!(f["blocks"][2]["vanished"], 1);
    assert_eq!(f["edges"][3], json!({"from": 2, "to": 3, "count": 5, "kind": "branch"}));
    assert_eq!(value["functions"][2]["name"], "never::run");
    for function in value["functions"].as_array().expect("list") {
        let executed = |block: &Value| block["instructions"].as_u64().expect("a number");
        let sum: u64 = function["blocks"].as_array().expect("list").iter().map(executed).sum();
        assert_eq!(function["instructions"], sum);
    }
    // 8 executions of 4 instructions; one did not come back from the second of them.
    assert_eq!(f["blocks"][2]["instructions"], 8 * 4 - 2);
}
