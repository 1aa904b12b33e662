// Twenty branches in a row: every argument below 2^20 takes a path of its own.
#include <stdio.h>

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

int main(void) {
  unsigned sum = 0;
  for (unsigned bits = 0; bits < 1u << 20; bits++)
    sum += walk(bits);
  printf("%u\n", sum);
  return 0;
}
