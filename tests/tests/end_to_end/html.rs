//! The HTML explorer in a real browser, opened from the disk: it shows the numbers of the JSON export, leads from block to source
//! and back, never runs what is in names, and complains of nothing.

mod folders;
mod views;

use bbprof_format::merged::MergedProfile;
use bbprof_tests::{Browser, CProgram, Exported, Function, Run, Sandbox, grouped, is_long, lua, sqlite, tool};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The name of one function of `tests/programs/page`.
fn lengthy() -> String {
    "a_name_of_ten_thousand_characters_".chars().cycle().take(10_000).collect()
}

/// Compiles `tests/programs/page` under a hostile path, and runs it: its source and its raw profile.
fn profiled_page(sandbox: &Sandbox) -> (PathBuf, PathBuf) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/page/page.c");
    let text = std::fs::read_to_string(source).expect("the program").replace("LENGTHY", &format!("\"{}\"", lengthy()));
    let path = sandbox.write("<b onclick=alert(4)>/it's \"<script>alert(5).c", text);
    let program = sandbox.join("page");
    Run::new(tool("bbprof-cc")).args(["-g", "-O0", "--bbprof-ir", "-o"]).arg(&program).arg(&path).ok();
    let raw = sandbox.join("page.bbraw");
    Run::new(&program).env("BBPROF_OUT", &raw).ok();
    (path, raw)
}

fn export(sandbox: &Sandbox, profile: &Path, name: &str, options: &[&str]) -> PathBuf {
    let output = sandbox.join(name);
    Run::new(tool("bbprof")).arg("export").arg(format!("html={}", output.display())).arg(profile).args(options).ok();
    if output.is_dir() { output.join("index.html") } else { output }
}

/// The line of `tests/programs/page` that has this text.
fn line_of(text: &str) -> usize {
    let lines = include_str!("../../programs/page/page.c").lines();
    1 + lines.into_iter().position(|line| line.contains(text)).unwrap_or_else(|| panic!("no line has {text}"))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no count: {value}"))
}

fn function(exported: &Exported, symbol: &str) -> Function {
    exported.functions().into_iter().find(|function| function.value["symbol"] == symbol).unwrap_or_else(|| panic!("{symbol}"))
}

/// Goes to the page of a function through the search box.
fn search_for(browser: &mut Browser, name: &str) {
    browser.press("/");
    browser.type_text(name);
    browser.wait("a result", "document.querySelector('#results [aria-selected=true]')");
    browser.press("Enter");
    browser.wait("its page", &format!("document.querySelector('h1')?.textContent === {}", json!(name)));
    browser.wait("its blocks are drawn", "document.querySelector('.canvas svg .block, .canvas svg .far-block')");
}

fn assert_no_complaint(browser: &Browser) {
    assert!(browser.complaints.is_empty(), "{}", browser.complaints.join("\n"));
}

#[test]
fn what_is_shown_is_what_was_counted() {
    let sandbox = Sandbox::new("html");
    let (_, raw) = profiled_page(&sandbox);
    let exported = Exported::of(std::slice::from_ref(&raw));
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    for (name, options) in [("folder", &[][..]), ("page.html", &["--single-file"][..])] {
        let page = export(&sandbox, &raw, name, options);
        browser.open(&page, "");
        check_overview(&mut browser, &exported);
        check_table(&mut browser, &exported);
        check_function(&mut browser, &exported);
        assert_no_complaint(&browser);
    }
}

fn check_overview(browser: &mut Browser, exported: &Exported) {
    let facts = browser.texts(".facts.large dd");
    assert_eq!(facts[0], grouped(exported.total("instructions")));
    assert_eq!(facts[1], grouped(exported.total("block_executions")));
    let of = |part, whole| format!("{} of {}", grouped(exported.total(part)), grouped(exported.total(whole)));
    assert_eq!(facts[2], of("functions_executed", "functions"));
    assert_eq!(facts[3], of("blocks_executed", "blocks"));
    assert_eq!(browser.texts(".verdict"), ["exact"]);
    let mut hottest: Vec<u64> = exported.functions().iter().map(|function| number(&function.value["instructions"])).collect();
    hottest.sort_unstable_by(|a, b| b.cmp(a));
    hottest.retain(|instructions| *instructions > 0);
    let shown = browser.texts(".columns section:first-child tbody td:nth-child(2)");
    assert_eq!(shown, hottest.iter().take(12).map(|count| grouped(*count)).collect::<Vec<_>>());
    assert!(browser.texts(".overview td").contains(&"exit 0".to_owned()), "the fate is shown");
}

