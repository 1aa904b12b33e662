//! Compresses and decompresses prose.
use miniz_oxide::{deflate::compress_to_vec, inflate::decompress_to_vec};
use programs::{prose, rounds};

fn main() {
    let text = prose(8_000);
    let mut packed = 0;
    for round in 0..rounds() {
        let small = compress_to_vec(text.as_bytes(), 1 + (round % 9) as u8);
        packed += small.len();
        assert_eq!(decompress_to_vec(&small).expect("what was compressed"), text.as_bytes());
    }
    println!("{packed}");
}
