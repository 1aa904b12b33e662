//! Starts the program, as tests of programs do.

use std::process::Command;

fn run(count: &str) -> (String, Option<i32>) {
    let output = Command::new(env!("CARGO_BIN_EXE_app")).arg(count).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn it_says_sums() {
    assert_eq!(run("3"), ("5\n".to_owned(), Some(0)));
    assert_eq!(run("10"), ("285\n".to_owned(), Some(2)));
}

#[test]
#[should_panic]
fn it_says_no_other_sums() {
    assert_eq!(run("3"), ("6\n".to_owned(), Some(0)));
}
