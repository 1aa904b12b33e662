/* children.c: forks, and programs that are executed. */
#include "scenarios.h"
#include "waits.h"

#include <spawn.h>

/* Children. */
OUT_OF_LINE void in_child(void (*end)(void)) {
  TALLY(in_child);
  leave(2, end);
}
static int fork_and_wait(void (*end)(void)) {
  pid_t child = fork();
  if (child == 0) {
    truth_begin_row();
    in_child(end);
    exit(96);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
void fork_exit(void) { fork_and_wait(end_exit); }
void fork_quietly(void) { fork_and_wait(end_quietly); }
void fork_abort(void) { fork_and_wait(end_abort); }
void fork_killed(void) { fork_and_wait(end_killed); }
/* Shot by its parent while it waits. */
static void end_waiting(void) {
  for (;;)
    pause();
}
void fork_shot(void) {
  pid_t child = fork();
  if (child == 0) {
    truth_begin_row();
    in_child(end_waiting);
  }
  until_first_waits(child, SYS_pause);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}
void fork_exec(void) { fork_and_wait(end_exec_list); }
void fork_fork(void) { fork_and_wait(fork_quietly); }
void fork_threads(void) { fork_and_wait(threads); }
static void *thread_that_forks(void *unused) {
  fork_and_wait(end_exit);
  work(4);
  return unused;
}
void thread_forks(void) { pthread_join(start(thread_that_forks, NULL), NULL); }
void spawn(void) {
  char *const words[] = {"true", NULL};
  pid_t child;
  if (posix_spawnp(&child, "true", NULL, NULL, words, environ) != 0)
    exit(97);
  waitpid(child, NULL, 0);
}
void vfork_exec(void) {
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", (char *)NULL);
    _exit(98);
  }
  waitpid(child, NULL, 0);
}
void vfork_exit(void) {
  pid_t child = vfork();
  if (child == 0)
    _exit(0);
  waitpid(child, NULL, 0);
}
void shell(void) {
  if (system("exit 3") < 0)
    exit(98);
}

void children(void) {
  unsigned number = (unsigned)strtoul(getenv("CHILDREN"), NULL, 10);
  for (unsigned i = 0; i < number; i += 20) {
    for (unsigned k = 0; k < 20; k++) {
      if (fork() == 0) {
        work(4);
        if (k % 2)
          _exit(0);
        exit(0);
      }
    }
    while (wait(NULL) > 0)
      ;
  }
}
void become_daemon(void (*before)(void)) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0)
    exit(89);
  if (fork() == 0) {
    truth_begin_row();
    work(7);
    close(ends[0]);
    before();
    if (daemon(1, 1) != 0)
      exit(90);
    truth_begin_row();
    work(11);
    exit(0);
  }
  work(5);
  close(ends[1]);
  while (read(ends[0], &byte, 1) > 0)
    ;
  exit(21);
}
static void do_nothing(void) {}
void becomes_daemon(void) { become_daemon(do_nothing); }
