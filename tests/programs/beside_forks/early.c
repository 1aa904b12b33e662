// Handlers of forks that the program registered before it opened a library, so that they run between those of the runtime, and
// do WHAT there: `close` the library, `fork`, `exit`, `open` another one, `call`. `early WHEN LIBRARY OTHER WHAT...`. Each process
// says how often it called `work` and `other`; the exit code is that of a process in which SIGTERM is blocked at the end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int function(int);
static void *library;
static function *work;
static long works, others;
static char **whats;
static const char *when, *other_path;
static int is_inside, status;

static void call(int times) {
  for (int i = 0; i < times; i++, works++)
    work(i);
}
static void say(int is_at_end) {
  sigset_t blocked;
  char line[100];
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  if (is_at_end && sigismember(&blocked, SIGTERM))
    status = 1;
  int length = snprintf(line, sizeof line, "%ld %ld\n", works, others);
  if (write(1, line, length) != length)
    abort();
}
/* Unless it is another process's. */
static void wait_for(pid_t child) {
  int ended;
  if (waitpid(child, &ended, 0) == child)
    status |= WIFEXITED(ended) ? WEXITSTATUS(ended) : 2;
}
static void act(const char *now) {
  if (is_inside || strcmp(when, now) != 0)
    return;
  is_inside = 1;
  for (char **what = whats; *what != NULL; what++) {
    if (strcmp(*what, "call") == 0)
      call(3);
    if (strcmp(*what, "close") == 0) {
      dlclose(library);
      work = NULL;
    }
    if (strcmp(*what, "open") == 0) {
      function *other = (function *)dlsym(dlopen(other_path, RTLD_NOW), "other");
      for (int i = 0; i < 5; i++, others++)
        other(i);
    }
    if (strcmp(*what, "fork") == 0) {
      pid_t child = fork();
      if (child == 0)
        works = others = 0;
      else
        wait_for(child);
      call(2);
    }
    if (strcmp(*what, "exit") == 0) {
      say(0);
      exit(0);
    }
  }
  is_inside = 0;
}
static void before(void) { act("before"); }
static void in_parent(void) { act("parent"); }
static void in_child(void) {
  works = others = 0;
  act("child");
}

int main(int argc, char **argv) {
  when = argv[1], other_path = argv[3], whats = argv + 4;
  pthread_atfork(before, in_parent, in_child);
  library = dlopen(argv[2], RTLD_NOW);
  work = (function *)dlsym(library, "work");
  call(10);
  pid_t child = fork();
  if (work != NULL)
    call(100);
  if (child != 0)
    wait_for(child);
  say(1);
  return status;
}
