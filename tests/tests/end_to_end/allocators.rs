//! Allocators are trusted to return, as the compiler trusts C's `malloc`: no counter stands behind a call of
//! one. Where one does not return after all, `verify` says so.

use bbprof_tests::{Cargo, Run, Sandbox, tool};
use std::path::Path;

/// Blocks and nodes of the functions in an object or archive, in order.
fn blocks_and_nodes(file: &Path) -> Vec<(usize, usize)> {
    let dumped = Run::new(tool("bbprof")).arg("dump").arg(file).ok().text();
    let counted = dumped.lines().filter_map(|line| {
        let (blocks, rest) = line.trim().split_once(" blocks, ")?;
        Some((blocks.parse().ok()?, rest.split_once(" nodes")?.0.parse().ok()?))
    });
    counted.collect()
}

#[test]
fn operator_delete_ends_no_node() {
    let sandbox = Sandbox::new("delete");
    let source = sandbox.write(
        "taken.cpp",
        "int taken(int *from) {\n  int value = *from;\n  delete from;\n  return value;\n}\nint taken_array(int *from) {\n  int value = *from;\n  delete[] from;\n  return value;\n}\n\
         int *given() { return new int(7); }\nint both() {\n  int *volatile given = new int(7);\n  return *given;\n}\n",
    );
    let object = sandbox.join("taken.o");
    Run::new(tool("bbprof-c++")).args(["-O2", "-c", "-o"]).arg(&object).arg(source).ok();
    // `operator new` may throw.
    assert_eq!(blocks_and_nodes(&object), [(1, 1), (1, 1), (1, 2), (1, 2)]);
}

/// A workspace with a library that allocates, and a program whose allocator ends the process when it has given out too much.
fn capped(sandbox: &Sandbox) -> Cargo {
    let package = |name: &str| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n");
    sandbox.write(
        "Cargo.toml",
        format!("{}[dependencies]\nboxes = {{ path = \"boxes\" }}\n\n[workspace]\nmembers = [\"boxes\"]\n", package("capped")),
    );
    sandbox.write("boxes/Cargo.toml", package("boxes"));
    sandbox.write(
        "Cargo.lock",
        "version = 4\n\n[[package]]\nname = \"boxes\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"capped\"\nversion = \"0.1.0\"\ndependencies = [\n \"boxes\",\n]\n",
    );
    sandbox.write(
        "boxes/src/lib.rs",
        "use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};\npub static FILLED: AtomicUsize = AtomicUsize::new(0);\n\
         #[inline(never)]\npub fn boxed(value: usize) -> Box<usize> {\n    let filled = Box::new(value);\n    FILLED.fetch_add(1, Relaxed);\n    filled\n}\n",
    );
    sandbox.write(
        "src/main.rs",
        "use std::alloc::{GlobalAlloc, Layout, System};\nuse std::sync::atomic::{AtomicUsize, Ordering::Relaxed};\n\nstruct Capped;\nstatic GIVEN: AtomicUsize = AtomicUsize::new(0);\n\n\
         unsafe impl GlobalAlloc for Capped {\n    #[inline(never)]\n    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {\n        \
         if GIVEN.fetch_add(layout.size(), Relaxed) > 10_000 {\n            std::process::exit(7);\n        }\n        unsafe { System.alloc(layout) }\n    }\n    \
         unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {\n        GIVEN.fetch_sub(layout.size(), Relaxed);\n        unsafe { System.dealloc(at, layout) }\n    }\n}\n\n\
         #[global_allocator]\nstatic CAPPED: Capped = Capped;\n\nfn main() {\n    let number: usize = std::env::args().nth(1).unwrap().parse().unwrap();\n    \
         let kept: Vec<Box<usize>> = (0..number).map(boxes::boxed).collect();\n    assert_eq!(kept.len(), boxes::FILLED.load(Relaxed));\n}\n",
    );
    Cargo::new(sandbox.path(), sandbox.join("target"))
}

#[test]
fn an_allocator_of_rust_ends_no_node_and_one_that_exits_is_named() {
    let sandbox = Sandbox::new("capped");
    let program = capped(&sandbox);
    for (profile, told) in [
        (
            &["--quiet"][..],
            "__rust_alloc: did not return from 1 of its calls, but alloc::alloc::Global::alloc_impl_runtime was compiled as if",
        ),
        (&["--quiet", "--release"], "boxes::boxed"),
    ] {
        let run = |number: &str, raw: &Path| {
            let options = [profile, &["--no-report", "--bin=capped", "--", number]].concat();
            program.bbprof("run", &options).env("BBPROF_OUT", raw)
        };
        let (whole, ended) = (sandbox.join("whole.bbraw"), sandbox.join("ended.bbraw"));
        run("100", &whole).ok();
        Run::new(tool("bbprof")).arg("verify").arg(&whole).ok();
        run("10000", &ended).outcome().expect_code(7);
        let verified = Run::new(tool("bbprof")).arg("verify").arg(&ended).outcome().expect_code(5).text();
        assert!(verified.contains(told), "{verified}");
    }
}

/// Whoever ends with a call that does not return has not returned, either.
#[test]
fn callers_of_what_ends_with_an_allocator_that_exits_are_named() {
    let sandbox = Sandbox::new("wrapped");
    let own = sandbox.write(
        "own.c",
        "#include <stdlib.h>\n#include <unistd.h>\nvoid fill(void);\nstatic char pool[16384];\nstatic size_t used;\n\
         void *malloc(size_t size) {\n  if (used + size > sizeof pool)\n    exit(3);\n  void *block = pool + used;\n  used += (size + 15) & ~15ul;\n  return block;\n}\n\
         void free(void *block) {}\nint main(void) {\n  fill();\n  return 0;\n}\n",
    );
    let user = sandbox.write(
        "user.c",
        "#include <stdlib.h>\nchar *volatile last;\nvolatile int filled;\n__attribute__((noinline)) static void *grab(size_t size) {\n  filled++;\n  return malloc(size);\n}\n\
         void fill(void) {\n  for (int i = 0; i < 60; i++) {\n    last = grab(1000);\n    filled--;\n  }\n}\n",
    );
    let (object, program, raw) = (sandbox.join("own.o"), sandbox.join("own"), sandbox.join("own.bbraw"));
    Run::new(tool("bbprof-cc")).args(["-O2", "-fno-builtin", "-w", "-c", "-o"]).arg(&object).arg(&own).ok();
    for (tail_calls, told) in [
        ("-foptimize-sibling-calls", "grab: did not return from 1 of its calls, but fill was compiled as if"),
        // `grab` counts its return then.
        ("-fno-optimize-sibling-calls", "malloc: did not return from 1 of its calls, but grab was compiled as if"),
    ] {
        Run::new(tool("bbprof-cc")).args(["-O2", tail_calls, "-o"]).arg(&program).arg(&user).arg(&object).ok();
        Run::new(&program).env("BBPROF_OUT", &raw).outcome().expect_code(3);
        let verified = Run::new(tool("bbprof")).arg("verify").arg(&raw).outcome().expect_code(5).text();
        assert!(verified.contains(told), "{verified}");
    }
}
