// exit in the middle of loops, four activations deep, with destructors that run afterwards.
//@ exit: 42
#include <stdio.h>
#include <stdlib.h>

static unsigned long tally_work, tally_leave, tally_at_exit;

__attribute__((noinline)) void leave(int i) {
  tally_leave++;
  if (tally_leave == 7777 && i >= 0)
    exit(42);
}

__attribute__((noinline)) int work(int depth) {
  tally_work++;
  int sum = 0;
  for (int i = 0; i < 100; i++) {
    sum += i;
    if (depth)
      sum += work(depth - 1);
    else
      leave(sum % 97);
  }
  return sum;
}

__attribute__((noinline)) void at_exit(void) {
  tally_at_exit++;
  fprintf(stderr, "tally work %lu\ntally leave %lu\ntally at_exit %lu\n", tally_work, tally_leave, tally_at_exit);
}

int main(void) {
  atexit(at_exit);
  puts("start");
  return work(4);
}
