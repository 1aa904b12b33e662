//! `bbprof diff` on two versions of a program whose changes are known, and on builds and runs that differ in one thing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_tests::{Exported, Outcome, ProfiledRun, Run, Sandbox, calm_lua, package, tool};
use serde_json::Value;
use std::path::Path;

/// Builds the program of two versions with these options, runs it, and checks it against its tally.
fn version(sandbox: &Sandbox, name: &str, options: &[&str]) -> ProfiledRun {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/changes/changes.c");
    let binary = sandbox.join(name);
    Run::new(tool("bbprof-cc")).args(options).arg(source).arg("-o").arg(&binary).in_folder(sandbox.path()).ok();
    let run = ProfiledRun::of(&binary, &[], sandbox);
    run.check();
    run
}

fn diff(a: &Path, b: &Path, more: &[&str]) -> Outcome {
    Run::new(tool("bbprof")).arg("diff").args([a, b]).args(more).outcome()
}

fn json(a: &Path, b: &Path) -> Value {
    let value: Value = serde_json::from_str(&diff(a, b, &["--json"]).expect_code(0).text()).unwrap();
    sums_are_right(&value);
    value
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Every change is the sum of its parts, and the whole is the sum of the functions.
fn sums_are_right(value: &Value) {
    let parts = ["ran", "code", "new", "vanished", "inlining"];
    let mut sums = [0; 5];
    for function in value["functions"].as_array().unwrap() {
        let change = &function["change"];
        for (sum, part) in sums.iter_mut().zip(parts) {
            *sum += number(&change[part]);
        }
        let side = |side: &str| function[side]["instructions"].as_i64().unwrap_or(0);
        assert_eq!(number(&change["total"]), side("b") - side("a"), "{function}");
        assert_eq!(number(&change["total"]), parts.iter().map(|part| number(&change[part])).sum::<i64>(), "{function}");
    }
    for (sum, part) in sums.iter().zip(parts) {
        assert_eq!(number(&value["change"][part]), *sum, "{part}");
    }
    assert_eq!(number(&value["change"]["inlining"]), 0);
    assert_eq!(number(&value["change"]["total"]), number(&value["b"]["instructions"]) - number(&value["a"]["instructions"]));
}

/// The change of one function: ran, code, new, vanished, inlining.
fn change(value: &Value, name: &str) -> [i64; 5] {
    let function = value["functions"].as_array().unwrap().iter().find(|function| function["name"] == name);
    function.map_or([0; 5], |function| ["ran", "code", "new", "vanished", "inlining"].map(|part| number(&function["change"][part])))
}

/// The truth comes from the programs' tallies and from the lengths of functions that are one block.
#[test]
fn known_changes_have_the_known_reasons() {
    let sandbox = Sandbox::new("diff");
    let (old, new) = (version(&sandbox, "old", &["-O1", "-g"]), version(&sandbox, "new", &["-O1", "-g", "-DCHANGED"]));
    let value = json(&old.raw, &new.raw);
    let (before, after) = (Exported::of(std::slice::from_ref(&old.raw)), Exported::of(std::slice::from_ref(&new.raw)));
    let instructions = |exported: &Exported, name: &str| {
        let function = exported.functions().into_iter().find(|function| function.value["symbol"] == name).unwrap();
        function.value["instructions"].as_i64().unwrap()
    };
    // Called 1,000 and 1,500 times, by their tallies.
    assert_eq!((before.entries("more"), after.entries("more")), (Some(1000), Some(1500)));
    let each = instructions(&before, "more") / 1000;
    assert_eq!(change(&value, "more"), [500 * each, 0, 0, 0, 0]);
    let longer = instructions(&after, "longer") - instructions(&before, "longer");
    assert!(longer >= 5 * 1000);
    assert_eq!(change(&value, "longer"), [0, longer, 0, 0, 0]);
    assert_eq!(change(&value, "fresh"), [0, 0, instructions(&after, "fresh"), 0, 0]);
    assert_eq!(change(&value, "gone"), [0, 0, 0, -instructions(&before, "gone"), 0]);
    // Another name, the same code.
    assert_eq!(change(&value, "renamed_now"), [0; 5]);
    // All that wanders was is in host now, less what calls cost.
    let [ran, code, _, vanished, moved] = change(&value, "wanders");
    assert!(moved < 0 && ran == 0 && vanished == 0 && code.abs() * 2 < moved.abs(), "{:?}", change(&value, "wanders"));
    assert_eq!(moved + code, -instructions(&before, "wanders"));
    assert_eq!(change(&value, "host")[4], -moved);
    assert_eq!(number(&value["moved_by_inlining"]), -moved);
    // It has no code of its own any more, and annotate shows that of its copies.
    let inlined = Run::new(tool("bbprof")).arg("annotate").arg(&new.raw).arg("wanders").ok().text();
    assert!(inlined.contains("is inlined wherever it is called: executed 1,000 times;"), "{inlined}");
    assert!(inlined.contains("void wanders(int x) {") && inlined.contains("sink += i;"), "{inlined}");
    // The way back is the same with the signs turned, but for the reference that the split of lengths is made by.
    let back = json(&new.raw, &old.raw);
    assert_eq!(number(&back["change"]["total"]), -number(&value["change"]["total"]));
    assert_eq!(change(&back, "gone"), [0, 0, instructions(&before, "gone"), 0, 0]);
    let text = diff(&old.raw, &new.raw, &["--width", "80"]).expect_code(0).text();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(["fresh", "gone", "inlining", "new/gone"].iter().all(|word| text.contains(word)), "{text}");
}

/// As where a further test program uses a library: nothing of what it has is new, or longer, in place of another copy.
#[test]
fn further_programs_of_the_same_functions() {
    let sandbox = Sandbox::new("further");
    let [one, other, both] = ["one", "other", "both.bbprof"].map(|name| sandbox.join(name));
    let source = sandbox.write("half.c", "int half(int x) { return x % 2 ? x + 1 : x / 2; }\n");
    let main = |runs: u32| {
        format!("int half(int); int main(void) {{ int n = 0; for (int i = 0; i < {runs}; i++) n += half(i); return n < 0; }}\n")
    };
    let profile = |binary: &Path, runs: u32| {
        let main = sandbox.write(&format!("main{runs}.c"), main(runs));
        Run::new(tool("bbprof-cc")).args(["-O1", "-g"]).arg(&source).arg(main).arg("-o").arg(binary).in_folder(sandbox.path()).ok();
        ProfiledRun::of(binary, &[], &sandbox).raw
    };
    let raws = [profile(&one, 100), profile(&other, 250)];
    Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&both).args(&raws).ok();
    let half =
        |raw: &Path| Exported::of(&[raw.to_owned()]).functions().into_iter().find(|it| it.value["symbol"] == "half").unwrap();
    // In this loop, odd and even numbers are as many.
    let each = half(&raws[0]).value["instructions"].as_i64().unwrap() / 100;
    assert_eq!(half(&raws[1]).value["instructions"], each * 250);
    assert_eq!(change(&json(&raws[0], &both), "half"), [each * 250, 0, 0, 0, 0]);
    assert_eq!(change(&json(&both, &raws[0]), "half"), [-each * 250, 0, 0, 0, 0]);
}

