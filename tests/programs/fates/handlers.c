/* handlers.c: ends in and after handlers of the program's own. */
#include "scenarios.h"

#include <setjmp.h>
#include <threads.h>
#include <ucontext.h>

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
/* Ends that handlers jump out of, and another one later. */
static void leave_and_fault(void (*end)(void)) {
  signal(SIGABRT, aborted);
  if (sigsetjmp(recovery, 1) == 0)
    end();
  work(9);
  end_fault();
}
static void leave_quick_exit(void) { siglongjmp(recovery, 4); }
void end_after_abort_was_left(void) { leave_and_fault(end_abort); }
void end_after_assert_was_left(void) { leave_and_fault(end_assert); }
void end_after_quick_exit_was_left(void) {
  at_quick_exit(leave_quick_exit);
  leave_and_fault(end_quickly);
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
/* By the time that the process itself has run: on a busy machine, others may run before it comes to the loop. */
static void strike_soon(void) {
  struct itimerval soon = {{0, 0}, {0, 5000}};
  setitimer(ITIMER_VIRTUAL, &soon, NULL);
}
void end_interrupted_loop(void) {
  signal(SIGVTALRM, strike);
  strike_soon();
  spin();
}
/* Limits of time: the handler leaves what it interrupted, and never comes back. */
static void give_up(int number) {
  (void)number;
  siglongjmp(recovery, 3);
}
static void time_out(void) {
  for (volatile unsigned i = 0; i < 3; i++) {
    if (sigsetjmp(recovery, 1) == 0) {
      strike_soon();
      spin();
    }
  }
}
void end_timed_out(void) {
  signal(SIGVTALRM, give_up);
  time_out();
  exit(16);
}
/* From a stack of its own, and although nothing is blocked meanwhile. */
void end_timed_out_elsewhere(void) {
  stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = give_up, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigaction(SIGVTALRM, &action, NULL);
  time_out();
  exit(17);
}
/* In the system call that sets the timer, which LLVM trusts to return, and so its caller: what comes behind it was not executed. */
static void give_up_in_a_call(int number, siginfo_t *information, void *context) {
  static const unsigned char system_call[] = {0x0f, 0x05};
  const char *instruction = (const char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  (void)information;
  if (memcmp(instruction - sizeof system_call, system_call, sizeof system_call) != 0)
    return;
  signal(number, SIG_IGN);
  siglongjmp(recovery, 5);
}
OUT_OF_LINE void strike_at_once(void) {
  struct itimerval at_once = {{0, 0}, {0, 1}};
  setitimer(ITIMER_REAL, &at_once, NULL);
}
OUT_OF_LINE void set_timer_and_work(void) {
  strike_at_once();
  even(1);
}
void end_timed_out_at_once(void) {
  struct sigaction action = {.sa_sigaction = give_up_in_a_call, .sa_flags = SA_SIGINFO};
  sigaction(SIGALRM, &action, NULL);
  if (sigsetjmp(recovery, 1) == 0)
    for (;;)
      set_timer_and_work();
  exit(19);
}
/* A handler that came back leaves its frame behind; a jump over that is none out of a handler. */
static volatile sig_atomic_t struck;
static void come_back(int number) {
  (void)number;
  struck = 1;
}
/* Two words behind the segments in the kernel's frame stands the number of a fault; the program may store anything there. */
OUT_OF_LINE void jump_over_remains(uint64_t fault) {
  volatile uint64_t room[1 << 12];
  for (unsigned i = 0; i < sizeof room / sizeof *room - 2; i++)
    if (room[i] == 0x002b000000000033 && fault != 0)
      room[i + 2] = fault;
  siglongjmp(recovery, 6);
}
void end_jumped_over_remains(void) {
  signal(SIGVTALRM, come_back);
  /* The first time finds the function, which may take what remains. */
  for (volatile unsigned i = 0; i < 3; i++) {
    struck = 0;
    strike_soon();
    while (!struck)
      sink++;
    if (sigsetjmp(recovery, 1) == 0)
      jump_over_remains(i == 2 ? 256 : 0);
  }
  exit(18);
}
/* Threads that end in the middle of a block. */
static void end_this_thread(int number) {
  (void)number;
  pthread_exit(NULL);
}
static void *thread_that_spins(void *at_once) {
  if (at_once != NULL)
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  spin();
  return NULL;
}
/* It is in its loop where `sink` changes: nobody else does that meanwhile. */
static pthread_t spinning(const pthread_attr_t *attributes, void *at_once) {
  unsigned long before = sink;
  pthread_t thread = start_with(attributes, thread_that_spins, at_once);
  while (sink == before)
    ;
  return thread;
}
void thread_ended_in_handler(void) {
  signal(SIGUSR1, end_this_thread);
  pthread_t thread = spinning(NULL, NULL);
  pthread_kill(thread, SIGUSR1);
  pthread_join(thread, NULL);
}
static void end_this_c11_thread(int number) { thrd_exit(number); }
void thread_ended_in_c11_handler(void) {
  signal(SIGUSR1, end_this_c11_thread);
  pthread_t thread = spinning(NULL, NULL);
  pthread_kill(thread, SIGUSR1);
  pthread_join(thread, NULL);
}
void thread_cancelled_at_once(void) {
  pthread_t thread = spinning(NULL, (void *)1);
  pthread_cancel(thread);
  pthread_join(thread, NULL);
}
/* By a handler that another one interrupts, on a stack of its own. */
static void pass_on(int number) {
  (void)number;
  raise(SIGUSR1);
}
void end_interrupted_beneath_another(void) {
  stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = strike, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  signal(SIGVTALRM, pass_on);
  strike_soon();
  spin();
}
/* On a stack that the program made for the thread. */
void end_interrupted_on_own_stack(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, malloc(1 << 17), 1 << 17);
  signal(SIGUSR1, strike);
  pthread_t thread = spinning(&attributes, NULL);
  pthread_kill(thread, SIGUSR1);
  pthread_join(thread, NULL);
}
