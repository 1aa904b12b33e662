//! `bbprof mix`: figures known beforehand, sums that two commands must agree on, and two placements that must.

use bbprof_tests::{Exported, LEVELS, ProfiledRun, Run, Sandbox, calm_lua, gcd, lua, tool};
use serde_json::Value;
use std::path::PathBuf;

fn mix(words: &[&str], inputs: &[PathBuf]) -> Value {
    let outcome = Run::new(tool("bbprof")).args(["mix", "--json"]).args(words).args(inputs).ok();
    serde_json::from_slice(&outcome.stdout).unwrap_or_else(|e| panic!("{}: not JSON: {e}", outcome.what))
}

/// "LLVM instruction counts", section 4: `ret` stands twice and runs four times, three of
/// them in `gcd`; its branch is true once of three times.
#[test]
fn gcd_of_72_and_32() {
    let program = gcd();
    for level in LEVELS {
        let sandbox = Sandbox::new("mix-gcd");
        let path = program.build_profiled(&[level], sandbox.join("gcd"));
        let raw = program.profile(&path, &sandbox);
        let all = mix(&[], std::slice::from_ref(&raw));
        let row = &all["rows"][0];
        assert_eq!(all["exact"], true);
        assert_eq!((&row["opcodes"]["ret"]["in_code"], &row["opcodes"]["ret"]["executed"]), (&2.into(), &4.into()), "{level}");
        assert_eq!((&row["branches"]["true"], &row["branches"]["false"]), (&1.into(), &2.into()), "{level}");
        let functions = mix(&["--by", "function"], &[raw]);
        let gcd = functions["rows"].as_array().expect("rows").iter().find(|row| row["name"] == "gcd").expect("gcd");
        assert_eq!((&gcd["opcodes"]["ret"]["in_code"], &gcd["opcodes"]["ret"]["executed"]), (&1.into(), &3.into()), "{level}");
        assert_eq!(gcd["opcodes"]["urem"]["executed"], 2, "{level}");
        let code = mix(&["--static"], &[path]);
        assert_eq!((&code["rows"][0]["opcodes"]["ret"]["in_code"], &code["exact"]), (&2.into(), &Value::Null), "{level}");
    }
}

/// Lua leaves by `exit` inside calls: what stands behind those calls was not executed, in the sum of the report and here.
#[test]
fn every_grouping_of_lua_sums_to_the_instructions_of_the_report() {
    let sandbox = Sandbox::new("mix-lua");
    let path = lua().build_profiled(&["-O2"], sandbox.join("lua"));
    let raw = lua().profile(&path, &sandbox);
    let instructions = Exported::of(std::slice::from_ref(&raw)).total("instructions");
    for by in ["program", "module", "function", "instantiation"] {
        let mix = mix(&["--by", by], std::slice::from_ref(&raw));
        let sum = |part: &str| {
            let of_row = |row: &Value| row[part].as_object().expect("counts").values().map(executed).sum::<u64>();
            mix["rows"].as_array().expect("rows").iter().map(of_row).sum::<u64>()
        };
        assert_eq!((sum("opcodes"), sum("groups")), (instructions, instructions), "{by}");
    }
    let csv = Run::new(tool("bbprof")).args(["mix", "--csv", "--by", "instantiation"]).arg(&raw).ok().text();
    let column = |line: &str| line.rsplit(',').nth(1).and_then(|field| field.parse::<u64>().ok());
    assert_eq!(csv.lines().skip(1).map(|line| column(line).expect("a count")).sum::<u64>(), instructions);
    // As wide as asked for; places that have no room beside a name stand below it.
    let text = Run::new(tool("bbprof")).args(["mix", "--by", "function", "--top", "1000", "--width", "80"]).arg(&raw).ok().text();
    let too_wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(too_wide.is_empty() && text.contains("luaV_execute\n  ") && text.contains("lvm.c:"), "{too_wide:?}");
}

fn executed(count: &Value) -> u64 {
    count["executed"].as_u64().expect("a count")
}

/// A counter in every block, and counters on a few edges: different counters, one mix.
#[test]
fn two_placements_give_one_mix() {
    let sandbox = Sandbox::new("mix-placements");
    let rows = |counters: &str| {
        let path = calm_lua().build_profiled(&["-O1", &format!("--bbprof-counters={counters}")], sandbox.join(counters));
        let mix = mix(&[], &[calm_lua().profile(&path, &sandbox)]);
        (mix["rows"][0]["opcodes"].clone(), mix["rows"][0]["instructions"].clone())
    };
    let edges = rows("edges");
    assert!(executed(&edges.1) > 1_000_000);
    assert_eq!(edges, rows("blocks"));
}

