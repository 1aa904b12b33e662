//! Exit codes are those that are documented, or cargo's and the program's own, whatever becomes of messages.

use bbprof_tests::{Run, Sandbox, tool};

/// An empty package.
fn package(name: &str) -> Sandbox {
    let sandbox = Sandbox::new(name);
    sandbox.write("Cargo.toml", "[package]\nname = \"empty\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
    sandbox.write("src/main.rs", "fn main() {}\n");
    sandbox
}

/// What `cargo metadata` finds is cargo's to say, with cargo's exit code.
#[test]
fn what_cargo_refuses() {
    let sandbox = package("refused");
    for options in [&["--locked"][..], &["--features", "none"], &["--manifest-path", "none/Cargo.toml"]] {
        let in_package = |run: Run| run.args(["build", "-q"]).args(options).in_folder(sandbox.path()).outcome().expect_code(101);
        let _ = in_package(Run::new("cargo"));
        let refused = in_package(Run::new(tool("cargo-bbprof")).arg("bbprof")).stderr;
        assert!(refused.starts_with("bbprof: error: "), "{refused}");
    }
}

/// A stderr that is full, or that nobody reads, changes no exit code.
#[test]
fn messages_that_cannot_be_written() {
    let sandbox = package("unheard");
    let run = Run::new(tool("cargo-bbprof")).args(["bbprof", "run", "-q"]).in_folder(sandbox.path());
    run.env("BBPROF_OUT", sandbox.join("whole.bbraw")).ok();
    sandbox.write("damaged.bbraw", "BBPROFRW");
    let bin = tool("bbprof").parent().expect("a folder").display().to_string();
    for (command, code) in [
        ("bbprof report nosuch", 2),
        ("bbprof verify damaged.bbraw whole.bbraw", 4),
        ("bbprof export lcov=x.info whole.bbraw", 0),
        ("bbprof-cc --bbprof-foo", 2),
        ("cargo-bbprof bbprof run -q", 0),
    ] {
        for stderr in ["2> /dev/full", "2> >(exec 0<&-)", "2>&-"] {
            let script = format!("PATH={bin}:$PATH; {command} {stderr} > /dev/null");
            Run::new("bash").args(["-c", &script]).in_folder(sandbox.path()).outcome().expect_code(code);
        }
    }
}
