//! Tests from outside.

use std::process::Command;

#[test]
fn areas_are_summed() {
    assert_eq!(shapes::sum_of(10, |side| shapes::square(side) + 1), 295);
}

#[test]
fn threads_sum_too() {
    let sums: Vec<_> = (0..4).map(|end| std::thread::spawn(move || shapes::sum_of(100 * end, shapes::square))).collect();
    let total: u64 = sums.into_iter().map(|sum| sum.join().unwrap()).sum();
    assert_eq!(total, 328_350 + 2_646_700 + 8_955_050);
}

#[test]
fn children_run() {
    let status = Command::new("sh").args(["-c", "exit 4"]).status().unwrap();
    assert_eq!(status.code(), Some(4));
}
