/* forks.c: a timer's handler forks, wherever that strikes; the child returns from the handler, goes on with what was
 * interrupted, and ends. See truth.h for what all of them tell. */
#define TRUTH_MAIN
#include "../fates/truth.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#define CHILDREN 40
#define FUNCTIONS(X) X(step) X(strike)
enum { FUNCTIONS(TRUTH_ID) NUM_FUNCTIONS };
static const char *const names[] = {FUNCTIONS(TRUTH_NAME)};

/* In private memory until the end: what the child was about to add when it was interrupted is its own. */
static uint64_t entered[NUM_FUNCTIONS];
#define ENTER(name) __atomic_fetch_add(&entered[id_##name], 1, __ATOMIC_RELAXED)
__attribute__((noinline)) static void tell(void) {
  for (unsigned i = 0; i < NUM_FUNCTIONS; i++)
    truth_row->counts[i] = entered[i];
}

static volatile unsigned long sink;
static volatile int children, is_child;

/* 64 paths. */
__attribute__((noinline)) static void step(unsigned way) {
  ENTER(step);
  unsigned long sum = 0;
  if (way & 1)
    sum += 3;
  else
    sum ^= 5;
  if (way & 2)
    sum += sink;
  else
    sum ^= 9;
  if (way & 4)
    sum *= 7;
  else
    sum ^= 11;
  if (way & 8)
    sum += 13;
  else
    sum ^= sink;
  if (way & 16)
    sum -= 15;
  else
    sum ^= 17;
  if (way & 32)
    sum -= 19;
  else
    sum ^= 21;
  sink = sum;
}

static void strike(int number) {
  ENTER(strike);
  (void)number;
  if (is_child || children == CHILDREN)
    return;
  if (fork() == 0) {
    is_child = 1;
    memset(entered, 0, sizeof entered);
    truth_begin_row();
  } else {
    children++;
  }
}

int main(void) {
  truth_open(names, NUM_FUNCTIONS);
  struct sigaction action = {.sa_handler = strike, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  /* A child has no timer. */
  for (unsigned way = 0; !is_child && children < CHILDREN; way++)
    step(way);
  setitimer(ITIMER_REAL, &never, NULL);
  for (unsigned way = 0; way < 1000; way++)
    step(way);
  tell();
  if (is_child)
    _exit(5);
  int status, killed = 0;
  while (wait(&status) > 0)
    killed += WIFSIGNALED(status);
  return killed;
}
