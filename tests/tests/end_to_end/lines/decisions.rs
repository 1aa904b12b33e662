//! What `docs/LINES.md` says of branches and jumps: which lines they visit, and where they stand.

use bbprof_tests::{Run, Sandbox, lines, named_lines, package, tool};
use std::path::Path;

const LEFT_AT_ONCE: &str = "\
static volatile int limit = 3;
static void mayThrow(int x) { if (x > 100) throw x; }
static int first(int x) {
  for (;;) { //= endless
    if (x > limit) //= test
      return 1; //= left
    x++; //= next
  }
}
static int tried(int x) {
  try {
    mayThrow(x); //= call
  } //= end of try
  catch (int thrown) { //= catch
    return thrown; //= caught
  }
  if (x < 0 && //= one
      limit > x) //= other
    return 2; //= both
  if (x >= 0) {
    limit = 3;
  } else if (x < -5) { //= otherwise
    limit = 4;
  }
  return 0;
}
int main() {
  int sum = 0;
  for (int i = 10; i < 20; i++)
    sum += first(i) + tried(i);
  int turns = 0;
  for (int i = 0; i < 9; i++)
    for (;;) { //= some turns
      if (turns >= 2) //= test of them
        break;
      turns++;
    }
  return sum != 10;
}
";

/// Lines of which only a jump ran are executed lines.
#[test]
fn ends_of_blocks_that_nothing_else_ran_in() {
    let sandbox = Sandbox::new("left-at-once");
    let lines = lines(&sandbox, "bbprof-c++", "left.cpp", LEFT_AT_ONCE, &["-O0"]);
    assert_eq!(["endless", "test", "left", "call", "end of try", "one"].map(|name| lines[name]), [10; 6]);
    for never in ["next", "caught", "other", "both", "otherwise"] {
        assert_eq!(lines[never], 0, "{never}");
    }
    assert_eq!((lines["some turns"], lines["test of them"]), (11, 11), "what begins and what turns");
}

