//! `--weights`: an earlier profile moves the counters to where less runs, and changes no count.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

use bbprof_format::Digest;
use bbprof_format::frequencies::{Frequencies, FunctionFrequencies};
use bbprof_format::merged::MergedProfile;
use bbprof_tests::{CProgram, Exported, Outcome, RENAMED, Run, Sandbox, calm_lua, profile_of, renamed, symbol_of_area, tool};
use std::path::{Path, PathBuf};

/// Builds with these options of bbprof-cc, runs, and gives the raw profile.
fn run(program: &CProgram, sandbox: &Sandbox, name: &str, options: &[&str]) -> PathBuf {
    let binary = program.build_profiled(&[&["-O2"], options].concat(), sandbox.join(name).join(program.name));
    let raw = binary.with_extension("bbraw");
    Run::new(&binary).args(&program.arguments).env("BBPROF_OUT", &raw).outcome().expect_code(program.exit_code);
    Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
    raw
}

/// How many increments were executed.
fn increments(raw: &Path) -> u128 {
    let summed = raw.with_extension("bbprof");
    Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&summed).arg(raw).ok();
    let merged = MergedProfile::decode(&std::fs::read(summed).unwrap()).unwrap();
    merged.images.iter().flat_map(|image| image.tls.iter().chain(&image.global)).map(|count| u128::from(*count)).sum()
}

#[test]
fn measured_weights_save_increments_and_change_no_count() {
    let sandbox = Sandbox::new("weights");
    let estimated = run(&calm_lua(), &sandbox, "estimated", &[]);
    let by_profile = format!("--bbprof-weights={}", estimated.display());
    let measured = run(&calm_lua(), &sandbox, "measured", &[&by_profile]);
    // By verify: every solved edge equals its own counter.
    let checked = run(&calm_lua(), &sandbox, "checked", &[&by_profile, "--bbprof-counters=check"]);
    let functions = |raw: &Path| Exported::of(&[raw.to_owned()]).functions();
    let expected = functions(&estimated);
    assert!(expected.len() > 400);
    for found in [functions(&measured), functions(&checked)] {
        assert_eq!(expected.len(), found.len());
        for (expected, found) in expected.iter().zip(&found) {
            for key in ["symbol", "entries", "instructions", "blocks", "edges"] {
                assert_eq!(expected.value[key], found.value[key], "{key} of {}", expected.value["name"]);
            }
        }
    }
    let (before, after) = (increments(&estimated), increments(&measured));
    assert!(after < before, "{after} increments with an earlier profile, {before} without");
    let report = Run::new(tool("bbprof")).arg("report").arg(&measured).ok().text();
    assert!(report.contains("counters placed   by an earlier profile in "), "{report}");
    assert!(!report.contains("changed since"), "{report}");
}

const BEFORE: &str = "int twice(int n) { return n * 2; }\n\
    int odd(int n) { if (n & 1) return 1; return 0; }\n\
    int main(int argc, char **argv) { int sum = 0; for (int i = 0; i < 9 + argc; i++) sum += odd(i) + twice(i); return sum == 95 ? 0 : 1; }\n";

#[test]
fn a_changed_function_is_named_and_placed_by_estimates() {
    let sandbox = Sandbox::new("stale");
    let source = sandbox.write("a.c", BEFORE);
    let build = |options: &[&str]| {
        Run::new(tool("bbprof-cc")).in_folder(sandbox.path()).args(options).arg(&source).args(["-o", "a"]).ok();
        Run::new(sandbox.join("a")).env("BBPROF_OUT", sandbox.join("a.bbraw")).outcome().expect_code(0);
    };
    build(&[]);
    std::fs::rename(sandbox.join("a.bbraw"), sandbox.join("first.bbraw")).unwrap();
    std::fs::copy(sandbox.join("a.bbmap"), sandbox.join("first.bbmap")).unwrap();
    let merged = sandbox.join("first.bbprof");
    Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&merged).arg(sandbox.join("first.bbraw")).ok();
    sandbox.write("a.c", BEFORE.replace("return 1;", "{ if (n == 7) return 1; return 1; }"));
    let by_profile = format!("--bbprof-weights={}", merged.display());
    build(&[&by_profile]);
    let verdict = Run::new(tool("bbprof")).arg("verify").arg(sandbox.join("a.bbraw")).ok().text();
    assert!(verdict.contains("exact"), "{verdict}");
    let report = Run::new(tool("bbprof")).arg("report").arg(sandbox.join("a.bbraw")).ok().text();
    assert!(report.contains("by an earlier profile in 2 functions; 1 changed since"), "{report}");
    let dump = Run::new(tool("bbprof")).arg("dump").arg(sandbox.join("a.bbmap")).ok().text();
    let odd = dump.split("function odd").nth(1).unwrap().split("function ").next().unwrap().to_owned();
    assert!(odd.contains("changed since the profile"), "{odd}");
}

