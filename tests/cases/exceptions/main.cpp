// Exceptions through frames, several handlers, cleanups, rethrow, a throwing constructor, noexcept code between.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static unsigned long tally_risky, tally_middle, tally_outer, tally_cleanup, tally_rethrow;

struct Guard {
  int value;
  explicit Guard(int v) : value(v) {
    if (v == 13)
      throw std::runtime_error("unlucky");
  }
  __attribute__((noinline)) ~Guard() { tally_cleanup++; }
};

extern "C" __attribute__((noinline)) int risky(int n) {
  tally_risky++;
  if (n % 7 == 3)
    throw std::out_of_range("three");
  if (n % 11 == 5)
    throw n;
  return n * 2;
}

extern "C" __attribute__((noinline)) int middle(int n) {
  tally_middle++;
  Guard guard(n % 40);
  std::string text(static_cast<size_t>(n % 30), 'x');
  int sum = static_cast<int>(text.size());
  for (int i = 0; i < 3; i++)
    sum += risky(n + i);
  return sum + guard.value;
}

extern "C" __attribute__((noinline)) int rethrow(int n) {
  tally_rethrow++;
  try {
    return middle(n);
  } catch (int code) {
    if (code % 2)
      throw;
    return code;
  }
}

extern "C" __attribute__((noinline)) int outer(int n) {
  tally_outer++;
  try {
    return rethrow(n);
  } catch (const std::out_of_range &e) {
    return static_cast<int>(e.what()[0]);
  } catch (const std::exception &e) {
    return -static_cast<int>(std::string(e.what()).size());
  } catch (...) {
    return 1000;
  }
}

int main() {
  long sum = 0;
  std::vector<int> results;
  for (int i = 0; i < 500; i++)
    results.push_back(outer(i));
  for (int r : results)
    sum += r;
  std::printf("%ld\n", sum);
  std::fprintf(stderr, "tally risky %lu\ntally middle %lu\ntally outer %lu\ntally rethrow %lu\n", tally_risky, tally_middle, tally_outer, tally_rethrow);
  return 0;
}
