//! Programs that read what is exported: each runs on a file in a folder of its own, and must succeed.

use std::io::Write;
use std::process::{Command, Stdio};

/// What `program` says of `input`, which it gets as the file at the place of `{}` among the words.
pub(crate) fn said_of(input: &[u8], name: &str, program: &str, words: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, input).expect("written");
    let path = path.to_str().expect("text");
    let output = Command::new(program)
        .args(words.iter().map(|word| word.replace("{}", path)))
        .current_dir(folder.path())
        .output()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {}\n{error}", output.status);
    assert!(!error.to_lowercase().contains("error") && !error.to_lowercase().contains("warning"), "{program}: {error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What `program` makes of `input` on its standard input.
pub(crate) fn filtered(input: &[u8], program: &str, words: &[&str]) -> String {
    let child = Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut stdin = child.stdin.take().expect("piped");
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("it ends");
    feeder.join().expect("no panic").expect("it reads all");
    assert!(output.status.success(), "{program}: {}", output.status);
    String::from_utf8(output.stdout).expect("text")
}
