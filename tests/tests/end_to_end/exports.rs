//! Exports of real programs, as the tools that read them understand them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_tests::{CProgram, Cargo, Exported, Run, Sandbox, calm_lua, is_long, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Builds a program, runs it, and exports `kinds` of the run; gives the raw profile.
fn exported(program: &CProgram, options: &[&str], kinds: &[&str], sandbox: &Sandbox) -> PathBuf {
    let binary = program.build_profiled(options, sandbox.join(program.name));
    let raw = sandbox.join("run.bbraw");
    let run = Run::new(&binary).args(&program.arguments).env("BBPROF_OUT", &raw).in_folder(sandbox.path());
    run.outcome().expect_code(program.exit_code);
    export(&[&raw], kinds, sandbox);
    raw
}

fn export(profiles: &[&Path], kinds: &[&str], sandbox: &Sandbox) {
    Run::new(tool("bbprof")).arg("export").args(kinds).args(profiles).in_folder(sandbox.path()).ok();
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.join(name)).unwrap()
}

/// Executed instructions by function symbol, out of the JSON export.
fn by_json(raw: &Path) -> BTreeMap<String, u128> {
    let mut sums = BTreeMap::new();
    for function in Exported::of(&[raw.to_owned()]).functions() {
        let symbol = function.value["symbol"].as_str().unwrap().to_owned();
        *sums.entry(symbol).or_default() += u128::from(function.value["instructions"].as_u64().unwrap());
    }
    sums
}

/// What callgrind_annotate lists: cost by `file:function`, and the total.
fn annotated(sandbox: &Sandbox, name: &str) -> (BTreeMap<String, u128>, u128) {
    let text = Run::new("callgrind_annotate")
        .args(["--threshold=100", "--show-percs=no", "--auto=no", name])
        .in_folder(sandbox.path())
        .ok();
    assert!(text.stderr.is_empty(), "{}", text.stderr);
    let (mut costs, mut total) = (BTreeMap::new(), 0);
    for line in text.text().lines() {
        let Some((cost, rest)) = line.trim_start().split_once("  ") else { continue };
        let Ok(cost) = cost.replace(',', "").parse::<u128>() else { continue };
        match rest {
            "PROGRAM TOTALS" => total = cost,
            _ => drop(costs.insert(rest.to_owned(), cost)),
        }
    }
    (costs, total)
}

#[test]
fn callgrind_annotate_has_our_totals() {
    let sandbox = Sandbox::new("callgrind");
    let raw = exported(&calm_lua(), &["-O2", "-g"], &["callgrind=callgrind.out"], &sandbox);
    let (costs, total) = annotated(&sandbox, "callgrind.out");
    let expected = by_json(&raw);
    assert_eq!(total, expected.values().sum::<u128>());
    // Inlined code stands under its own file, by function of the program.
    let mut found: BTreeMap<String, u128> = BTreeMap::new();
    for (place, cost) in &costs {
        let name = place.split(" [").next().unwrap().rsplit_once(':').unwrap().1;
        *found.entry(name.to_owned()).or_default() += cost;
    }
    for (symbol, instructions) in &expected {
        assert_eq!(found.get(symbol).copied().unwrap_or(0), *instructions, "{symbol}");
    }
    assert!(found.len() > 200, "{} functions", found.len());
}

