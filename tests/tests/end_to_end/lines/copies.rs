//! Lines of inlined functions: what the frame keeps for them is no code, and their first line is in their own file.

use bbprof_tests::{RENAMED, Run, Sandbox, lines, named_lines, package, profile_of, renamed, symbol_of_area, tool, traced_files};

/// The places of `free`'s values are in the frame of its caller, made at its beginning,
/// where a thousand calls come and a hundred of `free`.
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

/// The last addition of `inlined` is computed where it is wanted, behind the branch of its caller.
const SUNK: &str = "\
#include <stdio.h>
volatile unsigned long executed, odd;
static inline long inlined(long x) { //= inlined
  executed = executed + 1; //= counts
  return x * 3 + 7; //= returns
}
__attribute__((noinline)) long caller(long c) { //= caller
  long r = inlined(c); //= call
  if (c & 1)
    odd = odd + 1; //= odd
  else
    puts(\"even\"); //= even
  return r;
}
int main(void) {
  long all = 0;
  for (int n = 0; n < 20; n++)
    all += caller(n);
  printf(\"%ld %lu\\n\", all, executed);
}
";

#[test]
fn a_part_behind_a_branch_of_the_caller() {
    let sandbox = Sandbox::new("sunk");
    for level in ["-O0", "-O1", "-O2"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", SUNK, &[level]);
        let names = ["inlined", "counts", "returns", "caller", "call", "odd", "even"];
        assert_eq!(names.map(|name| lines[name]), [20, 20, 20, 20, 20, 10, 10], "{level}");
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(sandbox.join("run.bbraw")).ok().text();
        assert!(trace.contains("\nFNDA:20,inlined\n"), "{level}: {trace}");
    }
}

/// The loop is unrolled, and the copies of its turns have the same lines.
const UNROLLED: &str = "\
#include <stdio.h>
volatile unsigned long executed, odd;
static inline long inlined(long x) { //= inlined
  executed = executed + 1; //= counts
  return x * 3 + 7;
}
int main(void) {
  long all = 0;
#pragma clang loop unroll(full)
  for (int n = 0; n < 8; n++) {
    all += inlined(all + odd);
    if (odd & 1)
      odd = odd + 2;
    else
      puts(\"even\");
  }
  printf(\"%ld %lu\\n\", all, executed);
}
";

#[test]
fn parts_of_an_unrolled_loop() {
    let sandbox = Sandbox::new("unrolled");
    for level in ["-O0", "-O1", "-O2"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", UNROLLED, &[level]);
        assert_eq!(["inlined", "counts"].map(|name| lines[name]), [8, 8], "{level}");
    }
}

/// The pivot is chosen by comparisons of which several begin alike: the optimiser keeps one of
/// these beginnings, and knows no line of what it is called by.
const COMMON: &str = "\
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>
volatile unsigned long executed;
int main() {
  for (int n = 0; n < 25; n++) {
    std::vector<int> values(n);
    std::iota(values.begin(), values.end(), 5);
    std::sort(values.begin(), values.end(), [](int a, int b) {
      executed = executed + 1; //= counts
      return a > b;
    });
  }
  std::printf(\"%lu\\n\", executed);
}
";

#[test]
fn what_copies_had_in_common() {
    let sandbox = Sandbox::new("common");
    for level in ["-O0", "-O1", "-O2"] {
        let lines = lines(&sandbox, "bbprof-c++", "a.cpp", COMMON, &[level]);
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(sandbox.join("run.bbraw")).ok().text();
        let executions = format!("\nFNDA:{},_ZZ4mainENK3$_0clEii\n", lines["counts"]);
        assert!(trace.contains(&executions), "{level}: {executions}{trace}");
    }
}

#[test]
fn the_first_line_of_a_renamed_function() {
    let sandbox = Sandbox::new("renamed");
    let (package, source) = renamed(&sandbox);
    for more in [&[][..], &["--release"]] {
        let raw = &profile_of(&package, &sandbox, more);
        let lines = named_lines(raw, &source, RENAMED);
        assert_eq!(["area", "behind"].map(|name| lines[name]), [1010, 1010], "{more:?}");
        assert_eq!(symbol_of_area(raw).contains(".llvm."), more.contains(&"--release"), "the test is about that");
    }
}

/// Two copies begin alike, and what they have in common is done once in front of `!guard`: all of the test but its jump.
const BRANCHES_BEHIND: &str = "\
#include <stdatomic.h>
#include <stdio.h>
static atomic_ulong asked;
static atomic_int is_ready;
__attribute__((noinline)) static void begin(void) {
  atomic_store_explicit(&is_ready, 1, memory_order_relaxed); //= begins
}
static inline int is_zero(const int *number) { //= executions
  atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed); //= asked
  if (atomic_load_explicit(&is_ready, memory_order_relaxed) == 0) //= test
    begin(); //= call
  return *number == 0; //= value
}
__attribute__((noinline)) static int next(const int *number) { return *number + 1; }
__attribute__((noinline)) static int choose(int guard, const int *body, const int *branch) {
  if (guard && !is_zero(body)) //= first
    return next(body);
  else if (!guard && !is_zero(branch))
    return next(branch);
  return 0;
}
int main(void) {
  int numbers[3] = {0, 1, 2}, sum = 0;
  for (int i = 0; i < 100; i++)
    sum += choose(i % 3 == 0, &numbers[i % 2], &numbers[i % 3]);
  printf(\"%d, asked %lu\\n\", sum, asked);
}
";

#[test]
fn branches_behind_what_copies_had_in_common() {
    let sandbox = Sandbox::new("branches-behind");
    for level in ["-O0", "-O1", "-O2", "-Os"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", BRANCHES_BEHIND, &[level]);
        let names = ["executions", "asked", "test", "value", "begins", "call", "first"];
        assert_eq!(names.map(|name| lines[name]), [100, 100, 100, 100, 1, 1, 100], "{level}");
    }
}

/// What the copies of `emit` have in common, `reg << 7`, stands where all that the macro computes does; those of `put` end alike.
const ONE_PLACE: &str = "\
#include <stdio.h>
#define MAKE(op, a, b) ((unsigned)(op) | (unsigned)(a) << 7 | (unsigned)(b) << 15)
static unsigned code[256];
static int used;
static inline int put(unsigned instruction) { //= puts
  code[used & 255] = instruction; //= stores
  return used++; //= ends
}
static inline int emit(int op, int a, int b) { //= emits
  return put(MAKE(op, a, b)); //= makes
}
__attribute__((noinline)) static int load(int reg, int k) { //= loads
  if (k < 100)
    return emit(3, reg, k); //= short
  else {
    int at = emit(4, reg, 0); //= long
    emit(5, k, 0); //= extra
    return at;
  }
}
int main(void) {
  int sum = 0;
  for (int i = 0; i < 150; i++)
    sum += load(i % 5, i);
  printf(\"%d %d %u\\n\", sum, used, code[7]);
}
";

#[test]
fn what_copies_had_in_common_at_one_place() {
    let sandbox = Sandbox::new("one-place");
    for level in ["-O0", "-O1", "-O2", "-Os"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", ONE_PLACE, &[level]);
        let names = ["puts", "stores", "ends", "emits", "makes", "loads", "short", "long", "extra"];
        assert_eq!(names.map(|name| lines[name]), [200, 200, 200, 200, 200, 150, 100, 50, 50], "{level}");
    }
}

/// The load and the multiplication of `scale` have one place, and the multiplication goes on behind what `op->change` does, where
/// it is used.
const TWO_AT_ONE_PLACE: &str = "\
#include <stdio.h>
static unsigned long executed;
static volatile int last;
struct op { void (*change)(int *); };
__attribute__((noinline)) static void note(int number) { last = number; }
static void increment(int *number) {
  if (last & 1)
    note(1);
  *number += 1;
  if (last & 2)
    note(0);
}
static void apply(struct op *op, int *number) { op->change(number); }
#define TIMES(number, factor) (*number * factor)
static inline int scale(int *number, int factor) { //= scales
  executed++; //= counts
  return TIMES(number, factor); //= multiplies
}
__attribute__((noinline)) static int measure(int *number, int factor, int *out) {
  struct op op = {increment};
  int scaled = scale(number, factor); //= call
  apply(&op, number);
  if (factor > 3) {
    *out = scaled; //= uses
    return 1;
  }
  return 2;
}
int main(void) {
  int out = 0, sum = 0;
  for (int i = 0; i < 100; i++) {
    int number = i;
    sum += measure(&number, i, &out);
  }
  printf(\"%lu %d %d\\n\", executed, sum, out);
}
";

#[test]
fn one_of_two_instructions_at_a_place_moves() {
    let sandbox = Sandbox::new("two-at-one-place");
    for level in ["-O0", "-O1", "-O2", "-Os"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", TWO_AT_ONE_PLACE, &[level]);
        assert_eq!(["scales", "counts", "uses"].map(|name| lines[name]), [100, 100, 96], "{level}");
    }
}

/// What `remove` stores is in a register while the caller's loop runs: the store stands once, where the loop ends, and in half of
/// the calls of `run` no turn removes anything.
const KEPT_BACK: &str = "\
#include <stdio.h>
static unsigned long executed;
static volatile int stops;
__attribute__((noinline)) static void use(unsigned *left) { stops += *left > 1000; }
static inline void remove_one(unsigned *left) { //= removes
  executed++; //= counts
  *left -= 1; //= stores
}
__attribute__((noinline)) unsigned run(int turns, int which, unsigned left) {
  for (int i = 0; i < turns; i++) {
    if (stops > 0)
      return 5;
    if (i == which)
      remove_one(&left); //= call
  }
  use(&left);
  return left;
}
int main(void) {
  unsigned sum = 0;
  for (int i = 0; i < 100; i++)
    sum += run(10, i % 20, 9 + i);
  printf(\"%lu %u\\n\", executed, sum);
}
";

#[test]
fn a_store_that_is_kept_back_until_the_loop_ends() {
    let sandbox = Sandbox::new("kept-back");
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", KEPT_BACK, &[level]);
        assert_eq!(["removes", "counts", "call"].map(|name| lines[name]), [50; 3], "{level}");
    }
}
