//! Compiles the C and the C++ part.

fn main() {
    println!("cargo::rerun-if-changed=c");
    cc::Build::new().file("c/add.c").compile("adder");
    cc::Build::new().cpp(true).file("c/carry.cpp").compile("carry");
}
