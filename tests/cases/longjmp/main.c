// setjmp returns twice, longjmp throws activations away, through functions that know nothing of it.
#include <setjmp.h>
#include <stdio.h>

static unsigned long tally_deep, tally_attempt, tally_pass;
static jmp_buf back;
__attribute__((noinline)) int deep(int n);
/* Called through a pointer, so that no optimiser turns the recursion into a loop: entries of the code are entries of the source. */
static int (*volatile again)(int) = deep;

__attribute__((noinline)) int deep(int n) {
  tally_deep++;
  if (n == 0)
    longjmp(back, 1);
  int below = again(n - 1);
  return below + n;
}

__attribute__((noinline)) int pass(int (*f)(int), int n) {
  tally_pass++;
  int result = f(n);
  if (result > 100)
    return 100;
  return result;
}

__attribute__((noinline)) int attempt(int n) {
  tally_attempt++;
  volatile int tries = 0;
  int code = setjmp(back);
  if (code == 0)
    return pass(deep, n);
  tries++;
  if (tries < 3)
    return pass(deep, n + tries);
  return tries * 10 + code;
}

int main(void) {
  int sum = 0;
  for (int i = 0; i < 50; i++)
    sum += attempt(i);
  printf("%d\n", sum);
  fprintf(stderr, "tally deep %lu\ntally attempt %lu\ntally pass %lu\n", tally_deep, tally_attempt, tally_pass);
  return 0;
}
