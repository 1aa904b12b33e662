/* runtime.c: does what its first argument says, as often as the second says: what the
 * runtime does then is all that differs between builds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Builds that are not profiled have none. */
extern int bbprof_dump(const char *path) __attribute__((weak));

#define CALLS 100000000u
#define AT_ONCE 4u

static volatile unsigned sink;

/* Twenty branches, 2^20 paths: with --bbprof-counters=paths --bbprof-path-array=1048576 it has as many counters. */
__attribute__((noinline)) static unsigned walk(unsigned bits) {
  unsigned sum = 1;
#define BRANCH(i)                                                                                                                  \
  if (bits >> (i) & 1)                                                                                                             \
    sum = sum * 3 + (i);                                                                                                           \
  else                                                                                                                             \
    sum ^= 0x55u << (i) % 7;
#define FIVE(i) BRANCH(i) BRANCH(i + 1) BRANCH(i + 2) BRANCH(i + 3) BRANCH(i + 4)
  FIVE(0) FIVE(5) FIVE(10) FIVE(15)
  return sum;
}

__attribute__((noinline)) static unsigned two_ways(unsigned i) {
  if (i % 3 == 0) {
    __asm__ volatile("" : "+r"(i));
    return i;
  }
  __asm__ volatile("" : "+r"(i));
  return i + 1;
}

static void *one_walk(void *bits) {
  sink = walk((unsigned)(size_t)bits);
  return NULL;
}

static void *many_calls(void *unused) {
  unsigned sum = 0;
  for (unsigned i = 0; i < CALLS; i++)
    sum += two_ways(i);
  sink = sum;
  return unused;
}

static void run(unsigned number, unsigned at_once, void *(*function)(void *)) {
  pthread_t threads[64];
  for (unsigned done = 0; done < number; done += at_once) {
    for (unsigned i = 0; i < at_once; i++)
      if (pthread_create(&threads[i], NULL, function, (void *)(size_t)(done + i)) != 0)
        exit(2);
    for (unsigned i = 0; i < at_once; i++)
      pthread_join(threads[i], NULL);
  }
}

int main(int argc, char **argv) {
  unsigned number = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
  if (argc != 3)
    return 2;
  sink = walk(number);
  if (strcmp(argv[1], "short-threads") == 0)
    run(number, AT_ONCE, one_walk);
  if (strcmp(argv[1], "threads") == 0)
    run(number, number, one_walk);
  if (strcmp(argv[1], "calls") == 0)
    run(number, number, many_calls);
  if (strcmp(argv[1], "dumps") == 0)
    for (unsigned i = 0; i < number; i++)
      if (bbprof_dump != NULL && bbprof_dump("dump.bbraw") != 0)
        return 3;
  return 0;
}
