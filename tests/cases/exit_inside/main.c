// exit in the middle of loops, four activations deep, with destructors that run
// afterwards; and within tail calls, which have no code behind them.
//@ exit: 42
#include <stdio.h>
#include <stdlib.h>

static unsigned long tally_work, tally_cut, tally_leave, tally_at_exit;

__attribute__((noinline)) long leave(long i) {
  tally_leave++;
  if (tally_leave == 7777 && i >= 0)
    exit(42);
  return i * 3;
}

__attribute__((noinline)) void fill(int *table, long i) {
  for (int j = 0; j < 4; j++)
    table[j] = (int)i + j;
}

// The end of a local's life stands behind the calls, in front of the return that they share.
__attribute__((noinline)) long shared(long i) {
  int table[4];
  fill(table, i);
  if (table[1] & 1)
    return leave(i);
  if (table[2] % 5)
    return leave(i + 1);
  return table[i & 3];
}

// A cast stands behind the call.
__attribute__((noinline)) int cut(long i) {
  tally_cut++;
  return (int)shared(i);
}

__attribute__((noinline)) int work(int depth) {
  tally_work++;
  int sum = 0;
  for (int i = 0; i < 100; i++) {
    sum += i;
    if (depth)
      sum += work(depth - 1);
    else
      sum += cut(sum % 97) & 1;
  }
  return sum;
}

__attribute__((noinline)) void at_exit(void) {
  tally_at_exit++;
  fprintf(stderr, "tally work %lu\ntally cut %lu\ntally leave %lu\ntally at_exit %lu\n", tally_work, tally_cut, tally_leave, tally_at_exit);
}

int main(void) {
  atexit(at_exit);
  puts("start");
  return work(4);
}
