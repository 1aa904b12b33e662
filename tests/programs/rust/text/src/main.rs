//! Text through crates that are not ours: a generated document is searched, rendered, packed and unpacked.

use pulldown_cmark::{Event, Options, Parser, Tag, html};
use regex::{Captures, Regex};
use serde_json::{Map, Value, json};
use std::process::ExitCode;
use tally::Numbers;

tally::tallies! {
    PARAGRAPH = "paragraph",
    ON_MATCH = "on_match",
    WALK = "walk",
    ON_EVENT = "on_event",
    PACK = "pack",
}

const WORDS: [&str; 12] = [
    "*mill*",
    "stone",
    "2024-06-30",
    "`code`",
    "[link](https://a.example/b?c=d)",
    "flöur",
    "42",
    "A_b-c",
    "&amp;",
    "**b**",
    "x@y.zz",
    "end.",
];

#[inline(never)]
fn paragraph(numbers: &mut Numbers) -> String {
    PARAGRAPH.hit();
    let mut text = match numbers.below(5) {
        0 => "## ".to_owned(),
        1 => "- ".to_owned(),
        2 => "> ".to_owned(),
        3 => "1. ".to_owned(),
        _ => String::new(),
    };
    for _ in 0..numbers.below(30) {
        text.push_str(WORDS[numbers.below(12) as usize]);
        text.push(if numbers.below(9) == 0 { '\n' } else { ' ' });
    }
    text.push_str("\n\n");
    text
}

#[inline(never)]
fn on_match(found: &Captures<'_>) -> String {
    ON_MATCH.hit();
    match (found.name("year"), found.name("mail")) {
        (Some(year), _) => format!("year {}", year.as_str()),
        (_, Some(mail)) => mail.as_str().to_uppercase(),
        _ => String::new(),
    }
}

fn search(text: &str) -> (String, usize) {
    let pattern = Regex::new(r"(?<year>\d{4})-\d\d-\d\d|(?<mail>\w+@\w+\.[a-z]{2,})").expect("a pattern");
    let words = Regex::new(r"(?i)\b(st|fl)\w+\b").expect("a pattern");
    (pattern.replace_all(text, on_match).into_owned(), words.find_iter(text).map(|found| found.len()).sum())
}

#[inline(never)]
fn on_event<'a>(event: Event<'a>, values: &mut Vec<Value>) -> Event<'a> {
    ON_EVENT.hit();
    match &event {
        Event::Start(Tag::Link { dest_url, .. }) => values.push(json!({ "link": dest_url.as_ref() })),
        Event::Start(Tag::Heading { level, .. }) => values.push(json!({ "heading": *level as u8 })),
        Event::Text(text) if text.len() > 9 => values.push(json!([text.len(), text.as_ref(), text.len() as f64 / 3.0])),
        Event::SoftBreak => return Event::HardBreak,
        _ => {}
    }
    event
}

fn render(text: &str) -> (String, Vec<Value>) {
    let (mut page, mut values) = (String::new(), Vec::new());
    html::push_html(&mut page, Parser::new_ext(text, Options::all()).map(|event| on_event(event, &mut values)));
    (page, values)
}

#[inline(never)]
fn walk(value: &Value) -> u64 {
    WALK.hit();
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(number) => number.as_f64().map_or(0, |number| number as u64),
        Value::String(text) => text.len() as u64,
        Value::Array(list) => list.iter().map(walk).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() as u64 + walk(value)).sum(),
    }
}

#[inline(never)]
fn pack(bytes: &[u8], level: u8) -> usize {
    PACK.hit();
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(bytes, level);
    let unpacked = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).expect("what was just packed");
    assert_eq!(unpacked, bytes);
    packed.len()
}

fn main() -> ExitCode {
    let paragraphs = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(150);
    let mut numbers = Numbers::from_seed(1);
    let text: String = (0..paragraphs).map(|_| paragraph(&mut numbers)).collect();
    let (replaced, length) = search(&text);
    println!("{} bytes, {} replaced, {length} in words", text.len(), replaced.len());
    let (page, values) = render(&replaced);
    let mut document = Map::new();
    document.insert("page".into(), page.into());
    document.insert("values".into(), values.into());
    let written = serde_json::to_string_pretty(&document).expect("a document");
    let read: Value = serde_json::from_str(&written).expect("what was just written");
    assert!(serde_json::from_str::<Value>(&written[..written.len() - 2]).is_err());
    println!("{} bytes of JSON, {} walked", written.len(), walk(&read));
    for level in [0, 1, 6, 9] {
        println!("level {level}: {} bytes", pack(written.as_bytes(), level));
    }
    println!("{replaced}");
    print_tallies();
    ExitCode::from(3)
}
