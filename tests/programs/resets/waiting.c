/* waiting.c: dumps and resets while other threads wait in system calls of all kinds; with an
 * argument, one of them in a handler that interrupted a loop. */
#include "bbprof.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int pipe_ends[2];
static sem_t end;
static volatile pid_t ids[7];
static volatile int runs;

__attribute__((noinline)) static int branchy(int n) {
  return n % 3 == 0 ? n / 3 : 2 * n;
}

__attribute__((noinline)) static int work(int times) {
  int sum = 0;
  for (int i = 0; i < times; i++)
    sum += branchy(i);
  return sum;
}

/* For a minute, or until the process ends. */
static void *waits(void *way) {
  struct timespec minute = {60, 0};
  struct pollfd descriptor = {pipe_ends[0], POLLIN, 0};
  struct epoll_event event;
  char byte;
  volatile int sum = work(100);
  ids[(long)way] = (pid_t)syscall(SYS_gettid);
  switch ((long)way) {
  case 0:
    nanosleep(&minute, NULL);
    break;
  case 1:
    if (read(pipe_ends[0], &byte, 1) != 1)
      sum++;
    break;
  case 2:
    epoll_wait(epoll_create1(0), &event, 1, 60000);
    break;
  case 3:
    ppoll(&descriptor, 1, &minute, NULL);
    break;
  case 4:
    pause();
    break;
  default:
    sem_wait(&end);
  }
  work(1);
  return NULL;
}

static void waits_within(int number) {
  struct timespec minute = {60, 0};
  ids[6] = (pid_t)syscall(SYS_gettid) + 0 * number;
  nanosleep(&minute, NULL);
}

static void *is_struck(void *unused) {
  volatile int go_on = 1;
  while (go_on) {
    work(3);
    runs = 1;
  }
  return unused;
}

/* Is it in a system call? A number stands first then. */
static int is_waiting(pid_t thread) {
  char path[64], call[16] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)thread);
  FILE *file = fopen(path, "r");
  if (file == NULL || fgets(call, sizeof call, file) == NULL)
    exit(90);
  fclose(file);
  return call[0] >= '0' && call[0] <= '9';
}

int main(int argc, char **argv) {
  pthread_t threads[7];
  int num_threads = 6;
  (void)argv;
  if (pipe(pipe_ends) != 0 || sem_init(&end, 0, 0) != 0)
    return 91;
  for (long way = 0; way < 6; way++)
    pthread_create(&threads[way], NULL, waits, (void *)way);
  if (argc > 1) {
    signal(SIGUSR1, waits_within);
    pthread_create(&threads[num_threads++], NULL, is_struck, NULL);
    while (!runs)
      usleep(1000);
    pthread_kill(threads[6], SIGUSR1);
  }
  for (int way = 0; way < num_threads; way++)
    while (ids[way] == 0 || !is_waiting(ids[way]))
      usleep(1000);
  int sum = work(7), failures = 0;
  failures += bbprof_dump("waiting.bbraw") != 0;
  failures += bbprof_reset() != 0;
  sum += work(5);
  failures += bbprof_dump("window.bbraw") != 0;
  printf("%d\n", sum);
  fflush(stdout);
  _exit(failures);
}
