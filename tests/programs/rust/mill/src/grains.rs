//! Trait objects, generics, closures and matches.

use crate::{AREA, CLASSIFY, FOLD_ALL, VISIT};
use std::collections::{BTreeMap, HashMap};
use std::ops::{Add, Mul};
use tally::Numbers;

trait Shape {
    fn area(&self) -> u64;

    fn twice(&self) -> u64 {
        2 * self.area()
    }
}

struct Square(u64);
struct Rectangle(u64, u64);
struct Staircase(Vec<Box<dyn Shape>>);

impl Shape for Square {
    #[inline(never)]
    fn area(&self) -> u64 {
        AREA.hit();
        self.0 * self.0
    }
}

impl Shape for Rectangle {
    #[inline(never)]
    fn area(&self) -> u64 {
        AREA.hit();
        if self.0 == 0 { 0 } else { self.0 * self.1 }
    }

    fn twice(&self) -> u64 {
        self.area() + self.0
    }
}

impl Shape for Staircase {
    #[inline(never)]
    fn area(&self) -> u64 {
        AREA.hit();
        self.0.iter().map(|shape| shape.area()).sum()
    }
}

fn shape(numbers: &mut Numbers, depth: u64) -> Box<dyn Shape> {
    match numbers.below(if depth > 4 { 2 } else { 4 }) {
        0 => Box::new(Square(numbers.below(9))),
        1 => Box::new(Rectangle(numbers.below(3), numbers.below(9))),
        _ => Box::new(Staircase((0..numbers.below(4)).map(|_| shape(numbers, depth + 1)).collect())),
    }
}

/// Sums areas of random shapes through their trait.
pub fn areas(rounds: u64) -> u64 {
    let mut numbers = Numbers::from_seed(7);
    (0..rounds).map(|_| shape(&mut numbers, 0)).map(|shape| shape.twice() + shape.area()).sum()
}

#[inline(never)]
fn fold_all<T: Copy + Add<Output = T> + Mul<Output = T> + PartialOrd>(items: &[T], start: T) -> T {
    FOLD_ALL.hit();
    items.iter().fold(start, |sum, &item| if item > start { sum + item } else { sum + item * item })
}

/// Several instances of one generic function.
pub fn folds(rounds: u64) -> String {
    let mut numbers = Numbers::from_seed(8);
    let items: Vec<u32> = (0..rounds).map(|_| numbers.below(100) as u32).collect();
    let wide: Vec<i128> = items.iter().map(|&item| i128::from(item) - 50).collect();
    let real: Vec<f64> = items.iter().map(|&item| f64::from(item) / 4.0).collect();
    let mut text = String::new();
    for end in (0..items.len()).step_by(9) {
        let sums = (fold_all(&items[..end], 3), fold_all(&wide[..end], 1), fold_all(&real[..end], 2.5));
        if end % 90 == 0 {
            text.push_str(&format!("{sums:?} "));
        }
    }
    text
}

#[inline(never)]
fn classify(word: &str) -> Option<&'static str> {
    CLASSIFY.hit();
    let first = word.chars().next()?;
    Some(match (word, first, word.len()) {
        ("stone" | "wheel" | "flour", _, _) => "mill",
        (_, 'a' | 'e' | 'i' | 'o' | 'u', _) => "vowel",
        (_, 'b'..='g', 3..) => "early",
        (_, _, 0..=2) => "short",
        (_, 'z', _) => return None,
        _ => "other",
    })
}

#[inline(never)]
fn visit(seen: &mut HashMap<String, u64>, word: &str) {
    VISIT.hit();
    *seen.entry(word.to_owned()).or_insert(0) += 1;
}

/// Counts kinds of random words in a map whose order is random, and sorts them.
pub fn words(rounds: u64) -> BTreeMap<&'static str, u64> {
    let mut numbers = Numbers::from_seed(9);
    let mut seen = HashMap::new();
    let syllables = ["sto", "ne", "wh", "eel", "flour", "a", "i", "zu", "go", "stone", ""];
    for _ in 0..3 * rounds {
        let word: String = (0..numbers.below(4)).map(|_| syllables[numbers.below(11) as usize]).collect();
        visit(&mut seen, &word);
    }
    let mut kinds = BTreeMap::new();
    for (word, count) in &seen {
        *kinds.entry(classify(word).unwrap_or("none")).or_default() += count;
    }
    kinds
}