/// Calls by caller and callee, out of a callgrind file; only of callers and callees in `objects` whose name ends so.
fn calls(text: &str, object_end: &str) -> BTreeMap<(String, String), u64> {
    let mut names: BTreeMap<(char, String), String> = BTreeMap::new();
    let mut name = |kind: char, text: &str| match text.split_once(") ") {
        Some((id, name)) => {
            names.insert((kind, id.to_owned()), name.to_owned());
            name.to_owned()
        }
        None => names[&(kind, text.trim_end_matches(')').to_owned())].clone(),
    };
    // In a circle of calls a function is called name'2.
    let plain = |name: String| name.split('\'').next().unwrap().to_owned();
    let mut calls = BTreeMap::new();
    let (mut object, mut function, mut callee_object, mut callee) = (String::new(), String::new(), None, String::new());
    for line in text.lines() {
        let Some((key, value)) = line.split_once('=') else { continue };
        match key {
            "ob" => object = name('o', value),
            "cob" => callee_object = Some(name('o', value)),
            "fn" => function = plain(name('f', value)),
            "cfn" => callee = plain(name('f', value)),
            "calls" => {
                let callee_object = callee_object.take().unwrap_or_else(|| object.clone());
                let count: u64 = value.split(' ').next().unwrap().parse().unwrap();
                if object.ends_with(object_end) && callee_object.ends_with(object_end) {
                    *calls.entry((function.clone(), callee.clone())).or_default() += count;
                }
            }
            _ => {}
        }
    }
    calls
}

/// Our direct calls against the calls that valgrind saw in the plain program: who called whom how often. Valgrind also has calls
/// through pointers, and a direct call cannot be more frequent than all.
#[test]
fn calls_are_those_that_valgrind_sees() {
    let sandbox = Sandbox::new("calls");
    let program = calm_lua();
    exported(&program, &["-O0"], &["callgrind=ours.out"], &sandbox);
    let plain = program.build("clang-22", &["-O0"], sandbox.join("plain"));
    let valgrind = Run::new("valgrind").args(["--tool=callgrind", "--quiet", "--callgrind-out-file=theirs.out"]).arg(&plain);
    valgrind.args(&program.arguments).in_folder(sandbox.path()).outcome().expect_code(0);
    let (ours, theirs) = (calls(&read(&sandbox, "ours.out"), "/lua"), calls(&read(&sandbox, "theirs.out"), "/plain"));
    let mut equal = 0;
    for ((caller, callee), count) in &ours {
        let all = theirs.get(&(caller.clone(), callee.clone())).copied().unwrap_or(0);
        assert!(*count <= all, "{caller} calls {callee} {count} times, valgrind sees {all}");
        equal += usize::from(*count == all);
    }
    assert!(ours.len() > 500 && equal * 100 >= ours.len() * 99, "{equal} of {} arcs", ours.len());
    eprintln!("{equal} of {} arcs have the very count that valgrind has; it sees {} in all", ours.len(), theirs.len());
}

/// What optimised C++ makes one function of, a class's two constructors for instance, other modules call by any of its names.
#[test]
fn calls_by_other_names_of_a_function() {
    let sandbox = Sandbox::new("aliases");
    let class = "struct S { int n; explicit S(int); ~S(); };\nextern volatile int sink;\n";
    let own = "volatile int sink;\nS::S(int n) : n(n) { sink = n; }\nS::~S() { sink = sink + n; }\n\
               extern \"C\" int plain(int n) { return sink / (n + 1); }\n\
               extern \"C\" int other(int n) __attribute__((alias(\"plain\")));\n";
    let callers = "extern \"C\" int other(int);\n\
                   int main() {\n  for (int i = 0; i < 10; i++) {\n    S s(i);\n    sink = sink + other(i);\n  }\n}\n";
    let sources = [sandbox.write("own.cc", format!("{class}{own}")), sandbox.write("callers.cc", format!("{class}{callers}"))];
    let compile = Run::new(tool("bbprof-c++")).args(["-O1", "-g", "-o", "aliases"]).args(&sources);
    compile.in_folder(sandbox.path()).ok();
    let raw = sandbox.join("run.bbraw");
    Run::new(sandbox.join("aliases")).env("BBPROF_OUT", &raw).in_folder(sandbox.path()).ok();
    export(&[&raw], &["callgrind=c.out"], &sandbox);
    let of_main = |callee: &str| (("main".to_owned(), callee.to_owned()), 10);
    let expected = ["S::S(int)", "S::~S()", "plain"].map(of_main);
    assert_eq!(calls(&read(&sandbox, "c.out"), "/aliases"), BTreeMap::from(expected));
}

