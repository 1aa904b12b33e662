/* threads.c: threads of all kinds, and ends while they run. */
#include "scenarios.h"
#include "waits.h"

#include <linux/io_uring.h>
#include <sys/mman.h>

#include <aio.h>
#include <dirent.h>
#include <poll.h>
#include <sched.h>
#include <threads.h>
#include <time.h>

/* Threads. */
OUT_OF_LINE void *thread_work(void *times) {
  TALLY(thread_work);
  work((unsigned)(uintptr_t)times);
  return NULL;
}
static void *thread_that_ends(void *unused) {
  (void)unused;
  thread_work((void *)30);
  pthread_exit(NULL);
}
static void *thread_that_waits(void *unused) {
  (void)unused;
  thread_work((void *)30);
  for (;;)
    pause();
}
static void *thread_that_exits(void *unused) {
  thread_work((void *)30);
  (void)unused;
  exit(21);
}
static void *thread_that_ends_quietly(void *unused) {
  until_first_waits(getpid(), SYS_pause);
  thread_work((void *)30);
  (void)unused;
  _exit(22);
}
static void *thread_that_faults(void *unused) {
  thread_work((void *)30);
  (void)unused;
  end_fault();
  return NULL;
}
static volatile unsigned ready;
static void *thread_that_spins(void *unused) {
  (void)unused;
  thread_work((void *)30);
  __atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
  spin();
  return NULL;
}
pthread_t start_with(const pthread_attr_t *attributes, void *(*function)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, attributes, function, argument) != 0)
    exit(92);
  return thread;
}
pthread_t start(void *(*function)(void *), void *argument) { return start_with(NULL, function, argument); }
void threads(void) {
  pthread_t all[8];
  for (unsigned i = 0; i < 8; i++)
    all[i] = start(i % 2 ? thread_work : thread_that_ends, (void *)5000);
  for (unsigned i = 0; i < 8; i++)
    pthread_join(all[i], NULL);
}
void many_calls(void) {
  const char *times = getenv("TIMES");
  pthread_t all[8];
  for (unsigned i = 0; i < 8; i++)
    all[i] = start(thread_work, (void *)(uintptr_t)strtoul(times, NULL, 10));
  for (unsigned i = 0; i < 8; i++)
    pthread_join(all[i], NULL);
}
void short_threads(void) {
  for (unsigned i = 0; i < 2500; i++) {
    pthread_t all[4];
    for (unsigned k = 0; k < 4; k++)
      all[k] = start(thread_work, (void *)3);
    for (unsigned k = 0; k < 4; k++)
      pthread_join(all[k], NULL);
  }
}
void threads_cancelled(void) {
  pthread_t waiting = start(thread_that_waits, NULL);
  pthread_cancel(waiting);
  pthread_join(waiting, NULL);
}
static void *thread_that_ends_unseen(void *unused) {
  thread_work((void *)30);
  (void)unused;
  syscall(SYS_exit, 0);
  return NULL;
}
void threads_unseen(void) {
  for (unsigned i = 0; i < 3; i++)
    pthread_join(start(thread_that_ends_unseen, NULL), NULL);
}
static int c11_work(void *times) {
  thread_work(times);
  return 3;
}
void threads_c11(void) {
  thrd_t thread;
  int result = 0;
  if (thrd_create(&thread, c11_work, (void *)40) != thrd_success || thrd_join(thread, &result) != thrd_success || result != 3)
    exit(93);
}
static pthread_key_t key;
OUT_OF_LINE void late(void *rounds) {
  TALLY(late);
  work(2);
  if ((uintptr_t)rounds > 1)
    pthread_setspecific(key, (void *)((uintptr_t)rounds - 1));
}
static void *thread_with_late_destructor(void *unused) {
  pthread_setspecific(key, (void *)4);
  return unused;
}
void threads_late(void) {
  pthread_key_create(&key, late);
  pthread_join(start(thread_with_late_destructor, NULL), NULL);
}
void threads_exit(void) {
  start(thread_that_exits, NULL);
  for (;;)
    pause();
}
void threads_end_quietly(void) {
  start(thread_that_ends_quietly, NULL);
  for (;;)
    pause();
}
static pthread_mutex_t rest_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t rest_end = PTHREAD_COND_INITIALIZER;
static unsigned at_rest;
static void *thread_that_rests(void *times) {
  thread_work(times);
  pthread_mutex_lock(&rest_lock);
  at_rest++;
  for (;;)
    pthread_cond_wait(&rest_end, &rest_lock);
}
/* As the threads of a pool do that has nothing to do. */
void threads_rest(void) {
  for (unsigned i = 0; i < 3; i++)
    start(thread_that_rests, (void *)70);
  for (int all_rest = 0; !all_rest;) {
    pthread_mutex_lock(&rest_lock);
    all_rest = at_rest == 3;
    pthread_mutex_unlock(&rest_lock);
  }
  exit(24);
}
/* They begin and end while the process does. */
void threads_barely_begun(void) {
  for (unsigned i = 0; i < 8; i++)
    pthread_detach(start(i % 2 ? thread_work : thread_that_ends, (void *)70));
  exit(25);
}
static int world[2];
static void *thread_that_reads(void *unused) {
  char byte;
  thread_work((void *)70);
  (void)!read(world[0], &byte, 1);
  thread_work((void *)30);
  __atomic_fetch_add(&ready, 1, __ATOMIC_RELEASE);
  for (;;)
    pause();
  return unused;
}
static void *thread_that_polls(void *unused) {
  struct pollfd file = {world[0], POLLIN, 0};
  thread_work((void *)70);
  poll(&file, 1, -1);
  return unused;
}
static void *thread_that_sleeps(void *unused) {
  thread_work((void *)70);
  sleep(3600);
  return unused;
}
/* How many other threads there are, and how many of them wait in one of these system calls, as /proc tells. */
struct others {
  int all, waiting;
};
static struct others others_waiting(const int *calls, size_t num_calls) {
  struct others found = {0, 0};
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
    int number = atoi(task->d_name);
    if (number == 0 || number == getpid())
      continue;
    int call = call_of_task(getpid(), number);
    found.all++;
    for (size_t i = 0; i < num_calls; i++)
      found.waiting += call == calls[i];
  }
  closedir(tasks);
  return found;
}
/* Until this many other threads read, poll, pause or sleep. */
static void until_waiting(int expected) {
  static const int calls[] = {SYS_read, SYS_poll, SYS_pause, SYS_clock_nanosleep};
  while (others_waiting(calls, 4).waiting < expected)
    sched_yield();
}
/* They wait for the world, and may come back before the end. */
void threads_wait(void) {
  (void)!pipe(world);
  start(thread_that_reads, NULL);
  start(thread_that_polls, NULL);
  start(thread_that_sleeps, NULL);
  until_waiting(3);
  exit(27);
}
static void wake_reader(void) {
  (void)!write(world[1], "", 1);
  while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) == 0)
    sched_yield();
}
static void wake_reader_and_wait(void) {
  wake_reader();
  until_waiting(1);
}
static void on_abort_wake_and_wait(int number) {
  (void)number;
  wake_reader_and_wait();
}
static void begin_reader(void) {
  (void)!pipe(world);
  start(thread_that_reads, NULL);
  until_waiting(1);
}
void thread_comes_to_rest(void) {
  signal(SIGABRT, on_abort_wake_and_wait);
  begin_reader();
  abort();
}
void thread_comes_to_rest_quickly(void) {
  at_quick_exit(wake_reader_and_wait);
  begin_reader();
  quick_exit(5);
}
/* The end is announced before the handlers of a fork, and behind them libc ends the process. */
static void go_on(void) {
  begin_reader();
  pthread_atfork(NULL, wake_reader, NULL);
}
void thread_goes_on(void) { become_daemon(go_on); }
void threads_fault(void) {
  start(thread_that_faults, NULL);
  for (;;)
    pause();
}
void main_ends_first(void) {
  start(thread_that_ends, NULL);
  pthread_exit(NULL);
}
void threads_running_at(void (*end)(void)) {
  start(thread_that_spins, NULL);
  start(thread_that_spins, NULL);
  while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) < 2)
    sched_yield();
  end();
}
void threads_spin_exit(void) { threads_running_at(end_exit); }
void threads_spin_quietly(void) { threads_running_at(end_quietly); }
void threads_spin_exec(void) { threads_running_at(end_exec_list); }
static int bare_thread(void *unused) {
  (void)unused;
  thread_work((void *)50);
  return 0;
}
/* A thread that shares its creator's TLS, as runtimes of other languages make them. */
void bare_clone(void) {
  char *stack = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int child = clone(bare_thread, stack + (1 << 16), CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, NULL);
  waitpid(child, NULL, 0);
}

