//! A plug-in with a C interface.

use std::sync::atomic::{AtomicU64, Ordering};

static TURNED: AtomicU64 = AtomicU64::new(0);

/// Turns a number, in a way that depends on the number, and calls back.
#[unsafe(no_mangle)]
pub extern "C" fn plug_turn(number: u64, back: extern "C" fn(u64) -> u64) -> u64 {
    TURNED.fetch_add(1, Ordering::Relaxed);
    match std::panic::catch_unwind(|| turn(number)) {
        Ok(turned) => back(turned),
        Err(_) => 0,
    }
}

#[inline(never)]
fn turn(number: u64) -> u64 {
    match number % 5 {
        0 => number / 5,
        1 => std::panic::resume_unwind(Box::new(number)),
        rest => (0..rest).fold(number, |sum, step| sum * 3 + step),
    }
}

/// How often the functions were entered since the library was loaded.
#[unsafe(no_mangle)]
pub extern "C" fn plug_turned() -> u64 {
    TURNED.load(Ordering::Relaxed)
}