fn check_table(browser: &mut Browser, exported: &Exported) {
    browser.click("nav a[href='#/tree']");
    browser.wait("the table", "document.querySelector('.row.module')");
    browser.click(".row.module .twist");
    browser.wait("the functions of the module", "document.querySelectorAll('.row.function').length >= 5");
    let executed = exported.functions().iter().filter(|function| function.entries() > 0).count();
    assert_eq!(browser.texts(".row.function .name a").len(), executed, "what ran is listed");
    browser.click(".table-bar input[type=checkbox]");
    let all = exported.functions().len();
    browser.wait("what never ran is listed, too", &format!("document.querySelectorAll('.row.function').length === {all}"));
    let mut expected: Vec<(String, String)> = exported
        .functions()
        .iter()
        .map(|function| (grouped(number(&function.value["instructions"])), grouped(function.entries())))
        .collect();
    let instructions = browser.texts(".row.function .cell.instructions");
    let calls = browser.texts(".row.function .cell.calls");
    let mut shown: Vec<(String, String)> = instructions.into_iter().zip(calls).collect();
    expected.sort();
    shown.sort();
    assert_eq!(shown, expected);
    browser.click("button[title='Entries of the function']");
    browser.wait("sorted by calls", "document.querySelector('.calls[aria-sort=descending]')");
    browser.click("#filter");
    browser.type_text("collatz");
    browser.wait("one row is left", "document.querySelectorAll('.row.function').length === 1");
    assert_eq!(browser.texts(".row.function .name a"), ["collatz"]);
    browser.click("#filter");
    browser.value("(() => { const e = document.querySelector('#filter'); e.value = ''; e.dispatchEvent(new Event('input', { bubbles: true })); })()");
    browser.click(".table-bar input[type=checkbox]");
    browser.wait("as it was", "document.querySelectorAll('.row.function').length > 1");
    browser.click(".row.module .twist");
}

