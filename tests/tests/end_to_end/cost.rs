//! What counting costs, in instructions: they repeat from run to run, so a bound on them
//! can be a test. Times are the bench's business.

use bbprof_tests::{CProgram, Run, Sandbox, calm_lua, is_long, lua, sqlite, tool, zstd};
use std::path::Path;

/// Instructions that the program executes under valgrind, by callgrind's own count.
fn instructions(compiler: &Path, options: &[&str], program: &CProgram, sandbox: &Sandbox, name: &str) -> f64 {
    let binary = program.build(compiler, &[&["-O2"], options].concat(), sandbox.join(name));
    let run = Run::new("valgrind").args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(&binary);
    let run = run.args(&program.arguments).env("BBPROF_OUT", sandbox.join("run.bbraw")).in_folder(sandbox.path());
    let outcome = run.outcome().expect_code(program.exit_code);
    let count = outcome.stderr.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    count.unwrap_or_else(|| panic!("callgrind gave no count: {}", outcome.stderr))
}

/// Executed instructions of the profiled program, as ratios to those of the plain one, stay within these bounds;
/// and those by edges below those of a counter in every block.
fn costs_at_most(program: &CProgram, by_edges: f64, by_paths: f64) {
    let sandbox = Sandbox::new("cost");
    let plain = instructions("clang-22".as_ref(), &[], program, &sandbox, "plain");
    let ratio = |counters: &str| {
        let option = format!("--bbprof-counters={counters}");
        instructions(&tool("bbprof-cc"), &[&option], program, &sandbox, counters) / plain
    };
    let (edges, paths, blocks) = (ratio("edges"), ratio("paths"), ratio("blocks"));
    let what = format!("{}: {edges:.4} by edges, {paths:.4} by paths, {blocks:.4} with a counter in every block", program.name);
    eprintln!("{what}");
    assert!(edges <= by_edges && paths <= by_paths && edges < blocks, "{what}; bounds {by_edges} and {by_paths}");
}

/// A kernel of the bench.
fn kernel(name: &str, amount: &str) -> CProgram {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/programs/kernels/kernels.c");
    CProgram {
        name: "kernels",
        sources: vec![source],
        options: Vec::new(),
        libraries: vec![],
        arguments: vec![name.to_owned(), amount.to_owned()],
        exit_code: 0,
    }
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
    costs_at_most(&busy_lua(), 1.075, 1.09);
    if is_long() {
        costs_at_most(&sqlite(), 1.059, 1.078);
        costs_at_most(&zstd(), 1.013, 1.044);
    }
}

/// Each call finds its thread's counters first.
#[test]
fn code_for_shared_libraries_stays_within_its_bound() {
    let (program, sandbox) = (busy_lua(), Sandbox::new("cost-library"));
    let of = |compiler: &Path, name: &str| instructions(compiler, &["-fPIC"], &program, &sandbox, name);
    let ratio = of(&tool("bbprof-cc"), "profiled") / of("clang-22".as_ref(), "plain");
    eprintln!("{}: {ratio:.4} with -fPIC", program.name);
    assert!(ratio <= 1.18, "{ratio:.4}");
}

/// Tight loops are the worst that paths can meet: nothing but the loop counts. What paths cost beyond
/// the plain build is at most twice what edges do, but for a hundredth of the program's own
/// instructions, which the runtime may take at the end of a short run. What edges cost is taken where each
/// turn is counted, as some of these loops execute less than the plain ones where several are counted at once.
#[test]
fn paths_of_kernels_stay_within_their_bounds() {
    let quick = [("hash", "1000"), ("classify", "1000")];
    let long = [
        ("sum", "2000"),
        ("scan", "1000"),
        ("sieve", "1000"),
        ("collatz", "1000"),
        ("search", "1000"),
        ("calls", "500"),
        ("sort", "100"),
        ("list", "1000"),
    ];
    let sandbox = Sandbox::new("cost");
    for (name, amount) in quick.into_iter().chain(long.into_iter().filter(|_| is_long())) {
        let kernel = kernel(name, amount);
        let plain = instructions("clang-22".as_ref(), &[], &kernel, &sandbox, "plain");
        let each = "--bbprof-without=unrolling";
        let edges = instructions(&tool("bbprof-cc"), &[each], &kernel, &sandbox, "edges") / plain;
        for options in [&["--bbprof-counters=paths"][..], &["--bbprof-counters=paths", each]] {
            let paths = instructions(&tool("bbprof-cc"), options, &kernel, &sandbox, "paths") / plain;
            assert!(paths - 1.0 <= 2.0 * (edges - 1.0) + 0.01, "{name} {amount}: {paths:.4} by {options:?}, {edges:.4} by edges");
        }
    }
}

/// Loops that count several turns at once execute little more than the plain ones: 1.005 and 1.035, where each turn
/// counted takes 1.170 and 1.130.
#[test]
fn turns_that_are_counted_at_once_stay_within_their_bounds() {
    let sandbox = Sandbox::new("cost");
    for (name, bound) in [("scan", 1.02), ("list", 1.05)] {
        let kernel = kernel(name, "1000");
        let plain = instructions("clang-22".as_ref(), &[], &kernel, &sandbox, "plain");
        let ratio = instructions(&tool("bbprof-cc"), &[], &kernel, &sandbox, "profiled") / plain;
        eprintln!("{name}: {ratio:.4}");
        assert!(ratio <= bound, "{name}: {ratio:.4}");
    }
}

/// What the runtime executes at the start and the end of a process, 93,000 instructions, most of them the dynamic loader's.
#[test]
fn a_start_and_an_end_stay_within_their_bound() {
    let (sandbox, nothing) = (Sandbox::new("cost-start"), kernel("sum", "0"));
    let of = |compiler: &Path, name: &str| instructions(compiler, &[], &nothing, &sandbox, name);
    let more = of(&tool("bbprof-cc"), "profiled") - of("clang-22".as_ref(), "plain");
    eprintln!("{more} instructions more");
    assert!(more <= 150_000.0, "{more} instructions more");
}

/// A register in the addresses of a loop's counters costs an instruction at each entry of
/// it, also where the loop follows another one at once.
#[test]
fn registers_in_addresses_cost_nothing_in_a_turn() {
    let (sandbox, list) = (Sandbox::new("cost"), kernel("list", "500"));
    let profile = sandbox.join("run.bbraw");
    instructions(&tool("bbprof-cc"), &[], &list, &sandbox, "estimated");
    let weights = sandbox.join("weights.bbraw");
    std::fs::rename(&profile, &weights).unwrap();
    let weights = format!("--bbprof-weights={}", weights.display());
    let without = instructions(&tool("bbprof-cc"), &[&weights, "--bbprof-without=bases"], &list, &sandbox, "without");
    let with = instructions(&tool("bbprof-cc"), &[&weights], &list, &sandbox, "with");
    assert!(with <= 1.01 * without, "{with} instructions with registers in addresses, {without} without");
}