const ASSERTED: &str = "\
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
__attribute__((noinline)) static void note(int ok) { static volatile int n; n += ok; }
__attribute__((noinline)) static int area(int w, int h) {
  int ok = w > 0;
  note(ok); //= between
  assert(ok); //= assertion
  return w * h;
}
__attribute__((noinline)) static int work(int *p) { static volatile int n; return n + (p != NULL); }
__attribute__((noinline)) static int *other(int *p, int n) { static int *volatile next; return n > 3 ? next : p; }
__attribute__((noinline)) static int find(int *p) {
  int turn;
  for (turn = 0; turn < 200; turn++) { //= left at once
    if (p != NULL)
      return work(p); //= found
    p = other(p, turn);
  }
  return -1;
}
bool more(int i) { if (i > 1000) printf(\"?\"); return i < 10; }
void body(int i) { if (i > 1000) printf(\"?\"); }
int main(void) {
  int s = 0;
  int *volatile here = &s;
  for (int i = 1; i <= 100; i++)
    s += area(i, 2) + find(here);
  for (int i = 0; //= head
       more(i); i++) //= condition
    body(i); //= body
  printf(\"%d\\n\", s);
}
";

/// What an assertion, or a loop that is left at once, has besides its jump is code that never ran.
#[test]
fn lines_that_decide_on_what_was_computed_before() {
    let sandbox = Sandbox::new("asserted");
    for level in ["-O0", "-O1", "-O2"] {
        let lines = lines(&sandbox, "bbprof-cc", "asserted.c", ASSERTED, &[level, "-g", "-Wno-everything"]);
        assert_eq!(["between", "assertion", "left at once", "found"].map(|name| lines[name]), [100; 4], "{level}");
        if level == "-O0" {
            assert_eq!(["head", "condition", "body"].map(|name| lines[name]), [11, 11, 10]);
        }
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(sandbox.join("run.bbraw")).ok().text();
        assert!(!trace.contains("\nBRDA:7,") && trace.contains("\nBRDA:8,0,0,"), "{level}: {trace}");
    }
}

const ON_SEVERAL_LINES: &str = "\
#include <cctype>
#include <cstdio>
#include <stdexcept>
#include <string>
#define CHECK(condition, said) do { if (!(condition)) throw std::runtime_error(std::string(\"no: \") + said); } while (0)
#define WARN_IF(condition) do { if (condition) { fprintf(stderr, \"warning\"); warnings++; } } while (0)
static int warnings;
[[noreturn]] static void fail(const std::string &why) { throw std::runtime_error(why); }
static int limited(int n) {
  if (n > 1000)
    fail(\"limit\"); //= fails
  std::string text(n, 'x');
  return text.size();
}
static void checked(int n) {
  CHECK( //= check
      n >= 0 && n < 1000,
      \"n\");
  WARN_IF( //= warning
      n > 1000);
  WARN_IF( //= some warnings
      n >= 1);
}
inline bool starts(unsigned char c) { return c >= 128 || isalpha(c); }
static bool isName(unsigned char c) {
  return starts(c) //= first operand
         || isdigit(c) //= second operand
         || c == '.'; //= third operand
}
static int others(const char *s) {
  int n = 0;
  for (; *s; s++) {
    if (s[0] == 'a' || //= one
        s[0] == 'b' || //= two
        s[0] == 'c') continue; //= goes on
    n++; //= counted
  }
  return n;
}
static int firstOf(const char *s) {
  for (; *s; s++)
    if (s[0] == 'x' ||
        s[0] == 'y') break; //= leaves
  return *s;
}
static inline __attribute__((always_inline)) int weigh(const char *s, int mode) {
  int n = 0;
  for (; *s; s++) {
    if (mode == 1 && *s == 'a')
      n++;
    else if (*s == 'b')
      n += 2;
  }
  return n;
}
static int weighAs(const char *s) {
  return weigh(s, 1); //= inlined
}
int main() {
  int names = 0;
  for (int i = 0; i < 3; i++)
    checked(limited(i));
  for (const char *s = \"abc012..  ??\"; *s; s++)
    names += isName(*s);
  return names + others(\"aaaaaaaaaabz\") + firstOf(\"xxxx\") + weighAs(\"abab\") == 0;
}
";

/// What is decided on several lines, and statements that only jump behind that: clang's gcov has 21 visits to the
/// first operand's line, where the value comes together again.
#[test]
fn conditions_on_several_lines() {
    let sandbox = Sandbox::new("several-lines");
    let lines = lines(&sandbox, "bbprof-c++", "several.cpp", ON_SEVERAL_LINES, &["-O0"]);
    assert_eq!(["first operand", "second operand", "third operand"].map(|name| lines[name]), [21, 9, 6]);
    assert_eq!(["one", "two", "goes on", "counted", "leaves", "inlined"].map(|name| lines[name]), [12, 2, 12, 1, 1, 1]);
    assert_eq!((lines["check"], lines["warning"], lines["fails"]), (3, 3, 0));
    assert!(lines["some warnings"] >= 3, "the arm of a macro's `if` is at its line, too");
}

const DECIDING: &str = "\
fn step(n: u32) -> u32 {
    if n % 4 == 0 { //= condition
        n - 1 //= arm
    } else {
        n //= other
    }
}

fn insert(n: u32) -> (u32, bool) {
    (n * 2, n < 1000)
}

fn clip(n: u32) -> u32 {
    if n < 1000 {
        return n; //= early
    }
    let limit = 7; //= constant
    n % limit //= never
}

fn gcd(mut a: u32, mut b: u32) -> u32 {
    while a != b {
        if a > b { //= ends a turn
            a -= b; //= larger
        } else {
            b -= a; //= smaller
        }
    }
    a
}

fn ends(values: &[u32]) -> u32 {
    match values { //= slice
        [] => 0,
        [one] => *one,
        [first, .., last] => first + last,
    }
}

fn replace(places: &mut [Option<u32>], make: impl Fn() -> u32) { //= panics
    let name = String::from(\"name\");
    places[0] = Some(make());
    drop(name);
}

fn main() {
    let mut sum = 1;
    let table = [1, 2, 3];
    std::panic::set_hook(Box::new(|_| ()));
    for n in 1..=100 {
        assert!( //= assertion on lines
            n < 1000 && n > 0, //= its condition
            \"{n} is too many, for {}\",
            table.len() //= its words
        );
        debug_assert!( //= and of a flag
            !table.is_empty()
        );
        assert!(16777217u64 as f32 != 1.0); //= known
        let owned = String::from(\"owned\");
        let tried = std::panic::AssertUnwindSafe(|| replace(&mut [None], || if n % 2 == 0 { n } else { panic!(\"{owned}\") }));
        sum += u32::from(std::panic::catch_unwind(tried).is_ok()) + gcd(100, 7) + ends(&table);
        if n % 2 == 0 { //= in a loop
            sum += table[n as usize % 3]; //= indexed
        }
        sum += step(n); //= call
        let (value, ok) = insert(n); //= flag
        assert!(ok); //= assertion
        sum += clip(value);
    }
    std::hint::black_box(sum);
}
";

/// The end of an arm is no way back, wherever rustc puts the blocks of its checks.
#[test]
fn decisions_of_rust_count_once() {
    let sandbox = Sandbox::new("deciding");
    let (package, source) = package(&sandbox, "deciding", DECIDING);
    package.profiled("run", &["--quiet", "--no-report"], &sandbox).ok();
    let lines = named_lines(&sandbox.raw_profiles("raw")[0], &source, DECIDING);
    let names = ["condition", "arm", "other", "in a loop", "indexed", "call", "flag", "assertion"];
    assert_eq!(names.map(|name| lines[name]), [100, 25, 75, 100, 50, 100, 100, 100]);
    assert_eq!((lines["early"], lines.get("constant"), lines["never"]), (100, None, 0));
    let names = ["assertion on lines", "its condition", "its words", "and of a flag", "known", "slice", "panics"];
    assert_eq!(names.map(|name| lines[name]), [100, 100, 0, 100, 100, 100, 100]);
    assert_eq!(["ends a turn", "larger", "smaller"].map(|name| lines[name]), [1800, 1500, 300]);
}

const SILENT: &str = "\
fn right<T>(_left: T, right: T) -> T {
    right //= moved
}

fn larger<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if a > b {
        return a; //= larger
    }
    b
}

fn main() {
    let sum: u32 = (0..1000).map(|n| right(1, n) + larger(1, 2)).sum();
    if std::env::args().count() > 5 {
        println!(\"{:?} {}\", right([1u8; 100], [2; 100]), larger(1.5, 2.5));
    }
    println!(\"{sum}\");
}
";

/// An instantiation that ran may have no code where one that did not has: nothing is known of the
/// line then, unless it may be left out when the function runs.
#[test]
fn copies_without_code() {
    let sandbox = Sandbox::new("silent");
    let (package, source) = package(&sandbox, "silent", SILENT);
    package.profiled("run", &["--quiet", "--no-report"], &sandbox).ok();
    let lines = named_lines(&sandbox.raw_profiles("raw")[0], &source, SILENT);
    assert_eq!((lines.get("moved"), lines.get("larger")), (None, Some(&0)));
}

const CLOSURES: &str = "\
fn main() {
    let n: u32 = (0..10u32).filter(|&x| if x < 100 { true } else { false }).map(|x| if x > 100 { 1 } else { 2 }).sum();
    println!(\"{n}\");
}
";

/// Branches of functions that are one in the source are summed, and others are not: a static
/// function of a header in two modules, two closures on a line.
#[test]
fn branches_of_copies_are_summed() {
    let sandbox = Sandbox::new("clamps");
    sandbox.write("clamp.h", "static int clamp(int n) {\n  if (n > 100)\n    return 100;\n  return n;\n}\n");
    let source = |name: &str| format!("#include \"clamp.h\"\nint f{name}(int n) {{ return clamp(n); }}\n");
    let main = "int fa(int), fb(int);\nint main(void) {\n  int s = 0;\n  for (int i = 0; i < 1000; i++)\n    s += fa(i);\n  return s + fb(5) < 0;\n}\n";
    let [a, b, main] =
        [("a.c", &source("a")[..]), ("b.c", &source("b")), ("m.c", main)].map(|(name, text)| sandbox.write(name, text));
    let branches = |raw: &Path| -> Vec<String> {
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(raw).ok().text();
        trace.lines().filter(|line| line.starts_with("BRDA:2,")).map(str::to_owned).collect()
    };
    for order in [[&a, &b], [&b, &a]] {
        let (binary, raw) = (sandbox.join("clamps"), sandbox.join("clamps.bbraw"));
        Run::new(tool("bbprof-cc"))
            .args(["-O0", "-g"])
            .args(order)
            .arg(&main)
            .arg("-o")
            .arg(&binary)
            .in_folder(sandbox.path())
            .ok();
        let _ = std::fs::remove_file(&raw);
        Run::new(&binary).env("BBPROF_OUT", &raw).ok();
        assert_eq!(branches(&raw), ["BRDA:2,0,0,899", "BRDA:2,0,1,102"]);
    }
    let sandbox = Sandbox::new("closures");
    let (package, _) = package(&sandbox, "closures", CLOSURES);
    package.profiled("run", &["--quiet", "--no-report"], &sandbox).ok();
    let ways = branches(&sandbox.raw_profiles("raw")[0]);
    assert_eq!(ways, ["BRDA:2,0,0,10", "BRDA:2,0,1,0", "BRDA:2,1,0,0", "BRDA:2,1,1,10"]);
}

const TURNED_ROUND: &str = "\
#include <cstdio>
template <typename T> __attribute__((noinline)) int differ(T a, T b) {
  if (a != b) {
    std::puts(\"differ\");
    return 1;
  }
  return 0;
}
static inline int checked(int n) {
  if (n > 90)
    std::puts(\"large\");
  return n;
}
static inline bool ends_in_ones(int n) {
  return (n & 7) == 7;
}
static inline void tell(int n) {
  if (ends_in_ones(n))
    std::puts(\"ones\");
}
__attribute__((noinline)) int first(int n) { tell(n); return checked(n) + 1; }
__attribute__((noinline)) int second(int n) { tell(n); return checked(n) * 3; }
int main() {
  int sum = 0;
  for (int i = 0; i < 10; i++)
    sum += differ(i, i) + differ(i * 0.5, i * 0.5) + first(i) + second(i + 85);
  return sum == 0;
}
";

/// LLVM exchanges the ways of `a != b` for integers, and not for floating-point numbers; inlined copies are copies, too.
#[test]
fn branches_of_copies_are_summed_by_where_they_lead() {
    let sandbox = Sandbox::new("turned");
    let (source, binary, raw) = (sandbox.write("a.cpp", TURNED_ROUND), sandbox.join("turned"), sandbox.join("turned.bbraw"));
    Run::new(tool("bbprof-c++")).args(["-O2", "-g"]).arg(&source).arg("-o").arg(&binary).ok();
    Run::new(&binary).env("BBPROF_OUT", &raw).ok();
    let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(&raw).ok().text();
    let ways = |line: &str| {
        let mut ways: Vec<&str> = trace.lines().filter_map(|record| record.strip_prefix("BRDA:")?.strip_prefix(line)).collect();
        ways.sort_unstable_by_key(|way| way.rsplit(',').next().map(str::len));
        ways
    };
    let counts = |line: &str| ways(line).iter().map(|way| way.rsplit(',').next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(counts("3,"), ["0", "20"], "{trace}");
    assert_eq!(counts("10,"), ["4", "16"], "{trace}");
    assert_eq!(counts("15,"), ["2", "18"], "{trace}");
    let shown = Run::new(tool("bbprof")).arg("annotate").arg(&raw).arg("a.cpp").ok().text();
    let of_line =
        |line: &str| shown.split_once(line).unwrap().1.lines().skip(1).take_while(|line| line.contains("branch: ")).count();
    assert_eq!((of_line("if (a != b) {"), of_line("if (n > 90)")), (1, 1), "{shown}");
}

const TESTED: &str = "\
//! A comment.

#[test]
fn tested() { //= first
    assert!(std::hint::black_box(2) > 1); //= body
} //= last

fn main() {}
";

/// What rustc makes to run tests is at no line of theirs.
#[test]
fn tests_count_once() {
    let sandbox = Sandbox::new("tested");
    let (package, source) = package(&sandbox, "tested", TESTED);
    for options in [&["--quiet", "--no-report"][..], &["--quiet", "--no-report", "--release"]] {
        package.profiled("test", options, &sandbox).ok();
        let raw = &sandbox.raw_profiles("raw")[0];
        let lines = named_lines(raw, &source, TESTED);
        // Optimised, nothing may be left of the last line.
        assert_eq!(["first", "body"].map(|name| lines[name]), [1, 1], "{options:?}");
        assert!(lines.get("last").is_none_or(|count| *count == 1), "{lines:?}");
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(raw).ok().text();
        assert!(!trace.contains("\nDA:1,") && !trace.contains("closure"), "{trace}");
        std::fs::remove_file(raw).unwrap();
    }
}

const SPLIT: &str = "\
static int a[2000];
__attribute__((weak)) int get(int i) { return a[i & 1023]++ * 7 >> 3; }
__attribute__((weak)) void set(int i, int v) { a[i & 1023] += v; }
static void put2(int i, int j) {
  set(i, 1);
  set(j, 2);
}
static int split(int lo, int up) { //= split
  int i = lo, j = up - 1;
  for (;;) {
    while (get(++i) & 1)
      ;
    while (get(--j) & 2)
      ;
    if (j < i) {
      put2(up - 1, i);
      return i;
    }
    put2(i, j);
  }
}
__attribute__((noinline)) void sort(int lo, int up) {
  while (lo < up) {
    int m = get(lo);
    put2(m, up - 1);
    int p = split(lo, up); //= call
    lo = p + 1;
  }
}
int main(void) {
  for (int i = 0; i < 100; i++)
    sort(i, 900);
}
";

/// Code that the compiler merged, of which no line is known, does not leave the function that is inlined around it.
#[test]
fn inlined_loops_with_merged_code() {
    let sandbox = Sandbox::new("split");
    let calls = |level| lines(&sandbox, "bbprof-cc", "split.c", SPLIT, &[level, "-g"]);
    let expected = calls("-O0")["call"];
    assert!(expected > 100);
    for level in ["-O1", "-O2"] {
        assert_eq!(calls(level)["split"], expected, "{level}");
    }
}

const DECIDED: &str = "\
#include <stdio.h>
__attribute__((noinline)) static int load(int n) { static volatile int seen; seen += n; return n % 7 == 0; }
__attribute__((noinline)) static void note(int n) { static volatile int noted; noted += n; }
__attribute__((noinline)) static int step(int *p, int n) {
  int rc;
  if (n & 1) {
    note(n);
    rc = 0;
  } else {
    rc = load(n);
  }
  if (rc) //= known for half
    return 1;
  *p += n; //= behind
  return 0;
}
__attribute__((noinline)) static void make(int *p) { *(volatile int *)p = 2; }
static inline int isList(const int *p) { return *p == 2; } //= callee
__attribute__((noinline)) static int find(int *p, int n) {
  if (*p == 0)
    make(p);
  if (isList(p)) //= inlined
    note(n);
  return n > 3 //= choice
    ? load(n)
    : load(n + 1);
}
int main(void) {
  int sum = 0;
  for (int i = 0; i < 100; i++) {
    int value = i;
    sum += step(&value, i);
    value = i % 4;
    sum += find(&value, i);
  }
  printf(\"%d\\n\", sum);
}
";

/// A line that decides is executed on ways, too, on which the optimiser knows what it
/// decides, and where all that it asks was inlined.
#[test]
fn decisions_that_are_known_before() {
    let sandbox = Sandbox::new("decided");
    for level in ["-O0", "-O1", "-O2", "-Os"] {
        let lines = lines(&sandbox, "bbprof-cc", "decided.c", DECIDED, &[level, "-g"]);
        let counts = ["known for half", "behind", "callee", "inlined", "choice"].map(|name| lines[name]);
        assert_eq!(counts, [100, 92, 100, 100, 100], "{level}");
    }
}

const LIVES: &str = "\
#include <stdio.h>
__attribute__((noinline)) static void fill(int *place, int n) { *(volatile int *)place = n; }
__attribute__((noinline)) static int find(int n) {
  for (int i = 0; i < n; i++) {
    int value;
    fill(&value, i);
    if (value == 1)
      continue; //= leaves
    if (value == 3)
      return value; //= found
    fill(&value, i); //= goes on
  } //= end
  return -1;
}
__attribute__((noinline)) static int first(int n) {
  if (n > 0) {
    int value;
    fill(&value, n);
    if (value > 0)
      return value;
    n = value; //= never
  } //= end of the arm
  return n;
}
int main(void) {
  int sum = 0;
  for (int i = 10; i < 20; i++)
    sum += find(i) + first(i);
  printf(\"%d\\n\", sum);
}
";

/// Control that leaves a block in its middle does not come to its end, though variables of the block end their lives there.
#[test]
fn ends_of_blocks_that_were_left_before() {
    let sandbox = Sandbox::new("lives");
    for level in ["-O0", "-O1", "-O2", "-Os"] {
        let lines = lines(&sandbox, "bbprof-cc", "lives.c", LIVES, &[level, "-g"]);
        let count = |name: &str| lines.get(name).copied();
        assert_eq!((count("goes on"), count("never").unwrap_or(0)), (Some(20), 0), "{level}");
        assert!(count("end").is_none_or(|count| count == 20), "{level}: {lines:?}");
        assert_eq!(count("end of the arm").unwrap_or(0), 0, "{level}");
    }
}
