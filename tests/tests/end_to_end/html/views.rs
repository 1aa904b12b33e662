//! The explorer in a real browser: what `bbprof diff --html` says of two profiles, and the views of a function that are read when
//! they are opened. Numbers are those of `diff --json` and of the JSON exports.

use bbprof_tests::{Browser, Exported, Function, ProfiledRun, Run, Sandbox, grouped, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn version(sandbox: &Sandbox, name: &str, options: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/changes/changes.c");
    let binary = sandbox.join(name);
    Run::new(tool("bbprof-cc")).args(["-O1", "-g"]).args(options).arg(source).arg("-o").arg(&binary).in_folder(sandbox.path()).ok();
    ProfiledRun::of(&binary, &[], sandbox).raw
}

/// A change as the page writes it.
fn signed(change: &Value) -> String {
    let change = change.as_i64().expect("a number");
    let sign = if change > 0 {
        "+"
    } else if change < 0 {
        "−"
    } else {
        ""
    };
    format!("{sign}{}", grouped(change.unsigned_abs()))
}

/// The text of each cell of a function's row.
fn cells(browser: &mut Browser, name: &str) -> Vec<String> {
    let row = format!(
        "[...document.querySelectorAll('.changed tbody tr')].find((row) => row.querySelector('.name > *').textContent === '{name}')"
    );
    browser.wait("the row", &row);
    let cells = browser.value(&format!("[...{row}.cells].map((cell) => cell.textContent.trim())"));
    cells.as_array().expect("cells").iter().map(|cell| cell.as_str().unwrap_or_default().to_owned()).collect()
}

/// Opens the page of a function that changed.
fn open_row(browser: &mut Browser, name: &str) {
    let link = format!("[...document.querySelectorAll('.changed tbody a')].find((link) => link.textContent === '{name}')");
    browser.wait("its row", &link);
    browser.value(&format!("{link}.click()"));
    browser.wait("its page", &format!("document.querySelector('h1')?.textContent === '{name}'"));
}

/// The numbers before a line of the source: the earlier count where there is one, and the count.
fn line_counts(browser: &mut Browser, text: &str) -> Vec<String> {
    let line = format!(
        "[...document.querySelectorAll('.line-row')].find((row) => row.querySelector('.text').textContent.includes('{text}'))"
    );
    browser.wait("the line", &line);
    let counts = browser.value(&format!("[...{line}.querySelectorAll('.count')].map((count) => count.textContent)"));
    counts.as_array().expect("a list").iter().map(|count| count.as_str().unwrap_or_default().to_owned()).collect()
}

/// `gone` vanished: its page has the counts of the earlier profile, whose other pages can be reached from there.
fn check_earlier_pages(browser: &mut Browser, before: &Exported) {
    open_row(browser, "gone");
    assert!(browser.text("location.hash").starts_with("#/before/f/"));
    let gone = before.functions().into_iter().find(|function| function.value["symbol"] == "gone").expect("it was there");
    assert_eq!(gone.entries(), 250, "it is called for every fourth of 1,000");
    browser.wait("its block", "document.querySelector('#block-0 .number')");
    assert_eq!(browser.text("document.querySelector('#block-0 .number').textContent"), grouped(gone.entries()));
    assert_eq!(line_counts(browser, "void gone(int x)"), [grouped(gone.entries())]);
    assert!(browser.text("document.querySelector('.since').textContent").contains("gone"));
    browser.click("#tab-calls");
    browser.click(".call-list a[href^='#/before/f/']");
    browser.wait("its caller then", "document.querySelector('h1')?.textContent === 'main'");
    browser.click(".since a");
    // The address changes before the page does, so it is the page that tells.
    browser.wait("the caller now", "document.querySelector('h1')?.textContent === 'main' && !document.querySelector('.earlier')");
    assert!(browser.text("location.hash").starts_with("#/f/"));
    browser.click(".since a");
    browser.wait("and then", "document.querySelector('h1')?.textContent === 'main' && document.querySelector('.earlier')");
    assert!(browser.text("location.hash").starts_with("#/before/f/"));
    browser.click("nav a[href='#/before/overview']");
    browser.wait("the overview of then", "document.querySelector('.overview')");
    assert_eq!(browser.texts(".facts.large dd")[0], grouped(before.total("instructions")));
    browser.click(".earlier a");
    browser.wait(
        "that of now",
        "location.hash === '#/overview' && document.querySelector('.overview') && !document.querySelector('.earlier')",
    );
}

#[test]
fn the_page_of_a_diff_says_what_the_diff_says() {
    let sandbox = Sandbox::new("html-diff");
    let (old, new) = (version(&sandbox, "old", &[]), version(&sandbox, "new", &["-DCHANGED"]));
    let folder = sandbox.join("changes");
    let diff = Run::new(tool("bbprof")).args(["diff", "--json", "--html"]).arg(&folder).args([&old, &new]).ok();
    let diff: Value = serde_json::from_str(&diff.text()).expect("JSON");
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    browser.open(&folder.join("index.html"), "");
    browser.wait("the changes", "document.querySelector('.changed tbody tr')");

    let facts = browser.texts(".facts.large dd");
    let instructions = |side: &str| grouped(diff[side]["instructions"].as_u64().expect("a number"));
    assert_eq!(facts[..2], [instructions("a"), instructions("b")]);
    assert!(facts[2].starts_with(&signed(&diff["change"]["total"])), "{facts:?}");
    let reasons = browser.texts(".reasons .number");
    let expected = ["ran", "code", "new", "vanished"].map(|part| signed(&diff["change"][part]));
    assert_eq!(reasons[..4], expected);
    assert_eq!(reasons[4], format!("{} moved", grouped(diff["moved_by_inlining"].as_u64().expect("a number"))));

    let functions = diff["functions"].as_array().expect("functions");
    assert_eq!(browser.texts(".changed tbody tr").len(), functions.len());
    for function in functions {
        let cells = cells(&mut browser, function["name"].as_str().expect("a name"));
        let side = |side: &str| function[side]["instructions"].as_u64().map_or("–".to_owned(), grouped);
        assert_eq!(cells[1..4], [side("a"), side("b"), signed(&function["change"]["total"])], "{function}");
        let parts = ["ran", "code", "new", "vanished", "inlining"].into_iter().filter(|part| function["change"][part] != 0);
        let why: Vec<String> = parts.map(|part| format!("{part} {}", signed(&function["change"][part]))).collect();
        assert_eq!(cells[6], why.join(", "), "{function}");
    }
    // One reason alone, then the function's page: both counts of its block.
    browser.click(".reasons .chip");
    browser.wait("what ran more often", "document.querySelectorAll('.changed tbody tr').length === 1");
    assert_eq!(cells(&mut browser, "more")[7], "1,000 → 1,500");
    browser.click(".changed tbody a");
    browser.wait("its page", "document.querySelector('h1')?.textContent === 'more' && document.querySelector('.since')");
    assert!(browser.text("document.querySelector('.since').textContent").contains("ran +"));
    browser.wait("its graph", "document.querySelector('#block-0 .body')");
    browser.click("#block-0 .body");
    browser.wait(
        "both counts",
        "document.querySelector('.block-detail header p')?.textContent.includes('before 1,000 executions, +500')",
    );

    // The line of its body: both counts; of one that has other code than before it is not known which line was which.
    assert_eq!(line_counts(&mut browser, "sink += x * 3"), ["1,000", "1,500"]);
    browser.value("location.hash = '#/'");
    open_row(&mut browser, "longer");
    assert_eq!(line_counts(&mut browser, "x >> 1"), ["–", "1,000"]);

    // What only the earlier profile has is on a page of that profile, in the folder and in one file.
    let file = sandbox.join("changes.html");
    Run::new(tool("bbprof")).args(["diff", "--single-file", "--html"]).arg(&file).args([&old, &new]).ok();
    for page in [folder.join("index.html"), file] {
        browser.open(&page, "");
        check_earlier_pages(&mut browser, &Exported::of(std::slice::from_ref(&old)));
    }
    Run::new(tool("bbprof")).args(["diff", "--single-file", "--html", "-"]).args([&old, &new]).outcome().expect_code(2);
    Run::new(tool("bbprof")).args(["diff", "--single-file"]).args([&old, &new]).outcome().expect_code(2);

    for (width, is_dark) in [(1400, true), (390, false), (390, true)] {
        browser.look(width, 800, is_dark);
        browser.open(&folder.join("index.html"), "");
        browser.wait("the changes", "document.querySelector('.changed tbody tr')");
        assert_eq!(browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0, "at {width}");
        assert_eq!(browser.faint_texts(), [] as [String; 0], "at {width}, dark: {is_dark}");
    }
    assert!(browser.complaints.is_empty(), "{}", browser.complaints.join("\n"));

    // A profile and itself: no difference. A folder that holds something else stays as it is.
    Run::new(tool("bbprof")).args(["diff", "--html"]).arg(&folder).args([&old, &old]).ok();
    browser.open(&folder.join("index.html"), "");
    browser.wait("no difference", "document.querySelector('.remark')?.textContent.startsWith('No difference')");
    let refused = Run::new(tool("bbprof")).args(["diff", "--html"]).arg(sandbox.path()).args([&old, &new]).outcome().expect_code(2);
    assert!(refused.stderr.contains("not a report"), "{}", refused.stderr);
}

/// Block, executions, and executions against the usual way of each branch; those that went one way only are listed by themselves.
fn check_branches(browser: &mut Browser, page: &Path, id: usize, function: &Function) {
    let mut ways: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for edge in function.value["edges"].as_array().expect("edges") {
        if ["branch", "switch", "indirect"].iter().any(|kind| edge["kind"] == *kind) {
            let count = edge["count"].as_u64().expect("a count");
            ways.entry(edge["from"].as_u64().expect("a block")).or_default().push(count);
        }
    }
    ways.retain(|_, counts| counts.len() > 1);
    let mut expected: Vec<[String; 3]> = Vec::new();
    let mut one_way = 0;
    for (block, counts) in &ways {
        let executed: u64 = counts.iter().sum();
        let against = executed - counts.iter().max().expect("two ways");
        one_way += usize::from(executed > 0 && against == 0);
        expected.push([format!("#{block}"), grouped(executed), grouped(against)]);
    }
    browser.open(page, &format!("#/f/{id}/branches"));
    browser.wait("the branches", "document.querySelector('.branches')");
    let rows = "[...document.querySelectorAll('.branches tbody tr')].map((row) => [row.querySelector('.chip').textContent, row.cells[1].textContent, row.cells[2].textContent])";
    let shown = browser.value(rows);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let mut shown: Vec<[String; 3]> =
        shown.as_array().expect("rows").iter().map(|row| [text(&row[0]), text(&row[1]), text(&row[2])]).collect();
    expected.sort();
    shown.sort();
    assert_eq!(shown, expected, "{}", function.name());
    if one_way > 0 {
        browser.click(".kinds .chip:nth-child(3)");
        browser.wait("those of one way", &format!("document.querySelectorAll('.branches tbody tr').length === {one_way}"));
        let says = browser.texts(".branches td.path").join(" ");
        assert_eq!(says.matches("always").count(), one_way, "{says}");
    }
}

#[test]
fn paths_and_mix_are_those_of_the_json_export() {
    let sandbox = Sandbox::new("html-paths");
    let raw = version(&sandbox, "paths", &["--bbprof-counters=paths", "-fno-vectorize", "-fno-unroll-loops"]);
    let exported = Exported::of(std::slice::from_ref(&raw));
    let page = sandbox.join("page.html");
    Run::new(tool("bbprof")).args(["export", "--single-file"]).arg(format!("html={}", page.display())).arg(&raw).ok();
    let mut browser = Browser::start();
    browser.look(1400, 900, false);
    browser.open(&page, "");
    for (id, function) in exported.functions().iter().enumerate() {
        browser.open(&page, &format!("#/f/{id}/paths"));
        browser.wait("its paths", "document.querySelector('.paths h2')");
        let paths = function.value["paths"].as_array().expect("paths were counted");
        let number = |value: &Value| value.as_u64().expect("a count");
        let mut expected: Vec<(u64, u64, Vec<String>)> = paths
            .iter()
            .map(|path| {
                let blocks = path["blocks"].as_array().expect("blocks").iter().map(|block| format!("#{block}")).collect();
                (number(&path["count"]) * number(&path["instructions"]), number(&path["count"]), blocks)
            })
            .collect();
        let rows = browser.value("[...document.querySelectorAll('.paths tbody tr')].map((row) => [row.cells[1].textContent, row.cells[0].textContent, [...row.querySelectorAll('.chip')].map((chip) => chip.textContent)])");
        let plain = |value: &Value| value.as_str().expect("a number").replace(',', "").parse::<u64>().expect("a number");
        let mut shown: Vec<(u64, u64, Vec<String>)> = rows
            .as_array()
            .expect("rows")
            .iter()
            .map(|row| {
                let blocks = row[2].as_array().expect("blocks").iter().map(|block| block.as_str().expect("text").to_owned());
                (plain(&row[0]), plain(&row[1]), blocks.collect())
            })
            .collect();
        assert!(shown.is_sorted_by(|a, b| a.0 >= b.0), "the hottest come first");
        expected.sort();
        shown.sort();
        assert_eq!(shown, expected, "{}", function.name());

        browser.click("#tab-mix");
        browser.wait("its mix", "document.querySelectorAll('.mix table').length === 2");
        let mut opcodes: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for block in function.value["blocks"].as_array().expect("blocks") {
            for (opcode, standing) in block["opcodes"].as_object().expect("opcodes") {
                let sum = opcodes.entry(opcode.clone()).or_default();
                sum.0 += number(standing) * number(&block["count"]);
                sum.1 += number(standing);
            }
        }
        let rows = browser.value("[...document.querySelectorAll('.mix table')[1].tBodies[0].rows].map((row) => [0, 1, 4].map((cell) => row.cells[cell].textContent))");
        let shown: BTreeMap<String, (u64, u64)> = rows
            .as_array()
            .expect("rows")
            .iter()
            .map(|row| (row[0].as_str().expect("an opcode").to_owned(), (plain(&row[1]), plain(&row[2]))))
            .collect();
        assert_eq!(shown, opcodes, "{}", function.name());
    }
    for (id, function) in exported.functions().iter().enumerate() {
        check_branches(&mut browser, &page, id, function);
    }
    // By keys from tab to tab; a block of a path leads to the graph.
    let main = exported.functions().iter().position(|function| function.value["symbol"] == "main").expect("main");
    browser.open(&page, "#/f/0/paths");
    browser.wait("a path", "document.querySelector('.paths .chip')");
    browser.click(".paths .chip");
    browser.wait("its block", "document.querySelector('.block-detail h2')");
    browser.value("document.querySelector('#tab-paths').focus()");
    browser.press("ArrowRight");
    browser.wait("the next tab", "document.querySelector('#tab-mix[aria-selected=true]') === document.activeElement");
    for (width, is_dark) in [(1400, true), (390, false), (390, true)] {
        browser.look(width, 800, is_dark);
        for view in ["paths", "mix", "branches"] {
            browser.open(&page, &format!("#/f/{main}/{view}"));
            browser.wait("the view", "document.querySelector('.call-list h2')");
            assert_eq!(browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0);
            assert_eq!(browser.faint_texts(), [] as [String; 0], "{view} at {width}, dark: {is_dark}");
        }
    }
    // Where paths were not counted, there is no tab for them.
    let plain = version(&sandbox, "edges", &[]);
    Run::new(tool("bbprof")).args(["export", "--single-file"]).arg(format!("html={}", page.display())).arg(&plain).ok();
    browser.open(&page, "#/f/0/paths");
    browser.wait("its tabs", "document.querySelector('#tab-mix')");
    assert_eq!(browser.value("document.querySelector('#tab-paths')"), Value::Null);
    assert!(browser.complaints.is_empty(), "{}", browser.complaints.join("\n"));
}
