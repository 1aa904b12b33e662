//! What counting costs, in instructions: they repeat from run to run, so a bound on them can be a test. Times are the bench's business.

use bbprof_tests::{CProgram, Run, Sandbox, calm_lua, is_long, lua, sqlite, tool, zstd};
use std::path::Path;

/// Instructions that the program executes under valgrind, by callgrind's own count.
fn instructions(compiler: &Path, options: &[&str], program: &CProgram, sandbox: &Sandbox, name: &str) -> f64 {
    let binary = sandbox.join(name);
    let build = Run::new(compiler).arg("-O2").args(options).args(&program.options).arg("-o").arg(&binary);
    build.args(&program.sources).args(&program.libraries).ok();
    // Valgrind 3.19 cannot read the debug information of clang 22.
    let stripped = sandbox.join(format!("{name}-stripped"));
    Run::new("strip").arg("-g").arg("-o").arg(&stripped).arg(&binary).ok();
    let run = Run::new("valgrind").args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&stripped);
    let run = run.args(&program.arguments).env("BBPROF_OUT", sandbox.join("run.bbraw")).in_folder(sandbox.path());
    let outcome = run.outcome().expect_code(program.exit_code);
    let count = outcome.stderr.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    count.unwrap_or_else(|| panic!("callgrind gave no count: {}", outcome.stderr))
}

/// Executed instructions of the profiled program stay below `bound` times those of the plain one, and below those of a counter in every block.
fn costs_at_most(program: &CProgram, bound: f64) {
    let sandbox = Sandbox::new("cost");
    let plain = instructions("clang-22".as_ref(), &[], program, &sandbox, "plain");
    let ours = instructions(&tool("bbprof-cc"), &[], program, &sandbox, "ours");
    let blocks = instructions(&tool("bbprof-cc"), &["--bbprof-counters=blocks"], program, &sandbox, "blocks");
    eprintln!(
        "{}: {:.4} of the plain build's instructions, {:.4} with a counter in every block",
        program.name,
        ours / plain,
        blocks / plain
    );
    assert!(ours / plain <= bound, "{}: {:.4} of the plain build's instructions, bound {bound}", program.name, ours / plain);
    assert!(ours < blocks, "{}: {ours} instructions, but {blocks} with a counter in every block", program.name);
}

/// Lua at some work, of which starting and ending are a small part.
fn busy_lua() -> CProgram {
    let CProgram { arguments, exit_code, .. } = lua();
    let scale = "5".to_owned();
    CProgram { arguments: arguments.into_iter().chain([scale]).collect(), exit_code, ..calm_lua() }
}

/// The bounds are what is reached, and a percent: they guard against a loss that nobody noticed.
#[test]
fn instructions_stay_within_their_bounds() {
    costs_at_most(&busy_lua(), 1.085);
    if is_long() {
        costs_at_most(&sqlite(), 1.08);
        costs_at_most(&zstd(), 1.03);
    }
}
