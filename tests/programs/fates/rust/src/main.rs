//! Ends in the way its first argument says; see `truth.h` in the folder above for what it tells of itself.

mod truth;

use std::hint::black_box;
use std::panic::catch_unwind;
use std::process::{abort, exit};
use std::time::Duration;
use truth::tally;

const NAMES: [&str; 7] = ["branchy", "even", "odd", "descend", "drop_guard", "in_thread", "late"];
const BRANCHY: usize = 0;
const EVEN: usize = 1;
const ODD: usize = 2;
const DESCEND: usize = 3;
const DROP_GUARD: usize = 4;
const IN_THREAD: usize = 5;
const LATE: usize = 6;

#[inline(never)]
fn even(i: u64) -> u64 {
    tally(EVEN);
    black_box(i)
}

#[inline(never)]
fn odd(i: u64) -> u64 {
    tally(ODD);
    black_box(i + 1)
}

#[inline(never)]
fn branchy(i: u64) -> u64 {
    tally(BRANCHY);
    if i % 3 == 0 { even(i) } else { odd(i) }
}

#[inline(never)]
fn work(times: u64) -> u64 {
    (0..times).map(branchy).fold(0, u64::wrapping_add)
}

#[inline(never)]
fn drop_guard() {
    tally(DROP_GUARD);
    work(2);
}

struct Guard;
impl Drop for Guard {
    fn drop(&mut self) {
        drop_guard();
    }
}

struct Fragile;
impl Drop for Fragile {
    fn drop(&mut self) {
        work(1);
        panic!("in a destructor");
    }
}

/// The end comes several activations deep, with destructors to run on the way out.
#[inline(never)]
fn descend(depth: u32, end: &dyn Fn()) -> u64 {
    tally(DESCEND);
    let _guard = Guard;
    let mut sum = 0;
    for i in 0..10 {
        sum += branchy(i);
        if i == 7 {
            if depth == 0 { end() } else { sum += descend(depth - 1, end) }
        }
    }
    sum
}

#[inline(never)]
fn in_thread(times: u64) -> u64 {
    tally(IN_THREAD);
    work(times)
}

#[inline(never)]
fn late() {
    tally(LATE);
    work(3);
}

struct Late;
impl Drop for Late {
    fn drop(&mut self) {
        late();
    }
}
thread_local!(static AT_THE_END: Late = const { Late });

fn threads() {
    std::thread::scope(|scope| {
        for i in 0..8 {
            scope.spawn(move || {
                AT_THE_END.with(|_| ());
                in_thread(1000 + i)
            });
        }
    });
}

fn panicking_threads() {
    for _ in 0..4 {
        let thread = std::thread::spawn(|| {
            AT_THE_END.with(|_| ());
            let _guard = Guard;
            in_thread(100);
            panic!("of a thread");
        });
        assert!(thread.join().is_err());
    }
}

fn detached() {
    std::thread::spawn(|| {
        in_thread(10);
        loop {
            std::thread::sleep(Duration::from_secs(1000));
        }
    });
    while !another_sleeps() {
        std::thread::yield_now();
    }
}

/// Whether a thread waits in `clock_nanosleep`, as /proc tells.
fn another_sleeps() -> bool {
    let sleeps = |task: std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("syscall")).is_ok_and(|call| call.starts_with("230 "))
    };
    std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.flatten().any(sleeps))
}

fn main() {
    truth::open(&NAMES);
    std::panic::set_hook(Box::new(|_| ()));
    work(50);
    let how = std::env::args().nth(1).unwrap_or_default();
    match how.as_str() {
        "nothing" => drop(descend(3, &|| ())),
        "exit" => drop(descend(3, &|| exit(7))),
        "abort" => drop(descend(3, &|| abort())),
        "panic" => drop(descend(3, &|| panic!("deep"))),
        "caught" => assert!(catch_unwind(|| descend(3, &|| panic!("deep"))).is_err()),
        "panic_in_destructor" => drop(descend(3, &|| drop(Fragile))),
        "panic_while_panicking" => drop(descend(3, &|| {
            let _fragile = Fragile;
            panic!("first");
        })),
        "threads" => threads(),
        "panicking_threads" => panicking_threads(),
        "detached" => detached(),
        // SAFETY: none. It is fatal: a fault that nobody handles.
        "fault" => drop(descend(3, &|| unsafe { black_box(std::ptr::without_provenance_mut::<u8>(8)).write_volatile(1) })),
        "exec" => {
            use std::os::unix::process::CommandExt;
            descend(3, &|| drop(std::process::Command::new("true").exec()));
        }
        "child" => assert!(std::process::Command::new("true").status().is_ok()),
        _ => exit(99),
    }
}
