// __builtin_setjmp, by which Ruby jumps: no register but those of the frame survives it, nor does all that the frame holds. The variables that nobody
// looks at fill the registers.
#include <stdio.h>

static unsigned long tally_attempt, tally_odd, tally_maybe_jump;
static void *back[5];
static unsigned random_state = 12345;
static volatile int jumps_left;

__attribute__((noinline)) static int odd(int seen) {
  tally_odd++;
  random_state = random_state * 1103515245u + 12345u;
  return (random_state >> 18 & 0xff) + (seen & 0);
}

__attribute__((noinline)) static void maybe_jump(int odds) {
  tally_maybe_jump++;
  if (jumps_left > 0 && (odd(odds) & 3) == 0) {
    jumps_left--;
    __builtin_longjmp(back, 1);
  }
}

__attribute__((noinline)) int attempt(int p, int q, int r, int s, int t, int u, int v, int w) {
  tally_attempt++;
  __builtin_setjmp(back);
  if (odd(v) & 1)
    odd(w);
  if (odd(u) & 1) {
    maybe_jump(1);
    if (odd(w) & 1) {
      q = odd(w + 2);
      odd(p);
    }
    if (odd(p) & 1) {
      q += odd(r);
      v = odd(t + 2);
    } else {
      t = odd(r + 6);
      r += odd(u);
    }
  }
  if (__builtin_setjmp(back)) {
    if (odd(3) & 1)
      odd(9);
    if (odd(t) & 1) {
      v += odd(s);
    } else {
      for (int i = 0; i < (odd(1) & 3); i++) {
        u = odd(p + 3);
        w = odd(p + 2);
      }
      if (odd(p) & 1) {
        s += odd(t);
        p = odd(t + 3);
      } else {
        q = odd(w + 6);
        p = odd(v + 4);
        w += odd(w);
      }
    }
  }
  q += odd(u);
  s += odd(s);
  for (int i = 0; i < (odd(1) & 3); i++) {
    p += odd(v);
    for (int j = 0; j < (odd(1) & 3); j++)
      odd(q);
    for (int j = 0; j < (odd(1) & 3); j++)
      u = odd(t + 5);
  }
  if (odd(v) & 1) {
    maybe_jump(2);
    for (int i = 0; i < (odd(1) & 3); i++) {
      r += odd(u);
      w = odd(t + 4);
      v = odd(q + 1);
    }
  }
  return p + q + r + s + t + u + v + w;
}

int main(void) {
  for (int i = 0; i < 1000; i++) {
    jumps_left = i % 4;
    attempt(i, i, i, i, i, i, i, i);
  }
  printf("%u\n", random_state);
  fprintf(stderr, "tally attempt %lu\ntally odd %lu\ntally maybe_jump %lu\n", tally_attempt, tally_odd, tally_maybe_jump);
  return 0;
}
