//! A profile of 200,000 blocks and 10,000 functions, one of which has 5,000 blocks: reports,
//! exports, a merge of 1,000 raw profiles, and the explorer's pages in a browser. What is shown is
//! compared with the JSON export, and how long it took is printed:
//!
//! ```text
//! BBPROF_LONG=1 BBPROF_ROOT=... cargo test --release -p bbprof-tests large:: -- --nocapture
//! ```

use bbprof_tests::{Browser, Exported, Run, Sandbox, grouped, is_long, tool};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

const FILES: usize = 200;
const FUNCTIONS_OF_A_FILE: usize = 50;
/// How many statements the functions have by turns: 20 blocks each on average.
const STATEMENTS: [usize; 3] = [3, 7, 10];
/// Those of the huge function: 5,000 blocks.
const STATEMENTS_OF_THE_HUGE: usize = 1_500;
/// Raw profiles that are merged.
const PROFILES: u64 = 1_000;

/// A function with branches, loops and switches on its own lines.
fn function(name: &str, statements: usize, seed: usize) -> String {
    let mut text = format!("__attribute__((noinline)) uint64_t {name}(uint64_t x) {{\n  uint64_t sum = sink, s = x;\n");
    for number in 0..statements {
        let line = match (number + seed) % 3 {
            0 => format!("if ((x ^ {number}) % {} == 0) sum += x * {number}; else sum ^= s + {seed};", 2 + seed % 7),
            1 => format!(
                "for (unsigned i = 0; i < (x + {number}) % 4; i++) {{ sum += i ^ x; if (sum % 7 == {}) s -= 3; }}",
                number % 7
            ),
            _ => format!(
                "switch (sum % 5) {{ case 0: s += {number}; break; case 1: s *= 3; break; case 3: sum -= s; break; default: sum++; }}"
            ),
        };
        let _ = writeln!(text, "  {line}");
    }
    text + "  sink = s;\n  return sum;\n}\n"
}

/// Writes the sources.
fn write_program(sandbox: &Sandbox) -> Vec<PathBuf> {
    let head = "#include <stdint.h>\nextern volatile uint64_t sink;\n";
    let (mut sources, mut calls, mut declarations) = (Vec::new(), String::new(), String::new());
    for file in 0..FILES {
        let mut text = head.to_owned();
        for number in 0..FUNCTIONS_OF_A_FILE {
            let (name, seed) = (format!("work_{file}_{number}"), file * FUNCTIONS_OF_A_FILE + number);
            text += &function(&name, STATEMENTS[seed % STATEMENTS.len()], seed);
            let _ = writeln!(declarations, "uint64_t {name}(uint64_t);");
        }
        // One caller for each file, so that no function becomes too large to compile.
        let _ = writeln!(text, "uint64_t calls_{file}(uint64_t sum) {{");
        for number in 0..FUNCTIONS_OF_A_FILE {
            let _ = writeln!(
                text,
                "  for (uint64_t i = 0; i < {}; i++) sum += work_{file}_{number}(i + sum);",
                1 + (file + number) % 40
            );
        }
        text += "  return sum;\n}\n";
        let _ = writeln!(declarations, "uint64_t calls_{file}(uint64_t);");
        let _ = writeln!(calls, "  sum += calls_{file}(sum);");
        sources.push(sandbox.write(&format!("part{file}.c"), text));
    }
    let huge = function("huge", STATEMENTS_OF_THE_HUGE, 1);
    let main = format!(
        "#include <stdio.h>\n{head}volatile uint64_t sink;\n{declarations}{huge}int main(int argc, char **argv) {{\n  (void)argv;\n  \
         uint64_t sum = 0;\n  for (uint64_t i = 0; i < 20; i++) sum += huge(i * 77 + argc);\n{calls}  return sum == 1;\n}}\n"
    );
    sources.push(sandbox.write("main.c", main));
    sources
}

/// Compiles and links, two files at a time.
fn build(sandbox: &Sandbox) -> PathBuf {
    let sources = write_program(sandbox);
    let compile = |sources: &[PathBuf]| {
        for source in sources {
            Run::new(tool("bbprof-cc"))
                .args(["-O1", "-g", "-fno-vectorize", "-fno-unroll-loops", "-c"])
                .arg(source)
                .in_folder(sandbox.path())
                .ok();
        }
    };
    let (some, others) = sources.split_at(sources.len() / 2);
    std::thread::scope(|scope| {
        scope.spawn(|| compile(some));
        compile(others);
    });
    let program = sandbox.join("large");
    let objects = sources.iter().map(|source| source.with_extension("o"));
    Run::new(tool("bbprof-cc")).args(objects).arg("-o").arg(&program).in_folder(sandbox.path()).ok();
    program
}

/// Runs and says how long it took: the best of three.
fn timed(what: &str, make: impl Fn() -> Run) {
    let best = (0..3).map(|_| {
        let begin = Instant::now();
        make().ok();
        begin.elapsed()
    });
    println!("{what}: {:.2} s", best.min().unwrap_or_default().as_secs_f64());
}

