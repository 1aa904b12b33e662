/* refused.c: what a program may do around its profile's file that must neither change it nor be changed by it. The first argument
 * says which; the work is the same, and so are its output and exit code, whether it is profiled or not. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static unsigned step(unsigned n) {
  return n % 3 == 0 ? n / 3 : 2 * n + 1;
}

static void work(void) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 1000; i++)
    sum += step(i);
  printf("sum %u\n", sum);
  fflush(stdout);
}

static int child_works(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    work();
    exit(5);
  }
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}

/* Children find no folder for their profiles any more, and say so. */
static int folder_goes(void) {
  return rename("raw", "gone") == 0 ? child_works() : 90;
}

/* A file of the program's own gets the number of stderr. */
static int number_two(void) {
  close(2);
  if (open("own", O_RDWR | O_CREAT | O_TRUNC, 0600) != 2)
    return 91;
  int code = folder_goes();
  struct stat own;
  return fstat(2, &own) == 0 && own.st_size == 0 ? code : 92;
}

/* Nobody reads what stands on stderr already, and there is no room for more. */
static int full_stderr(void) {
  static const char page[4096];
  fcntl(2, F_SETFL, O_NONBLOCK);
  while (write(2, page, sizeof page) > 0) {
  }
  fcntl(2, F_SETFL, 0);
  return folder_goes();
}

/* These signals keep their dispositions, and none is left waiting. */
static int signals_blocked(void) {
  sigset_t set, waiting;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  sigaddset(&set, SIGXFSZ);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int code = folder_goes();
  sigpending(&waiting);
  return sigismember(&waiting, SIGPIPE) || sigismember(&waiting, SIGXFSZ) ? 93 : code;
}

static int limited(void) {
  struct rlimit limit = {1, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
  return child_works();
}

static void *works(void *unused) {
  work();
  return unused;
}

/* A thread needs more of the file than there may be. */
static int limited_thread(void) {
  struct rlimit limit = {1, RLIM_INFINITY};
  pthread_t thread;
  setrlimit(RLIMIT_FSIZE, &limit);
  if (pthread_create(&thread, NULL, works, NULL) != 0)
    return 94;
  pthread_join(thread, NULL);
  return 6;
}

static int limited_thread_at_once(void) {
  _exit(limited_thread());
}

/* Nobody hears of it. */
static int limited_thread_killed(void) {
  limited_thread();
  return (int)syscall(SYS_kill, getpid(), SIGKILL);
}

/* What comes behind an end that did not come. */
static int limited_thread_fails(void) {
  limited_thread();
  execl("/missing", "missing", NULL);
  return limited_thread();
}

static int limited_thread_fails_killed(void) {
  limited_thread_fails();
  return (int)syscall(SYS_kill, getpid(), SIGKILL);
}

int bbprof_reset(void) __attribute__((weak));

static void unlimit(void) {
  struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &limit);
}

/* There is room for what is counted up to here, and what a thread counted in memory is not counted any more. */
static int limited_thread_reset_killed(void) {
  limited_thread();
  unlimit();
  if (bbprof_reset() != 0)
    return 94;
  work();
  return (int)syscall(SYS_kill, getpid(), SIGKILL);
}

static pthread_barrier_t barrier;

static void *works_on(void *unused) {
  work();
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return unused;
}

/* What a thread counts in memory cannot be brought to the file while it does. */
static int limited_thread_runs_killed(void) {
  struct rlimit limit = {1, RLIM_INFINITY};
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 2);
  setrlimit(RLIMIT_FSIZE, &limit);
  if (pthread_create(&thread, NULL, works_on, NULL) != 0)
    return 94;
  pthread_barrier_wait(&barrier);
  unlimit();
  if (bbprof_reset() != -ENOSPC)
    return 97;
  pthread_barrier_wait(&barrier);
  return (int)syscall(SYS_kill, getpid(), SIGKILL);
}

static int rooted(void) {
  if (mkdir("root", 0700) != 0 || chroot("root") != 0 || chdir("/") != 0)
    return 95;
  child_works();
  return 7;
}

/* As root: becomes nobody; else: gives up the right to write to the folder. */
static int dropped(void) {
  if (geteuid() == 0 ? setgid(65534) != 0 || setuid(65534) != 0 : chmod("raw", 0555) != 0)
    return 96;
  return child_works();
}

static void *waits(void *unused) {
  for (;;)
    pause();
  return unused;
}

/* A thread waits, but what it does cannot be looked at any more: as root, becomes nobody; else: becomes undumpable. */
static int hides_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, waits, NULL) != 0)
    return 98;
  if (geteuid() == 0 ? setgid(65534) != 0 || setuid(65534) != 0 : prctl(PR_SET_DUMPABLE, 0) != 0)
    return 96;
  return 9;
}

/* A child hides a thread, and its exit makes no pauses for that: who waits for a second pauses some two hundred times. */
static int hidden_thread(void) {
  int status = 0;
  struct rusage used;
  pid_t child = fork();
  if (child == 0)
    exit(hides_thread());
  if (wait4(child, &status, 0, &used) != child || !WIFEXITED(status))
    return 97;
  return used.ru_nvcsw < 100 ? WEXITSTATUS(status) : 94;
}

/* Somebody else ends it. */
static int ended(void) {
  pid_t parent = getpid();
  if (fork() == 0) {
    kill(parent, SIGTERM);
    _exit(0);
  }
  for (;;)
    pause();
}

int bbprof_dump(const char *path) __attribute__((weak));

/* Dumps of its own, and time for others. */
static int dumps(void) {
  if (bbprof_dump != NULL && (bbprof_dump(NULL) == 0 || bbprof_dump("raw/own.bbraw") == 0))
    return 97;
  usleep(20000);
  return 8;
}

static int only_works(void) {
  return 4;
}

static const struct {
  const char *name;
  int (*run)(void);
} ways[] = {
    {"full_stderr", full_stderr},
    {"works", only_works},         {"folder_goes", folder_goes}, {"number_two", number_two},         {"signals_blocked", signals_blocked},
    {"limited", limited},          {"rooted", rooted},           {"limited_thread", limited_thread}, {"dropped", dropped},
    {"ended", ended},              {"dumps", dumps},             {"hidden_thread", hidden_thread},
    {"limited_thread_at_once", limited_thread_at_once},
    {"limited_thread_killed", limited_thread_killed},
    {"limited_thread_fails", limited_thread_fails},
    {"limited_thread_fails_killed", limited_thread_fails_killed},
    {"limited_thread_reset_killed", limited_thread_reset_killed},
    {"limited_thread_runs_killed", limited_thread_runs_killed},
};

int main(int argc, char **argv) {
  work();
  for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++)
    if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
      return ways[i].run();
  return 99;
}
