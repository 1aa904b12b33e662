// Loops that may count several turns at once, left in each of these turns, and by each way out. A handler comes between and
// counts in the same loops.
//@ exit: 0
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>

#define OUT_OF_LINE __attribute__((noinline))
// Also where a handler does it, in between.
#define COUNT(tally) __atomic_fetch_add(&tally, 1, __ATOMIC_RELAXED)

static unsigned long tally_length, tally_either, tally_ways, tally_returns, tally_longest, tally_lowest, tally_common, tally_steps,
    tally_nested, tally_twice, tally_doubled, tally_strides, tally_arms, tally_few, tally_falls, tally_behind, tally_after, tally_first;

OUT_OF_LINE size_t length(const unsigned char *at) {
  COUNT(tally_length);
  const unsigned char *from = at;
  while (*at > 3)
    at++;
  return (size_t)(at - from);
}
OUT_OF_LINE const unsigned char *either(const unsigned char *at, const unsigned char *end, unsigned char wanted) {
  tally_either++;
  while (at < end && *at != wanted)
    at++;
  return at;
}
// Left by a switch, to several places, and going on by two of its ways.
OUT_OF_LINE int ways(const unsigned char *at) {
  tally_ways++;
  for (;; at++)
    switch (*at) {
    case 0: return -1;
    case 1: return at[1] == 9 ? 5 : 6;
    case 2: goto second;
    case 3:
    case 4: return 3;
    case 200:
    default: break;
    }
second:
  return at[1] & 1;
}
// What it returns was made in the turn in which it is left.
OUT_OF_LINE unsigned returns(const unsigned *at, unsigned most) {
  tally_returns++;
  unsigned h = 3;
  for (;;) {
    h = h * 33 ^ *at++;
    if (h > most)
      return h;
    if ((h & 63) == 63)
      return h * 2;
  }
}
struct node {
  const struct node *next;
  unsigned value;
};
OUT_OF_LINE unsigned longest(const struct node *at) {
  tally_longest++;
  unsigned most = 0;
  for (; at; at = at->next)
    most = at->value > most ? at->value : most + 1;
  return most;
}
OUT_OF_LINE unsigned lowest(const unsigned *sorted, unsigned n, unsigned wanted) {
  tally_lowest++;
  unsigned low = 0, high = n;
  while (low < high) {
    unsigned middle = low + (high - low) / 2;
    if (sorted[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
OUT_OF_LINE unsigned common(unsigned a, unsigned b) {
  tally_common++;
  while (b != 0) {
    unsigned rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
OUT_OF_LINE unsigned steps(uint64_t n) {
  COUNT(tally_steps);
  unsigned all = 0;
  for (; n > 1; all++)
    n = n & 1 ? 3 * n + 1 : n / 2;
  return all;
}
// The inner loop is entered and left again and again.
OUT_OF_LINE unsigned nested(const unsigned char *at, const unsigned char *end) {
  COUNT(tally_nested);
  unsigned lines = 0;
  for (; at < end; at++) {
    while (at < end && *at > 100)
      at++;
    lines++;
  }
  return lines;
}
OUT_OF_LINE unsigned after(unsigned value) {
  tally_after++;
  return value / 3;
}
// One behind the other, a call between them.
OUT_OF_LINE unsigned twice(const unsigned char *at, const unsigned char *other) {
  tally_twice++;
  unsigned all = 0;
  while (*at > 3)
    all += *at++;
  all = after(all);
  while (*other > 3)
    all ^= *other++;
  return all;
}
// Two ways back to the beginning.
OUT_OF_LINE unsigned doubled(unsigned n) {
  tally_doubled++;
  unsigned all = 0;
  while (n != 1) {
    all++;
    if (n & 1) {
      n = 3 * n + 1;
      continue;
    }
    n >>= 1;
  }
  return all;
}
// Steps that are known when it runs only.
OUT_OF_LINE size_t strides(const unsigned char *a, size_t n, size_t step) {
  tally_strides++;
  size_t i = 0;
  for (; i < n && a[i] != 77; i += step)
    ;
  return i;
}
// One counter is not in each turn.
OUT_OF_LINE unsigned arms(const unsigned char *at, unsigned *out) {
  tally_arms++;
  unsigned all = 0;
  for (; *at > 3; at++) {
    if (*at & 1)
      *out++ = all;
    all += *at;
  }
  return all;
}
// At most three turns.
OUT_OF_LINE unsigned few(const unsigned char *at) {
  tally_few++;
  unsigned i = 0;
#pragma clang loop unroll(disable)
  for (; i < 3 && at[i] > 50; i++)
    ;
  return i;
}
OUT_OF_LINE float falls(float from, float by) {
  tally_falls++;
  while (from > 1)
    from *= by;
  return from;
}
static jmp_buf place;
OUT_OF_LINE void behind(unsigned value) {
  tally_behind++;
  if (value & 1)
    longjmp(place, 1);
}
OUT_OF_LINE unsigned first(const unsigned char *at) {
  tally_first++;
  volatile unsigned came = 0;
  unsigned all = 0;
  if (setjmp(place) != 0)
    came++;
  while (*at > 3)
    all += *at++;
  if (came < 2)
    behind(all | came);
  return all + came;
}

enum { N = 400 };
static unsigned char bytes[N + 1];
static unsigned words[10 * N];
static volatile sig_atomic_t alarms;
static volatile unsigned found;

static void come_between(int signal) {
  (void)signal;
  alarms++;
  found += length(bytes + alarms % 32) + steps((uint64_t)alarms) + nested(bytes, bytes + N);
}

int main(void) {
  unsigned h = 1, out[N];
  for (int i = 0; i < 10 * N; i++)
    words[i] = h = h * 1664525 + 1013904223;
  for (int i = 0; i < N; i++)
    bytes[i] = words[i] >> 24 < 6 ? 7 : (unsigned char)(words[i] >> 24);
  for (int n = 0; n < 40; n++) {
    // Ends after n turns.
    unsigned char kept = bytes[n];
    static struct node nodes[64];
    for (unsigned char end = 0; end < 4; end++) {
      bytes[n] = end;
      h += (unsigned)length(bytes) + (unsigned)ways(bytes) + twice(bytes, bytes + n / 2) + arms(bytes, out) + first(bytes);
      h ^= (unsigned)(either(bytes, bytes + 40, end) - bytes) + (unsigned)(either(bytes, bytes + n / 2, end) - bytes);
    }
    bytes[n] = kept;
    for (int i = 0; i < n; i++)
      nodes[i] = (struct node){i ? &nodes[i - 1] : NULL, words[i]};
    h ^= longest(n ? &nodes[n - 1] : NULL) + returns(words + n, ~0u >> (1 + n % 9));
    for (unsigned i = 0; i < 64; i++)
      out[i] = 10 * i;
    h += lowest(out, (unsigned)n, (unsigned)n * 7 % 400) + common((unsigned)n * 12, 7 * (unsigned)n % 90) + steps((uint64_t)n);
    h ^= nested(bytes, bytes + 5 * n) + doubled((unsigned)n + 1) + (unsigned)strides(bytes, (size_t)n * 9, (size_t)n % 4 + 1);
    h += few(bytes + n) + (unsigned)(1000 * falls((float)n * 100, 0.7f));
  }
  printf("%u\n", h);
  // What a handler counts is not lost, nor what it interrupts.
  struct sigaction action = {.sa_handler = come_between};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  while (alarms < 200)
    for (uint64_t n = 1; n < 50; n++)
      found += length(bytes) + steps(n) + nested(bytes, bytes + N);
  setitimer(ITIMER_REAL, &never, NULL);
#define SAY(name) fprintf(stderr, "tally " #name " %lu\n", tally_##name);
  SAY(length) SAY(either) SAY(ways) SAY(returns) SAY(longest) SAY(lowest) SAY(common) SAY(steps) SAY(nested) SAY(twice) SAY(doubled)
  SAY(strides) SAY(arms) SAY(few) SAY(falls) SAY(behind) SAY(after) SAY(first)
  return 0;
}
