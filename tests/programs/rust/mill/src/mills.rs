//! Threads: scoped, joined, nested, talking over channels; one dies of a panic.

use crate::GRIND;
use std::cell::Cell;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

thread_local! {
    static GROUND: Cell<u64> = const { Cell::new(0) };
}

#[inline(never)]
fn grind(grain: u64) -> u64 {
    GRIND.hit();
    GROUND.set(GROUND.get() + 1);
    let (mut rest, mut steps) = (grain + 1, 0);
    while rest != 1 {
        rest = if rest % 2 == 0 { rest / 2 } else { 3 * rest + 1 };
        steps += 1;
    }
    steps
}

fn worker(grains: &Mutex<Receiver<u64>>, flour: &Sender<u64>) -> u64 {
    loop {
        let grain = grains.lock().expect("no worker panics with the lock").recv();
        let Ok(grain) = grain else { return GROUND.get() };
        flour.send(grind(grain)).expect("the miller waits");
    }
}

fn joined(rounds: u64) -> u64 {
    let (to_grind, grains) = channel();
    let (flour, ground) = channel();
    let grains = Arc::new(Mutex::new(grains));
    let workers: Vec<_> = (0..3)
        .map(|_| {
            let (grains, flour) = (Arc::clone(&grains), flour.clone());
            thread::spawn(move || worker(&grains, &flour))
        })
        .collect();
    drop(flour);
    (0..20 * rounds).for_each(|grain| to_grind.send(grain).expect("workers wait"));
    drop(to_grind);
    let steps: u64 = ground.iter().sum();
    steps + workers.into_iter().map(|worker| worker.join().expect("a worker")).sum::<u64>()
}

/// The end of a scope waits for what its threads do, but not for the threads: they are joined one by one.
fn scoped(rounds: u64) -> u64 {
    let grind_part = move |index: u64| {
        let part: u64 = (0..rounds).map(|grain| grind(grain * 4 + index)).sum();
        part + thread::scope(|inner| inner.spawn(|| grind(part)).join().expect("an inner thread"))
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..4).map(|index| scope.spawn(move || grind_part(index))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a scoped thread")).sum()
    })
}

/// Grinds grain in many threads.
pub fn run(rounds: u64) -> u64 {
    let mut sum = joined(rounds) + scoped(rounds);
    for short in 0..20 {
        sum += thread::spawn(move || grind(short)).join().expect("a short thread");
    }
    if cfg!(panic = "unwind") {
        std::panic::set_hook(Box::new(|_| {}));
        let dead = thread::Builder::new().name("unlucky".into()).spawn(|| assert_eq!(grind(27), 0)).expect("a thread");
        sum += u64::from(dead.join().is_err());
        let _ = std::panic::take_hook();
    }
    sum
}
