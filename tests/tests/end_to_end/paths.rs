//! Path counters: the edges that follow from the paths equal a counter on every edge of the same run, in every way of ending that
//! the cases know, and the program's output and tallies are as without.

mod hashed;

use bbprof_tests::{CProgram, Case, Exported, ProfiledRun, Run, Sandbox, calm_lua, gcd, is_long, sqlite, tool, zstd};
use serde_json::Value;
use std::path::Path;

macro_rules! cases {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            Case::named(stringify!($name)).check(&["--bbprof-counters=paths-check"]);
        })*
    };
}

cases!(builtin_setjmp, calls, exceptions, exit_inside, gotos, longjmp, switches, tail_calls, threads, virtuals);

#[test]
fn few_paths_allowed_and_other_storages() {
    Case::named("gotos").check(&["--bbprof-counters=paths-check", "--bbprof-path-limit=1"]);
    Case::named("longjmp").check(&["--bbprof-counters=paths-check", "--bbprof-path-limit=1", "-fPIC"]);
    Case::named("exceptions").check(&["--bbprof-counters=paths-check", "--bbprof-path-limit=7", "-fPIC"]);
    Case::named("threads").check(&["--bbprof-counters=paths-check", "--bbprof-storage=atomic"]);
}

/// With hash tables for all functions.
#[test]
fn all_paths_hashed() {
    for case in [
        "builtin_setjmp",
        "calls",
        "exceptions",
        "exit_inside",
        "gotos",
        "longjmp",
        "switches",
        "tail_calls",
        "threads",
        "virtuals",
    ] {
        Case::named(case).check(&["--bbprof-counters=paths-check", "--bbprof-path-array=0"]);
    }
    for case in ["builtin_setjmp", "exceptions", "gotos", "threads"] {
        Case::named(case).check(&["--bbprof-counters=paths-check", "--bbprof-path-array=0", "-fPIC"]);
    }
}

/// A deterministic program, built twice: edges counted, and edges that follow from paths. And a third way to see the same: the
/// instructions on all paths are the instructions executed.
#[test]
fn edges_of_another_run_are_those_of_the_paths() {
    let program = calm_lua();
    let sandbox = Sandbox::new("paths-against");
    let edges = program.profile(&program.build_profiled(&["-O2"], sandbox.join("edges")), &sandbox);
    let paths = program.profile(&program.build_profiled(&["-O2", "--bbprof-counters=paths"], sandbox.join("paths")), &sandbox);
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&paths).arg("--against").arg(&edges).ok().text();
    assert!(verified.contains(", 0 differences\n"), "{verified}");

    let exported = Exported::of(std::slice::from_ref(&paths));
    let (mut taken, mut through_calls) = (0, 0);
    for function in exported.functions() {
        let paths = function.value["paths"].as_array().expect("counted paths");
        let executed = |path: &Value| path["count"].as_i64().expect("a count") * path["instructions"].as_i64().expect("a number");
        let sum: i64 = paths.iter().map(executed).sum();
        assert_eq!(Some(sum), function.value["instructions"].as_i64(), "{}", function.name());
        taken += paths.len();
        let is_long = |path: &&Value| path["from_entry"] == true && path["end"] == "leaves";
        through_calls += paths.iter().filter(is_long).count();
    }
    assert!(taken > 1_000 && through_calls > 300, "{taken} paths, {through_calls} from entry to exit");
    let text = Run::new(tool("bbprof")).args(["paths", "--coverage", "90%", "--top", "3"]).arg(&paths).ok().text();
    assert!(text.contains(" paths cover 90.0 % of them\n") && text.contains(" x "), "{text}");

    // Another input is not the same.
    let short = ProfiledRun::of(&sandbox.join("edges"), &[], &sandbox).raw;
    let differs = Run::new(tool("bbprof")).arg("verify").arg(&paths).arg("--against").arg(&short).outcome().expect_code(5);
    assert!(differs.text().contains("\ndiffers: "), "{}", differs.text());
}

/// The same of larger programs, in the long suite.
#[test]
fn edges_of_more_programs() {
    if !is_long() {
        return;
    }
    for (program, level) in [(sqlite(), "-O2"), (zstd(), "-O2"), (calm_lua(), "-O0"), (zstd(), "-O0")] {
        let sandbox = Sandbox::new("paths-against");
        let edges = program.profile(&program.build_profiled(&[level], sandbox.join("edges")), &sandbox);
        for option in ["--bbprof-counters=paths", "--bbprof-path-limit=100000000"] {
            let options = [level, "--bbprof-counters=paths", option];
            let paths = program.profile(&program.build_profiled(&options, sandbox.join("paths")), &sandbox);
            let verified = Run::new(tool("bbprof")).arg("verify").arg(&paths).arg("--against").arg(&edges).ok().text();
            assert!(verified.contains(", 0 differences\n"), "{} {options:?}: {verified}", program.name);
        }
    }
}

