// Resolvers of ifuncs, and what they alone call, run before a static program has thread-local storage.
//@ options: -static
#include <stdio.h>

static unsigned long tally_add, tally_shared;

__attribute__((noinline)) static int level(int known) {
  volatile int found = known;
  if (found < 3)
    return found;
  return 3;
}

__attribute__((noinline)) static int has(int feature) { return level(2) >= feature; }

__attribute__((noinline)) static int shared(int n) {
  tally_shared++;
  return n & 7;
}

__attribute__((noinline)) static int add(int a, int b) {
  tally_add++;
  return shared(a) + shared(b);
}

__attribute__((noinline)) static int subtract(int a, int b) { return a - b; }

__attribute__((used)) static int (*resolve_add(void))(int, int) { return has(1) ? add : subtract; }
int chosen_add(int, int) __attribute__((ifunc("resolve_add")));

__attribute__((used)) static int (*resolve_subtract(void))(int, int) { return has(3) ? add : subtract; }
int chosen_subtract(int, int) __attribute__((ifunc("resolve_subtract")));

int main(void) {
  int sum = 0;
  for (int i = 0; i < 100; i++)
    sum += chosen_subtract(chosen_add(i, sum), 3);
  printf("%d\n", sum);
  fprintf(stderr, "tally add %lu\ntally shared %lu\n", tally_add, tally_shared);
  return 0;
}
