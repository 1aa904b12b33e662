/* Lines of every shape that line counts trip over: loops, switches, macros, several statements a line, recursion, callbacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQUARE(x) ((x) * (x))
#define CLAMP(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
#define FOR_EACH(i, n) for (int i = 0; i < (n); i++)
#define SWAP(a, b)                                                                                                               \
  do {                                                                                                                           \
    int swapped = a;                                                                                                             \
    a = b;                                                                                                                       \
    b = swapped;                                                                                                                 \
  } while (0)

static int sum_of_squares(int n) {
  int sum = 0;
  FOR_EACH(i, n) sum += SQUARE(i);
  return sum;
}

static int one_line_loop(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }

static int nested(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      if ((i ^ j) & 1)
        s += j;
      else
        s -= i;
  return s;
}

static int both_on_a_line(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) s += i * j;
  while (s > 100) { s -= 7; if (s % 5 == 0) s--; }
  do s++; while (s % 16);
  return s;
}

static const char *kind(int c) {
  switch (c) {
  case '0': case '1': case '2': case '3': return "low";
  case '4':
  case '5':
    if (c == '4')
      return "four";
    /* fall through */
  case '6':
    return "middle";
  case 'a': { int x = c; x++; if (x) return "letter"; return "never"; }
  default:
    break;
  }
  return c > 'm' ? "late" : "early";
}

static unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0)
    return n + 1;
  return n == 0 ? ackermann(m - 1, 1)
                : ackermann(m - 1, /*= 19 times; gcc and clang count the call and its argument */
                            ackermann(m, n - 1));
}

static int by_size(const void *a, const void *b) {
  return *(const int *)a < *(const int *)b ? -1 : *(const int *)a > *(const int *)b;
}

static int shorts(int a, int b, int c) {
  int n = 0;
  if (a && (b || c)) n++;
  if (a ||
      b ||
      c)
    n++;
  n += a && b
           ? 10
           : 20;
  return n;
}

static int jumps(int n) {
  int i = 0, s = 0;
again:
  if (i >= n)
    goto out;
  for (;;) {
    if (++s % 3 == 0) break;
    if (s % 7 == 0) continue;
    s++;
  }
  i++;
  goto again;
out:
  return s;
}

static void sort_by_hand(int *v, int n) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && v[j - 1] > v[j]; j--)
      SWAP(v[j - 1], v[j]);
}

static int never_called(int x) {
  if (x)
    return 1;
  return 2;
}

int main(int argc, char **argv) {
  int values[64], again[64];
  unsigned random = 7;
  (void)argv;
  for (int i = 0; i < 64; i++) { random = random * 1103515245u + 12345u; again[i] = values[i] = (int)(random >> 16) % 100; }
  qsort(values, 64, sizeof values[0], by_size);
  sort_by_hand(again, 64);
  if (memcmp(values, again, sizeof values)) abort();
  printf("%d %d %d %d\n", sum_of_squares(10), one_line_loop(20), nested(13), both_on_a_line(9));
  for (const char *c = "0134567aaxbz"; *c; c++) printf("%s ", kind(*c));
  printf("\n%u %d\n", ackermann(2, 3), jumps(11));
  for (int i = 0; i < 8; i++)
    printf("%d ", shorts(i & 1, i & 2, i & 4));
  printf("%d\n", CLAMP(values[5], 10, 20) + CLAMP(values[60], 10, 20));
  return argc > 5 ? never_called(argc) : 0;
}
