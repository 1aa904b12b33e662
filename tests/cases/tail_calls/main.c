// Mutual tail recursion a million deep: with an increment behind the call the stack would overflow.
// `walk`, `trot`, `sink` and `drain` ask for nothing: optimisers put their returns into one block, behind the calls.
//@ levels: -O1 -O2 -O3 -Os
#include <stdio.h>
#include <string.h>

static unsigned long tally_even, tally_odd, tally_chain, tally_walk, tally_trot, tally_sink, tally_drain, tally_ping, tally_pong, tally_cast, sunk;
static unsigned long tally_copy, tally_clear;
__attribute__((noinline)) int odd(unsigned n);

__attribute__((noinline)) int even(unsigned n) {
  tally_even++;
  if (n == 0)
    return 1;
  __attribute__((musttail)) return odd(n - 1);
}

__attribute__((noinline)) int odd(unsigned n) {
  tally_odd++;
  if (n == 0)
    return 0;
  __attribute__((musttail)) return even(n - 1);
}

__attribute__((noinline)) unsigned chain(unsigned n, unsigned (*next)(unsigned, void *), void *self) {
  tally_chain++;
  if (n % 1000003 == 0)
    return n;
  return ((unsigned (*)(unsigned, void *, void *))self)(n - 1, (void *)next, self);
}

int trot(unsigned n, int last);
void drain(unsigned n);
// Whether these come back is not known to the compiler.
int (*volatile trots)(unsigned n, int last) = trot;
void (*volatile drains)(unsigned n) = drain;

__attribute__((noinline)) int leaf(unsigned n) { return (int)(n * 2654435761u >> 28); }

__attribute__((noinline)) int walk(unsigned n, int last) {
  tally_walk++;
  if (n == 0)
    return last;
  switch (n % 5) {
  case 0:
    return trots(n - 1, leaf(n));
  case 1:
    return trots(n - 1, last + 1);
  case 2:
    if (last > 1000000)
      return -1;
    break;
  default:
    return trots(n - 1, last - 1);
  }
  return trots(n - 1, last ^ 1);
}

__attribute__((noinline)) int trot(unsigned n, int last) {
  tally_trot++;
  return n % 7 ? walk(n, last) : n ? walk(n - 1, last) : last;
}

__attribute__((noinline)) void sink(unsigned n) {
  tally_sink++;
  if (n % 3 == 0)
    sunk++;
  if (n > 7 && n % 2)
    drains(n - 2);
  else if (n > 7)
    drains(n - 1);
}

__attribute__((noinline)) void drain(unsigned n) {
  tally_drain++;
  if (n > 3)
    sink(n);
}

// What stands behind the call is no code: the end of a local's life, an assumption, a cast.
typedef long step(long n, long sum);
typedef void *cast_step(long n, long sum);
step ping, pong, uncast, end;
cast_step cast_end, cast;
step *volatile pings[2] = {end, ping}, *volatile pongs[2] = {end, pong}, *volatile uncasts[2] = {end, uncast};
cast_step *volatile casts[2] = {cast_end, cast};

__attribute__((noinline)) long end(long n, long sum) { return n + sum; }
__attribute__((noinline)) void *cast_end(long n, long sum) { return (void *)(n + sum); }

__attribute__((noinline)) long ping(long n, long sum) {
  int table[4];
  for (int i = 0; i < 4; i++)
    table[i] = (int)(sum >> i) + i;
  tally_ping++;
  if (n <= 0)
    return sum;
  return pongs[1](n - 1, sum + table[sum & 3]);
}

__attribute__((noinline)) long pong(long n, long sum) {
  long next = sum & 0xff;
  tally_pong++;
  if (n > 0) {
    next = (n & 3 ? pings : pongs)[1](n - 1, next + (sum >> 3));
    __builtin_assume(next != 123456789);
  }
  return next;
}

__attribute__((noinline)) void *cast(long n, long sum) {
  tally_cast++;
  return (void *)uncasts[n > 0](n - 1, sum + 1);
}

__attribute__((noinline)) long uncast(long n, long sum) { return (long)casts[n > 0](n - 1, sum ^ n); }

// Copying and clearing at the end, of which code generation makes calls of its own.
__attribute__((noinline)) void *copy(char *to, const char *from, size_t bytes) {
  tally_copy++;
  if (bytes > 40)
    bytes = 40;
  else if (bytes % 3 == 0)
    sunk++;
  return memcpy(to, from, bytes);
}

__attribute__((noinline)) void clear(char *from, size_t bytes, int also) {
  tally_clear++;
  if (also)
    memmove(from + 1, from, bytes / 2);
  else
    memset(from, 0, bytes);
}

int main(void) {
  printf("%d %d\n", even(2000000), odd(1999999));
  printf("%u\n", chain(5000, NULL, (void *)chain));
  printf("%d\n", walk(2000000, 0));
  sink(3000000);
  printf("%ld %ld\n", ping(3000000, 5), (long)casts[1](4000001, 6));
  char from[64] = "what is copied, and cleared again, in turn", to[64] = "";
  for (int i = 0; i < 60; i++) {
    copy(to, from, (size_t)i);
    clear(to + i % 20, (size_t)(i % 30), i % 7 == 0);
    from[i % 40] ^= to[i % 50] + 1;
  }
  printf("%lu %d %d\n", sunk, to[25], from[20]);
  fprintf(stderr, "tally walk %lu\ntally trot %lu\n", tally_walk, tally_trot);
  fprintf(stderr, "tally sink %lu\ntally drain %lu\n", tally_sink, tally_drain);
  fprintf(stderr, "tally ping %lu\ntally pong %lu\ntally cast %lu\n", tally_ping, tally_pong, tally_cast);
  fprintf(stderr, "tally copy %lu\ntally clear %lu\n", tally_copy, tally_clear);
  fprintf(stderr, "tally even %lu\ntally odd %lu\ntally chain %lu\n", tally_even, tally_odd, tally_chain);
  return 0;
}