/// 0.1 % is 0.1 %: the same program run and built again has no difference at all.
#[test]
fn the_same_again_is_no_difference() {
    let sandbox = Sandbox::new("again");
    let program = calm_lua();
    let build = |level, name: &str| program.build_profiled(&[level, "-g"], sandbox.join(name));
    let first = build("-O2", "first");
    let runs = [&first, &first, &build("-O2", "second")].map(|binary| program.profile(binary, &sandbox));
    for again in &runs[1..] {
        let text = diff(&runs[0], again, &["--fail-above", "0"]).expect_code(0).text();
        assert!(text.contains("\nno difference in "), "{text}");
    }
    // Another level: other code, the same work. Nothing is new but what the other level made of it.
    let other = program.profile(&build("-O3", "other"), &sandbox);
    let value = json(&runs[0], &other);
    for function in value["functions"].as_array().unwrap() {
        let ran = number(&function["change"]["ran"]).abs();
        assert!(ran * 1000 < number(&value["a"]["instructions"]), "the same work ran, but {function}");
    }
}

#[test]
fn the_gate() {
    let sandbox = Sandbox::new("gate");
    let (old, new) = (version(&sandbox, "old", &["-O1"]), version(&sandbox, "new", &["-O1", "-DCHANGED"]));
    let gate = |a: &Path, b: &Path, limit: &str| diff(a, b, &["--fail-above", limit]);
    let value = json(&old.raw, &new.raw);
    let (a, more) = (number(&value["a"]["instructions"]), number(&value["change"]["total"]));
    assert!(more > 0);
    // Just below and just above the change, in ten-thousandths of a percent.
    let exact = more * 1_000_000 / a;
    let percent = |millionths: i64| format!("{}.{:04}%", millionths / 10_000, millionths % 10_000);
    let failed = gate(&old.raw, &new.raw, &percent(exact)).expect_code(3);
    assert!(failed.stderr.contains("regression: "), "{}", failed.stderr);
    gate(&old.raw, &new.raw, &percent(exact + 1)).expect_code(0);
    gate(&new.raw, &old.raw, "0").expect_code(0);
    let failed = gate(&old.raw, &new.raw, "49 %=^more$").expect_code(3);
    assert!(failed.stderr.contains(", more than 49% above"), "{}", failed.stderr);
    gate(&old.raw, &new.raw, "50%=^more$").expect_code(0);
    gate(&old.raw, &new.raw, "1000%=fresh").expect_code(3);
    gate(&old.raw, &new.raw, "0=renamed").expect_code(0);
    let unknown = gate(&old.raw, &new.raw, "1=nowhere").expect_code(2);
    assert!(unknown.stderr.contains("no function of the two profiles has a name like that"), "{}", unknown.stderr);
    assert!(gate(&old.raw, &new.raw, "much").expect_code(2).stderr.contains("is no percentage"));
}

