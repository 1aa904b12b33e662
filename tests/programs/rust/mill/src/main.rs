//! The standard library alone: panics, trait objects, generics, threads, and an exit in the middle of it.

mod grains;
mod mills;
mod mishaps;

use std::ops::ControlFlow;

tally::tallies! {
    AREA = "grains::Shape>::area",
    FOLD_ALL = "fold_all",
    CLASSIFY = "classify",
    BREAK_AT = "break_at",
    DIG = "dig",
    DROP_GUARD = "Guard as core::ops::drop::Drop>::drop",
    GRIND = "grind",
    LEAVE = "leave",
    VISIT = "visit",
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(300);
    println!("areas {}", grains::areas(rounds));
    println!("folds {}", grains::folds(rounds));
    println!("words {:?}", grains::words(rounds));
    println!("mishaps {:?}", mishaps::survive(rounds));
    println!("mills {}", mills::run(rounds));
    let flow = (0..).try_for_each(|level| leave(level, rounds));
    println!("never printed: {flow:?}");
}

/// Leaves the program from deep inside a recursion, in the middle of a loop.
#[inline(never)]
fn leave(level: u64, rounds: u64) -> ControlFlow<u64> {
    LEAVE.hit();
    for step in 0..rounds {
        if level + step > rounds {
            if step % 7 == 3 {
                println!("left at {level} {step}");
                print_tallies();
                std::process::exit(7);
            }
        } else if step % 101 == 100 {
            leave(level + step, rounds)?;
        }
    }
    if level > 10 * rounds { ControlFlow::Break(level) } else { ControlFlow::Continue(()) }
}
