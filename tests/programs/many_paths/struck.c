// Takes paths of which no two are alike until a signal handler ends it: most of its time
// it is where the runtime makes room for a path.
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned walk(unsigned bits) {
  unsigned sum = 1;
#define BRANCH(i)                                                                                                                  \
  if (bits >> (i) & 1)                                                                                                             \
    sum = sum * 3 + (i);                                                                                                           \
  else                                                                                                                             \
    sum ^= 0x55u << (i) % 7;
#define FOUR(i) BRANCH(i) BRANCH(i + 1) BRANCH(i + 2) BRANCH(i + 3)
  FOUR(0) FOUR(4) FOUR(8) FOUR(12) FOUR(16)
  return sum;
}

static void end(int number) {
  (void)number;
  _exit(0);
}

int main(void) {
  /* By the time that the process itself has run: on a busy machine, others may run before it comes to the loop. */
  struct itimerval soon = {{0, 0}, {0, 2000}};
  signal(SIGVTALRM, end);
  setitimer(ITIMER_VIRTUAL, &soon, NULL);
  for (unsigned bits = 0;; bits++)
    walk(bits);
}
