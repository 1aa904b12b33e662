//! Writes a table, and asks the compiler what crates' build scripts ask it: whether it is a nightly one.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(has_features)");
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    let squares: Vec<u64> = (0..32).map(|side| side * side).collect();
    fs::write(Path::new(&out).join("squares.rs"), format!("const SQUARES: [u64; 32] = {squares:?};")).expect("a table");

    let probe = Path::new(&out).join("probe.rs");
    fs::write(&probe, "#![feature(rustc_attrs)]\npub fn probe() {}\n").expect("a probe");
    let mut rustc = match env::var_os("RUSTC_WRAPPER").filter(|wrapper| !wrapper.is_empty()) {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.arg(env::var_os("RUSTC").expect("cargo sets RUSTC"));
            command
        }
        None => Command::new(env::var_os("RUSTC").expect("cargo sets RUSTC")),
    };
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let status = rustc.args(["--crate-type=lib", "--emit=metadata", "--target", &target, "--out-dir", &out]).arg(&probe).output();
    if status.expect("the compiler runs").status.success() {
        println!("cargo::rustc-cfg=has_features");
    }
}
