//! Binds a library written in C and C++.

unsafe extern "C" {
    fn adder_add(a: u64, b: u64) -> u64;
}

/// The sum, wrapping around.
pub fn add(a: u64, b: u64) -> u64 {
    // SAFETY: the function takes and gives numbers only.
    unsafe { adder_add(a, b) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sums_are_sums() {
        for (a, b) in [(0, 0), (1, 1), (0xffff, 1), (1 << 63, 1 << 63), (u64::MAX, 2)] {
            assert_eq!(super::add(a, b), a.wrapping_add(b));
        }
    }
}
