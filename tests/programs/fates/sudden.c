/* sudden.c: ends that run no destructors, and deaths. */
#include "scenarios.h"

#include <assert.h>

void end_exit(void) { exit(7); }
void end_quietly(void) { _exit(3); }
void end_quietly_c99(void) { _Exit(4); }
void end_quickly(void) { quick_exit(5); }
void end_abort(void) { abort(); }
void end_assert(void) { assert(sink == 0x12345); }
void end_signal_raised(void) { raise(SIGTERM); }
/* Who starts the tests in the background of a shell lets them inherit an ignored SIGINT. */
void end_interrupted(void) {
  signal(SIGINT, SIG_DFL);
  kill(getpid(), SIGINT);
}
void end_killed(void) { kill(getpid(), SIGKILL); }
void end_signal_in_thread(void) { pthread_kill(pthread_self(), SIGTERM); }
void end_signal_queued(void) { sigqueue(getpid(), SIGUSR1, (union sigval){0}); }
void end_signal_of_group(void) {
  setpgid(0, 0);
  kill(0, SIGTERM);
}
void end_signal_of_named_group(void) {
  setpgid(0, 0);
  killpg(getpgrp(), SIGTERM);
}
/* Ignored, handled elsewhere or blocked: no end, until it is let in, which nobody announces. */
static void survive(void) {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  signal(SIGUSR1, SIG_IGN);
  signal(SIGTERM, SIG_DFL);
  pthread_sigmask(SIG_BLOCK, &blocked, NULL);
  raise(SIGUSR1);
  raise(SIGTERM);
  kill(getpid(), SIGTERM);
  pthread_kill(pthread_self(), SIGTERM);
}
void end_after_blocked_signal(void) {
  survive();
  _exit(9);
}
void end_blocked_signal_let_in(void) {
  sigset_t none;
  survive();
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
}
void end_trap(void) { __builtin_trap(); }
void end_bare_call(void) { syscall(SYS_exit_group, 6); }
void end_alarm(void) {
  struct itimerval soon = {{0, 0}, {0, 1000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  for (;;)
    pause();
}
void end_pipe(void) {
  int ends[2];
  if (pipe(ends) == 0) {
    close(ends[0]);
    if (write(ends[1], "", 1) < 0)
      _exit(90);
  }
}
void end_exec(void) {
  char *again[] = {arguments[0], "work", NULL};
  execv("/proc/self/exe", again);
}
void end_exec_list(void) { execlp("true", "true", "a", "b", (char *)NULL); }
void end_exec_environment(void) {
  char *const none[] = {NULL};
  execle("/bin/true", "true", (char *)NULL, none);
}
void end_exec_file(void) {
  char *const words[] = {"true", NULL};
  fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), words, environ);
}
void end_exec_path(void) {
  char *const words[] = {"true", NULL};
  execvpe("true", words, environ);
}
/* An exec that fails is no end. */
void end_after_failed_exec(void) {
  char *const words[] = {"nothing", NULL};
  if (execve("/nonexistent/nothing", words, environ) == 0 || errno != ENOENT || execl("/", "x", (char *)NULL) == 0 || errno != EACCES)
    exit(91);
  branchy(1);
  _exit(8);
}

/* Deaths in the middle of a block: what follows the fault is not executed. */
/* Comes back from each call, as the compiler sees. */
OUT_OF_LINE static unsigned leaf(unsigned i) {
  TALLY(leaf);
  if (i % 2)
    sink += i;
  return i + 1;
}
OUT_OF_LINE void victim(unsigned i) {
  TALLY(victim);
  i = leaf(i) - 1;
  if (i == 5) {
    even(i);
    *(volatile char *)forbidden = 1;
    odd(i);
  }
  branchy(leaf(i));
}
void end_fault(void) {
  for (unsigned i = 0; i < 10; i++)
    victim(i);
}
void end_bus(void) {
  int file = open(".", O_TMPFILE | O_RDWR, 0600);
  forbidden = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  end_fault();
}
/* A loop whose turns are known before it begins, which a fault ends in the middle. */
OUT_OF_LINE unsigned long sweep(const unsigned long *at) {
  TALLY(sweep);
  unsigned long total = 0;
#pragma clang loop unroll(disable) vectorize(disable)
  for (unsigned long i = 0; i < 1000; i++)
    total = total * 31 + at[i];
  return total;
}
void end_counted_loop(void) {
  char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  sink = sweep((unsigned long *)pages);
  mprotect(pages + 4096, 4096, PROT_NONE);
  sink = sweep((unsigned long *)pages);
  sink = sweep((unsigned long *)pages);
}
static volatile int zero;
void end_division(void) {
  work(20);
  sink = (unsigned long)(1000 / zero);
  work(20);
}
OUT_OF_LINE unsigned long recurse(unsigned long depth) {
  volatile char stack[512];
  TALLY(recurse);
  stack[0] = 1;
  return recurse(depth + 1) + (unsigned long)stack[0];
}
void end_stack(void) { sink = recurse(0); }
void end_memory(void) {
  struct rlimit limit = {256 << 20, 256 << 20};
  setrlimit(RLIMIT_AS, &limit);
  for (;;) {
    branchy(1);
    char *more = malloc(16 << 20);
    if (more == NULL)
      abort();
    sink += (unsigned long)more;
  }
}
void end_cpu(void) {
  struct rlimit limit = {0, 1};
  setrlimit(RLIMIT_CPU, &limit);
  for (;;)
    branchy(2);
}
