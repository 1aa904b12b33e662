//! The instruction mix as text, CSV and JSON.

use crate::example::{PLAIN, profile, run, text};
use crate::schema::check;
use bbprof_report::{MixBy, MixReport};
use serde_json::{Value, json};

fn as_json(report: &MixReport<'_>) -> Value {
    serde_json::from_str(&text(|out| report.write_json(out))).expect("JSON")
}

#[test]
fn as_text() {
    let expected = "\
1 function not instrumented: not in any number here
f  /src/a.c:1
executed      %  in code      %  opcode
      97   92.4       17   94.4  add
       8    7.6        1    5.6  call
     105  100.0       18  100.0  (all)
executed      %  in code      %  group
      97   92.4       17   94.4  arithmetic
       8    7.6        1    5.6  call
     105  100.0       18  100.0  (all)
conditional branches: true 13 of 17 times (76.5 %)
";
    let profile = profile();
    let report = MixReport::of_run(&profile, MixBy::Function);
    assert_eq!(text(|out| report.write_text(1, PLAIN, out)), expected);
    let code = text(|out| MixReport::of_code(&profile, MixBy::Program).write_text(1, PLAIN, out));
    assert!(code.contains("(program) (3 functions)\nin code      %  opcode\n     25   96.2  add\n"), "{code}");
}

#[test]
fn as_csv() {
    let profile = profile();
    let csv = text(|out| MixReport::of_run(&profile, MixBy::Instantiation).write_csv(out));
    let expected = "\
name,symbol,module,file,line,group,opcode,executed,in_code
f,f,a.c,/src/a.c,1,arithmetic,add,97,17
f,f,a.c,/src/a.c,1,call,call,8,1
g,g,a.c,/src/a.c,7,arithmetic,add,32,4
never::run,_ZN5never3runE,a.c,/src/a.c,9,arithmetic,add,0,4
";
    assert_eq!(csv, expected);
    let code = text(|out| MixReport::of_code(&profile, MixBy::Module).write_csv(out));
    assert!(code.ends_with("\na.c,,,,,arithmetic,add,,25\na.c,,,,,call,call,,1\n"), "{code}");
}

#[test]
fn as_json_by_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schema/bbprof-mix-1.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the shipped schema")).expect("JSON");
    let profile = profile();
    for by in [MixBy::Program, MixBy::Module, MixBy::Function, MixBy::Instantiation] {
        for report in [MixReport::of_run(&profile, by), MixReport::of_code(&profile, by)] {
            assert_eq!(check(&schema, &as_json(&report), "$"), Ok(()));
        }
    }
    let row = &as_json(&MixReport::of_run(&profile, MixBy::Program))["rows"][0];
    assert_eq!(row["instructions"], json!({ "executed": 137, "in_code": 26 }));
    assert_eq!(row["opcodes"]["call"], json!({ "executed": 8, "in_code": 1 }));
    let row = &as_json(&MixReport::of_code(&profile, MixBy::Program))["rows"][0];
    assert_eq!(row["opcodes"]["call"], json!({ "executed": null, "in_code": 1 }));
    assert_eq!(row.get("branches"), None);
}

/// What could not be solved is unknown, in words and as null; never 0.
#[test]
fn functions_without_counts() {
    let mut run = run();
    run.counters.tls[0] = u64::MAX;
    let profile = run.profile().expect("it fits");
    let report = MixReport::of_run(&profile, MixBy::Function);
    let json = as_json(&report);
    let f = json["rows"].as_array().expect("rows").iter().find(|row| row["name"] == "f").expect("f");
    assert_eq!((&json["exact"], &f["unsolved"], &f["instructions"]["executed"]), (&json!(false), &json!(1), &Value::Null));
    let text = text(|out| report.write_text(9, PLAIN, out));
    assert!(text.starts_with("executed leaves out 1 function without counts, see bbprof verify\n"), "{text}");
    assert!(text.contains(" unknown  -  "), "{text}");
}
