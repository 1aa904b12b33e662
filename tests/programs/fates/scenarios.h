/* scenarios.h: what the scenarios of all files share: the functions that are tallied, and the work they do. */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include "truth.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#define FUNCTIONS(X)                                                                                                               \
  X(branchy) X(even) X(odd) X(leave) X(handler) X(at_end) X(at_quick_end) X(in_child) X(thread_work) X(recurse) X(victim)          \
  X(late) X(resolved) X(coroutine) X(notified) X(spin) X(strike) X(leaf) X(sweep)

enum { FUNCTIONS(TRUTH_ID) NUM_FUNCTIONS };

#define OUT_OF_LINE __attribute__((noinline))
extern volatile unsigned long sink;
extern char **arguments;
extern char **environ;
/* Touching it is fatal. */
extern char *forbidden;

OUT_OF_LINE void even(unsigned i);
OUT_OF_LINE void odd(unsigned i);
OUT_OF_LINE void branchy(unsigned i);
OUT_OF_LINE void work(unsigned times);
OUT_OF_LINE int leave(unsigned depth, void (*end)(void));
OUT_OF_LINE unsigned long recurse(unsigned long depth);
OUT_OF_LINE void spin(void);
/* In a thread of its own. */
pthread_t start_with(const pthread_attr_t *attributes, void *(*function)(void *), void *argument);
pthread_t start(void *(*function)(void *), void *argument);
/* Beside two threads that spin. */
void threads_running_at(void (*end)(void));
/* A child calls daemon, behind something else, and ends in it. */
void strike(int number);
void become_daemon(void (*before)(void));

#define SCENARIOS(X)                                                                                                               \
  X(nothing) X(end_exit) X(end_quietly) X(end_quietly_c99) X(end_quickly) X(end_abort) X(end_assert)                       \
  X(end_signal_raised) X(end_interrupted) X(end_killed) X(end_trap) X(end_bare_call) X(end_alarm) X(end_pipe) X(end_exec)          \
  X(end_signal_in_thread) X(end_signal_queued) X(end_signal_of_group) X(end_signal_of_named_group) X(end_after_blocked_signal)     \
  X(end_blocked_signal_let_in)                                                                                                     \
  X(end_exec_list) X(end_exec_environment) X(end_exec_file) X(end_exec_path) X(end_after_failed_exec) X(end_fault) X(end_bus)      \
  X(end_counted_loop) X(end_division) X(end_stack) X(end_memory) X(end_cpu) X(end_exit_in_handler) X(end_quiet_in_handler)                             \
  X(end_handler_and_default) X(end_handled) X(end_reported) X(end_after_abort) X(end_recovered) X(end_interrupted_loop)                            \
  X(end_after_abort_was_left) X(end_after_assert_was_left) X(end_after_quick_exit_was_left)                                        \
  X(end_interrupted_on_own_stack) X(end_interrupted_beneath_another) X(end_interrupted_unread) X(end_interrupted_in_free) X(end_interrupted_in_first_malloc) X(end_interrupted_on_context)                                                                    \
  X(end_timed_out) X(end_timed_out_elsewhere) X(end_timed_out_at_once) X(end_jumped_over_remains) X(thread_ended_in_handler) X(thread_ended_in_c11_handler) X(thread_cancelled_at_once) X(threads) \
  X(many_calls) X(short_threads) X(threads_cancelled) X(threads_c11) X(threads_unseen) X(threads_late) X(threads_exit) X(threads_end_quietly)        \
  X(threads_rest) X(threads_barely_begun) X(threads_wait) X(thread_goes_on) X(thread_comes_to_rest) X(thread_comes_to_rest_quickly) \
  X(threads_fault) X(main_ends_first) X(threads_spin_exit) X(threads_spin_quietly) X(threads_spin_exec) X(bare_clone)              \
  X(coroutines) X(timer_threads) X(aio_threads) X(fork_exit) X(fork_quietly) X(fork_abort) X(fork_killed) X(fork_shot)             \
  X(fork_exec) X(fork_fork) X(fork_threads) X(thread_forks) X(spawn) X(vfork_exec) X(vfork_exit) X(shell) X(ifunc)                 \
  X(refused_exit) X(refused_quietly) X(refused_memory) X(refused_list) X(limited) X(rooted) X(dropped) X(limited_threads) X(becomes_daemon) X(kernel_threads) X(shut) X(children) X(destructor_ends) X(destructor_exits)

#define DECLARE(name) void name(void);
SCENARIOS(DECLARE)
#undef DECLARE

#endif
