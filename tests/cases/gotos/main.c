// Irreducible loops, computed gotos whose targets are also reached directly, nested breaks, a loop without end left by exit.
//@ exit: 7
#include <stdio.h>
#include <stdlib.h>

static unsigned long tally_irreducible, tally_interpret, tally_forever;

__attribute__((noinline)) int irreducible(int n) {
  tally_irreducible++;
  int steps = 0;
  if (n & 1)
    goto middle;
top:
  steps += 2;
  if (n <= 0)
    return steps;
middle:
  steps += 1;
  n -= 3;
  if (n > 0)
    goto top;
  if (n & 2)
    goto middle;
  return -steps;
}

__attribute__((noinline)) int interpret(const char *code) {
  tally_interpret++;
  static const void *const labels[] = {&&halt, &&increment, &&decrement, &&twice, &&skip};
  int value = 0;
  if (*code == 's')
    goto skip;
  if (*code == 't')
    goto twice;
next:
  switch (*code++) {
  case '+': goto *labels[1];
  case '-': goto *labels[2];
  case 't': goto *labels[3];
  case 's': goto *labels[4];
  default: goto *labels[0];
  }
increment:
  value++;
  goto next;
decrement:
  value--;
  if (value < 0)
    goto *labels[(value & 1) + 1];
  goto next;
twice:
  value *= 2;
  if (*code == '+')
    goto *labels[(code++, 1)];
  goto next;
skip:
  if (*code)
    code++;
  goto next;
halt:
  return value;
}

__attribute__((noinline)) void forever(int n) {
  tally_forever++;
  for (;;) {
    for (int i = 0; i < n; i++) {
      if (i % 5 == 3)
        break;
      if (i * n == 30) {
        fprintf(stderr, "tally irreducible %lu\ntally interpret %lu\ntally forever %lu\n", tally_irreducible, tally_interpret, tally_forever);
        exit(7);
      }
    }
    n++;
  }
}

int main(void) {
  int sum = 0;
  for (int i = -5; i < 40; i++)
    sum += irreducible(i);
  printf("%d %d %d %d\n", sum, interpret("+++t-"), interpret("s+t+t+"), interpret("t--+"));
  fflush(stdout);
  forever(4);
}
