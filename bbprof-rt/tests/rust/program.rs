//! Uses the Rust API; linked with the runtime and a record made by hand.

#[path = "../../src/lib.rs"]
mod bbprof_rt;

unsafe extern "C" {
    fn hit();
}

fn count(times: u32) {
    for _ in 0..times {
        // SAFETY: a C function without preconditions, called by one thread.
        unsafe { hit() }
    }
}

fn main() {
    count(3);
    bbprof_rt::dump("first.bbraw").expect("dump");
    bbprof_rt::reset().expect("reset");
    count(4);
    bbprof_rt::dump_numbered().expect("numbered dump");
    let mut bytes = Vec::new();
    bbprof_rt::write(&mut bytes).expect("write");
    std::fs::write("last.bbraw", &bytes).expect("file");
    let refused = bbprof_rt::write(Refusing).expect_err("a writer's error is passed on");
    assert!(refused.to_string().contains("no more"), "{refused}");
    assert!(bbprof_rt::dump("missing/folder").is_err());
}

struct Refusing;

impl std::io::Write for Refusing {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::Error::other("no more"))
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
