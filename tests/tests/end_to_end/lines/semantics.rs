//! What `docs/LINES.md` says of lines, on code that was inlined, unrolled, vectorised, instantiated and written by macros.

use bbprof_tests::{Run, Sandbox, gcov_lines, lines, named_lines, package, profile_of, tool};
use serde_json::Value;

const INLINED: &str = "\
#include <stdio.h>
static volatile int sink;
#define TWICE(x) do { sink += (x); sink -= (x) / 2; } while (0)
__attribute__((always_inline)) static inline void inlined(int x) { //= inlined
  sink += x; //= its body
}
__attribute__((noinline)) static void twice(int x) {
  inlined(x); //= first call
  inlined(x + 1); //= second call
  TWICE(x); //= macro
}
int main(void) {
  for (int i = 0; i < 10; i++)
    twice(i);
  inlined(3); //= third call
  return 0;
}
";

#[test]
fn inlined_copies_are_summed_and_macros_count_where_they_are_used() {
    let sandbox = Sandbox::new("lines");
    for level in ["-O1", "-O2", "-O3"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", INLINED, &[level, "-g", "-fno-unroll-loops"]);
        assert_eq!((lines["inlined"], lines["its body"]), (21, 21), "{level}");
        assert_eq!((lines["first call"], lines["second call"], lines["third call"], lines["macro"]), (10, 10, 1, 10), "{level}");
    }
}

/// A function and its inlined copies, of which the function's own code never runs.
const COPIES: &str = "\
static volatile int sink;
static int scaled(int x) {
  return x * 3 + 1;
}
int even(int x) {
  if (x & 1)
    return scaled(x);
  sink++;
  return x;
}
int main(void) {
  for (int i = 0; i < 10; i++)
    sink += even(i + sink % 1);
  return 0;
}
";

#[test]
fn annotated_functions_have_the_sum_over_their_copies() {
    let sandbox = Sandbox::new("copies");
    let source = sandbox.write("a.c", COPIES);
    let (binary, raw) = (sandbox.join("program"), sandbox.join("run.bbraw"));
    let options = ["-O1", "-g", "-fno-unroll-loops", "-fno-vectorize"];
    Run::new(tool("bbprof-cc")).args(options).arg(&source).arg("-o").arg(&binary).ok();
    Run::new(&binary).env("BBPROF_OUT", &raw).ok();
    let annotate = |what: &str| Run::new(tool("bbprof")).arg("annotate").arg(&raw).arg(what).ok().text();
    let function = annotate("even");
    let (head, lines) = function.split_once("a.c:5\n").unwrap();
    assert!(head.contains("entered 0 times, 0 instructions; inlined copies were executed 10 times"), "{head}");
    let of_file = annotate("a.c");
    for line in lines.lines().filter(|line| !line.contains('*')) {
        assert!(of_file.contains(line), "{line:?} is not in:\n{of_file}");
    }
    for line in ["5  int even", "6    if (x & 1)", "branch: 50.0 % / 50.0 %"] {
        assert!(lines.contains(line), "{line:?} is not in:\n{lines}");
    }
    assert!(!lines.contains("main") && lines.contains("   10 "), "{lines}");
    assert!(annotate("main").contains("entered 1 time,") && !annotate("main").contains("inlined copies were"));
}

#[test]
fn shares_of_a_switch_are_never_cut() {
    let sandbox = Sandbox::new("switch");
    let cases: String = (0..12).map(|way| format!("  case {way}: sink ^= {}; break;\n", way * 37)).collect();
    let text = format!(
        "static volatile int sink;\nstatic void choose(int a) {{\n  switch (a) {{\n{cases}  }}\n}}\n\
         int main(void) {{\n  for (int i = 0; i < 1000; i++)\n    choose(i % 5 ? 7 : 12);\n  return 0;\n}}\n"
    );
    let source = sandbox.write("a.c", text);
    let (binary, raw) = (sandbox.join("program"), sandbox.join("run.bbraw"));
    Run::new(tool("bbprof-cc")).args(["-O0", "-g"]).arg(&source).arg("-o").arg(&binary).ok();
    Run::new(&binary).env("BBPROF_OUT", &raw).ok();
    for width in ["30", "62", "80", "200"] {
        let shown = Run::new(tool("bbprof")).args(["annotate", "--width", width]).arg(&raw).arg("choose").ok().text();
        let (_, behind) = shown.split_once("branch: ").unwrap();
        let ways: Vec<&str> = behind.lines().take_while(|line| !line.contains("case")).flat_map(|line| line.split('/')).collect();
        let ways: Vec<&str> = ways.into_iter().map(str::trim).filter(|way| !way.is_empty()).collect();
        let expected: Vec<&str> = (0..13)
            .map(|way| {
                if way == 0 {
                    "20.0 %"
                } else if way == 8 {
                    "80.0 %"
                } else {
                    "0.0 %"
                }
            })
            .collect();
        assert_eq!(ways, expected, "{shown}");
        let limit: usize = width.parse::<usize>().unwrap().max(40);
        assert!(shown.lines().filter(|line| line.contains('%')).all(|line| line.len() <= limit), "{shown}");
    }
}

