/* storm.c: all at once: threads by the hundred, forks, a library loaded and unloaded (its path is the argument), dumps, and a timer
 * whose handler counts wherever it strikes. Tells, for each of its processes: id, entries of step, part and handler. */
#include <bbprof.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

struct row {
  unsigned long pid, step, part, handler;
};
static struct row *rows;
static unsigned long *num_rows;
/* In private memory until the end: a fork's child has its own. */
static struct row own;
#define ENTER(name) __atomic_fetch_add(&own.name, 1, __ATOMIC_RELAXED)

static volatile unsigned sink;

__attribute__((visibility("default"))) void tally_part(void) { ENTER(part); }

__attribute__((noinline)) static unsigned step(unsigned way) {
  ENTER(step);
  unsigned sum = way;
  if (way & 1)
    sum += 3;
  else
    sum ^= 5;
  if (way & 2)
    sum *= 7;
  else
    sum ^= sink;
  if (way & 4)
    sum += 1;
  else
    sum -= 2;
  return sum;
}

static void handler(int number) {
  int before = errno;
  ENTER(handler);
  for (unsigned i = 0; i < 3; i++)
    sink += step(i + (unsigned)number);
  errno = before;
}

static void tell(void) {
  own.pid = (unsigned long)getpid();
  rows[__atomic_fetch_add(num_rows, 1, __ATOMIC_RELAXED)] = own;
}

static void *brief(void *way) {
  for (unsigned i = 0; i < 50; i++)
    sink += step((unsigned)(size_t)way + i);
  return NULL;
}
static void *makes_threads(void *unused) {
  pthread_t threads[3];
  for (unsigned k = 0; k < 40; k++) {
    for (unsigned i = 0; i < 3; i++)
      pthread_create(&threads[i], NULL, brief, (void *)(size_t)(k * 7 + i));
    for (unsigned i = 0; i < 3; i++)
      pthread_join(threads[i], NULL);
  }
  return unused;
}
static void *counts_in_part(void *part) {
  for (unsigned i = 0; i < 500; i++)
    sink += ((unsigned (*)(unsigned))part)(i);
  return NULL;
}
/* How many threads are in dlopen or dlclose. In a child that was forked meanwhile glibc (2.36) may have listed the
 * thread-local storage of a library whose loading nobody goes on with: then its pthread_create ends the child by
 * an assertion, also in plain programs with such libraries. */
static unsigned loading;
static void *load(const char *path) {
  __atomic_fetch_add(&loading, 1, __ATOMIC_SEQ_CST);
  void *library = dlopen(path, RTLD_NOW);
  __atomic_fetch_sub(&loading, 1, __ATOMIC_SEQ_CST);
  return library;
}
static void unload(void *library) {
  __atomic_fetch_add(&loading, 1, __ATOMIC_SEQ_CST);
  dlclose(library);
  __atomic_fetch_sub(&loading, 1, __ATOMIC_SEQ_CST);
}
static void *loads(void *path) {
  for (unsigned k = 0; k < 15; k++) {
    void *library = load(path);
    void *part = library == NULL ? NULL : dlsym(library, "part");
    pthread_t thread;
    if (part == NULL)
      exit(9);
    counts_in_part(part);
    pthread_create(&thread, NULL, counts_in_part, part);
    pthread_join(thread, NULL);
    unload(library);
  }
  return NULL;
}
/* Its children begin with no activation interrupted, and so are exact. */
static void *forks(void *unused) {
  for (int k = 0; k < 6; k++) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t child = fork();
    if (child == 0) {
      pthread_t threads[2];
      memset(&own, 0, sizeof own);
      pthread_sigmask(SIG_SETMASK, &before, NULL);
      size_t may_start = __atomic_load_n(&loading, __ATOMIC_SEQ_CST) == 0 ? 2 : 0;
      for (size_t i = 0; i < may_start; i++)
        pthread_create(&threads[i], NULL, brief, (void *)i);
      for (size_t i = 0; i < may_start; i++)
        pthread_join(threads[i], NULL);
      brief((void *)3);
      tell();
      _exit(k);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != k << 8) {
      fprintf(stderr, "child %d (number %d): status %x: %s\n", k, (int)child, (unsigned)status, strerror(errno));
      exit(7);
    }
  }
  return unused;
}
static void *dumps(void *unused) {
  for (unsigned k = 0; k < 10; k++) {
    if (bbprof_dump("storm.dump") != 0)
      exit(8);
    usleep(500);
  }
  return unused;
}

int main(int argc, char **argv) {
  rows = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  num_rows = (unsigned long *)(rows + 100);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  void *(*const all[])(void *) = {makes_threads, makes_threads, loads, loads, forks, dumps};
  pthread_t threads[6];
  for (unsigned i = 0; i < 6; i++)
    pthread_create(&threads[i], NULL, all[i], argv[argc - 1]);
  for (unsigned i = 0; i < 6; i++)
    pthread_join(threads[i], NULL);
  setitimer(ITIMER_REAL, &never, NULL);
  signal(SIGALRM, SIG_IGN);
  tell();
  for (unsigned long i = 0; i < *num_rows; i++)
    printf("%lu %lu %lu %lu\n", rows[i].pid, rows[i].step, rows[i].part, rows[i].handler);
  return 0;
}
