//! Shapes to turn.
//!
//! ```
//! assert_eq!(shapes::square(5), 25);
//! assert!((0..40).all(|side| shapes::square(side) == side * side));
//! ```

include!(concat!(env!("OUT_DIR"), "/squares.rs"));

/// The area of a square.
///
/// ```
/// assert_eq!(shapes::square(31) + shapes::square(32), 1985);
/// ```
///
/// ```should_panic
/// shapes::square(u64::MAX);
/// ```
///
/// ```no_run
/// loop {
///     shapes::square(1);
/// }
/// ```
///
/// ```compile_fail
/// shapes::square("one");
/// ```
#[inline(never)]
pub fn square(side: u64) -> u64 {
    match SQUARES.get(side as usize) {
        Some(area) => *area,
        None => side.checked_mul(side).expect("an area that fits"),
    }
}

/// Sums what a function makes of the first numbers.
pub fn sum_of<F: Fn(u64) -> u64>(count: u64, make: F) -> u64 {
    (0..count).map(make).fold(0, adder_sys::add)
}

/// Whether the build script found unstable features to work, which a stable compiler does not have.
pub const HAS_FEATURES: bool = cfg!(has_features);

/// How many tokens a macro counted.
pub const TOKENS: u64 = shapes_macros::count_tokens!(a b (c d [e]) f);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_squares() {
        assert_eq!(sum_of(40, square), 20_540);
        assert_eq!(TOKENS, 8);
    }

    #[test]
    #[should_panic(expected = "an area that fits")]
    fn an_area_has_to_fit() {
        square(u64::MAX);
    }

    #[test]
    #[ignore = "shows that ignored tests stay ignored"]
    fn ignored() {
        unreachable!();
    }
}