/// How many steps the numbers from 1 to 1000 take, by our own count.
fn collatz_steps() -> u64 {
    let steps = |mut n: u64| {
        let mut steps = 0;
        while n != 1 {
            n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    };
    (1..=1000).map(steps).sum()
}

fn check_function(browser: &mut Browser, exported: &Exported) {
    let before = number(&browser.value("history.length"));
    search_for(browser, "collatz");
    let collatz = function(exported, "collatz");
    let blocks = collatz.value["blocks"].as_array().expect("blocks");
    let drawn = browser.texts(".canvas .block .number");
    let counts: Vec<String> = blocks.iter().map(|block| grouped(number(&block["count"]))).collect();
    let sorted = |mut list: Vec<String>| {
        list.sort();
        list
    };
    assert_eq!(sorted(drawn), sorted(counts));

    // Every block: its facts, and where it leads.
    for (id, block) in blocks.iter().enumerate() {
        browser.click("button[aria-label='Show all']");
        browser.click(&format!("#block-{id} .body"));
        browser.wait("its details", &format!("document.querySelector('.block-detail h2')?.textContent === 'Block #{id}'"));
        let facts = browser.texts(".block-detail header b");
        assert_eq!(facts[0], grouped(number(&block["count"])));
        let mut ways: Vec<(String, String)> = collatz.value["edges"]
            .as_array()
            .expect("edges")
            .iter()
            .filter(|edge| edge["from"] == id)
            .map(|edge| (format!("#{}", edge["to"]), grouped(number(&edge["count"]))))
            .collect();
        let targets = browser.texts(".part:first-child .chip");
        let taken = browser.texts(".part:first-child td.number:nth-child(2)");
        let mut shown: Vec<(String, String)> = targets.into_iter().zip(taken).collect();
        ways.sort();
        shown.sort();
        assert_eq!(shown, ways, "block {id}");
        let ir = browser.text("document.querySelector('.block-detail pre').textContent");
        assert_eq!(ir.lines().count() as u64, block["opcodes"].as_object().expect("opcodes").values().map(number).sum::<u64>());
    }
    assert_eq!(number(&browser.value("history.length")), before + 1, "a page is one entry, however many blocks are looked at");

    // The line of the loop's body ran as often as we count, and leads to the block that has it.
    let line = "[...document.querySelectorAll('.line-row')].find((row) => row.textContent.includes('steps++'))";
    browser.wait("the source", line);
    assert_eq!(browser.text(&format!("{line}.querySelector('.count').textContent")), grouped(collatz_steps()));
    browser.value(&format!("{line}.querySelector('.code-piece').click()"));
    browser.wait("the block of the line", &format!("{line}.classList.contains('marked')"));
    let chosen = browser.text("document.querySelector('.block-detail header b').textContent");
    assert_eq!(chosen, grouped(collatz_steps()));

    // Blocks that share a line are told apart by column.
    let line = "[...document.querySelectorAll('.line-row')].find((row) => row.textContent.includes('3 * n + 1'))";
    browser.value(&format!("{line}.querySelector('button.splitter').click()"));
    browser.wait("column ranges", "document.querySelectorAll('.piece-row').length > 2");
    let odd = browser.texts(".piece-row .count");
    let on_line =
        |block: &&Value| block["lines"].as_array().expect("lines").iter().any(|place| place["line"] == line_of("3 * n + 1"));
    for block in blocks.iter().filter(on_line) {
        assert!(odd.contains(&grouped(number(&block["count"]))), "{odd:?} lacks {}", block["count"]);
    }

    // To a callee and back, with the browser's own button.
    search_for(browser, "kinds");
    let inlined = browser.texts(".section-row b");
    assert_eq!(inlined, ["clamp"], "what is inlined is shown under its own name");
    browser.click("#tab-calls");
    browser.click(".call-list a[href^='#/f/']");
    browser.wait("the caller", "document.querySelector('h1')?.textContent === 'main'");
    browser.value("history.back()");
    browser.wait("back at the callee", "document.querySelector('h1')?.textContent === 'kinds'");
    browser.value("location.hash = '#/'");
    browser.wait("the overview", "document.querySelector('.overview')");
}

#[test]
fn names_are_shown_and_never_run() {
    let sandbox = Sandbox::new("html-names");
    let (_, raw) = profiled_page(&sandbox);
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    for (name, options) in [("folder", &[][..]), ("page.html", &["--single-file"][..])] {
        let page = export(&sandbox, &raw, name, options);
        browser.open(&page, "#/functions");
        for hostile in ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>\"'`${alert(3)}&amp;"] {
            let link = format!("[...document.querySelectorAll('.row a')].find((a) => a.textContent === {})", json!(hostile));
            browser.wait("the name is shown as it is", &link);
            browser.value(&format!("{link}.click()"));
            browser.wait("its page", &format!("document.querySelector('h1')?.textContent === {}", json!(hostile)));
            browser.wait("its source", "document.querySelector('.line-row .text')");
            assert!(browser.text("document.querySelector('.crumbs').textContent").contains("<script>alert(5).c"));
            browser.value("history.back()");
            browser.wait("the table", "document.querySelector('.row a')");
        }
        let link = "[...document.querySelectorAll('.row a')].find((a) => a.textContent.startsWith('a_name_of_ten'))";
        browser.value(&format!("{link}.click()"));
        browser.wait("the long name's page", "document.querySelector('.function-head button.link')");
        browser.click(".function-head button.link");
        browser.wait("the whole name", "document.querySelector('h1').textContent.length === 10000");
        for width in [1400, 390] {
            browser.look(width, 900, false);
            let overflow = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(overflow, 0, "at {width} the page is as wide as the screen");
        }
        browser.look(1400, 900, false);
        assert_eq!(browser.value("document.querySelectorAll('img, iframe, object').length"), 0);
    }
    assert_no_complaint(&browser);
}

