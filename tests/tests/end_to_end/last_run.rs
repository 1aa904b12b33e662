//! `cargo bbprof run` stands in the program's place: signals go to the program, its exit code comes out whatever becomes of the
//! profile, and the last run is the last run, also where it wrote no profile, or wrote it elsewhere.

use bbprof_tests::{Outcome, Run, Sandbox, tool};
use std::path::Path;

const PROGRAM: &str = r#"
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

static TOLD: AtomicBool = AtomicBool::new(false);

extern "C" fn told(_: i32) {
    TOLD.store(true, Ordering::Relaxed);
}

static COUNT: AtomicUsize = AtomicUsize::new(0);

extern "C" fn counted(_: i32) {
    COUNT.fetch_add(1, Ordering::Relaxed);
}

unsafe extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn raise(number: i32) -> i32;
}

fn main() {
    let word = std::env::args().nth(1).expect("a word");
    if word == "serve" {
        for number in [1, 2, 3, 12, 15] {
            unsafe { signal(number, told) };
        }
        println!("{}", std::process::id());
        // A test that fails leaves nothing behind.
        for _ in 0..1000 {
            if TOLD.load(Ordering::Relaxed) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(300));
        println!("ended");
        std::process::exit(5);
    }
    if word == "count" {
        unsafe { signal(2, counted) };
        println!("ready");
        for _ in 0..1000 {
            if COUNT.load(Ordering::Relaxed) > 0 {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        std::thread::sleep(Duration::from_millis(300));
        println!("interrupted {}", ["never", "once"].get(COUNT.load(Ordering::Relaxed)).unwrap_or(&"twice"));
        std::process::exit(6);
    }
    if word == "stop" {
        unsafe { raise(19) };
        println!("continued");
        std::process::exit(9);
    }
    if word == "ignored" {
        let status = std::fs::read_to_string("/proc/self/status").expect("a status");
        println!("{}", status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask"));
        std::process::exit(8);
    }
    if word == "remove" {
        let out = std::env::var("BBPROF_OUT").expect("a pattern");
        std::fs::remove_dir_all(std::path::Path::new(&out).parent().expect("a folder")).expect("removed");
        std::process::exit(7);
    }
    std::process::exit(word.parse().expect("a number"));
}
"#;

/// A package with that program.
fn package(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    sandbox.write("Cargo.toml", "[package]\nname = \"server\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
    sandbox.write("Cargo.lock", "version = 4\n\n[[package]]\nname = \"server\"\nversion = \"0.1.0\"\n");
    sandbox.write("src/main.rs", PROGRAM);
    sandbox
}

/// `cargo bbprof run` of it.
fn run(sandbox: &Sandbox, options: &[&str], word: &str) -> Run {
    Run::new(tool("cargo-bbprof")).args(["bbprof", "run"]).args(options).args(["--", word]).in_folder(sandbox.path())
}

/// What commands take for the last run.
fn last(sandbox: &Sandbox) -> Outcome {
    Run::new(tool("bbprof")).arg("verify").in_folder(sandbox.path()).outcome()
}

fn ended_with(sandbox: &Sandbox, code: i32) {
    let verified = last(sandbox).expect_code(0).text();
    assert!(verified.contains(&format!(": exit {code}\n")), "{verified}");
}

/// Runs the server, and does something before, and to `cargo bbprof` ($p) and the server itself ($s) when it is ready.
fn served(sandbox: &Sandbox, before: &str, then: &str) -> Outcome {
    let script = format!("rm -f out\n{before}\n\"$@\" > out & p=$!\nuntil read s < out; do sleep 0.05; done 2> /dev/null\n{then}");
    let words = ["bbprof", "run", "-q", "--", "serve"];
    Run::new("bash").args(["-c", &script, "bash"]).arg(tool("cargo-bbprof")).args(words).in_folder(sandbox.path()).outcome()
}

#[test]
fn signals_are_for_the_program() {
    let sandbox = package("signals");
    run(&sandbox, &["-q", "--no-report"], "3").outcome().expect_code(3);
    // Who is in the background of a script ignores INT and QUIT, until he says otherwise, as the server does.
    for signal in ["TERM", "HUP", "USR2", "INT", "QUIT"] {
        let outcome = served(&sandbox, "", &format!("kill -{signal} $p; wait $p")).expect_code(5);
        assert!(outcome.stderr.contains("Hottest functions"), "{signal}: {}", outcome.stderr);
        assert!(std::fs::read_to_string(sandbox.join("out")).is_ok_and(|out| out.ends_with("\nended\n")), "{signal}");
        ended_with(&sandbox, 5);
    }
    // Who was told to ignore a signal ignores it.
    let words = ["bbprof", "run", "-q", "--no-report", "--", "ignored"];
    let told = Run::new("bash").args(["-c", "trap '' HUP; \"$@\"", "bash"]).arg(tool("cargo-bbprof")).args(words);
    let mask = told.in_folder(sandbox.path()).outcome().expect_code(8).text();
    let mask = u64::from_str_radix(mask.trim(), 16).expect("a mask in hexadecimal");
    assert_eq!(mask & 1, 1, "SIGHUP is ignored: {mask:b}");
}

/// What a terminal sends goes to the whole group: passed on, it would come twice, and a
/// second ^C means more than one to many programs.
#[test]
fn a_terminals_interrupt_comes_once() {
    let sandbox = package("terminal");
    run(&sandbox, &["-q", "--no-report"], "3").outcome().expect_code(3);
    // A shell that stays in between, as dash does, would end by the signal.
    let words = format!("exec {} bbprof run -q -- count", tool("cargo-bbprof").display());
    let typed = format!(
        "rm -f out; (until grep -q ready out; do sleep 0.05; done; printf '\\003'; sleep 2) | script -qfec '{words}' out > seen"
    );
    Run::new("bash").args(["-c", &typed]).in_folder(sandbox.path()).outcome().expect_code(6);
    let seen = std::fs::read_to_string(sandbox.join("seen")).expect("what the terminal showed");
    assert!(seen.contains("interrupted once"), "{seen}");
    ended_with(&sandbox, 6);
}

/// Whoever stops itself stops the command, whose shell would wait for it otherwise; and goes on with it.
#[test]
fn a_program_that_stops_itself() {
    let sandbox = package("stops");
    run(&sandbox, &["-q", "--no-report"], "3").outcome().expect_code(3);
    let command = format!("{} bbprof run -q --no-report -- stop", tool("cargo-bbprof").display());
    sandbox.write("shell", format!("set -m\n{command}\necho shell: $?\nfg\necho shell: $?\n"));
    let words = ["60", "script", "-qfec", "exec bash shell", "/dev/null"];
    let seen = Run::new("timeout").args(words).in_folder(sandbox.path()).outcome().expect_code(0).text();
    let lines: Vec<&str> = seen.lines().map(str::trim).filter(|line| line.starts_with("shell: ") || *line == "continued").collect();
    assert_eq!(lines, ["shell: 147", "continued", "shell: 9"], "{seen}");
    ended_with(&sandbox, 9);
}

/// Whoever asks for the last run while it runs, or when `cargo bbprof` was killed, is not shown the one before.
#[test]
fn a_run_is_noted_when_it_begins() {
    let sandbox = package("begins");
    run(&sandbox, &["-q", "--no-report"], "3").outcome().expect_code(3);
    served(&sandbox, "", "kill -KILL $p; wait $p; while kill -0 $s; do sleep 0.05; done; true").expect_code(0);
    let verified = last(&sandbox).expect_code(5).text();
    assert!(verified.contains("no end was seen"), "{verified}");
}

#[test]
fn the_exit_code_is_the_programs_whatever_becomes_of_the_profile() {
    let sandbox = package("removed");
    let said = run(&sandbox, &["-q"], "remove").outcome().expect_code(7).stderr;
    assert!(said.contains("bbprof: no summary: "), "{said}");
    last(&sandbox).expect_code(2);
}

#[test]
fn the_last_run_is_the_last_whatever_it_was() {
    let sandbox = package("last");
    let quiet = ["-q", "--no-report"];
    run(&sandbox, &quiet, "3").outcome().expect_code(3);
    ended_with(&sandbox, 3);
    // Where the user said: one file, or whatever a pattern stands for.
    let one = sandbox.join("elsewhere/one.bbraw");
    std::fs::create_dir(sandbox.join("elsewhere")).expect("a folder");
    run(&sandbox, &quiet, "4").env("BBPROF_OUT", &one).outcome().expect_code(4);
    ended_with(&sandbox, 4);
    run(&sandbox, &quiet, "5").env("BBPROF_OUT", sandbox.join("elsewhere/%p.bbraw")).outcome().expect_code(5);
    ended_with(&sandbox, 5);
    let host = Run::new("uname").arg("-n").outcome().expect_code(0).text();
    std::fs::create_dir(sandbox.join("elsewhere").join(host.trim())).expect("a folder");
    let said = run(&sandbox, &["-q"], "4").env("BBPROF_OUT", sandbox.join("elsewhere/%h/a.bbraw")).outcome().expect_code(4).stderr;
    assert!(said.contains("no summary: BBPROF_OUT is ") && said.contains("elsewhere/%h/a.bbraw, whose folder"), "{said}");
    let said = last(&sandbox).expect_code(2).stderr;
    assert!(said.contains("where BBPROF_OUT said") && said.contains("elsewhere/%h/a.bbraw: name them"), "{said}");
    // Set, but empty, is not set.
    let run_as_ever = run(&sandbox, &["-q"], "6").env("BBPROF_OUT", "").outcome().expect_code(6);
    assert!(run_as_ever.stderr.contains("Hottest functions"), "{}", run_as_ever.stderr);
    ended_with(&sandbox, 6);
    // Nowhere, and it failed.
    let off = run(&sandbox, &[], "3").env("BBPROF_OFF", "1").outcome().expect_code(3);
    assert!(off.stderr.contains("no profile was written: BBPROF_OFF is set"), "{}", off.stderr);
    last(&sandbox).expect_code(2);
    // Nowhere, as its folder is missing.
    let refused = run(&sandbox, &[], "0").env("BBPROF_OUT", "nowhere/%p.bbraw").outcome().expect_code(0).stderr;
    assert!(refused.contains("cannot write") && refused.contains("or none could write one, and said so"), "{refused}");
    // In another target directory than commands look at.
    run(&sandbox, &[&quiet[..], &["--target-dir", "other"]].concat(), "8").outcome().expect_code(8);
    ended_with(&sandbox, 8);
    run(&sandbox, &[&quiet[..], &["--config", "build.target-dir='third'"]].concat(), "9").outcome().expect_code(9);
    ended_with(&sandbox, 9);
    run(&sandbox, &quiet, "10").env("CARGO_TARGET_DIR", sandbox.join("fourth")).outcome().expect_code(10);
    ended_with(&sandbox, 10);
}

/// The summary is of this run's processes alone, whatever lies beside their files.
#[test]
fn where_the_user_says_the_summary_is_of_this_run() {
    let sandbox = package("said");
    let in_folder = |pattern: &str, word: &str| run(&sandbox, &[], word).env("BBPROF_OUT", pattern).outcome();
    let calls_of_main = |said: &str| said.lines().find(|line| line.contains("server::main")).map(str::to_owned);
    let first = in_folder("%p.profile", "3").expect_code(3).stderr;
    let line = calls_of_main(&first).expect("main is in the summary");
    let second = in_folder("./%p.profile", "3").expect_code(3).stderr;
    assert_eq!(calls_of_main(&second).as_deref(), Some(&*line), "{second}");
    assert!(second.contains("the raw profile is ") && !second.contains("/./"), "{second}");
    ended_with(&sandbox, 3);
    in_folder("of two\nlines-%p", "4").expect_code(4);
    ended_with(&sandbox, 4);
    // Whatever the files are called, who was killed is told so.
    served(&sandbox, "export BBPROF_OUT=killed-%p", "kill -KILL $s; wait $p").expect_code(137);
    let killed = last(&sandbox).expect_code(5).text();
    assert!(killed.contains("SIGKILL"), "{killed}");
    let pool = in_folder("%m.bbraw", "3").expect_code(3).stderr;
    assert!(pool.contains("no summary: BBPROF_OUT is %m.bbraw: pools (%m) hold the counts of earlier runs"), "{pool}");
}

/// What cargo's configuration says of the environment holds for programs that cargo runs;
/// the environment itself wins, unless it is forced.
#[test]
fn where_cargos_configuration_says() {
    let sandbox = package("configured");
    let configure = |value: &str| sandbox.write(".cargo/config.toml", format!("[env]\nBBPROF_OUT = {value}\n"));
    let summary = |run: Run, code: i32, name: &str| {
        let said = run.outcome().expect_code(code).stderr;
        assert!(
            said.contains("server::main") && said.contains(&format!("the raw profile is {}", sandbox.join(name).display())),
            "{said}"
        );
        ended_with(&sandbox, code);
    };
    configure("\"configured.bbraw\"");
    summary(run(&sandbox, &[], "3"), 3, "configured.bbraw");
    summary(run(&sandbox, &[], "4").env("BBPROF_OUT", "own.bbraw"), 4, "own.bbraw");
    // Set, but empty, it wins, too, and is not set.
    let usual = run(&sandbox, &[], "5").env("BBPROF_OUT", "").outcome().expect_code(5).stderr;
    assert!(usual.contains("raw profiles are in "), "{usual}");
    std::fs::create_dir(sandbox.join("elsewhere")).expect("a folder");
    configure("{ value = \"elsewhere/forced.bbraw\", relative = true, force = true }");
    summary(run(&sandbox, &[], "6").env("BBPROF_OUT", "own.bbraw"), 6, "elsewhere/forced.bbraw");
    let refused = run(&sandbox, &["--config", "env.BBPROF_OUT='x'"], "3").outcome().expect_code(2).stderr;
    assert!(refused.contains("set env.BBPROF_OUT in cargo's configuration file"), "{refused}");
    sandbox.write(".cargo/config.toml", "[env]\nBBPROF_OFF = \"1\"\n");
    let off = run(&sandbox, &[], "7").outcome().expect_code(7).stderr;
    assert!(off.contains("no profile was written: BBPROF_OFF is set"), "{off}");
}

/// As a checkout that is renamed, or what one machine of a CI hands to another.
#[test]
fn target_directories_can_be_moved() {
    let sandbox = package("moved");
    run(&sandbox, &["-q", "--no-report"], "6").outcome().expect_code(6);
    let elsewhere = sandbox.join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("a folder");
    std::fs::rename(sandbox.join("target"), elsewhere.join("target")).expect("moved");
    for words in [&["verify"][..], &["verify", "target/bbprof/runs"]] {
        let verified = Run::new(tool("bbprof")).args(words).in_folder(&elsewhere).outcome().expect_code(0).text();
        assert!(verified.contains(": exit 6\n"), "{words:?}: {verified}");
    }
    // The build's own folder need not come along.
    let [runs, maps] = ["runs", "maps"].map(|name| (elsewhere.join("target/bbprof").join(name), elsewhere.join(name)));
    for (from, to) in [&runs, &maps] {
        std::fs::rename(from, to).expect("moved");
    }
    let report = || Run::new(tool("bbprof")).arg("report").arg(&runs.1).outcome();
    let listed = report().expect_code(0).text();
    assert!(listed.contains("server::main"), "{listed}");
    // Nor its folders: a map may lie beside the profile.
    let only = |folder: &Path| {
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).next().expect("an entry")
    };
    let map = only(&maps.1);
    std::fs::rename(&map, elsewhere.join("server.bbmap")).expect("moved");
    assert!(report().expect_code(2).stderr.contains("beside the profile"));
    std::fs::rename(elsewhere.join("server.bbmap"), only(&runs.1).join("server.bbmap")).expect("moved");
    assert_eq!(report().expect_code(0).text(), listed);
}