#[test]
fn one_function_and_bad_requests() {
    let sandbox = Sandbox::new("paths-gcd");
    let program = gcd();
    let path = program.build_profiled(&["-O0", "--bbprof-counters=paths"], sandbox.join("gcd"));
    let raw = program.profile(&path, &sandbox);
    let bbprof = |words: &[&str]| Run::new(tool("bbprof")).args(words).in_folder(sandbox.path());
    let raw = raw.to_str().expect("UTF-8");
    let raw_of_paths = raw;
    let gcd = bbprof(&["paths", raw, "gcd"]).ok().text();
    assert!(gcd.starts_with("2 paths taken, of ") && gcd.contains("%  2 x ") && gcd.contains("%  1 x "), "{gcd}");
    assert!(gcd.contains("    entry #0 ") && gcd.contains(" leaves\n") && gcd.contains("gcd.c:5"), "{gcd}");
    std::fs::create_dir(sandbox.join("main")).expect("a folder that is called as a function");
    assert!(bbprof(&["paths", raw, "main"]).ok().text().contains(" taken, of "));
    std::fs::create_dir(sandbox.join("empty")).expect("a folder that is called as nothing");
    let of_all = bbprof(&["paths", raw, "empty"]).ok();
    assert!(of_all.stderr.contains("left out empty: no profile") && of_all.text() == bbprof(&["paths", raw]).ok().text());
    assert!(bbprof(&["paths", raw, "no_such"]).outcome().expect_code(2).stderr.contains("no function or source file"));
    assert!(bbprof(&["paths", raw, "--coverage", "101"]).outcome().expect_code(2).stderr.contains("from 0 to 100"));
    let edges = program.build_profiled(&["-O0"], sandbox.join("edges"));
    let raw = program.profile(&edges, &sandbox);
    let refused = bbprof(&["paths", raw.to_str().expect("UTF-8")]).outcome().expect_code(2);
    assert!(refused.stderr.contains("no path was counted"), "{}", refused.stderr);
    let both = bbprof(&["paths", raw_of_paths, raw.to_str().expect("UTF-8")]).ok().stderr;
    assert!(both.contains("functions that ran have no paths: their "), "{both}");
    // Its recursive calls end paths, but no nodes where edges are counted.
    let by_paths = program.profile(&path, &sandbox);
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&by_paths).arg("--against").arg(&raw).ok().text();
    assert!(verified.contains(", 0 differences\n"), "{verified}");
    for (option, limits, range) in [
        ("path-limit", &["0", "9223372036854775809", "18446744073709551616", "many"][..], "from 1 to 9223372036854775808"),
        ("path-array", &["1048577", "-1"], "from 0 to 1048576"),
    ] {
        for limit in limits {
            let option = format!("--bbprof-{option}={limit}");
            let refused =
                Run::new(tool("bbprof-cc")).args(["-c", &option]).args(&program.sources).in_folder(sandbox.path()).outcome();
            assert!(refused.expect_code(2).stderr.contains(range), "{option}");
        }
    }
    // What does nothing is refused, but where settings are for many commands.
    let compile = |option: &str| Run::new(tool("bbprof-cc")).args(["-c", option]).args(&program.sources).in_folder(sandbox.path());
    let refused = compile("--bbprof-path-limit=100").outcome().expect_code(2).stderr;
    assert!(refused.contains("--bbprof-path-limit=100: no paths are counted; add --bbprof-counters=paths"), "{refused}");
    sandbox.write("bbprof.toml", "path-limit = 100\nwith = \"branches\"\n");
    compile("-O1").ok();
}

/// Each of 2^20 paths once, in a hash table and in an array; and with few paths allowed,
/// fewer and shorter ones with the same edges.
#[test]
fn a_million_paths() {
    let sandbox = Sandbox::new("paths-million");
    let program = CProgram {
        name: "many_paths",
        sources: vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/many_paths/many_paths.c")],
        options: vec!["-O0".to_owned(), "--bbprof-counters=paths-check".to_owned()],
        libraries: vec![],
        arguments: vec![],
        exit_code: 0,
    };
    let all = program.profile(&program.build_profiled(&["--bbprof-path-limit=100000000"], sandbox.join("all")), &sandbox);
    let array = program.profile(&program.build_profiled(&["--bbprof-path-array=1048576"], sandbox.join("array")), &sandbox);
    let few = program.profile(&program.build_profiled(&["--bbprof-path-limit=1024"], sandbox.join("few")), &sandbox);
    let paths = |raw: &Path| Run::new(tool("bbprof")).arg("paths").arg(raw).args(["--top", "1", "walk"]).ok().text();
    let text = paths(&all);
    assert!(text.starts_with("1,048,576 paths taken, of 1,048,576 possible in 1 function"), "{text}");
    assert!(text.contains("%  1 x "), "{text}");
    assert_eq!(text, paths(&array));
    let taken: u64 = paths(&few).split(' ').next().and_then(|word| word.replace(',', "").parse().ok()).expect("a number");
    assert!((21..=1024).contains(&taken), "{taken}");
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&few).arg("--against").arg(&all).ok().text();
    assert!(verified.contains(", 0 differences\n") && verified.contains("edges compared with counters of their own"), "{verified}");
}
