/* resets.c: what is counted between a reset and a dump, in the middle of loops and calls; with an argument, while a thread
 * counts. */
#include "bbprof.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int stop, runs;

__attribute__((noinline)) static int branchy(int n) {
  return n % 3 == 0 ? n / 3 : 2 * n;
}

__attribute__((noinline)) static int outer(int times) {
  int sum = 0;
  for (int i = 0; i < times; i++) {
    sum += branchy(i);
    if (i == times / 2)
      bbprof_reset();
    printf("%d ", sum & 1);
  }
  if (sum == -1)
    puts("never");
  return sum;
}

static void *counts(void *unused) {
  int sum = 0;
  while (!stop) {
    sum += branchy(sum & 7);
    runs = 1;
  }
  return sum == -1 ? unused : NULL;
}

int main(int argc, char **argv) {
  pthread_t thread;
  (void)argv;
  if (argc > 1) {
    pthread_create(&thread, NULL, counts, NULL);
    while (!runs) {
    }
  }
  for (int i = 0; i < 7; i++)
    outer(0);
  int sum = outer(20);
  int why = bbprof_dump("window.bbraw");
  bbprof_reset();
  stop = 1;
  if (argc > 1)
    pthread_join(thread, NULL);
  printf("%d\n", sum + outer(3));
  return why != 0;
}