/// Static functions of one name, in files of one name: each is compared with itself.
#[test]
fn functions_and_files_of_one_name() {
    let sandbox = Sandbox::new("one-name");
    let helper = |body: &str, caller: &str| {
        format!(
            "__attribute__((noinline)) static int helper(int x) {{\n  {body}\n}}\nint {caller}(int n) {{\n  int s = 0;\n  for (int i = 0; i < n; i++)\n    s += helper(i);\n  return s;\n}}\n"
        )
    };
    sandbox.write("a/u.c", helper("if (x & 1) return x; return x * 2;", "ua"));
    sandbox.write("b/u.c", helper("return x ^ 5;", "ub"));
    sandbox.write("m.c", "#include <stdlib.h>\nint ua(int), ub(int);\nint main(int c, char **v) {\n  return (ua(atoi(v[1])) ^ ub(atoi(v[c - 1]))) == -1;\n}\n");
    let program = sandbox.join("program");
    Run::new(tool("bbprof-cc")).args(["-O1", "a/u.c", "b/u.c", "m.c", "-o"]).arg(&program).in_folder(sandbox.path()).ok();
    let run = |name: &str, times: [&str; 2]| {
        let raw = sandbox.join(name);
        Run::new(&program).args(times).env("BBPROF_OUT", &raw).ok();
        raw
    };
    let (a, b) = (run("a.bbraw", ["10", "7"]), run("b.bbraw", ["7", "10"]));
    let value = json(&a, &b);
    assert_eq!(number(&value["change"]["code"]), 0, "the same program: {value}");
    let helpers: Vec<i64> = value["functions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|function| function["name"] == "helper")
        .map(|function| number(&function["change"]["ran"]).signum())
        .collect();
    assert_eq!((helpers.len(), helpers.iter().sum::<i64>()), (2, 0), "one ran less, one more");
    let shown = Run::new(tool("bbprof")).arg("annotate").arg(&a).arg("helper").ok().text();
    assert!(shown.contains("entered 10 times") && shown.contains("entered 7 times"), "{shown}");
}

/// Copies of a header's static function: each is compared with that of its own module, in runs of one build and of two.
#[test]
fn static_functions_of_headers() {
    let sandbox = Sandbox::new("headers");
    sandbox.write("h.h", "static inline int kind(int x)\n{\n    return x > 3 ? x * 3 + (x >> 1) : 0;\n}\n");
    sandbox.write("b.c", "#include \"h.h\"\nint other(int n) { return kind(n); }\n");
    sandbox.write("a.c", "#include \"h.h\"\n#include <stdlib.h>\nint other(int n);\nint main(int c, char **v)\n{\n    int t = 0;\n    for (int i = 0; i < 1000; i++)\n        t += kind(atoi(v[1])) + other(5);\n    return t < 0;\n}\n");
    sandbox.write("more.c", "int more(int n) { return n; }\n");
    let build = |name: &str, sources: &[&str]| {
        let program = sandbox.join(name);
        Run::new(tool("bbprof-cc")).args(["-O0", "-g", "-o"]).arg(&program).args(sources).in_folder(sandbox.path()).ok();
        program
    };
    let run = |program: &Path, name: &str, argument: &str| {
        let raw = sandbox.join(name);
        Run::new(program).arg(argument).env("BBPROF_OUT", &raw).ok();
        raw
    };
    let (program, other) = (build("program", &["a.c", "b.c"]), build("other", &["more.c", "b.c", "a.c"]));
    let earlier = run(&program, "1.bbraw", "5");
    for later in [run(&program, "2.bbraw", "1"), run(&other, "3.bbraw", "1")] {
        let value = json(&earlier, &later);
        let [ran, code, ..] = change(&value, "kind");
        assert!(ran < 0 && code == 0, "the other way of the `?:`: {value}");
        assert_eq!(number(&value["change"]["total"]), ran);
    }
}

/// Profiles of runs stay readable when the program was built again.
#[test]
fn runs_of_cargo_before_and_after_an_edit() {
    let sandbox = Sandbox::new("edited");
    let text = "#[inline(never)]\nfn work(n: u64) -> u64 {\n    (0..n).map(|i| i * i).sum()\n}\n\nfn main() {\n    println!(\"{}\", work(100));\n}\n";
    let (cargo, source) = package(&sandbox, "edited", text);
    cargo.bbprof("run", &["--quiet", "--no-report"]).ok();
    std::fs::write(source, text.replace("100", "300")).unwrap();
    cargo.bbprof("run", &["--quiet", "--no-report"]).ok();
    let mut runs: Vec<_> =
        std::fs::read_dir(sandbox.join("target/bbprof/runs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    runs.sort_by_key(|run| std::fs::metadata(run).unwrap().modified().unwrap());
    for run in &runs {
        Run::new(tool("bbprof")).arg("verify").arg(run).ok();
    }
    let compared = Run::new(tool("bbprof")).arg("diff").args(&runs).ok().text();
    assert!(compared.contains("edited::work"), "{compared}");
}
