//! Programs that are not ours: in check mode every block and edge solved from the planned counters equals the counter on
//! every edge, at every level, and the program's output and exit code equal the plain program's.

use bbprof_tests::{CProgram, Exported, LEVELS, Run, Sandbox, ada, is_long, lua, sqlite, tool, zstd};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

fn check_at(program: &CProgram, level: &str) {
    check_with(program, &[level, "--bbprof-counters=check"]);
}

/// With a level, and options of bbprof.
fn check_with(program: &CProgram, options: &[&str]) {
    let level = options[0];
    let sandbox = Sandbox::new(program.name);
    let profiled = program.build_profiled(options, sandbox.join("profiled"));
    let raw = sandbox.join("run.bbraw");
    let found = Run::new(profiled)
        .args(&program.arguments)
        .env("BBPROF_OUT", &raw)
        .in_folder(sandbox.path())
        .outcome()
        .expect_code(program.exit_code);
    assert_eq!(found.text(), plain_output(program), "{} {level}: the output changed", program.name);
    let verified = Run::new(tool("bbprof")).arg("verify").arg(&raw).ok();
    assert!(verified.text().contains("exact"), "{}", verified.text());
    let exported = Exported::of(&[raw]);
    assert!(exported.is_exact());
    assert_eq!(exported.entries("main"), Some(1));
    assert!(exported.total("blocks_executed") > 500, "{} {level}: too little was executed to mean anything", program.name);
}

/// What the plain program prints, at whatever level: it is built once.
fn plain_output(program: &CProgram) -> String {
    static OUTPUTS: Mutex<BTreeMap<&str, Arc<OnceLock<String>>>> = Mutex::new(BTreeMap::new());
    let output = OUTPUTS.lock().expect("no test fails here").entry(program.name).or_default().clone();
    let run = || {
        let sandbox = Sandbox::new(program.name);
        let plain = program.build("clang-22", &["-O0"], sandbox.join("plain"));
        Run::new(plain).args(&program.arguments).in_folder(sandbox.path()).outcome().expect_code(program.exit_code).text()
    };
    output.get_or_init(run).clone()
}

/// These always; all levels in the long suite (`BBPROF_LONG`).
fn levels(always: &[&'static str]) -> Vec<&'static str> {
    if is_long() { LEVELS.to_vec() } else { always.to_vec() }
}

#[test]
fn lua_is_exact() {
    levels(&["-O0", "-O2", "-Os"]).iter().for_each(|level| check_at(&lua(), level));
}

#[test]
fn sqlite_is_exact() {
    levels(&["-O0", "-O2"]).iter().for_each(|level| check_at(&sqlite(), level));
}

#[test]
fn zstd_is_exact() {
    levels(&["-O2"]).iter().for_each(|level| check_at(&zstd(), level));
}

#[test]
fn ada_is_exact() {
    levels(&["-O2"]).iter().for_each(|level| check_at(&ada(), level));
}

/// The edges that follow from counters of paths equal the counter on every edge, too.
#[test]
fn paths_are_exact() {
    let programs = if is_long() { vec![lua(), sqlite(), zstd(), ada()] } else { vec![lua()] };
    for level in levels(&["-O0", "-O2"]) {
        programs.iter().for_each(|program| check_with(program, &[level, "--bbprof-counters=paths-check"]));
    }
}

/// So do counters that stand in registers while their loop runs.
#[test]
fn registers_are_exact() {
    let programs = if is_long() { vec![lua(), sqlite(), zstd(), ada()] } else { vec![zstd()] };
    for level in levels(&["-O2"]) {
        let options = [level, "--bbprof-counters=check", "--bbprof-with=registers"];
        programs.iter().for_each(|program| check_with(program, &options));
    }
}