/// A pool's processes are as many as they were; functions that begin on one line are summed; and columns are bytes.
#[test]
fn processes_of_a_pool_and_functions_of_a_line() {
    let sandbox = Sandbox::new("html-pool");
    let text = "template <int N> __attribute__((noinline)) int turn(int x) { return x * N; }\n\
                int both(int a, int b) { const char *s = \"ééééé\"; return a && b ? s[0] : 3; }\n\
                int main() { return turn<2>(1) + turn<2>(2) + turn<3>(1) - 9 + both(1, 0) - 3; }\n";
    let (source, program) = (sandbox.write("pool.cpp", text), sandbox.join("pool"));
    Run::new(tool("bbprof-c++")).args(["-g", "-O0", "-o"]).arg(&program).arg(&source).ok();
    for _ in 0..3 {
        Run::new(&program).env("BBPROF_OUT", sandbox.join("%m.bbraw")).ok();
    }
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    let page = export(&sandbox, &sandbox.raw_profiles("")[0], "folder", &[]);
    browser.open(&page, "");
    assert!(browser.texts(".overview h2").contains(&"3 processes".to_owned()));
    assert!(browser.texts(".overview tr:has(td[title$='/pool']) td").ends_with(&["exit 0".to_owned(), "3".to_owned()]));
    browser.value("location.hash = '#/exactness'");
    browser.wait("the number of processes", "document.querySelector('.prose')?.textContent.includes('of 3 processes')");
    browser.value("location.hash = '#/file/0'");
    browser.wait("the source", "document.querySelector('.line-row .note')");
    let noted = browser.texts(".line-row .note");
    assert_eq!(noted[0].trim(), "int turn<2>(int) and 1 more: 9 calls");
    search_for(&mut browser, "both(int, int)");
    let line = "[...document.querySelectorAll('.line-row')].find((row) => row.textContent.includes('ééééé'))";
    browser.wait("the source", line);
    let pieces =
        browser.text(&format!("[...{line}.querySelectorAll('.code-piece.begin')].map((piece) => piece.textContent).join('|')"));
    assert!(pieces.contains("|&& |"), "{pieces}");
    assert_no_complaint(&browser);
}

/// Counters in blocks leave ways open: what is known of the others is not all, and no share of it.
#[test]
fn ways_that_are_not_all_known_have_no_shares() {
    let sandbox = Sandbox::new("html-open");
    let text = "int f(int x) {\n  int r = 0;\n  switch (x % 7) {\n  case 0: if (x & 8) goto a; goto b;\n  case 1: if (x & 16) goto a; goto b;\n  \
                case 2: if (x & 32) goto b; goto c;\n  case 3: if (x & 8) goto c; goto a;\n  case 4: r = 4;\n  a: r += 1; if (x & 64) goto c;\n  \
                b: r += 2; if (x & 128) goto d;\n  c: r += 3;\n  d: r += 4;\n  }\n  return r;\n}\n\
                int main(void) { int s = 0; for (int i = 0; i < 640; i++) s += f(i); return s == 0; }\n";
    let (source, program, raw) = (sandbox.write("open.c", text), sandbox.join("open"), sandbox.join("open.bbraw"));
    Run::new(tool("bbprof-cc"))
        .args(["-g", "-O1", "-fno-inline", "--bbprof-counters=blocks", "-o"])
        .arg(&program)
        .arg(&source)
        .ok();
    Run::new(&program).env("BBPROF_OUT", &raw).ok();
    let exported = Exported::of(std::slice::from_ref(&raw));
    let edges = function(&exported, "f").value["edges"].as_array().expect("edges").clone();
    let into = |block: u64| edges.iter().filter(|edge| edge["to"] == block).map(|edge| edge["count"].clone()).collect::<Vec<_>>();
    let is_open = |counts: &[Value]| counts.iter().any(Value::is_null) && counts.iter().any(Value::is_u64);
    let block = (0..edges.len() as u64).find(|block| is_open(&into(*block))).expect("a block with ways that are open, and others");
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    browser.open(&export(&sandbox, &raw, "folder", &[]), "#/functions");
    search_for(&mut browser, "f");
    browser.value(&format!("location.hash += '/b/{block}'"));
    browser.wait("its details", &format!("document.querySelector('.block-detail h2')?.textContent === 'Block #{block}'"));
    let counts = browser.texts(".part:nth-child(2) td.number:nth-child(2)");
    let shown = |count: &Value| count.as_u64().map_or_else(|| "not determined".to_owned(), grouped);
    assert_eq!(counts, into(block).iter().map(shown).collect::<Vec<_>>());
    let shares = browser.texts(".part:nth-child(2) td.number:nth-child(3)");
    assert!(!shares.is_empty() && shares.iter().all(String::is_empty), "{shares:?}");
    assert_no_complaint(&browser);
}

