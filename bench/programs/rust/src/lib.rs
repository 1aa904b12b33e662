//! What the programs share: their amount of work, and text that is the same at every run.

/// The first argument: how often to do the work.
#[must_use]
pub fn rounds() -> u32 {
    std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1)
}

/// Prose of this many words, with markup, numbers and addresses in it.
#[must_use]
pub fn prose(words: usize) -> String {
    const STOCK: [&str; 16] = [
        "counter", "edge", "*block*", "path", "tree", "`loop`", "chord", "[flow](https://example.org/flow)", "exact", "node",
        "**call**", "branch", "someone@example.org", "of", "the", "192.0.2.17",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut text = String::new();
    for position in 0..words {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match position % 97 {
            0 => text.push_str("\n\n# "),
            20 => text.push_str("\n\n- "),
            40 | 45 | 50 => text.push_str("\n- "),
            60 => text.push_str("\n\n"),
            _ => {}
        }
        text.push_str(STOCK[(state % 16) as usize]);
        text.push(' ');
        if state % 11 == 0 {
            text.push_str(&(state % 100_000).to_string());
            text.push_str(", ");
        }
    }
    text
}
