// __builtin_setjmp, by which Ruby jumps: no register but those of the frame survives it, nor does all that the frame
// holds. The variables that nobody looks at fill the registers.
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

static unsigned long tally_leap, tally_turn, words[16];
static void *front[5];
static int leaps, turns_left;

__attribute__((noinline)) static void leap(void) {
  tally_leap++;
  if (leaps-- > 0) {
    turns_left = 3;
    __builtin_longjmp(front, 1);
  }
}

// A loop without calls into whose middle it jumps, from where other variables have the places in the frame.
__attribute__((noinline)) static void turn(void) {
  tally_turn++;
  do {
    if (__builtin_setjmp(front))
      words[0]++;
  } while (--turns_left > 0);
  unsigned long a = words[1], b = words[2], c = words[3], d = words[4], e = words[5], f = words[6], g = words[7];
  leap();
  words[8] = a, words[9] = b, words[10] = c, words[11] = d, words[12] = e, words[13] = f, words[14] = g;
}

int main(void) {
  for (int i = 0; i < 1000; i++) {
    jumps_left = i % 4;
    attempt(i, i, i, i, i, i, i, i);
  }
  for (int i = 1; i < 16; i++)
    words[i] = (unsigned long)i << 30;
  for (int i = 0; i < 20; i++) {
    leaps = i % 3;
    turns_left = 5 + i;
    turn();
  }
  printf("%u %lu %lu\n", random_state, words[0], words[8]);
  fprintf(stderr, "tally attempt %lu\ntally odd %lu\ntally maybe_jump %lu\n", tally_attempt, tally_odd, tally_maybe_jump);
  fprintf(stderr, "tally leap %lu\ntally turn %lu\n", tally_leap, tally_turn);
  return 0;
}
