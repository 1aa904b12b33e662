// Eight threads in one two-branch function, joined; a thread that leaves by pthread_exit; short threads one after another.
//@ options: -pthread
#include <pthread.h>
#include <stdio.h>

static __thread unsigned long mine;
static unsigned long tally_step;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) unsigned step(unsigned n) {
  mine++;
  if (n & 1)
    return 3 * n + 1;
  return n / 2;
}

static void add_up(void) {
  pthread_mutex_lock(&lock);
  tally_step += mine;
  pthread_mutex_unlock(&lock);
}

static void *run(void *rounds) {
  unsigned n = 7;
  for (long i = 0; i < (long)rounds; i++)
    n = step(n);
  add_up();
  if (n == 4)
    pthread_exit(NULL);
  return NULL;
}

int main(void) {
  pthread_t threads[8];
  for (int i = 0; i < 8; i++)
    pthread_create(&threads[i], NULL, run, (void *)1000000L);
  for (int i = 0; i < 8; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < 300; i++) {
    pthread_create(&threads[0], NULL, run, (void *)(long)(i % 7));
    pthread_join(threads[0], NULL);
  }
  puts("done");
  fprintf(stderr, "tally step %lu\n", tally_step);
  return 0;
}
