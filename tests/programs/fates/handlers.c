/* handlers.c: ends in and after handlers of the program's own. */
#include "scenarios.h"

#include <setjmp.h>

/* Handlers of the program's own. */
static sigjmp_buf recovery;
OUT_OF_LINE void handler(int number) {
  TALLY(handler);
  work(3);
  if (number == SIGUSR1)
    exit(11);
  if (number == SIGUSR2)
    _exit(12);
  if (number == SIGSEGV)
    siglongjmp(recovery, 1);
  if (number == SIGTERM) {
    signal(SIGTERM, SIG_DFL);
    raise(SIGTERM);
  }
}
static void handle(int number, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, NULL);
}
void end_exit_in_handler(void) {
  handle(SIGUSR1, 0);
  raise(SIGUSR1);
}
void end_quiet_in_handler(void) {
  handle(SIGUSR2, 0);
  raise(SIGUSR2);
}
void end_handler_and_default(void) {
  handle(SIGTERM, SA_NODEFER);
  raise(SIGTERM);
}
/* The usual handler of crashes: says so, and dies of the signal. */
static void report(int number) {
  work(2);
  signal(number, SIG_DFL);
  sigset_t all;
  sigemptyset(&all);
  sigaddset(&all, number);
  sigprocmask(SIG_UNBLOCK, &all, NULL);
  raise(number);
}
void end_reported(void) {
  signal(SIGSEGV, report);
  end_fault();
}
void end_handled(void) {
  handle(SIGALRM, 0);
  for (unsigned i = 0; i < 100; i++)
    raise(SIGALRM);
  exit(0);
}
/* Abort that is caught: the process goes on. */
static void aborted(int number) {
  (void)number;
  siglongjmp(recovery, 2);
}
void end_after_abort(void) {
  signal(SIGABRT, aborted);
  if (sigsetjmp(recovery, 1) == 0)
    abort();
  work(9);
  exit(13);
}
void end_recovered(void) {
  stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&stack, NULL);
  handle(SIGSEGV, SA_ONSTACK);
  if (sigsetjmp(recovery, 1) == 0)
    sink = recurse(0);
  work(10);
  exit(14);
}
/* The timer strikes in the middle of a loop without calls. */
OUT_OF_LINE void spin(void) {
  TALLY(spin);
  for (unsigned long i = 0;; i++) {
    if (i % 7 == 3)
      sink += i;
    else
      sink ^= i;
  }
}
OUT_OF_LINE void strike(int number) {
  (void)number;
  TALLY(strike);
  _exit(15);
}
void end_interrupted_loop(void) {
  signal(SIGALRM, strike);
  struct itimerval soon = {{0, 0}, {0, 3000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  spin();
}
