//! A library in a shared object of its own.

use std::cell::Cell;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};

static JOINED: AtomicU64 = AtomicU64::new(0);
static MEASURED: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// How many words this thread has joined.
    pub static WORDS: Cell<u64> = const { Cell::new(0) };
}

/// Joins words; panics at the empty one.
#[inline(never)]
pub fn join_words(words: &[&str]) -> String {
    JOINED.fetch_add(1, Ordering::Relaxed);
    let mut joined = String::new();
    for word in words {
        assert!(!word.is_empty(), "an empty word");
        WORDS.set(WORDS.get() + 1);
        if !joined.is_empty() {
            joined.push('-');
        }
        joined.push_str(word);
    }
    joined
}

/// Compiled into whoever uses it.
pub fn widest<T: Display>(items: &[T]) -> usize {
    items.iter().map(|item| measure(&item.to_string())).max().unwrap_or(0)
}

/// Counts characters.
#[inline(never)]
pub fn measure(text: &str) -> usize {
    MEASURED.fetch_add(1, Ordering::Relaxed);
    text.chars().filter(|letter| !letter.is_whitespace()).count()
}

/// Says how often the functions were entered.
pub fn print_tallies() {
    eprintln!("tally join_words {}", JOINED.load(Ordering::Relaxed));
    eprintln!("tally measure {}", MEASURED.load(Ordering::Relaxed));
}
