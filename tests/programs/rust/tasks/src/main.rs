//! Work given to rayon's threads and to tokio's current one.
//!
//! rayon's own pool lives until the process ends. Without the argument `global`, a pool is used whose threads are joined.

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;
use tally::Numbers;
use tokio::sync::{mpsc, oneshot};

tally::tallies! {
    WEIGH = "weigh",
    QUICK = "quick",
    SERVE = "serve",
    ASK = "poll_once",
    BLOCKING = "blocking",
}

#[inline(never)]
fn weigh(item: u64) -> u64 {
    WEIGH.hit();
    (0..item % 50).fold(item, |sum, step| if sum % 3 == 0 { sum / 3 + step } else { sum + step * step })
}

#[inline(never)]
fn quick(items: &mut [u64]) {
    QUICK.hit();
    if items.len() < 2 {
        return;
    }
    let pivot = items[items.len() / 2];
    let (mut low, mut high) = (0, items.len() - 1);
    loop {
        while items[low] < pivot {
            low += 1;
        }
        while items[high] > pivot {
            high -= 1;
        }
        if low >= high {
            break;
        }
        items.swap(low, high);
        low += 1;
        high -= 1;
    }
    let (left, right) = items.split_at_mut(low);
    rayon::join(|| quick(left), || quick(right));
}

fn parallel(size: u64) -> u64 {
    let mut numbers = Numbers::from_seed(2);
    let mut items: Vec<u64> = (0..size).map(|_| numbers.below(1 << 30)).collect();
    let sum: u64 = items.par_iter().map(|&item| weigh(item)).sum();
    let classes: BTreeMap<u64, usize> = items
        .par_chunks(100)
        .fold(BTreeMap::new, |mut map, chunk| {
            chunk.iter().for_each(|item| *map.entry(weigh(*item) % 7).or_default() += 1);
            map
        })
        .reduce(BTreeMap::new, |mut all, map| {
            map.into_iter().for_each(|(class, count)| *all.entry(class).or_default() += count);
            all
        });
    println!("sum {sum}, classes {classes:?}");
    quick(&mut items);
    assert!(items.is_sorted());
    items.par_iter().rev().filter(|item| weigh(**item) % 2 == 0).count() as u64
}

#[inline(never)]
fn serve(count: u64) -> u64 {
    SERVE.hit();
    if cfg!(panic = "unwind") && count % 11 == 10 {
        std::panic::panic_any(count);
    }
    count * 2
}

#[inline(never)]
fn poll_once(step: u64) -> u64 {
    ASK.hit();
    step.rotate_left(7) % 1000
}

#[inline(never)]
fn blocking(items: u64) -> u64 {
    BLOCKING.hit();
    (0..items).map(poll_once).sum()
}

async fn server(mut requests: mpsc::Receiver<(u64, oneshot::Sender<u64>)>) -> u64 {
    let mut answered = 0;
    while let Some((count, answer)) = requests.recv().await {
        let result = tokio::spawn(async move { serve(count) }).await;
        let value =
            result.unwrap_or_else(|error| error.try_into_panic().map_or(0, |panic| panic.downcast_ref().copied().unwrap_or(1)));
        answered += u64::from(answer.send(value).is_ok());
    }
    answered
}

async fn client(name: u64, steps: u64, requests: mpsc::Sender<(u64, oneshot::Sender<u64>)>) -> u64 {
    let mut sum = 0;
    for step in 0..steps {
        let (answer, answered) = oneshot::channel();
        requests.send((name + poll_once(step), answer)).await.expect("the server lives");
        sum += answered.await.expect("an answer");
        if step % 10 == name {
            tokio::time::sleep(Duration::from_micros(50)).await;
        } else if step % 3 == 0 {
            tokio::task::yield_now().await;
        }
    }
    sum
}

async fn concurrent(steps: u64) -> (u64, u64, u64) {
    let (requests, served) = mpsc::channel(4);
    let server = tokio::spawn(server(served));
    let clients: Vec<_> = (0..5).map(|name| tokio::spawn(client(name, steps, requests.clone()))).collect();
    drop(requests);
    let mut sum = 0;
    for client in clients {
        sum += client.await.expect("a client");
    }
    let blocked = tokio::task::spawn_blocking(move || blocking(steps)).await.expect("a blocking task");
    (sum, server.await.expect("the server"), blocked)
}

/// Works in a pool whose threads are joined, so that none is running when the process ends.
fn in_joined_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let mut threads = Vec::new();
    let builder = rayon::ThreadPoolBuilder::new().num_threads(3).spawn_handler(|thread| {
        threads.push(std::thread::Builder::new().spawn(|| thread.run())?);
        Ok(())
    });
    let pool = builder.build().expect("a pool");
    let value = pool.install(work);
    drop(pool);
    threads.into_iter().for_each(|thread| thread.join().expect("a thread of the pool"));
    value
}

fn main() {
    let size = 4000;
    let count = if std::env::args().any(|word| word == "global") { parallel(size) } else { in_joined_threads(|| parallel(size)) };
    println!("parallel {count}");
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    println!("concurrent {:?}", runtime.block_on(concurrent(size / 20)));
    drop(runtime);
    print_tallies();
}
