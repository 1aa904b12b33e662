//! Lines of loops that the optimiser turned: their condition stands in front of them and, once more, at their end.

use bbprof_tests::{Sandbox, lines, named_lines, package, profile_of};

/// The optimiser turns such loops: a condition in front of them, and one at the end of each turn.
const TURNED: &str = "\
#include <stdio.h>
static __attribute__((noinline)) long steps(long n) {
  long number = 0;
  while (n != 1) { //= while
    n = n % 2 == 0 ? n / 2 : 3 * n + 1; //= body of while
    number++;
  }
  return number;
}
static __attribute__((noinline)) long hash(const char *text, long length) {
  long hash = 7;
  for (long i = 0; i < length; i++) //= for
    hash = hash * 31 + text[i]; //= body of for
  return hash;
}
int main(void) {
  long all = 0;
  for (long n = 1; n < 1000; n++)
    all += steps(n);
  printf(\"%ld %ld\\n\", all, hash(\"\", 0) + hash(\"text\", 4));
}
";

#[test]
fn conditions_of_loops_count_in_front_of_them_and_behind_each_turn() {
    let sandbox = Sandbox::new("turned");
    for level in ["-O0", "-O1", "-O2", "-O3"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", TURNED, &[level, "-fno-unroll-loops", "-fno-vectorize"]);
        assert_eq!((lines["while"], lines["body of while"]), (60_430, 59_431), "{level}");
        assert_eq!((lines["for"], lines["body of for"]), (6, 4), "{level}");
    }
}

/// The test in front of these loops is one that was merged with another, and is at another place: the lines of their bodies tell.
const MERGED: &str = "\
static volatile long sink;
static __attribute__((noinline)) void sort(int *numbers, int n) {
  for (int i = 0; i < n - 1; i++) {
    int best = i;
    for (int j = i + 1; j < n; j++) { //= inner
      if (numbers[j] < numbers[best]) best = j;
    }
    int least = numbers[best];
    numbers[best] = numbers[i];
    numbers[i] = least;
  }
}
static __attribute__((noinline)) void clear(int *numbers, int length) {
  int i, size = 1 << length;
  if (length == 0) sink = 1;
  for (i = 0; i < size; i++) { //= known to begin
    int *number = numbers + i;
    *number = i ^ size;
    sink = *number;
  }
}
int main(void) {
  int numbers[64];
  for (int n = 0; n < 12; n++) {
    for (int i = 0; i < n; i++) numbers[i] = i * 7 % 12;
    sort(numbers, n);
    clear(numbers, n % 5);
  }
}
";

#[test]
fn conditions_of_turned_loops_count_where_another_test_is_in_front() {
    let sandbox = Sandbox::new("merged");
    for level in ["-O0", "-O1", "-O2"] {
        let lines = lines(&sandbox, "bbprof-cc", "a.c", MERGED, &[level, "-fno-unroll-loops", "-fno-vectorize"]);
        assert_eq!((lines["inner"], lines["known to begin"]), (275, 77), "{level}");
    }
}

/// The same where the body is not one node that begins behind the condition: part of the condition stands at its beginning or in an
/// inlined function, the body is on the same line, in front of it, or parted by a second condition.
const PARTED: &str = "\
#include <map>
#include <vector>
#define CLOSED __attribute__((noinline))
static volatile long sink;
struct Position {
  int at;
  int operator*() const { return at; }
  void operator++() { ++at; }
  bool operator!=(Position other) const { //= inlined
    return at != other.at; //= its condition
  }
};
struct Range {
  int length;
  Position begin() const { return {0}; }
  Position end() const { return {length}; }
};
static CLOSED void down(int n) {
  while (n--) //= down
    sink = sink + n; //= body of down
}
static CLOSED void on_one_line(int n) {
  while (n-- > 0) { sink = sink + n; } //= on one line
}
static CLOSED void in_front(int n) {
  goto test;
again:
  sink = sink + n; //= body of goto
  n--;
test:
  if (n > 0) //= goto
    goto again;
}
static CLOSED long find(const int *numbers, int length, int number) {
  int i = 0;
  while (i < length && numbers[i] != number) //= find
    i++; //= body of find
  return i;
}
static CLOSED void range(int n) {
  for (int x : Range{n}) //= range
    sink = sink + x; //= body of range
}
static CLOSED void vector(const std::vector<int> &numbers) {
  for (int x : numbers) //= vector
    sink = sink + x; //= body of vector
}
static CLOSED void map(const std::map<int, int> &numbers) {
  for (auto [key, value] : numbers) //= map
    sink = sink + key + value; //= body of map
}
static CLOSED void once_at_least(int n) {
  do { sink = sink + n; } while (--n > 0); //= once at least
}
int main() {
  std::vector<int> numbers;
  std::map<int, int> squares;
  for (int n = 0; n < 12; n++) {
    down(n);
    on_one_line(n);
    in_front(n);
    sink = find(numbers.data(), n, n == 7 ? 3 : 99);
    range(n);
    vector(numbers);
    map(squares);
    once_at_least(n);
    numbers.push_back(n);
    squares[n] = n * n;
  }
}
";

#[test]
fn conditions_of_turned_loops_count_wherever_their_bodies_stand() {
    let sandbox = Sandbox::new("parted");
    for level in ["-O0", "-O1", "-O2"] {
        let options = [level, "-std=c++20", "-g", "-fno-unroll-loops", "-fno-vectorize"];
        let lines = lines(&sandbox, "bbprof-c++", "a.cpp", PARTED, &options);
        for name in ["down", "goto", "range", "vector", "map"] {
            assert_eq!((name, lines[name], lines[&format!("body of {name}")]), (name, 78, 66), "{level}");
        }
        assert_eq!((lines["find"], lines["body of find"]), (74, 62), "{level}");
        assert_eq!((lines["on one line"], lines["once at least"]), (78, 67), "{level}");
        assert_eq!((lines["inlined"], lines["its condition"]), (78, 78), "{level}");
    }
}

const ITERATORS: &str = "\
use std::hint::black_box;

struct Down {
    left: u32,
}

impl Iterator for Down {
    type Item = u32;
    fn next(&mut self) -> Option<u32> { //= next
        if self.left == 0 { //= its condition
            return None;
        }
        self.left -= 1; //= its turn
        Some(self.left)
    }
}

#[inline(never)]
fn range(n: u32) {
    for x in 0..n { //= range
        put(x); //= body of range
    }
}

#[inline(never)]
fn slice(numbers: &[u32]) {
    for x in numbers { //= slice
        put(*x); //= body of slice
    }
}

#[inline(never)]
fn while_let(numbers: &[u32]) {
    let mut rest = numbers.iter();
    while let Some(x) = rest.next() { //= while let
        put(*x); //= body of while let
    }
}

#[inline(never)]
fn down(left: u32) {
    for x in (Down { left }) { //= down
        put(x); //= body of down
    }
}

#[inline(never)]
fn pop(mut numbers: Vec<u32>) {
    while let Some(x) = numbers.pop() { //= pop
        put(x); //= body of pop
    }
}

#[inline(never)]
fn put(x: u32) {
    black_box(x);
}

fn main() {
    let mut numbers = Vec::new();
    for n in 0..12 {
        range(n);
        slice(&numbers);
        while_let(&numbers);
        down(n);
        pop(numbers.clone());
        numbers.push(n);
    }
}
";

#[test]
fn turned_loops_over_iterators_of_rust() {
    let sandbox = Sandbox::new("iterators");
    let (package, source) = package(&sandbox, "iterators", ITERATORS);
    for options in [&[][..], &["--release"]] {
        let lines = named_lines(&profile_of(&package, &sandbox, options), &source, ITERATORS);
        for name in ["range", "slice", "while let", "down", "pop"] {
            assert_eq!((name, lines[name], lines[&format!("body of {name}")]), (name, 78, 66), "{options:?}");
        }
        assert_eq!((lines["next"], lines["its condition"], lines["its turn"]), (78, 78, 66), "{options:?}");
    }
}
