//! An example, built by `cargo test` and run by `cargo run --example turn`.

fn main() {
    println!("{} {}", shapes::sum_of(50, shapes::square), shapes::HAS_FEATURES);
    std::process::exit(9);
}
