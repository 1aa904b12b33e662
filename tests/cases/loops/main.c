// Loops whose turns are known in front of them, of every make, and such as only look like them.
//@ exit: 0
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OUT_OF_LINE __attribute__((noinline))
// No unrolling, no vectors: the loop stays as it is written.
#define AS_WRITTEN _Pragma("clang loop unroll(disable) vectorize(disable)")

static unsigned long tally_up, tally_step, tally_down, tally_pointers, tally_bits, tally_triangle, tally_diamond, tally_two_ways_out,
    tally_found, tally_guarded, tally_from_switch, tally_vectors, tally_narrow, tally_watched, tally_wide, tally_empty,
    tally_inner;

OUT_OF_LINE unsigned up(const unsigned *a, int n) {
  tally_up++;
  unsigned h = 17;
  AS_WRITTEN
  for (int i = 0; i < n; i++)
    h = h * 33 + a[i];
  return h;
}
OUT_OF_LINE unsigned step(const unsigned *a, unsigned n) {
  tally_step++;
  unsigned h = 17;
  AS_WRITTEN
  for (unsigned i = 1; i < n; i += 3)
    h = h * 33 + a[i];
  return h;
}
OUT_OF_LINE unsigned down(const unsigned *a, size_t n) {
  tally_down++;
  unsigned h = 1;
  AS_WRITTEN
  while (n--)
    h = h * 31 ^ a[n];
  return h;
}
OUT_OF_LINE unsigned pointers(const unsigned *at, const unsigned *end) {
  tally_pointers++;
  unsigned h = 1;
  AS_WRITTEN
  for (; at != end; at++)
    h = (h ^ *at) * 7;
  return h;
}
OUT_OF_LINE unsigned bits(uint64_t word) {
  tally_bits++;
  unsigned count = 0;
  AS_WRITTEN
  for (; word; word &= word - 1)
    count = count * 3 + 1;
  return count;
}
OUT_OF_LINE unsigned triangle(unsigned *a, int n) {
  tally_triangle++;
  unsigned h = 0;
  AS_WRITTEN
  for (int i = 0; i < n; i++)
    AS_WRITTEN
    for (int j = i; j < n; j++)
      h = h * 5 + a[j];
  return h;
}
OUT_OF_LINE unsigned diamond(const unsigned *a, int n) {
  tally_diamond++;
  unsigned h = 0;
  AS_WRITTEN
  for (int i = 0; i < n; i++) {
    if (a[i] % 3 == 0)
      h = h * 3 + a[i];
    else if (a[i] % 5 == 0)
      h = h / 5 ^ a[i] / 3;
  }
  return h;
}
OUT_OF_LINE unsigned two_ways_out(const unsigned *a, unsigned n, unsigned most) {
  tally_two_ways_out++;
  unsigned h = 9;
  AS_WRITTEN
  for (unsigned i = 0; i < n; i++) {
    h = h * 33 + a[i];
    if (i == most)
      break;
  }
  return h;
}
// What it finds, nobody knows in front of it.
OUT_OF_LINE unsigned found(const unsigned *a, unsigned n, unsigned what) {
  tally_found++;
  AS_WRITTEN
  for (unsigned i = 0; i < n; i++)
    if (a[i] == what)
      return i;
  return n;
}
OUT_OF_LINE unsigned guarded(const unsigned *a, int n, int go) {
  tally_guarded++;
  unsigned h = 3;
  if (go && n > 2) {
    int i = 0;
    AS_WRITTEN
    do {
      h = h * 33 + a[i];
    } while (++i < n);
  }
  return h;
}
OUT_OF_LINE unsigned from_switch(const unsigned *a, unsigned n, int which) {
  tally_from_switch++;
  unsigned h = 3;
  switch (which) {
  case 0:
  case 4:
    AS_WRITTEN
    for (unsigned i = 0; i != n; i++)
      h = h * 33 + a[i];
    break;
  case 1: h = 77; break;
  case 2: return 2;
  default: h += a[0];
  }
  return h * 2;
}
// As wide as the compiler likes.
OUT_OF_LINE unsigned vectors(const unsigned *a, unsigned n) {
  tally_vectors++;
  unsigned total = 0;
  for (unsigned i = 0; i < n; i++)
    total += a[i] >> 3;
  return total;
}
OUT_OF_LINE unsigned narrow(const unsigned *a, uint8_t from) {
  tally_narrow++;
  unsigned h = 3;
  AS_WRITTEN
  for (uint8_t i = from; i != 0; i++)
    h = h * 33 + a[i];
  return h;
}
static volatile unsigned seen;
static _Atomic unsigned shared;
// Somebody may look at how far these are.
OUT_OF_LINE void watched(int n) {
  tally_watched++;
  AS_WRITTEN
  for (int i = 0; i < n; i++)
    seen = seen + 1;
  AS_WRITTEN
  for (int i = 0; i < n; i++)
    atomic_fetch_add(&shared, 1);
}
OUT_OF_LINE unsigned wide(unsigned *a, unsigned __int128 n) {
  tally_wide++;
  unsigned h = 3;
  AS_WRITTEN
  for (unsigned __int128 i = 0; i < n; i++)
    h = h * 33 + a[i];
  return h;
}
OUT_OF_LINE unsigned empty(unsigned *a, long n) {
  tally_empty++;
  unsigned h = 0;
  AS_WRITTEN
  for (long i = n; i < 0; i++)
    h = h * 33 + a[-i];
  return h;
}
// Its turns are counted in front of the inner loop, on a way from one block of the outer loop to another.
OUT_OF_LINE unsigned inner(unsigned s, unsigned h, int rows, int columns) {
  tally_inner++;
  AS_WRITTEN
  for (int j = 0; j < rows; j++) {
    if (h & 2) {
      h = h * 5 + 3;
      continue;
    }
    AS_WRITTEN
    for (int i = 0; i < columns; i++) {
      h ^= s;
      s += s;
    }
    h += 3;
  }
  return s + h;
}

int main(void) {
  enum { N = 300 };
  static unsigned a[N];
  unsigned h = 1;
  for (int i = 0; i < N; i++)
    a[i] = h = h * 1664525 + 1013904223;
  for (int n = 0; n < 40; n++) {
    h ^= up(a, n) + up(a, -n) + step(a, (unsigned)n * 7) + down(a, (size_t)n) + pointers(a + n, a + 2 * n) + bits(a[n]);
    h ^= triangle(a, n) + diamond(a, 5 * n) + two_ways_out(a, (unsigned)n, 11) + found(a, N, a[3 * n]) + guarded(a, n, n & 1);
    h ^= from_switch(a, (unsigned)n, n % 6) + vectors(a, (unsigned)n * 7) + narrow(a, (uint8_t)(256 - n)) + wide(a, (unsigned)n);
    h ^= empty(a, n) + empty(a, -n) + inner(a[n], h, n, n % 5);
    watched(n);
  }
#define SAY(name) fprintf(stderr, "tally " #name " %lu\n", tally_##name);
  SAY(up) SAY(step) SAY(down) SAY(pointers) SAY(bits) SAY(triangle) SAY(diamond) SAY(two_ways_out) SAY(found) SAY(guarded)
  SAY(from_switch) SAY(vectors) SAY(narrow) SAY(watched) SAY(wide) SAY(empty) SAY(inner)
  printf("%u %u %u\n", h, seen, shared);
  return 0;
}