/// What the profile's missing map left out is there the next time.
#[test]
fn weights_are_looked_for_again_where_some_were_missing() {
    let sandbox = Sandbox::new("missing-weights");
    let folder = sandbox.path().join("runs");
    std::fs::create_dir(&folder).unwrap();
    let source = sandbox.write("a.c", BEFORE);
    let build = |name: &str, options: &[&str]| {
        Run::new(tool("bbprof-cc")).in_folder(sandbox.path()).args(options).arg(&source).args(["-o", name]).ok();
        let raw = sandbox.join(name).with_extension("bbraw");
        Run::new(sandbox.join(name)).env("BBPROF_OUT", &raw).ok();
        raw
    };
    let other = sandbox.write("other.c", "int main(void) { return 0; }\n");
    Run::new(tool("bbprof-cc")).arg(other).arg("-o").arg(sandbox.join("other")).ok();
    Run::new(sandbox.join("other")).env("BBPROF_OUT", folder.join("other.bbraw")).ok();
    std::fs::rename(build("first", &[]), folder.join("first.bbraw")).unwrap();
    let (map, hidden) = (sandbox.join("first.bbmap"), sandbox.join("hidden"));
    let by_profile = format!("--bbprof-weights={}", folder.display());
    let placed = |name: &str| Run::new(tool("bbprof")).arg("report").arg(build(name, &[&by_profile])).ok().text();
    std::fs::rename(&map, &hidden).unwrap();
    // The `main` of the other program is all that is known then.
    let without = placed("without");
    assert!(without.contains("in 0 functions; 1 changed since"), "{without}");
    let compiled = Run::new(tool("bbprof-cc")).in_folder(sandbox.path()).args([&by_profile, "-c"]).arg(&source).ok();
    let advice =
        format!("read anew for each compilation, as what is left out may be there then; bbprof merge -o FILE {}", folder.display());
    assert!(compiled.stderr.contains(&advice), "{}", compiled.stderr);
    let merged = sandbox.join("merged.bbprof");
    Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&merged).arg(&folder).outcome().expect_code(4);
    let by_merged = format!("--bbprof-weights={}", merged.display());
    let compiled = Run::new(tool("bbprof-cc")).in_folder(sandbox.path()).args([&by_merged, "-c"]).arg(&source).ok();
    assert_eq!(compiled.stderr, "");
    std::fs::rename(&hidden, &map).unwrap();
    let with = placed("with");
    assert!(with.contains("by an earlier profile in 3 functions"), "{with}");
}

/// Of two instantiations of `keep` one ran. `area` is renamed by the hash of its module, in which another function changes.
#[test]
fn functions_that_did_not_run_or_were_renamed_have_not_changed() {
    let sandbox = Sandbox::new("renamed");
    let (package, source) = renamed(&sandbox);
    let first = sandbox.join("first.bbraw");
    std::fs::copy(profile_of(&package, &sandbox, &["--release"]), &first).unwrap();
    let weights = ["--release", "--weights", first.to_str().unwrap()];
    let placed = |raw: &Path| {
        let report = Run::new(tool("bbprof")).arg("report").arg(raw).ok().text();
        let line = report.lines().find_map(|line| line.strip_prefix("counters placed   by an earlier profile in "));
        line.unwrap_or_else(|| panic!("{report}")).to_owned()
    };
    let again = placed(&profile_of(&package, &sandbox, &weights));
    assert!(!again.contains("changed since"), "{again}");
    let symbol = symbol_of_area(&first);
    std::fs::write(&source, RENAMED.replace("Box::new(Square(side as f64))", "Box::new(Square(side as f64 + 1.0))")).unwrap();
    let changed = profile_of(&package, &sandbox, &weights);
    assert_ne!(symbol_of_area(&changed), symbol, "the test is about that");
    assert_eq!(placed(&changed), again);
}

#[test]
fn frequencies_in_words() {
    let sandbox = Sandbox::new("frequencies");
    let mut frequencies = Frequencies::default();
    let counts = FunctionFrequencies { shape: Digest::of(b"shape"), nodes: vec![5, 7], edges: vec![3] };
    frequencies.add("_ZN1a3oddEi", counts);
    let file = sandbox.write("file", frequencies.encode());
    let said = Run::new(tool("bbprof")).args(["dump", "--full"]).arg(file).ok().text();
    assert!(said.starts_with("frequencies of 1 functions\nfunction a::odd(int) (_ZN1a3oddEi)\n  shape "), "{said}");
    assert!(said.ends_with(": 2 nodes, 1 edges, at most 7 times\n    node 0: 5\n    node 1: 7\n    edge 0: 3\n"), "{said}");
}

