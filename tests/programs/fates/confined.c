/* confined.c: where the program may not do what it likes. */
#include "scenarios.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

static void confine(struct sock_filter *program, unsigned num_steps) {
  struct sock_fprog filter = {(unsigned short)num_steps, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    exit(89);
}
/* These system calls fail from now on. */
static void refuse(const unsigned *numbers, unsigned num_numbers) {
  struct sock_filter program[20];
  unsigned n = 0;
  program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < num_numbers; i++) {
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, numbers[i], 0, 1);
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  confine(program, n);
}
/* All that changes files. */
static void refused(void) {
  const unsigned numbers[] = {SYS_ftruncate, SYS_fallocate, SYS_rename, SYS_openat, SYS_open, SYS_unlink, SYS_mremap};
  refuse(numbers, sizeof numbers / sizeof *numbers);
}
void refused_exit(void) {
  refused();
  end_exit();
}
void refused_quietly(void) {
  refused();
  end_quietly();
}
/* Nobody may read stacks as another process would. */
void end_interrupted_unread(void) {
  const unsigned numbers[] = {SYS_process_vm_readv};
  refuse(numbers, 1);
  end_interrupted_loop();
}
/* A handler that ends the process comes in a call of the allocator's, when the memory at `lent` is given back. */
static void strike_when_unmapped(const char *lent) {
  const uint64_t page = (uint64_t)lent & ~(uint64_t)4095;
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_munmap, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)page, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  confine(program, sizeof program / sizeof *program);
}
OUT_OF_LINE void give_back(char *lent) {
  work(5);
  free(lent);
}
void end_interrupted_in_free(void) {
  char *lent = malloc(1 << 22);
  signal(SIGSYS, strike);
  strike_when_unmapped(lent);
  give_back(lent);
}
/* Or in what glibc asks for when it lends memory for the first time. */
static void strike_in(unsigned number) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  signal(SIGSYS, strike);
  confine(program, sizeof program / sizeof *program);
}
OUT_OF_LINE void borrow(void) {
  work(5);
  volatile char *lent = malloc(100);
  *lent = 1;
}
void end_interrupted_in_first_malloc(void) {
  strike_in(SYS_getrandom);
  borrow();
}
/* No memory for the stack of a thread that ends, which the next one gets. */
static void *thread_without_memory(void *memory_is_there) {
  const unsigned numbers[] = {SYS_mmap};
  work(50);
  if (memory_is_there != NULL)
    refuse(numbers, 1);
  return NULL;
}
void refused_memory(void) {
  pthread_join(start(thread_without_memory, (void *)1), NULL);
  pthread_join(start(thread_without_memory, NULL), NULL);
  exit(26);
}
/* Nor may anybody list the threads that go on. */
static void end_without_list(void) {
  const unsigned numbers[] = {SYS_open, SYS_openat, SYS_stat};
  refuse(numbers, sizeof numbers / sizeof *numbers);
  end_exit();
}
void refused_list(void) { threads_running_at(end_without_list); }
void limited(void) {
  struct rlimit limit = {0, 0};
  setrlimit(RLIMIT_FSIZE, &limit);
  end_exit();
}
void rooted(void) {
  if (mkdir("root", 0700) != 0 || chroot("root") != 0 || chdir("/") != 0)
    exit(88);
  end_exit();
}
void dropped(void) {
  if (setgid(65534) != 0 || setuid(65534) != 0)
    exit(87);
  end_exit();
}
/* Threads whose counters find no room in the file any more. */
static int asked[2], answered[2];
static void *server(void *unused) {
  char byte;
  while (read(asked[0], &byte, 1) == 1) {
    work(2);
    if (write(answered[1], &byte, 1) != 1)
      break;
  }
  return unused;
}
void limited_threads(void) {
  struct rlimit limit = {0, 0};
  char byte = 0;
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0 || pipe(asked) != 0 || pipe(answered) != 0)
    exit(87);
  start(server, NULL);
  for (unsigned i = 0; i < 1000; i++)
    if (write(asked[1], &byte, 1) != 1 || read(answered[0], &byte, 1) != 1)
      exit(86);
  exit(20);
}
void shut(void) {
  close(0);
  close(1);
  close(2);
  end_exit();
}
