// Threads that open and close a library, make threads and fork, all at once, while handlers of forks wait for
// a lock that the others have at times. `storm LIBRARY OTHER SECONDS`: says how often each function was called
// in the process, and how many children called `work` twice.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*work)(int);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long works, others, forks;
static atomic_int stop, strange;
static const char *path;

static unsigned any(unsigned below) {
  static atomic_uint state = 1;
  return (atomic_fetch_add(&state, 2654435761u) >> 7) % below;
}
static void prepare(void) {
  if (any(8) == 0)
    usleep(any(3000));
  pthread_mutex_lock(&lock);
}
static void behind(void) { pthread_mutex_unlock(&lock); }

static void *worker(void *x) {
  work(1);
  works++;
  return x;
}
static void open_and_close(void) {
  void *library = dlopen(path, RTLD_NOW);
  ((int (*)(int))dlsym(library, "other"))(1);
  others++;
  dlclose(library);
}
static void make_thread(void) {
  pthread_t made;
  if (pthread_create(&made, NULL, worker, NULL) == 0)
    pthread_join(made, NULL);
  worker(NULL);
}
static void *repeat(void *what) {
  while (!stop) {
    int locks = any(2);
    if (locks)
      pthread_mutex_lock(&lock);
    ((void (*)(void))what)();
    if (locks)
      pthread_mutex_unlock(&lock);
    usleep(any(300));
  }
  return NULL;
}
static void *forker(void *x) {
  while (!stop) {
    int status;
    pid_t child = fork();
    if (child == 0) {
      work(2);
      work(3);
      _exit(0);
    }
    waitpid(child, &status, 0);
    strange |= status;
    forks++;
    usleep(any(1000));
  }
  return x;
}

int main(int argc, char **argv) {
  pthread_t made[6];
  if (argc != 4)
    return 2;
  pthread_atfork(prepare, behind, behind);
  path = argv[2];
  work = (int (*)(int))dlsym(dlopen(argv[1], RTLD_NOW), "work");
  for (int i = 0; i < 6; i += 3) {
    pthread_create(&made[i], NULL, repeat, (void *)open_and_close);
    pthread_create(&made[i + 1], NULL, repeat, (void *)make_thread);
    pthread_create(&made[i + 2], NULL, forker, NULL);
  }
  sleep((unsigned)atoi(argv[3]));
  stop = 1;
  for (int i = 0; i < 6; i++)
    pthread_join(made[i], NULL);
  printf("%ld %ld %ld\n", works, others, forks);
  return strange != 0;
}
