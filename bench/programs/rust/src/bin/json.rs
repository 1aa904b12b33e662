//! JSON parsed into a tree, changed, and printed.
use programs::{prose, rounds};
use serde_json::{Value, json};

fn main() {
    let words: Vec<String> = prose(2_000).split_whitespace().map(str::to_owned).collect();
    let rows: Vec<Value> =
        words.chunks(5).enumerate().map(|(id, words)| json!({"id": id, "words": words, "mean": id as f64 / 7.0})).collect();
    let mut text = Value::Array(rows).to_string();
    let mut bytes = 0;
    for round in 0..rounds() {
        let mut tree: Value = serde_json::from_str(&text).expect("what was printed");
        for row in tree.as_array_mut().expect("an array") {
            row["id"] = json!(row["id"].as_u64().expect("a number") + u64::from(round));
        }
        text = tree.to_string();
        bytes += text.len();
    }
    println!("{bytes}");
}
