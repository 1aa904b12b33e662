//! Makes notes up: words, lists, tables and tags, from a small generator of numbers with a fixed start.

/// A note to be stored.
pub struct Note {
    pub title: String,
    pub text: String,
    pub tags: Vec<&'static str>,
}

const TAGS: [&str; 8] = ["garden", "kitchen", "letters", "money", "music", "school", "travel", "weather"];
const WORDS: [&str; 16] = [
    "apple", "bridge", "candle", "door", "evening", "field", "glass", "harbour", "island", "journey", "kettle", "lantern",
    "morning", "north", "orchard", "pencil",
];

/// Marsaglia's xorshift: enough for made-up text.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }
}

/// This many notes, always the same ones.
pub fn generate(count: u64) -> impl Iterator<Item = Note> {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    (0..count).map(move |number| note(number, &mut numbers))
}

fn note(number: u64, numbers: &mut Numbers) -> Note {
    let title = format!("Note {number}: {}", numbers.words(3));
    let length = 5 + numbers.below(40);
    let mut text = format!("## {title}\n\n{} *{}* `{}`.\n\n", numbers.words(length), numbers.words(2), numbers.words(1));
    match numbers.below(3) {
        0 => {
            for item in 0..1 + numbers.below(6) {
                let done = if item % 2 == 0 { "x" } else { " " };
                text += &format!("- [{done}] {}\n", numbers.words(4));
            }
        }
        1 => {
            text += "| what | how many |\n|---|---|\n";
            for _ in 0..1 + numbers.below(4) {
                text += &format!("| {} | {} |\n", numbers.words(1), numbers.below(100));
            }
        }
        _ => text += &format!("> {}\n", numbers.words(12)),
    }
    let first = numbers.below(TAGS.len());
    let mut tags = vec![TAGS[first]];
    if numbers.below(2) == 0 {
        tags.push(TAGS[(first + 1 + numbers.below(3)) % TAGS.len()]);
    }
    Note { title, text, tags }
}
