//! Sorts and folds on two threads.
use programs::rounds;
use rayon::prelude::*;

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("two threads");
    let mut total = 0_u64;
    for round in 0..rounds() {
        let mut values: Vec<u64> = (0..20_000_u64).map(|value| value.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(round)).collect();
        total = pool.install(|| {
            values.par_sort_unstable();
            values.par_iter().map(|value| value.count_ones() as u64 * (value % 7)).sum::<u64>()
        }) ^ total.rotate_left(1);
    }
    println!("{total}");
}