/// A hot branch that goes one way 9 of 10 times gets these weights when clang compiles with the exported profile.
#[test]
fn clang_takes_branch_weights_from_afdo() {
    let sandbox = Sandbox::new("afdo");
    let source = sandbox.write(
        "hot.c",
        "#include <stdio.h>\n__attribute__((noinline)) int rare(int x) { return x * 7 + 1; }\n\
         __attribute__((noinline)) int often(int x) { return x + 3; }\n\
         int main(void) {\n  int sum = 0;\n  for (int i = 0; i < 10000; i++) {\n    if (i % 10 == 0)\n      sum += rare(sum);\n\
         \u{20}   else\n      sum += often(sum);\n  }\n  printf(\"%d\\n\", sum);\n  return 0;\n}\n",
    );
    let program = CProgram {
        name: "hot",
        sources: vec![source.clone()],
        options: vec!["-fdebug-info-for-profiling".to_owned(), "-g".to_owned()],
        libraries: vec![],
        arguments: vec![],
        exit_code: 0,
    };
    exported(&program, &["-O1"], &["afdo=hot.prof"], &sandbox);
    let text = read(&sandbox, "hot.prof");
    assert!(text.contains(" rare:1000\n") && text.contains(" often:9000\n"), "{text}");
    let compiler = Run::new("clang-22").args(["-O1", "-g", "-fdebug-info-for-profiling", "-S", "-emit-llvm", "-o", "hot.ll"]);
    compiler
        .arg(format!("-fprofile-sample-use={}", sandbox.join("hot.prof").display()))
        .arg(&source)
        .in_folder(sandbox.path())
        .ok();
    let ir = read(&sandbox, "hot.ll");
    assert!(ir.contains("!\"branch_weights\", i32 1000, i32 9000}"), "{text}\n{ir}");
}

/// Names of generics, closures and trait impls in every format, as each has them.
#[test]
fn rust_and_cpp_names_survive() {
    let sandbox = Sandbox::new("names");
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/virtuals");
    let cpp = sandbox.join("virtuals");
    Run::new(tool("bbprof-c++"))
        .args(["-O1", "-g"])
        .args(["main.cpp", "shapes.cpp"].map(|file| case.join(file)))
        .arg("-o")
        .arg(&cpp)
        .ok();
    let cpp_raw = sandbox.join("cpp.bbraw");
    Run::new(&cpp).env("BBPROF_OUT", &cpp_raw).in_folder(sandbox.path()).ok();
    let cargo = Cargo::new("rust", sandbox.join("target")).package("mill");
    drop(cargo.profiled("run", &["--quiet", "--release", "--no-report"], &sandbox).outcome());
    let rust_raw = sandbox.raw_profiles("raw").remove(0);
    for raw in [&cpp_raw, &rust_raw] {
        export(
            &[raw],
            &["json=p.json", "callgrind=c.out", "folded=f.txt", "speedscope=s.json", "csv=b.csv", "cobertura=c.xml", "dot=graphs"],
            &sandbox,
        );
        let json: Value = serde_json::from_str(&read(&sandbox, "p.json")).unwrap();
        let functions = json["functions"].as_array().unwrap();
        let ran: Vec<&str> = functions.iter().filter(|f| f["instructions"] != 0).map(|f| f["name"].as_str().unwrap()).collect();
        assert!(ran.iter().any(|name| name.contains("::")) && ran.len() > 5, "{ran:?}");
        let (callgrind, folded, speedscope) = (read(&sandbox, "c.out"), read(&sandbox, "f.txt"), read(&sandbox, "s.json"));
        for name in &ran {
            // Written once, where the function is first called or defined.
            let names_it = |line: &str| line.contains("fn=(") && line.ends_with(&format!(") {name}"));
            assert!(callgrind.lines().any(names_it), "{name}");
            let stack = name.replace(';', ":");
            let begins = |line: &str| line.strip_prefix(&*stack).is_some_and(|rest| rest.starts_with([' ', ';']));
            assert!(folded.lines().any(begins), "{name}");
            assert!(speedscope.contains(&serde_json::to_string(name).unwrap()), "{name}");
        }
        let total: u64 = folded.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
        assert_eq!(json["totals"]["instructions"], total);
        assert_eq!(u128::from(total), annotated(&sandbox, "c.out").1);
        assert_eq!(std::fs::read_dir(sandbox.join("graphs")).unwrap().count(), functions.len());
        std::fs::remove_dir_all(sandbox.join("graphs")).unwrap();
        let rows = "import csv,sys; r = list(csv.DictReader(open('b.csv', encoding='utf8'))); print(len({x['symbol'] for x in r}), sum(int(x['executed_instructions']) for x in r))";
        let said = Run::new("python3").args(["-c", rows]).in_folder(sandbox.path()).ok().text();
        assert_eq!(said.split_whitespace().nth(1).unwrap(), total.to_string());
    }
}