#[test]
fn changed_and_missing_sources_are_said() {
    let sandbox = Sandbox::new("html-sources");
    let (source, raw) = profiled_page(&sandbox);
    let mut browser = Browser::start();
    // Another build in the place of the one that was profiled, and of what it was compiled from is nothing known.
    Run::new(tool("bbprof-cc")).args(["-gdwarf-4", "-O0", "--bbprof-ir", "-o"]).arg(sandbox.join("page")).arg(&source).ok();
    Run::new(sandbox.join("page")).env("BBPROF_OUT", &raw).ok();
    let merged = sandbox.join("once.bbprof");
    Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&merged).arg(&raw).ok();
    Run::new(tool("bbprof-cc")).args(["-g", "-O1", "-o"]).arg(sandbox.join("page")).arg(&source).ok();
    let built_again = export(&sandbox, &merged, "built-again", &[]);
    browser.open(&built_again, "#/functions");
    search_for(&mut browser, "collatz");
    browser.wait("the remark", "document.querySelector('.remark-row')?.textContent.includes('was built again')");
    Run::new(tool("bbprof-cc")).args(["-gdwarf-4", "-O0", "--bbprof-ir", "-o"]).arg(sandbox.join("page")).arg(&source).ok();
    std::fs::write(&source, "int main(void);\n").expect("the source, changed");
    let page = export(&sandbox, &raw, "changed", &[]);
    browser.open(&page, "#/functions");
    search_for(&mut browser, "collatz");
    browser.wait("the remark", "document.querySelector('.remark-row')?.textContent.includes('changed since the build')");
    // A page's files are not taken from under it.
    browser.open(&built_again, "#/functions");
    std::fs::remove_file(&source).expect("the source, removed");
    // The same folder again: the report in it is replaced.
    let page = export(&sandbox, &raw, "changed", &[]);
    browser.open(&page, "#/functions");
    search_for(&mut browser, "collatz");
    browser.wait("the remark", "document.querySelector('.remark-row')?.textContent.includes('cannot be read')");
    let line = line_of("steps++");
    let line =
        format!("[...document.querySelectorAll('.line-row')].find((row) => row.querySelector('.number').textContent === '{line}')");
    assert_eq!(browser.text(&format!("{line}.querySelector('.count').textContent")), grouped(collatz_steps()));
    browser.value("location.hash = '#/exactness'");
    browser.wait("all remarks", "document.querySelector('main').textContent.includes('cannot be read')");
    assert_no_complaint(&browser);
}