const TEMPLATE: &str = "\
static volatile int sink;
template <typename T> __attribute__((noinline)) void add(T x) {
  sink = sink + (int)x; //= body
}
int main() {
  for (int i = 0; i < 5; i++)
    add(i);
  for (int i = 0; i < 7; i++)
    add((double)i);
}
";

#[test]
fn instantiations_are_summed() {
    let sandbox = Sandbox::new("template");
    for level in ["-O0", "-O2"] {
        assert_eq!(lines(&sandbox, "bbprof-c++", "a.cpp", TEMPLATE, &[level, "-g"])["body"], 12, "{level}");
    }
    let ledger = Run::new(tool("bbprof")).args(["report", "--copies=add"]).arg(sandbox.join("run.bbraw")).ok().text();
    assert!(ledger.contains("\n2 copies, 12 executions, "), "{ledger}");
}

const CONSTRUCTORS: &str = "\
#include <string>
#include <vector>
struct Members {
  int a = 1;
  std::vector<int> b{a, 2}; //= member
  std::string c = \"three\";
  Members() {} //= on one line
  explicit Members(int n) //= on several
      : a(n), c(std::to_string(n)) {
    b.push_back(n); //= body
  }
  Members(int n, int m) { for (int i = n; i < m; i++) b.push_back(i); } //= with a loop
  std::string d{\"four\"};
};
int main() {
  size_t sum = 0;
  for (int i = 0; i < 10; i++)
    sum += Members().b.size() + Members(i).b.size() + Members(i).b.size() + Members(0, 5).b.size();
  return sum == 0;
}
";

/// Control comes back to a constructor's first line from those at which the class initialises its members: that is no other visit.
#[test]
fn constructors_count_their_entries() {
    let sandbox = Sandbox::new("constructors");
    // The test of a loop stands behind its body from -O1 on.
    for (level, turns) in [("-O0", 5), ("-O1", 4)] {
        let lines = lines(&sandbox, "bbprof-c++", "a.cpp", CONSTRUCTORS, &[level, "-g", "-fno-inline"]);
        assert_eq!((lines["on one line"], lines["on several"], lines["body"], lines["member"]), (10, 20, 20, 40), "{level}");
        assert_eq!(lines["with a loop"], 10 * (1 + turns), "{level}");
    }
}

const LOOP: &str = "\
int a[1003], b[1003];
__attribute__((noinline)) void add(int n) {
  for (int i = 0; i < n; i++)
    a[i] += b[i]; //= body
}
int main() {
  add(1003);
  return a[0];
}
";

/// The line counts turns of the loop that was generated; the factor in the discriminators gives the source's turns back.
#[test]
fn vectorised_turns_and_their_factor() {
    let sandbox = Sandbox::new("vector");
    assert_eq!(lines(&sandbox, "bbprof-cc", "a.c", LOOP, &["-O0", "-g"])["body"], 1003);
    let turns = lines(&sandbox, "bbprof-cc", "a.c", LOOP, &["-O3", "-g", "-fdebug-info-for-profiling"])["body"];
    assert!(turns < 300, "1003 turns would be those of a loop that is not vectorised: {turns}");
    let profile = Run::new(tool("bbprof")).args(["export", "afdo=-"]).arg(sandbox.join("run.bbraw")).ok().text();
    let body = profile.split("add:").nth(1).unwrap().lines().find_map(|line| line.trim_start().strip_prefix("2: ")).unwrap();
    let count: u64 = body.split(' ').next().unwrap().parse().unwrap();
    // The vector loop does not do the last few elements.
    assert!((960..=1003).contains(&count), "{profile}");
}

const CHOICES: &str = "\
#include <stdio.h>
static volatile int sink;
__attribute__((noinline)) static long letters(const unsigned char *z) {
  const unsigned char *z0;
  if (z == 0)
    return 0;
  z0 = z; //= only a phi
  while (1) {
    if (z[0] == 0)
      break;
    if (z[0] < 128) {
      z++; //= step
    } else {
      while ((z[0] & 0xc0) == 0x80) {
        z++;
        z0++;
      }
    }
    sink++; //= loop
  }
  return z - z0;
}
__attribute__((noinline)) static int chosen(int n, int factor) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    int x = sink & i; //= chosen
    if (x > 3)
      x = n; //= select
    total += x * (factor / 7); //= hoisted
  }
  return total;
}
int main(void) {
  long all = 0;
  for (int i = 0; i < 10; i++)
    all += letters((const unsigned char *)\"one two three four\");
  printf(\"%ld\\n\", all + chosen(50, (int)all));
  return 0;
}
";

/// Optimised code visits no line more often than the source does, where nothing was duplicated: what it chooses between (phis and
/// selects) stands for assignments, and is not at their lines. The oracle is gcc's gcov at -O0.
#[test]
fn choices_visit_no_line() {
    let sandbox = Sandbox::new("choices");
    let folder = sandbox.join("gcov");
    std::fs::create_dir_all(&folder).unwrap();
    let source = sandbox.write("a.c", CHOICES);
    Run::new("gcc").args(["-O0", "--coverage", "-o", "program"]).arg(&source).in_folder(&folder).ok();
    Run::new(folder.join("program")).in_folder(&folder).ok();
    let by_gcov = gcov_lines(&Run::new("gcov").args(["-t", "program-a.gcda"]).in_folder(&folder).ok().text());
    let named = (1_u32..).zip(CHOICES.lines()).filter_map(|(number, line)| Some((line.split_once("//= ")?.1.to_owned(), number)));
    let number: std::collections::BTreeMap<String, u32> = named.collect();
    for level in ["-O1", "-O2", "-O3"] {
        let options = [level, "-g", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize"];
        let lines = lines(&sandbox, "bbprof-cc", "a.c", CHOICES, &options);
        for (name, count) in &lines {
            assert!(*count <= by_gcov[&number[name]], "{level}, {name}: {count}, gcov has {}", by_gcov[&number[name]]);
        }
        assert_eq!((lines.get("only a phi"), lines.get("select")), (None, None), "{level}: no code of their own");
        let exact = ["step", "loop", "chosen"].map(|name| (name, lines[name]));
        assert_eq!(exact, exact.map(|(name, _)| (name, by_gcov[&number[name]])), "{level}");
    }
}

/// Instructions without a line are in a bucket of their own, and nothing is lost: lines and bucket make the total.
#[test]
fn what_has_no_line_is_not_hidden() {
    let sandbox = Sandbox::new("noline");
    assert!(lines(&sandbox, "bbprof-cc", "a.c", LOOP, &["-O2", "-g"])["body"] > 0);
    let json = Run::new(tool("bbprof")).args(["export", "json=-"]).arg(sandbox.join("run.bbraw")).ok().text();
    let totals = &serde_json::from_str::<Value>(&json).unwrap()["totals"];
    let without = totals["instructions"].as_u64().unwrap() - totals["instructions_with_line"].as_u64().unwrap();
    assert!(without > 0, "{totals}");
    let report = Run::new(tool("bbprof")).args(["report", "--top", "1000"]).arg(sandbox.join("run.bbraw")).ok().text();
    let (_, lines) = report.split_once("\nHottest lines by instructions\n").unwrap();
    let number = |line: &str| line.split_whitespace().next().unwrap().replace(',', "").parse::<u64>().unwrap();
    let bucket = lines.lines().find(|line| line.ends_with("(no source line)")).map(number);
    assert_eq!(bucket, Some(without), "{report}");
    assert_eq!(lines.lines().skip(1).map(number).sum::<u64>(), totals["instructions"].as_u64().unwrap(), "{report}");
}

const ONE_LINERS: &str = "\
static volatile int step;
static int sq(int x) { return x * x; } //= whole
static double sq(double x) { return x * x; } //= other
namespace a { struct S { int get(int i) { return i + 1; } }; } //= member
int main() { //= main
  int sum = 0;
  for (int i = 0; i < 10; i++) {
    step = sq(step + i);
    sum += (int)sq(0.5 * step);
  }
  a::S s;
  for (int i = 0; i < 7; i++)
    step = s.get(step);
  return sum + step == 0;
}
";

/// C++ with its code on a function's first line, also where debug information has no linker symbols:
/// lines count once, and inlined functions have their names.
#[test]
fn functions_on_one_line() {
    let sandbox = Sandbox::new("one-liners");
    for options in
        [&["-O0"][..], &["-O0", "-g"], &["-O0", "-gline-tables-only"], &["-O1"], &["-O1", "-g"], &["-O1", "-gline-tables-only"]]
    {
        let lines = lines(&sandbox, "bbprof-c++", "one.cpp", ONE_LINERS, options);
        assert_eq!(["whole", "other", "member", "main"].map(|name| lines[name]), [10, 10, 7, 1], "{options:?}");
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(sandbox.join("run.bbraw")).ok().text();
        let mut names: Vec<&str> = trace.lines().filter_map(|line| line.strip_prefix("FN:")?.split(',').nth(1)).collect();
        names.sort_unstable();
        assert_eq!(names, ["_ZL2sqd", "_ZL2sqi", "_ZN1a1S3getEi", "main"], "{options:?}");
    }
}

const OVERLOADS: &str = "\
#include <string>
#include <utility>
static int f(int x) { return x; } static int f(double) { return 2; } //= overloads
struct Token { std::string text; };
template <typename T> static T twice(T x) { return x + x; }
int main(int count, char **) {
  int sum = 0;
  Token one{\"text\"};
  for (int i = 0; i < 10; i++) {
    sum += f(i) + twice(i) + (int)twice(0.5 * i);
    Token copy(one);
    sum += copy.text.size();
  }
  if (count > 3)
    sum += f(1.5) + Token(std::move(one)).text.size();
  return sum == 0;
}
";

/// Overloads on one line, and what a class has by itself, are functions of their own; instantiations are one.
#[test]
fn overloads_on_one_line() {
    let sandbox = Sandbox::new("overloads");
    assert_eq!(lines(&sandbox, "bbprof-c++", "overloads.cpp", OVERLOADS, &["-O0", "-g"])["overloads"], 10);
    let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(sandbox.join("run.bbraw")).ok().text();
    let counts = |name: &str| -> Vec<&str> {
        trace
            .lines()
            .filter_map(|line| line.strip_prefix("FNDA:")?.split_once(','))
            .filter(|(_, found)| found.contains(name))
            .map(|(count, _)| count)
            .collect()
    };
    assert_eq!([counts("_ZL1fi"), counts("_ZL1fd")], [["10"], ["0"]], "{trace}");
    assert_eq!([counts("TokenC2ERKS_"), counts("TokenC2EOS_"), counts("twice")], [["10"], ["0"], ["20"]], "{trace}");
    let report = Run::new(tool("bbprof")).args(["report", "--top", "1000"]).arg(sandbox.join("run.bbraw")).ok().text();
    assert!(report.contains(" f(int)  overloads.cpp:3\n") && report.contains("(2 copies)"), "{report}");
}

const TIGHT: &str = "\
static volatile int sink;
static inline int mix(int x) { //= inlined
  return x * 3 + sink; //= its body
}
static inline void turn(int turns) { //= with a loop
  for (int i = 0; i < turns; i++)
    sink = i; //= its turns
}
int main(void) {
  for (int i = 0; i < 12345; i++)
    sink = mix(i); //= in a loop
  turn(777); //= once
  return 0;
}
";

/// A loop of one block around an inlined function is one call a turn; a loop inside of it is one call.
#[test]
fn inlined_functions_in_loops_of_one_block() {
    let sandbox = Sandbox::new("tight");
    for level in ["-O1", "-O2"] {
        let lines = lines(&sandbox, "bbprof-cc", "tight.c", TIGHT, &[level, "-g", "-fno-unroll-loops", "-fno-vectorize"]);
        assert_eq!((lines["inlined"], lines["its body"], lines["in a loop"]), (12345, 12345, 12345), "{level}");
        assert_eq!((lines["with a loop"], lines["its turns"], lines["once"]), (1, 777, 1), "{level}");
    }
}

const UNWINDS: &str = "\
use std::hint::black_box;

#[inline(never)]
fn unwinds(x: u64) -> usize { //= unwinds
    let text = vec![x; 3];
    assert!(x < 7); //= assertion
    text.len()
}

fn sum<const N: usize>(numbers: [u64; N]) -> u64 { //= sum
    numbers.iter().sum()
}

fn main() {
    std::panic::set_hook(Box::new(|_| ()));
    let mut total = 0;
    for x in 0..black_box(10) {
        total += std::panic::catch_unwind(|| unwinds(x)).unwrap_or(0);
        total += sum([x; 3]) as usize; //= filled
        let pair = (x, [x; 4]); //= filled once
        total += pair.1.len();
        let texts = [
            String::from(\"a\"), //= within
            String::from(\"b\"),
        ]; //= end
        total += texts.len();
    }
    black_box(total);
}
";

/// What rustc makes without a line, the loop that fills an array, does not leave the line; what goes
/// on with a panic, at a function's first line, is no entry.
#[test]
fn unwinding_and_filled_arrays_of_rust() {
    let sandbox = Sandbox::new("unwinds");
    let (package, source) = package(&sandbox, "unwinds", UNWINDS);
    for (more, lines_of_code) in [(&[][..], true), (&["--release"], false)] {
        let raw = &profile_of(&package, &sandbox, more);
        let lines = named_lines(raw, &source, UNWINDS);
        assert_eq!((lines["unwinds"], lines["sum"]), (10, 10), "{more:?}");
        let trace = |more: &[&str]| Run::new(tool("bbprof")).args(["export", "lcov=-"]).args(more).arg(raw).ok();
        let (own, all) = (trace(&[]), trace(&["--toolchain-sources"]));
        assert!(!own.text().contains("/library/core/") && own.stderr.contains("sources of Rust's own libraries"), "{}", own.stderr);
        assert!(all.text().contains("/library/core/") && all.stderr.is_empty(), "{}", all.stderr);
        if lines_of_code {
            assert_eq!((lines["assertion"], lines["filled"], lines["filled once"], lines["within"]), (10, 10, 10, 10));
            assert!(!lines.contains_key("end"), "only a panic would drop values there");
        }
    }
}

const THUNKS: &str = "\
#include <cstdarg>
struct A { virtual ~A() {} int a = 1; };
struct B { virtual ~B() {} virtual int next() { return 0; } virtual int sum(int n, ...) { return n; } };
struct C : A, B {
  int c = 3;
  int next() override { //= next
    return c + 1;
  }
  int sum(int n, ...) override { //= sum
    va_list rest;
    va_start(rest, n); //= its body
    int r = va_arg(rest, int);
    va_end(rest);
    return r + c;
  }
};
static volatile int seen = 1;
__attribute__((noinline)) static int each(int (*f)(int), int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += f(i);
  return sum;
}
int main() {
  C c;
  B *b = &c;
  int (*lambda)(int) =
      [](int x) { //= lambda
        return x + seen; //= body of the lambda
      };
  int sum = each(lambda, 1000);
  for (int i = 0; i < 100; i++)
    sum += b->next() + b->sum(1, 2);
  return sum & 1;
}
";

/// A thunk adjusts `this` and calls the function: control arrives at the function's line once.
/// Of a function with any number of arguments it is a copy.
#[test]
fn thunks_and_invokers_are_no_functions_of_the_source() {
    for level in ["-O0", "-O2"] {
        let sandbox = Sandbox::new("thunks");
        let lines = lines(&sandbox, "bbprof-c++", "a.cpp", THUNKS, &[level, "-fno-unroll-loops"]);
        assert_eq!((lines["next"], lines["sum"], lines["its body"]), (100, 100, 100), "{level}");
        assert_eq!(lines["body of the lambda"], 1000, "{level}");
        // Its conversion to a pointer stands in its first line, too; optimised, that may have no code.
        assert!(lines.get("lambda").is_none_or(|count| (1000..=1002).contains(count)), "{level}: {lines:?}");
        let trace = Run::new(tool("bbprof")).args(["export", "lcov=-"]).arg(sandbox.join("run.bbraw")).ok().text();
        assert!(trace.contains(",_ZN1C4nextEv\n") && !trace.contains("_ZThn"), "{trace}");
    }
}
