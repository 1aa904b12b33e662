//! Lines of inlined functions: what the frame keeps for them is no code, and their first line is in their own file.

use bbprof_tests::{Run, Sandbox, lines, named_lines, package, profile_of, tool, traced_files};

/// The places of `free`'s values are in the frame of its caller, made at its beginning, where a thousand calls come and a hundred of `free`.
const CONDITIONAL: &str = "\
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
static FREED: AtomicU64 = AtomicU64::new(0);
#[inline(never)]
fn count() { //= counted
    FREED.fetch_add(1, Relaxed);
}
#[derive(Clone, Copy)]
pub struct Page(u32, u32, u8);
pub struct Pages<'a> {
    flag: bool,
    freed: &'a mut Vec<Page>,
}
#[inline(never)]
fn take(page: Page) -> bool {
    std::hint::black_box(&page);
    page.0 % 20 == 0
}
impl Pages<'_> {
    #[inline(always)]
    fn free(&mut self, page: Page) { //= free
        count(); //= first statement
        if self.flag {
            if !take(page) {
                self.freed.push(page);
            }
        } else {
            self.freed.push(page);
        }
    }
}
#[inline(never)]
fn caller(n: u32, pages: &mut Pages) { //= caller
    if n % 10 == 0 {
        pages.free(Page(n, n, 0)); //= call
    }
}
fn main() {
    let mut freed = vec![];
    for n in 0..1000 {
        caller(n, &mut Pages { flag: n > 500, freed: &mut freed });
    }
    println!(\"{} {}\", FREED.load(Relaxed), freed.len());
}
";

#[test]
fn places_in_the_frame_are_no_code() {
    let sandbox = Sandbox::new("conditional");
    let (package, source) = package(&sandbox, "conditional", CONDITIONAL);
    for more in [&[][..], &["--release"]] {
        let raw = &profile_of(&package, &sandbox, more);
        let lines = named_lines(raw, &source, CONDITIONAL);
        let names = ["counted", "free", "first statement", "call", "caller"];
        assert_eq!(names.map(|name| lines[name]), [100, 100, 100, 100, 1000], "{more:?}");
    }
}

/// The function's lines are the other file's, but for the first.
const INCLUDING: &str = "\
#include <stdio.h>


static inline __attribute__((always_inline)) long sum(long n) { //= sum
#include \"body.inc\"
}
int main(void) { //= main
  long all = 0;
  for (long n = 0; n < 100; n++)
    all += sum(n); //= call
  printf(\"%ld\\n\", all);
}
";
const BODY: &str = "long turns = 0;
for (long i = n; i > 1; i = i % 2 ? 3 * i + 1 : i / 2)
  turns++;
return turns;
";

#[test]
fn a_body_of_another_file() {
    let sandbox = Sandbox::new("including");
    let body = sandbox.write("body.inc", BODY);
    for level in ["-O0", "-O2"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", INCLUDING, &[level]);
        assert_eq!((lines["sum"], lines["call"], lines["main"]), (100, 100, 1), "{level}");
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(sandbox.join("run.bbraw")).ok().text();
        let body = &traced_files(&trace)[body.to_str().expect("text")];
        assert!(body.lines.keys().all(|line| *line <= 4), "{level}: {:?}: the file has four lines", body.lines);
    }
}

/// All that is left of `inlined` is what the macro of the other file made, which has fewer lines than stand in front of `inlined`.
const USER: &str = "\
#[macro_use]
mod made;
use made::step;






#[inline(always)]
fn inlined(n: u64) -> u64 { //= inlined
    body!(n)
}
fn main() {
    println!(\"{}\", (0..100).map(inlined).sum::<u64>());
}
";
const MACROS: &str = "\
macro_rules! body {
    ($x:ident) => {
        step($x) //= expanded
    };
}
#[inline(never)]
pub fn step(x: u64) -> u64 { //= step
    std::hint::black_box(x)
}
";

#[test]
fn a_body_made_by_a_macro_of_another_file() {
    let sandbox = Sandbox::new("macros");
    let (package, user) = package(&sandbox, "macros", USER);
    let made = sandbox.write("src/made.rs", MACROS);
    for more in [&[][..], &["--release"]] {
        let raw = &profile_of(&package, &sandbox, more);
        let (of_user, of_made) = (named_lines(raw, &user, USER), named_lines(raw, &made, MACROS));
        assert_eq!((of_user["inlined"], of_made["expanded"], of_made["step"]), (100, 100, 100), "{more:?}");
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(raw).ok().text();
        for (file, text) in [(&user, USER), (&made, MACROS)] {
            let traced = &traced_files(&trace)[file.to_str().expect("text")];
            assert!(traced.lines.keys().all(|line| *line as usize <= text.lines().count()), "{more:?}: {:?}", traced.lines);
        }
    }
}
