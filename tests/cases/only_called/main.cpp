// Functions that only this file calls, and always by their names: recursion, jumps to each other at their ends, exceptions and
// cleanups, arguments on the stack, a caller that setjmp returns to twice, and threads.
//@ options: -pthread
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

static std::atomic<unsigned long> tally_even, tally_odd, tally_deep, tally_catching, tally_wide, tally_back, tally_root;
static thread_local std::jmp_buf returned;

struct Wide {
  long values[6];
};

static thread_local int ends;

struct Counted {
  ~Counted() { ends++; }
};

static __attribute__((noinline)) long odd(long n, long sum);

static __attribute__((noinline)) long even(long n, long sum) {
  tally_even++;
  if (n == 0)
    return sum;
  return odd(n - 1, sum + 1);
}

static __attribute__((noinline)) long odd(long n, long sum) {
  tally_odd++;
  if (n == 0)
    return -sum;
  return even(n - 1, sum * 3 % 1009);
}

static __attribute__((noinline)) int deep(int from, int bad) {
  tally_deep++;
  if (from == bad)
    throw std::runtime_error("bad");
  if (from > 20)
    return from;
  Counted counted;
  return deep(from + 1, bad) * 3 % 1009;
}

static __attribute__((noinline)) int catching(int bad) {
  tally_catching++;
  int sum = 0;
  for (int from = 0; from < 24; from++)
    try {
      sum += deep(from, bad + from % 5);
    } catch (const std::exception &) {
      sum -= deep(21, 0) + from;
    }
  return sum + ends % 101;
}

static __attribute__((noinline)) long wide(long a, long b, long c, long d, long e, long f, long g, Wide by_value) {
  tally_wide++;
  long sum = a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7;
  for (long value : by_value.values)
    sum = value & 1 ? sum + value : sum ^ value;
  return sum;
}

static __attribute__((noinline, noreturn)) void back(int times) {
  tally_back++;
  std::longjmp(returned, times + 1);
}

static __attribute__((noinline)) long root(int seed) {
  tally_root++;
  volatile long sum = even(seed % 40, seed);
  int times = setjmp(returned);
  sum = sum + catching(seed % 30);
  if (times < 3)
    back(times);
  return sum + wide(1, 2, 3, 4, 5, 6, seed, Wide{{seed, 2, 3, 4, 5, sum & 7}});
}

int main() {
  std::vector<std::thread> threads;
  std::vector<long> sums(6);
  for (int at = 0; at < 6; at++)
    threads.emplace_back([&sums, at] {
      for (int seed = 0; seed < 60; seed++)
        sums[at] += root(seed + at);
    });
  for (std::thread &thread : threads)
    thread.join();
  long all = root(7);
  for (long sum : sums)
    all = all * 31 + sum;
  std::printf("%ld\n", all);
  auto tell = [](const char *name, unsigned long count) { std::fprintf(stderr, "tally %s %lu\n", name, count); };
  tell("_ZL4evenll", tally_even);
  tell("_ZL3oddll", tally_odd);
  tell("_ZL4deepii", tally_deep);
  tell("_ZL8catchingi", tally_catching);
  tell("_ZL4widelllllll4Wide", tally_wide);
  tell("_ZL4backi", tally_back);
  tell("_ZL4rooti", tally_root);
  return 0;
}
