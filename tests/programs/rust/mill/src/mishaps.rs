//! Panics that are caught, with destructors on their way. A program whose panics abort does the same without them.

use crate::{BREAK_AT, DIG, DROP_GUARD};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

struct Guard<'a>(&'a mut u64);

impl Drop for Guard<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        DROP_GUARD.hit();
        *self.0 += if std::thread::panicking() { 100 } else { 1 };
    }
}

#[inline(never)]
fn break_at(step: u64) -> u64 {
    BREAK_AT.hit();
    if cfg!(panic = "unwind") {
        match step % 6 {
            1 => panic!("step {step}"),
            2 => std::panic::panic_any(step),
            3 => [1, 2, 3][step as usize % 9] + 10 / (step % 2),
            _ => step,
        }
    } else {
        step
    }
}

#[inline(never)]
fn dig(depth: u64, step: u64, dropped: &mut u64) -> u64 {
    DIG.hit();
    let guard = Guard(dropped);
    if depth == 0 { break_at(step) } else { 1 + dig(depth - 1, step, guard.0) }
}

/// What came back, how often destructors ran, and how many panics were of which kind.
pub fn survive(rounds: u64) -> (u64, u64, [u64; 4]) {
    std::panic::set_hook(Box::new(|_| {}));
    let (mut returned, mut dropped, mut kinds) = (0, 0, [0; 4]);
    for step in 0..rounds {
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let mut within = 0;
            let value = catch_unwind(AssertUnwindSafe(|| dig(step % 5, step, &mut within)));
            dropped += within;
            value.unwrap_or_else(|panic| if step % 4 == 0 { 0 } else { resume_unwind(panic) })
        }));
        match caught {
            Ok(value) => returned += value,
            Err(panic) if panic.is::<u64>() => kinds[1] += 1,
            Err(panic) if panic.is::<String>() => kinds[2] += 1,
            Err(_) => kinds[3] += 1,
        }
    }
    let _ = std::panic::take_hook();
    (returned, dropped, kinds)
}