/// Members of archives that nobody needs are not in the program, and so not in its mix: with or without a run.
#[test]
fn the_code_of_a_program_is_what_was_linked() {
    let sandbox = Sandbox::new("mix-static");
    sandbox.write("main.c", "int used(int); int main(void) { return used(3) - 9; }\n");
    sandbox.write("used.c", "int used(int n) { return n * n; }\n");
    sandbox.write("unused.c", "int unused(int n) { int sum = 0; while (n-- > 0) sum += n; return sum; }\n");
    let cc = |words: &[&str]| Run::new(tool("bbprof-cc")).args(words).in_folder(sandbox.path()).ok();
    cc(&["-O0", "-c", "main.c", "used.c", "unused.c"]);
    Run::new("ar").args(["rcs", "libnumbers.a", "used.o", "unused.o"]).in_folder(sandbox.path()).ok();
    for (name, options) in [("pie", &["-pie"][..]), ("fixed", &["-no-pie"]), ("static", &["-static"]), ("lld", &["-fuse-ld=lld"])] {
        let link = [&["main.o", "libnumbers.a", "-o", name], options].concat();
        cc(&link);
        let path = sandbox.join(name);
        let raw = ProfiledRun::of(&path, &[], &sandbox).raw;
        let after_a_run = &mix(&[], &[raw])["rows"][0];
        assert_eq!(after_a_run["functions"], 2);
        let map = sandbox.join(format!("{name}.bbmap"));
        for input in [path.clone(), map.clone()] {
            let code = &mix(&["--static"], &[input])["rows"][0];
            assert_eq!(code["instructions"]["in_code"], after_a_run["instructions"]["in_code"], "{name}");
            assert_eq!(code["instructions"]["executed"], Value::Null);
        }
        // The map alone cannot know, and says so.
        let alone = sandbox.join("alone.bbmap");
        std::fs::rename(&map, &alone).expect("renamed");
        let outcome = Run::new(tool("bbprof")).args(["mix", "--static", "--json"]).arg(&alone).ok();
        assert!(outcome.stderr.contains("all 2 members of archives are counted"), "{}", outcome.stderr);
        let rows: Value = serde_json::from_slice(&outcome.stdout).expect("JSON");
        assert_eq!(rows["rows"][0]["functions"], 3);
    }
}

/// Sources of one name in several folders are modules of their own; the folder is shown where the name alone does not tell.
#[test]
fn modules_of_one_name() {
    let sandbox = Sandbox::new("one-module-name");
    let helper = "static int helper(int n) { return n * 3; }\n";
    sandbox.write(
        "net/util.c",
        format!("{helper}int net_work(int n) {{ int s = 0; for (int i = 0; i < n; i++) s += helper(i); return s; }}\n"),
    );
    sandbox.write("disk/util.c", format!("{helper}int disk_work(int n) {{ return helper(n); }}\n"));
    sandbox.write("m.c", "int net_work(int), disk_work(int);\nint main(void) { return (net_work(9) + disk_work(2)) & 0; }\n");
    for folder in ["net", "disk"] {
        Run::new(tool("bbprof-cc")).args(["-O0", "-c", "util.c"]).in_folder(&sandbox.join(folder)).ok();
    }
    Run::new(tool("bbprof-cc")).args(["-O0", "m.c", "net/util.o", "disk/util.o", "-o", "m"]).in_folder(sandbox.path()).ok();
    let raw = sandbox.join("m.bbraw");
    Run::new(sandbox.join("m")).env("BBPROF_OUT", &raw).ok();
    let modules = mix(&["--by", "module"], std::slice::from_ref(&raw));
    let mut names: Vec<&str> =
        modules["rows"].as_array().expect("rows").iter().map(|row| row["name"].as_str().expect("a name")).collect();
    names.sort_by_key(|name| name.len());
    assert!(names[0] == "m.c" && names[1].ends_with("/net/util.c") && names[2].ends_with("/disk/util.c"), "{names:?}");
    let rows = |by: &str, what: &str| {
        let report = Run::new(tool("bbprof")).args(["report", "--by", by]).arg(&raw).ok().text();
        let table = report.split("\nHottest").nth(1).expect("the first table").to_owned();
        table.lines().filter(|line| line.contains(what)).count()
    };
    assert_eq!((rows("module", "util.c"), rows("instantiation", "helper")), (2, 2));
}
