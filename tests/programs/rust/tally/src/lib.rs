//! Counts entries of functions in the program itself: the oracle of the tests.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often a function was entered.
pub struct Tally {
    name: &'static str,
    count: AtomicU64,
}

impl Tally {
    /// Nothing counted yet.
    pub const fn new(name: &'static str) -> Self {
        Self { name, count: AtomicU64::new(0) }
    }

    /// The first thing that a tallied function does.
    pub fn hit(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Says `tally NAME COUNT` on standard error.
    pub fn print(&self) {
        eprintln!("tally {} {}", self.name, self.count.load(Ordering::Relaxed));
    }
}

/// Defines tallies named after functions, and `print_tallies`.
#[macro_export]
macro_rules! tallies {
    ($($tally:ident = $name:literal),* $(,)?) => {
        $(pub static $tally: $crate::Tally = $crate::Tally::new($name);)*
        pub fn print_tallies() {
            $($tally.print();)*
        }
    };
}

/// Numbers that look random and are the same in every run.
pub struct Numbers(u64);

impl Numbers {
    /// The sequence of this seed.
    pub const fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    /// The next one, below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
