/* pool.c: a test runner's children. Arguments: how many, how they end, and `one` for one
 * after the other. Each does the same work, on a way of its own. */
#include <bbprof.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls of `step` in all processes. */
static unsigned long *steps;

__attribute__((noinline)) static unsigned step(unsigned n) {
  __atomic_fetch_add(steps, 1, __ATOMIC_RELAXED);
  return n % 3 == 0 ? n / 3 : 2 * n + 1;
}

static volatile unsigned sum;

/* As many paths as there are ways, up to 64. */
__attribute__((noinline)) static void wander(unsigned way) {
  for (unsigned i = 0; i < 10; i++) {
    if (way & 1)
      sum += 3;
    if (way & 2)
      sum ^= 5;
    if (way & 4)
      sum *= 7;
    if (way & 8)
      sum ^= 9;
    if (way & 16)
      sum -= 11;
    if (way & 32)
      sum ^= 13;
  }
}

static void work(unsigned way) {
  wander(way);
  for (unsigned i = 0; i < 100; i++)
    sum += step(i);
}

/* The library's name: some children load it. */
static void load(const char *name) {
  void *library = dlopen(name, RTLD_NOW);
  unsigned (*part)(unsigned) = library == NULL ? NULL : (unsigned (*)(unsigned))dlsym(library, "part");
  if (part == NULL)
    _exit(90);
  for (unsigned i = 0; i < 10; i++)
    sum += part(i);
}

/* What comes of this system call from now on. */
static void filter(unsigned number, unsigned action) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog all = {4, program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0)
    _exit(94);
}

/* The next such call is the process's last moment: all four come when a profile is added to the pool. */
static void die_at(unsigned number) {
  const unsigned numbers[] = {SYS_flock, SYS_fallocate, SYS_write, SYS_rename};
  filter(numbers[number % 4], SECCOMP_RET_KILL_PROCESS);
}

static void *reads(void *pipe) {
  char byte;
  return read(*(int *)pipe, &byte, 1) == 1 ? pipe : NULL;
}
static void *sleeps(void *unused) {
  sleep(1000);
  return unused;
}
static volatile unsigned is_turning;
/* Where its only loop is, nothing is to be counted twice: what it did is not told. */
static void *turns(void *unused) {
  for (;;)
    is_turning++;
  return unused;
}

static void wait_in_a_thread(void *(*waits)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, waits, argument) != 0)
    _exit(95);
}

static void handler(int number) {
  if (is_turning != 0)
    exit(7);
  signal(number, handler);
  ualarm(1000, 0);
}

static void has_turned(void) {
  wait_in_a_thread(turns, NULL);
  while (is_turning == 0)
    usleep(100);
}

static void end(const char *how, unsigned number) {
  static const char *const each[] = {"exit", "_exit", "quick_exit", "abort", "exec", "raise"};
  static const char *const caveats[] = {"threads wait", "threads run", "interrupted", "reset", "reset while threads run"};
  static int never[2];
  if (strcmp(how, "each") == 0)
    how = each[number % 6];
  if (strcmp(how, "caveats") == 0)
    how = caveats[number % 5];
  if (strcmp(how, "threads wait") == 0) {
    if (pipe(never) != 0)
      _exit(96);
    wait_in_a_thread(reads, never);
    wait_in_a_thread(sleeps, NULL);
    usleep(2000);
  }
  if (strcmp(how, "threads run") == 0)
    has_turned();
  if (strcmp(how, "interrupted") == 0) {
    signal(SIGALRM, handler);
    ualarm(1000, 0);
    turns(NULL);
  }
  if (strncmp(how, "reset", 5) == 0) {
    if (strcmp(how, "reset") != 0)
      has_turned();
    bbprof_reset();
    work(number);
    __atomic_fetch_sub(steps, 100, __ATOMIC_RELAXED);
  }
  if (strcmp(how, "dumps") == 0) {
    bbprof_dump(NULL);
    work(number);
  }
  if (strcmp(how, "library") == 0 && number % 2 == 0)
    load("./part.so");
  if (strcmp(how, "cut library") == 0) {
    /* The library's image is told of, its counters have no room yet. */
    if (number % 2 == 0)
      filter(SYS_fallocate, SECCOMP_RET_KILL_PROCESS);
    load("./part.so");
    raise(SIGKILL);
  }
  if (strcmp(how, "windows") == 0)
    for (unsigned i = 0; i < number; i++)
      bbprof_reset();
  if (strcmp(how, "in the middle") == 0)
    die_at(number);
  if (strcmp(how, "killed at its begin") == 0) {
    /* What it executes next cannot give its file a name. */
    filter(SYS_renameat2, SECCOMP_RET_KILL_PROCESS);
    execl("/proc/self/exe", "pool", (char *)NULL);
  }
  if (strcmp(how, "waits") == 0)
    for (;;)
      pause();
  if (strcmp(how, "works on") == 0)
    for (;;)
      work(number);
  if (strcmp(how, "_exit") == 0)
    _exit(3);
  if (strcmp(how, "quick_exit") == 0)
    quick_exit(4);
  if (strcmp(how, "abort") == 0)
    abort();
  if (strcmp(how, "exec") == 0)
    execlp("true", "true", (char *)NULL);
  if (strcmp(how, "raise") == 0)
    raise(SIGTERM);
  exit(7);
}

static pid_t start(const char *how, unsigned number, int done) {
  pid_t child = fork();
  if (child == 0) {
    work(number);
    if (write(done, "", 1) != 1)
      _exit(91);
    end(how, number);
  }
  return child;
}

int main(int argc, char **argv) {
  unsigned children = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
  const char *how = argc > 2 ? argv[2] : "exit";
  int is_one = argc > 3, is_killed = strcmp(how, "killed") == 0, done[2];
  int is_shot = strcmp(how, "waits") == 0 || strcmp(how, "works on") == 0;
  steps = mmap(NULL, sizeof *steps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (pipe(done) != 0 || steps == MAP_FAILED)
    return 92;
  work(0);
  if (strcmp(how, "after a line") == 0) {
    if (getchar() != '\n')
      return 97;
    work(0);
  }
  if (strcmp(how, "child elsewhere") == 0) {
    if (unshare(CLONE_NEWPID) != 0)
      return 98;
    pid_t number = getpid(), child = vfork();
    if (child == 0)
      _exit(getpid() == number ? 0 : 99);
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
      return 99;
    work(0);
  }
  if (strcmp(how, "cannot remove") == 0)
    filter(SYS_unlink, SECCOMP_RET_ERRNO | EPERM);
  for (unsigned i = 0; i < children; i++) {
    char byte;
    pid_t child = start(how, i, done[1]);
    if (child < 0 || read(done[0], &byte, 1) != 1)
      return 93;
    if (is_killed) {
      /* Its work is done; it is somewhere on its way out. */
      usleep((i * 7) % 700);
      kill(child, SIGKILL);
    }
    if (is_shot)
      kill(child, SIGKILL);
    if (is_one)
      waitpid(child, NULL, 0);
  }
  while (wait(NULL) > 0) {
  }
  printf("%lu steps\n", *steps);
  return 0;
}