/// `#line` may put code anywhere: behind the text, and in files that are none.
#[test]
fn lines_far_behind_the_text() {
    let sandbox = Sandbox::new("html-far");
    let text = "int far(int), other(int);\nint main(void) {\n  return far(1) + other(2) - 11;\n}\n\
                int far(int x) {\n#line 4294967290\n  if (x > 2)\n    return 5;\n  return x + 1;\n}\n\
                #line 4294967290 \"x.y\"\nint other(int x) {\n  return x + 7;\n}\n";
    let (source, program, raw) = (sandbox.write("far.c", text), sandbox.join("far"), sandbox.join("far.bbraw"));
    Run::new(tool("bbprof-cc")).args(["-g", "-O0", "-o"]).arg(&program).arg(&source).ok();
    Run::new(&program).env("BBPROF_OUT", &raw).ok();
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    let numbers = "[...document.querySelectorAll('.line-row .number')].map((number) => number.textContent).join()";
    let behind = "4294967290,4294967291,4294967292,4294967293";
    for (name, options) in [("page.html", &["--single-file"][..]), ("folder", &[][..])] {
        let page = export(&sandbox, &raw, name, options);
        browser.open(&page, "#/functions");
        search_for(&mut browser, "far");
        browser.wait("its lines", &format!("{numbers} === '5,6,7,8,9,10,11,12,13,14,{behind}'"));
        browser.click(".crumbs a");
        browser.wait("the file's", &format!("{numbers} === '1,2,3,4,5,6,7,8,9,10,11,12,13,14,{behind}'"));
        // A link to a line that is known when its part is there.
        let hash = browser.text("location.hash").replace("/5", "/4294967293");
        browser.open(&page, &hash);
        browser.wait("the line", "document.querySelector('.line-row.marked .count')?.textContent === '1'");
        search_for(&mut browser, "other");
        browser.wait("lines without a text", &format!("{numbers} === '4294967290,4294967291'"));
    }
    let pieces = std::fs::read_dir(sandbox.join("folder/data")).expect("pieces").count();
    assert!(pieces < 20, "{pieces} pieces");
    assert_no_complaint(&browser);
}

#[test]
fn counts_beyond_2_to_the_53_keep_every_digit() {
    let sandbox = Sandbox::new("html-large");
    let (_, raw) = profiled_page(&sandbox);
    let merged = sandbox.join("once.bbprof");
    Run::new(tool("bbprof")).args(["merge", "-o"]).arg(&merged).arg(&raw).ok();
    // Flow is linear: what is multiplied is still consistent.
    let mut profile = MergedProfile::decode(&std::fs::read(&merged).expect("the profile")).expect("a merged profile");
    let factor = (1_u64 << 41) + 1;
    for image in &mut profile.images {
        for counter in image.tls.iter_mut().chain(&mut image.global) {
            *counter *= factor;
        }
    }
    let large = sandbox.write("large.bbprof", profile.encode());
    let exported = Exported::of(std::slice::from_ref(&large));
    let page = export(&sandbox, &large, "folder", &[]);
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    browser.open(&page, "");
    assert!(exported.total("instructions") > 1 << 53);
    assert_eq!(browser.texts(".facts.large dd")[0], grouped(exported.total("instructions")));
    search_for(&mut browser, "collatz");
    let line = "[...document.querySelectorAll('.line-row')].find((row) => row.textContent.includes('steps++'))";
    browser.wait("the source", line);
    assert_eq!(browser.text(&format!("{line}.querySelector('.count').textContent")), grouped(collatz_steps() * factor));
    assert_no_complaint(&browser);
}