/// By another checker than the unit tests', with the schema that the package has now;
/// needs the network and npm, so it is among the long tests.
#[test]
fn speedscope_follows_its_schema() {
    if !is_long() {
        return;
    }
    let sandbox = Sandbox::new("speedscope");
    exported(&calm_lua(), &["-O2", "-g"], &["speedscope=s.json"], &sandbox);
    Run::new("npm")
        .args(["install", "--silent", "--no-audit", "--no-fund", "speedscope@1.25.0", "ajv@8.17.1"])
        .in_folder(sandbox.path())
        .ok();
    let script = "const fs = require('fs'), Ajv = require('ajv');
        const read = path => JSON.parse(fs.readFileSync(path));
        const schema = read('node_modules/speedscope/dist/release/file-format-schema.json');
        if (JSON.stringify(schema) !== JSON.stringify(read(process.argv[1]))) { console.error('not the schema of the unit tests'); process.exit(1); }
        const validate = new Ajv({strict: false}).compile(schema);
        const file = read('s.json');
        if (!validate(file)) { console.error(validate.errors); process.exit(1); }
        delete file.shared.frames[0].name;
        if (validate(file)) { console.error('the schema checks nothing'); process.exit(1); }";
    let pinned = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bbprof-report/tests/formats/speedscope/file-format-schema.json");
    Run::new("node").args(["-e", script]).arg(pinned).in_folder(sandbox.path()).ok();
}

/// Two branches to the same two places: the counts of blocks do not tell which went where.
const OPEN: &str = "#include <stdio.h>
__attribute__((noinline)) int f(int a, int b) {
  if (b) {
    puts(\"p\");
    if (a & 1) goto x;
  } else {
    puts(\"q\");
    if (a & 2) goto x;
  }
  puts(\"one\");
  return 1;
x:
  puts(\"two\");
  return 2;
}
int main(void) {
  int sum = 0;
  for (int i = 0; i < 8; i++) sum += f(i, i & 4);
  printf(\"%d\\n\", sum);
}
";

#[test]
fn branches_that_are_not_determined_are_named() {
    let sandbox = Sandbox::new("open");
    let (source, program, raw) = (sandbox.write("open.c", OPEN), sandbox.join("open"), sandbox.join("open.bbraw"));
    let texts = ["blocks", "edges"].map(|counters| {
        let counters = format!("--bbprof-counters={counters}");
        Run::new(tool("bbprof-cc")).args(["-g", "-O1", &counters, "-o"]).arg(&program).arg(&source).ok();
        Run::new(&program).env("BBPROF_OUT", &raw).ok();
        let annotated = Run::new(tool("bbprof")).arg("annotate").arg(&raw).arg("f").ok().text();
        std::fs::remove_file(&raw).unwrap();
        annotated
    });
    let open = "branch: not determined (--counters edges counts its ways)";
    assert_eq!(texts.each_ref().map(|text| text.matches(open).count()), [2, 0], "{texts:?}");
    assert_eq!(texts.map(|text| text.matches("branch: 50.0 % / 50.0 %").count()), [1, 3]);
}