/* Threads that libc makes for itself. */
static volatile unsigned num_notified;
OUT_OF_LINE void notified(union sigval value) {
  TALLY(notified);
  work((unsigned)value.sival_int);
  __atomic_fetch_add(&num_notified, 1, __ATOMIC_RELEASE);
}
static void await_notified(unsigned number) {
  while (__atomic_load_n(&num_notified, __ATOMIC_ACQUIRE) < number)
    usleep(500);
  /* The thread that notified may still be on its way out; the one that libc keeps waits again. */
  static const int calls[] = {SYS_rt_sigtimedwait, SYS_futex};
  struct others found;
  do
    found = others_waiting(calls, 2);
  while (found.all > 1 || found.waiting != found.all);
}
void timer_threads(void) {
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = notified;
  event.sigev_value.sival_int = 11;
  timer_t timer;
  struct itimerspec times = {{0, 0}, {0, 1000000}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &times, NULL) != 0)
    exit(94);
  await_notified(1);
}
void aio_threads(void) {
  static char byte;
  struct aiocb request;
  memset(&request, 0, sizeof request);
  request.aio_fildes = open("/dev/zero", O_RDONLY);
  request.aio_buf = &byte;
  request.aio_nbytes = 1;
  request.aio_sigevent.sigev_notify = SIGEV_THREAD;
  request.aio_sigevent.sigev_notify_function = notified;
  request.aio_sigevent.sigev_value.sival_int = 13;
  if (aio_read(&request) != 0)
    exit(95);
  await_notified(1);
}
/* A read that io_uring gives to a thread of the kernel's, which is listed among the process's. */
void kernel_threads(void) {
  struct io_uring_params about;
  static char byte;
  int ends[2];
  memset(&about, 0, sizeof about);
  int ring = (int)syscall(SYS_io_uring_setup, 1, &about);
  if (ring >= 0 && pipe(ends) == 0) {
    char *queue = mmap(NULL, about.sq_off.array + 4 * about.sq_entries, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entry = mmap(NULL, sizeof *entry, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    if (queue == MAP_FAILED || entry == MAP_FAILED)
      exit(92);
    memset(entry, 0, sizeof *entry);
    entry->opcode = IORING_OP_READ;
    entry->flags = IOSQE_ASYNC;
    entry->fd = ends[0];
    entry->addr = (unsigned long)&byte;
    entry->len = 1;
    *(unsigned *)(void *)(queue + about.sq_off.array) = 0;
    __atomic_store_n((unsigned *)(void *)(queue + about.sq_off.tail), 1, __ATOMIC_RELEASE);
    syscall(SYS_io_uring_enter, ring, 1, 0, 0, NULL, 0);
    usleep(20000);
  }
  work(30);
  exit(19);
}
