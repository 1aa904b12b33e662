//! Sorts and folds on two threads, other values in each round: a processor learns to predict an order that comes again.
use programs::rounds;
use rayon::prelude::*;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads");
    let (mut total, mut random) = (0_u64, 1_u64);
    for _ in 0..rounds() {
        // Knuth's linear congruence of MMIX.
        let next = |_| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random ^ (random >> 32)
        };
        let mut values: Vec<u64> = (0..20_000).map(next).collect();
        total = pool.install(|| {
            values.par_sort_unstable();
            values.par_iter().map(|value| value.count_ones() as u64 * (value % 7)).sum::<u64>()
        }) ^ total.rotate_left(1);
    }
    println!("{total}");
}
