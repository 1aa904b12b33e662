// Mutual tail recursion a million deep: with an increment behind the call the stack would overflow.
//@ levels: -O1 -O2 -O3 -Os
#include <stdio.h>

static unsigned long tally_even, tally_odd, tally_chain;
__attribute__((noinline)) int odd(unsigned n);

__attribute__((noinline)) int even(unsigned n) {
  tally_even++;
  if (n == 0)
    return 1;
  __attribute__((musttail)) return odd(n - 1);
}

__attribute__((noinline)) int odd(unsigned n) {
  tally_odd++;
  if (n == 0)
    return 0;
  __attribute__((musttail)) return even(n - 1);
}

__attribute__((noinline)) unsigned chain(unsigned n, unsigned (*next)(unsigned, void *), void *self) {
  tally_chain++;
  if (n % 1000003 == 0)
    return n;
  return ((unsigned (*)(unsigned, void *, void *))self)(n - 1, (void *)next, self);
}

int main(void) {
  printf("%d %d\n", even(2000000), odd(1999999));
  printf("%u\n", chain(5000, NULL, (void *)chain));
  fprintf(stderr, "tally even %lu\ntally odd %lu\ntally chain %lu\n", tally_even, tally_odd, tally_chain);
  return 0;
}
