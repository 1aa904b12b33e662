/* ends.cpp: ends of C++ programs: exceptions, terminate, destructors, threads; see truth.h for what it tells of itself. */
#define TRUTH_MAIN
#include "truth.h"
#include "waits.h"

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#define FUNCTIONS(X) X(branchy) X(even) X(odd) X(descend) X(guard) X(in_thread) X(last) X(terminating)
enum { FUNCTIONS(TRUTH_ID) NUM_FUNCTIONS };
static const char *const names[] = {FUNCTIONS(TRUTH_NAME)};
#define OUT_OF_LINE extern "C" __attribute__((noinline))

static volatile unsigned long sink;
static std::string how;

OUT_OF_LINE void even(unsigned i) {
  TALLY(even);
  sink = sink + i;
}
OUT_OF_LINE void odd(unsigned i) {
  TALLY(odd);
  sink = sink - i;
}
OUT_OF_LINE void branchy(unsigned i) {
  TALLY(branchy);
  if (i % 3 == 0)
    even(i);
  else
    odd(i);
}
OUT_OF_LINE void work(unsigned times) {
  for (unsigned i = 0; i < times; i++)
    branchy(i);
}
OUT_OF_LINE void guard() {
  TALLY(guard);
  work(2);
}
struct Guard {
  ~Guard() { guard(); }
};
OUT_OF_LINE void last() {
  TALLY(last);
  work(3);
}
/* A static object and a thread-local one: their destructors come after main. */
struct Last {
  ~Last() {
    if (truth_row)
      last();
    if (how == "exit_in_destructor")
      std::_Exit(6);
  }
};
static Last at_exit;
static thread_local Last at_thread_exit;

OUT_OF_LINE int descend(unsigned depth, void (*end)()) {
  TALLY(descend);
  Guard held;
  int sum = 0;
  for (unsigned i = 0; i < 10; i++) {
    branchy(i);
    if (i == 7) {
      if (depth == 0)
        end();
      else
        sum += descend(depth - 1, end);
    }
  }
  return sum;
}
static void throws() { throw std::runtime_error("deep"); }
static void throws_through_noexcept() noexcept {
  Guard held;
  throws();
}
OUT_OF_LINE void terminating() {
  TALLY(terminating);
  work(4);
  std::_Exit(5);
}
OUT_OF_LINE void in_thread(unsigned times) {
  TALLY(in_thread);
  (void)&at_thread_exit;
  work(times);
}
static void threads() {
  std::vector<std::thread> all;
  for (unsigned i = 0; i < 8; i++)
    all.emplace_back(in_thread, 1000 + i);
  for (std::thread &thread : all)
    thread.join();
}
static void caught() {
  for (unsigned i = 0; i < 20; i++) {
    try {
      descend(2, throws);
    } catch (const std::exception &) {
      branchy(i);
    }
  }
}

int main(int argc, char **argv) {
  truth_open(names, NUM_FUNCTIONS);
  how = argc > 1 ? argv[1] : "";
  work(50);
  if (how == "nothing" || how == "exit_in_destructor")
    descend(3, [] {});
  else if (how == "exit")
    descend(3, [] { std::exit(7); });
  else if (how == "quick_exit")
    descend(3, [] {
      std::at_quick_exit([] { last(); });
      std::quick_exit(8);
    });
  else if (how == "uncaught")
    descend(3, throws);
  else if (how == "noexcept")
    descend(3, throws_through_noexcept);
  else if (how == "terminate") {
    std::set_terminate(terminating);
    descend(3, throws);
  } else if (how == "thread_throws")
    std::thread([] {
      until_first_waits(getpid(), SYS_futex);
      descend(2, throws);
    }).join();
  else if (how == "caught")
    caught();
  else if (how == "threads")
    threads();
  else
    return 99;
  return 0;
}