fn megabytes(path: &Path) -> f64 {
    let size = |path: &Path| std::fs::metadata(path).expect("a file").len();
    let bytes = match std::fs::read_dir(path) {
        Ok(entries) => entries.map(|entry| size(&entry.expect("an entry").path())).sum(),
        Err(_) => size(path),
    };
    bytes as f64 / 1e6
}

#[test]
fn two_hundred_thousand_blocks() {
    if !is_long() {
        return;
    }
    let sandbox = Sandbox::new("large");
    let program = build(&sandbox);
    let raw = sandbox.join("large.bbraw");
    Run::new(&program).env("BBPROF_OUT", &raw).ok();
    let exported = Exported::of(std::slice::from_ref(&raw));
    let (functions, blocks) = (exported.total("functions"), exported.total("blocks"));
    println!("{functions} functions, {blocks} blocks, raw profile of {:.1} MB", megabytes(&raw));
    assert!(functions > 10_000 && blocks > 200_000, "{functions} functions, {blocks} blocks");

    let bbprof = |words: &[&str]| Run::new(tool("bbprof")).args(words).arg(&raw).in_folder(sandbox.path());
    timed("report", || bbprof(&["report"]));
    timed("lcov", || bbprof(&["export", "lcov=large.info"]));
    timed("html", || bbprof(&["export", "html=pages"]));
    println!("html: {:.1} MB", megabytes(&sandbox.join("pages/data")) + megabytes(&sandbox.join("pages/index.html")));
    check_merge(&sandbox, &raw, &exported);
    check_pages(&sandbox.join("pages/index.html"), &exported);
}

/// Merges the profile often, with one damaged copy, in 500 MB of address space.
fn check_merge(sandbox: &Sandbox, raw: &Path, exported: &Exported) {
    let bytes = std::fs::read(raw).expect("the raw profile");
    for number in 1..PROFILES {
        sandbox.write(&format!("many/{number}.bbraw"), &bytes);
    }
    sandbox.write("many/damaged.bbraw", &bytes[..bytes.len() / 3]);
    let begin = Instant::now();
    let merge = Run::new("sh").args(["-c", "ulimit -v 500000 && exec \"$0\" merge -o merged.bbprof many"]).arg(tool("bbprof"));
    let merged = merge.in_folder(sandbox.path()).outcome().expect_code(4);
    println!("merge of {PROFILES} in less than 500 MB: {:.2} s", begin.elapsed().as_secs_f64());
    assert!(merged.stderr.contains("many/damaged.bbraw: ") && merged.stderr.lines().count() == 1, "{}", merged.stderr);
    let sum = Exported::of(&[sandbox.join("merged.bbprof")]);
    for total in ["instructions", "block_executions"] {
        assert_eq!(sum.total(total), (PROFILES - 1) * exported.total(total));
    }
}

/// Opens the report, and the page of the huge function: how long until it is drawn, as the page sees it.
fn check_pages(page: &Path, exported: &Exported) {
    let functions = exported.functions();
    let id = functions.iter().position(|function| function.value["symbol"] == "huge").expect("it is there");
    let blocks = functions[id].value["blocks"].as_array().expect("blocks");
    assert!(blocks.len() >= 5_000, "{} blocks", blocks.len());
    let ran = blocks.iter().filter(|block| block["count"] != 0).count();
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    for _ in 0..3 {
        browser.open(page, "");
        browser.wait("the overview", "document.querySelector('.overview tbody tr')");
        assert_eq!(browser.texts(".facts.large dd")[0], grouped(exported.total("instructions")));
        let ready = browser.value("performance.getEntriesByName('bbprof-ready')[0].startTime");
        let drawn = browser.value(&WAIT_FOR_FUNCTION.replace("ID", &id.to_string()));
        println!(
            "first page after {:.0} ms, page of {} blocks after {:.0} ms",
            ready.as_f64().unwrap_or(-1.0),
            blocks.len(),
            drawn.as_f64().unwrap_or(-1.0)
        );
        let says = browser.text("document.querySelector('.graph-says').textContent");
        assert!(says.starts_with(&format!("{} of {} blocks", grouped(ran as u64), grouped(blocks.len() as u64))), "{says}");
    }
    assert!(browser.complaints.is_empty(), "{}", browser.complaints.join("\n"));
}

/// Opens the page of a function; gives the milliseconds until graph and source are on the screen.
const WAIT_FOR_FUNCTION: &str = "new Promise((done) => {
  const begin = performance.now();
  location.hash = '#/f/ID';
  const look = () => {
    const isThere = document.querySelector('.canvas svg .block, .canvas svg .far-block') && document.querySelector('.line-row .text');
    if (isThere) requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
    else setTimeout(look, 2);
  };
  look();
})";