#[test]
fn every_size_colour_and_key_works() {
    let sandbox = Sandbox::new("html-looks");
    let (_, raw) = profiled_page(&sandbox);
    let page = export(&sandbox, &raw, "folder", &[]);
    let mut browser = Browser::start();
    let mut pictures = Vec::new();
    for (width, height, is_dark) in [(1400, 900, false), (1400, 900, true), (390, 800, false), (390, 800, true)] {
        browser.look(width, height, is_dark);
        for hash in
            ["#/", "#/tree", "#/functions", "#/files", "#/exactness", "#/f/0/b/0", "#/f/0/b/99999", "#/file/0/21", "#/nothing"]
        {
            browser.open(&page, hash);
            let overflow = browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(overflow, 0, "{hash} at {width}");
            let faint = browser.faint_texts();
            assert_eq!(faint, [] as [String; 0], "{hash} at {width}, dark: {is_dark}: text below AA's contrast of 4.5");
        }
        browser.open(&page, "#/f/0/b/0");
        pictures.push(browser.screenshot());
    }
    pictures.dedup();
    assert_eq!(pictures.len(), 4, "each look is another");

    // On a telephone, what a search finds is on the screen; details of a block are as wide as it.
    browser.look(390, 800, false);
    browser.open(&page, "#/f/0/b/0");
    browser.wait("details", "document.querySelector('.block-detail')");
    let overflow = "(() => { const e = document.querySelector('.block-detail'); return e.scrollWidth - e.clientWidth; })()";
    assert_eq!(browser.value(overflow), 0);
    browser.press("/");
    browser.type_text("a");
    browser.wait("results", "document.querySelector('#results li')");
    let box_of = "(() => { const box = document.querySelector('#results').getBoundingClientRect(); return box.left >= 0 && box.right <= innerWidth; })()";
    assert_eq!(browser.value(box_of), true);

    // The switch overrules the system.
    browser.look(1400, 900, false);
    browser.wait("the system's light", "document.documentElement.dataset.theme === 'light'");
    let paper = "getComputedStyle(document.body).backgroundColor";
    let light = browser.text(paper);
    browser.click(".theme");
    browser.wait("dark paper", &format!("{paper} !== {}", json!(light)));

    // By keys alone: to the first row and into it, then along the blocks.
    browser.open(&page, "#/functions");
    browser.value("document.querySelector('.grid .virtual').focus()");
    browser.press("ArrowDown");
    browser.press("Enter");
    browser.wait("a function", "document.querySelector('.canvas svg .block')");
    browser.value("document.querySelector('.canvas').focus()");
    browser.press("Home");
    browser.wait("the entry is chosen", "document.querySelector('.canvas').getAttribute('aria-activedescendant') === 'block-0'");
    browser.press("+");
    browser.press("-");
    browser.press("0");
    assert_no_complaint(&browser);
}

/// Two files and more functions than a screen has rows.
#[test]
fn tables_go_by_keys_and_sort() {
    let sandbox = Sandbox::new("html-tables");
    let functions: String = (0..80).map(|i| format!("__attribute__((noinline)) int f{i}(int x) {{ return x + {i}; }}\n")).collect();
    let calls: String = (0..80).map(|i| format!("x = f{i}(x);")).collect();
    sandbox.write("a.h", "static int twice(int x) {\n    return 2 * x;\n}\n");
    let text = format!(
        "#include \"a.h\"\n{functions}int größe1(void) {{ return 1; }}\nint grenze1(void) {{ return 1; }}\n\
         int main(int x, char **y) {{ {calls} return twice(x) == größe1() + grenze1() + 1; }}\n"
    );
    let source = sandbox.write("b.c", text);
    let (program, raw) = (sandbox.join("b"), sandbox.join("b.bbraw"));
    Run::new(tool("bbprof-cc")).args(["-g", "-O0", "-o"]).arg(&program).arg(&source).ok();
    Run::new(&program).env("BBPROF_OUT", &raw).ok();
    let page = export(&sandbox, &raw, "folder", &[]);
    let mut browser = Browser::start();
    browser.look(1000, 600, false);

    browser.open(&page, "#/functions");
    let is_seen = "(() => { const row = document.querySelector('.row.active')?.getBoundingClientRect(), \
                   list = document.querySelector('.virtual').getBoundingClientRect(); \
                   return row && row.top >= list.top - 1 && row.bottom <= list.bottom + 1; })()";
    browser.value("document.querySelector('.virtual').focus()");
    for (key, row) in [("End", 83), ("Home", 0), ("PageDown", 20), ("PageUp", 0)] {
        browser.press(key);
        let what = format!("{key} leads to a row on the screen");
        browser.wait(&what, &format!("document.querySelector('.row.active')?.id === 'row-{row}' && {is_seen}"));
    }

    // Letters are letters beyond ASCII, too: no function but one has all of this name's.
    browser.click("#filter");
    browser.type_text("größe1");
    browser.wait("what is found", "document.querySelectorAll('.row:not(.head)').length < 20");
    assert_eq!(browser.texts(".row:not(.head) .name a"), ["größe1"]);
    browser.value("(() => { const e = document.querySelector('#filter'); e.value = ''; e.dispatchEvent(new Event('input', { bubbles: true })); })()");

    browser.open(&page, "#/files");
    browser.wait("the files", "document.querySelectorAll('.row.file').length === 2");
    let names = ".row.file .name a";
    assert_eq!(browser.texts(names), ["b.c", "a.h"], "by instructions");
    browser.click(".head .name button");
    browser.wait("by name", "document.querySelector('.name[aria-sort=ascending]')");
    assert_eq!(browser.texts(names), ["a.h", "b.c"]);
    browser.click(".head .calls button");
    browser.wait("by lines", "document.querySelector('.calls[aria-sort=descending]')");
    assert_eq!(browser.texts(names), ["b.c", "a.h"]);
    browser.value("document.querySelector('.virtual').focus()");
    browser.press("ArrowDown");
    browser.press("Enter");
    browser.wait("the second file", "document.querySelector('h1')?.textContent.endsWith('a.h')");
    assert_no_complaint(&browser);
}

