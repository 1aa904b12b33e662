//! Keeps markdown notes in SQLite: writes some thousand of them into a database in memory, asks it for the most used tags,
//! renders what it finds, and prints what came out. The same on every run.

mod notes;
mod store;

use pulldown_cmark::{Options, Parser, html};
use std::fmt::Write;

/// How many notes the program writes when no argument says otherwise.
const NUM_NOTES: u64 = 3_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let num_notes = match std::env::args().nth(1) {
        Some(word) => word.parse().map_err(|_| format!("{word}: expected a number of notes"))?,
        None => NUM_NOTES,
    };
    let mut store = store::Store::in_memory()?;
    store.add(notes::generate(num_notes))?;
    let mut page = String::new();
    for (tag, count) in store.most_used_tags(5)? {
        writeln!(page, "# {tag} ({count})\n")?;
        for note in store.tagged(&tag, 200)? {
            writeln!(page, "{}\n", note.text)?;
        }
    }
    let mut rendered = String::new();
    html::push_html(&mut rendered, Parser::new_ext(&page, Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS));
    println!("{num_notes} notes, {} words in the longest, {} bytes of HTML", store.longest_in_words()?, rendered.len());
    Ok(())
}
