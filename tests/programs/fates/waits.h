/* waits.h: in which system call a task waits: what is to be seen there is seen, not given some time to come about. */
#ifndef WAITS_H
#define WAITS_H

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number of the call; -1: the task runs, or is no more. */
static inline int call_of_task(int process, int task) {
  char path[64], state[16] = "";
  snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", process, task);
  int file = open(path, O_RDONLY);
  if (file >= 0) {
    if (read(file, state, sizeof state - 1) < 0)
      state[0] = 0;
    close(file);
  }
  return isdigit((unsigned char)state[0]) ? atoi(state) : -1;
}
/* Until the first thread of a process is in this call. */
static inline void until_first_waits(int process, int call) {
  while (call_of_task(process, process) != call)
    usleep(500);
}

#endif
