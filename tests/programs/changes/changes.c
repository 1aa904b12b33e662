/* Two versions of one program: without and with -DCHANGED. Each function changes in one way. It counts its own calls. */
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;
static long calls_more, calls_longer, calls_host, calls_renamed;

/* Called more often in the changed version. */
NOINLINE void more(int x) {
  calls_more++;
  sink += x * 3;
}

/* Called as often, but does more. */
NOINLINE void longer(int x) {
  calls_longer++;
  sink += x;
#ifdef CHANGED
  sink ^= x >> 1;
  sink += x * 5;
#endif
}

#ifdef CHANGED
NOINLINE void fresh(int x) { sink -= x; }
#else
NOINLINE void gone(int x) { sink -= x + 1; }
#endif

/* Has code of its own, then becomes part of host. */
#ifdef CHANGED
__attribute__((always_inline)) static inline
#else
NOINLINE static
#endif
void wanders(int x) {
  for (int i = 0; i < x % 5; i++)
    sink += i;
}

NOINLINE void host(int x) {
  calls_host++;
  wanders(x);
}

/* The same code by another name. */
#ifdef CHANGED
#define renamed renamed_now
#else
#define renamed renamed_before
#endif
NOINLINE int renamed(int x) {
  calls_renamed++;
  if (x % 3 == 0)
    return sink;
  while (x > 10)
    x /= 2;
  return x % 2 ? sink + x : x;
}

int main(void) {
  for (int i = 0; i < 1000; i++) {
    more(i);
#ifdef CHANGED
    if (i % 2)
      more(i);
#endif
    longer(i);
    host(i);
    renamed(i);
    if (i % 4 == 0)
#ifdef CHANGED
      fresh(i);
#else
      gone(i);
#endif
  }
  fprintf(stderr, "tally more %ld\ntally longer %ld\ntally host %ld\n", calls_more, calls_longer, calls_host);
#ifdef CHANGED
  fprintf(stderr, "tally renamed_now %ld\n", calls_renamed);
#else
  fprintf(stderr, "tally renamed_before %ld\n", calls_renamed);
#endif
  return 0;
}
