//! A bench with a main function of its own.

fn main() {
    println!("turned {}", shapes::sum_of(1_000, |side| shapes::square(side) % 7));
}