/// If that is asked for. At -O0, where nobody else weighs branches.
#[test]
fn code_generation_hears_where_branches_went() {
    let sandbox = Sandbox::new("branches");
    let source = sandbox.write("a.c", BEFORE);
    let compile = |options: &[&str], to: &str| {
        Run::new(tool("bbprof-cc")).in_folder(sandbox.path()).args(options).arg(&source).args(["-o", to]).ok();
        sandbox.join(to)
    };
    let raw = sandbox.join("first.bbraw");
    Run::new(compile(&[], "a")).env("BBPROF_OUT", &raw).outcome().expect_code(0);
    let by_profile = format!("--bbprof-weights={}", raw.display());
    let weights = |options: &[&str]| -> Vec<String> {
        let ir = std::fs::read_to_string(compile(&[&["-S", "-emit-llvm"], options].concat(), "a.ll")).unwrap();
        ir.lines().filter_map(|line| Some(line.split_once("\"branch_weights\", ")?.1.trim_end_matches('}').to_owned())).collect()
    };
    // Of 0 to 9 five are odd; the loop turns ten times and ends once; it ended well.
    let told = weights(&[&by_profile, "--bbprof-with=branches"]);
    for expected in ["i32 5, i32 5", "i32 10, i32 1"] {
        assert!(told.iter().any(|weights| weights == expected), "{told:?}");
    }
    assert_eq!(weights(&[&by_profile]), [""; 0]);
}

#[test]
fn weights_that_cannot_be_used_are_refused_in_words() {
    let sandbox = Sandbox::new("no-weights");
    let source = sandbox.write("a.c", BEFORE);
    let compile = |profile: &str| {
        let outcome: Outcome = Run::new(tool("bbprof-cc"))
            .in_folder(sandbox.path())
            .arg(format!("--bbprof-weights={profile}"))
            .args(["-c", "-o", "a.o"])
            .arg(&source)
            .outcome();
        (outcome.code, outcome.stderr)
    };
    let (code, errors) = compile("missing.bbraw");
    assert!(code == 2 && errors.contains("--bbprof-weights: missing.bbraw: No such file"), "{code}: {errors}");
    Run::new(tool("bbprof-cc")).in_folder(sandbox.path()).arg("--bbprof-counters=blocks").arg(&source).args(["-o", "a"]).ok();
    let raw = sandbox.join("blocks.bbraw");
    Run::new(sandbox.join("a")).env("BBPROF_OUT", &raw).outcome().expect_code(0);
    let (code, errors) = compile("blocks.bbraw");
    assert!(
        code == 2 && errors.contains("--bbprof-weights blocks.bbraw: ") && errors.contains("leave edges open"),
        "{code}: {errors}"
    );
    let settings = sandbox.write("bbprof.toml", "weights = \"blocks.bbraw\"\n");
    let outcome = Run::new(tool("bbprof-cc")).in_folder(sandbox.path()).args(["-c", "-o", "a.o"]).arg(&source).outcome();
    let errors = outcome.expect_code(2).stderr;
    let place = format!("{}: weights {}: recorded", settings.display(), raw.display());
    assert!(errors.contains(&place), "{errors}");
    sandbox.write("bbprof.toml", "weights = \"missing.bbraw\"\n");
    let outcome = Run::new(tool("bbprof-cc")).in_folder(sandbox.path()).args(["-c", "-o", "a.o"]).arg(&source).outcome();
    let errors = outcome.expect_code(2).stderr;
    let place = format!("{}: weights: {}: No such file", settings.display(), sandbox.join("missing.bbraw").display());
    assert!(errors.contains(&place), "{errors}");
    let bytes = std::fs::read(&raw).unwrap();
    sandbox.write("cut.bbraw", &bytes[..bytes.len() / 2]);
    let (code, errors) = compile("cut.bbraw");
    assert!(code == 1 && errors.contains("--bbprof-weights: cut.bbraw: "), "{code}: {errors}");
}

#[test]
fn cargo_takes_weights_from_the_command_line_and_from_the_manifest() {
    let sandbox = Sandbox::new("cargo-weights");
    let manifest = "[package]\nname = \"weighted\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    sandbox.write("Cargo.toml", manifest);
    sandbox.write("src/main.rs", "fn main() { let odd = (0..100).filter(|n| n % 3 == 1).count(); assert_eq!(odd, 33); }\n");
    let run =
        |words: &[&str]| Run::new(tool("cargo-bbprof")).args(["bbprof", "run"]).args(words).in_folder(sandbox.path()).ok().stderr;
    run(&[]);
    let profile = sandbox.join("first.bbprof");
    Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&profile).in_folder(sandbox.path()).arg("target/bbprof").ok();
    let by_option = run(&["--weights", "first.bbprof"]);
    assert!(by_option.contains("counters placed   by an earlier profile in "), "{by_option}");
    // Another version has other symbols, and the same functions.
    let functions =
        |report: &str| report.split("an earlier profile in ").nth(1).and_then(|rest| Some(rest.split_once(' ')?.0.to_owned()));
    sandbox.write("Cargo.toml", manifest.replace("0.1.0", "0.2.0"));
    let next_version = run(&["--weights", "first.bbprof"]);
    assert_eq!(functions(&next_version), functions(&by_option), "{next_version}");
    sandbox.write("Cargo.toml", format!("{manifest}[package.metadata.bbprof]\nweights = \"first.bbprof\"\n"));
    let by_manifest = run(&[]);
    assert!(by_manifest.contains("counters placed   by an earlier profile in "), "{by_manifest}");
}
