//! Says the sum of some squares.

fn main() {
    let count = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(3);
    println!("{}{}", shapes::sum_of(count, shapes::square), if cfg!(feature = "loud") { "!" } else { "" });
    if count > 9 {
        std::process::exit(2);
    }
}
