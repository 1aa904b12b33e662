// Recursion, indirect calls, calls into libc, early returns: each function counts its own entries.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNTED(name) static unsigned long tally_##name
COUNTED(fib);
COUNTED(gcd);
COUNTED(pick);
COUNTED(less);

/* Called through a pointer, so that no optimiser turns the recursion into a loop: entries of the code are entries of the source. */
unsigned gcd(unsigned a, unsigned b);
static unsigned (*volatile gcd_again)(unsigned, unsigned) = gcd;
int fib(int n);
static int (*volatile fib_again)(int) = fib;

__attribute__((noinline)) int fib(int n) {
  tally_fib++;
  return n < 2 ? n : fib_again(n - 1) + fib_again(n - 2);
}

__attribute__((noinline)) unsigned gcd(unsigned a, unsigned b) {
  tally_gcd++;
  if (b == 0)
    return a;
  unsigned rest = a % b;
  unsigned result = gcd_again(b, rest);
  return result;
}

__attribute__((noinline)) static int less(const void *a, const void *b) {
  tally_less++;
  int x = *(const int *)a, y = *(const int *)b;
  return x < y ? -1 : x > y;
}

__attribute__((noinline)) int pick(const char *text, int which) {
  tally_pick++;
  if (!text)
    return -1;
  size_t length = strlen(text);
  if ((size_t)which >= length)
    return -2;
  for (size_t i = 0; i < length; i++)
    if (text[i] == 'x' && which-- == 0)
      return (int)i;
  return text[length - 1];
}

int main(void) {
  int numbers[200];
  for (int i = 0; i < 200; i++)
    numbers[i] = (i * 7919) % 211;
  qsort(numbers, 200, sizeof *numbers, less);
  unsigned sum = 0;
  for (unsigned i = 1; i < 60; i++)
    sum += gcd(i * 7, 72);
  printf("%d %u %d %d\n", fib(17), sum, numbers[0], numbers[199]);
  printf("%d %d %d %d\n", pick(NULL, 0), pick("abc", 9), pick("axbxcx", 2), pick("abc", 1));
  fprintf(stderr, "tally fib %lu\ntally gcd %lu\ntally less %lu\ntally pick %lu\n", tally_fib, tally_gcd, tally_less, tally_pick);
  return 0;
}
