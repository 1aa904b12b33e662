//! Renders markdown.
use programs::{prose, rounds};
use pulldown_cmark::{Options, Parser, html::push_html};

fn main() {
    let text = prose(4_000);
    let mut bytes = 0;
    for _ in 0..rounds() {
        let mut page = String::new();
        push_html(&mut page, Parser::new_ext(&text, Options::all()));
        bytes += page.len();
    }
    println!("{bytes}");
}
