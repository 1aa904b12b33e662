/* What the HTML explorer has to show: a loop, a switch, several blocks on a line, inlined code, a call that does not return,
   and names that are markup and code. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) int markup(int x) __asm__("<img src=x onerror=alert(1)>");
__attribute__((noinline)) int script(int x) __asm__("</script><script>alert(2)</script>\"'`${alert(3)}&amp;");
__attribute__((noinline)) int lengthy(int x) __asm__(LENGTHY);

static inline __attribute__((always_inline)) int clamp(int x, int low, int high) {
  if (x < low)
    return low;
  return x > high ? high : x;
}

__attribute__((noinline)) int collatz(unsigned long n) {
  int steps = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  }
  return steps;
}

__attribute__((noinline)) int kinds(int x) {
  switch (x % 5) {
  case 0: return 3;
  case 1: return x > 10 && x % 3 ? 7 : 9;
  case 2: return clamp(x, 4, 40);
  default: return clamp(x, 0, 9) + 1;
  }
}

int markup(int x) { return x + 1; }
int script(int x) { return x * 2; }
int lengthy(int x) { return x - 1; }

__attribute__((noinline)) int never(int x) { return x ? 1 : 2; }

int main(int argc, char **argv) {
  int sum = argc > 5 ? never(argc) : 0;
  for (int n = 1; n <= 1000; n++)
    sum += collatz(n) + kinds(n) + markup(n) + script(n) + lengthy(n);
  printf("%d\n", sum);
  exit(0);
}
