//! Regular expressions over prose.
use programs::{prose, rounds};
use regex::Regex;

fn main() {
    let text = prose(4_000);
    let patterns = [r"\b\w+@\w+\.\w+\b", r"\d{1,3}(\.\d{1,3}){3}", r"(?i)(count|call|chord)[a-z]*", r"\[([^\]]*)\]\(([^)]*)\)"];
    let patterns = patterns.map(|pattern| Regex::new(pattern).expect("a valid pattern"));
    let mut found = 0;
    for _ in 0..rounds() {
        for pattern in &patterns {
            found += pattern.captures_iter(&text).map(|captures| captures.len() + captures[0].len()).sum::<usize>();
        }
    }
    println!("{found}");
}