/// Every function's blocks and edges in the pieces, unpacked by the browser, are those of the JSON export.
fn check_pieces(program: &CProgram) {
    let sandbox = Sandbox::new(program.name);
    let path = program.build_profiled(&["-g", "-O2"], sandbox.join("profiled"));
    let raw = sandbox.join("run.bbraw");
    Run::new(&path)
        .args(&program.arguments)
        .env("BBPROF_OUT", &raw)
        .in_folder(sandbox.path())
        .outcome()
        .expect_code(program.exit_code);
    let exported = Exported::of(std::slice::from_ref(&raw));
    let page = export(&sandbox, &raw, "page.html", &["--single-file"]);
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    browser.open(&page, "");
    let sums = browser.value(SUMS);
    let sums = sums.as_array().expect("a list");
    let functions = exported.functions();
    assert_eq!(sums.len(), functions.len());
    for (sum, function) in sums.iter().zip(&functions) {
        let list = |name: &str| function.value[name].as_array().expect("a list").clone();
        let total = |name: &str| list(name).iter().map(|item| number(&item["count"])).sum::<u64>().to_string();
        let expected = json!([list("blocks").len(), total("blocks"), list("edges").len(), total("edges")]);
        assert_eq!(*sum, expected, "{}", function.name());
    }
    // The pages of the largest functions are drawn.
    let mut largest: Vec<(usize, usize)> = functions
        .iter()
        .enumerate()
        .map(|(id, function)| (function.value["blocks"].as_array().expect("blocks").len(), id))
        .collect();
    largest.sort_unstable_by(|a, b| b.cmp(a));
    for (blocks, id) in largest.into_iter().take(5) {
        browser.value(&format!("location.hash = '#/f/{id}'"));
        browser.wait("it is drawn", "document.querySelector('.canvas svg .block, .canvas svg .far-block')");
        browser.wait(
            "all of it is counted",
            &format!("document.querySelector('.graph-says').textContent.includes('{}')", grouped(blocks as u64)),
        );
    }
    assert_no_complaint(&browser);
}

/// Of each function: blocks, sum of their counts, edges, sum of theirs.
const SUMS: &str = r"(async () => {
  const sums = [];
  for (let piece = 0; ; piece++) {
    const element = document.getElementById('data-f' + piece);
    if (!element) return sums;
    const bytes = Uint8Array.from(atob(element.textContent), (c) => c.charCodeAt(0));
    const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).text();
    for (const { blocks, edges } of JSON.parse(text).functions) {
      const total = (counts) => String(counts.reduce((sum, count) => sum + BigInt(count), 0n));
      sums.push([blocks.length, total(blocks.map((block) => block.count)), edges.length, total(edges.map((edge) => edge[2]))]);
    }
  }
})()";

#[test]
fn pieces_hold_what_the_json_export_holds() {
    check_pieces(&lua());
    if is_long() {
        check_pieces(&sqlite());
    }
}
