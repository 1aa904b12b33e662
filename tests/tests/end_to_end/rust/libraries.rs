//! Rust code in shared objects: a dylib that the program links, and a cdylib that it opens and closes while it runs.

use bbprof_tests::{Cargo, Verdict, is_long};

#[test]
fn dylib_and_cdylib() {
    let host = Cargo::new("libraries", concat!(env!("CARGO_TARGET_TMPDIR"), "/rust_libraries"));
    let profiles: &[_] = if is_long() { &["dev", "release"] } else { &["release"] };
    host.plain("build", &["--quiet", "--workspace"]).ok();
    for profile in profiles {
        let sandbox = bbprof_tests::Sandbox::new("libraries");
        host.profiled("build", &["--quiet", "--workspace", "--profile", profile, "--counters", "check"], &sandbox).ok();
        host.clone().package("host").check_run(profile, &[], Verdict::Exact);
    }
}
