/* glibc.c: what musl does not have; there these scenarios do nothing. */
#include "scenarios.h"

#ifdef __GLIBC__
#include <ucontext.h>

/* A resolver runs while the program is being relocated, before the runtime and before the truth. */
OUT_OF_LINE void resolved(void) {
  TALLY(resolved);
  work(2);
}
__attribute__((used)) static void (*resolve(void))(void) { return resolved; }
void chosen(void) __attribute__((ifunc("resolve")));
void ifunc(void) {
  chosen();
  chosen();
}

/* Stackful coroutines that move between threads. */
static ucontext_t back, inside;
static void prepare(void (*function)(void)) {
  getcontext(&inside);
  inside.uc_stack.ss_sp = malloc(1 << 16);
  inside.uc_stack.ss_size = 1 << 16;
  makecontext(&inside, function, 0);
}
OUT_OF_LINE void coroutine(void) {
  TALLY(coroutine);
  for (;;) {
    work(6);
    swapcontext(&inside, &back);
  }
}
/* On the stack of a context. */
void end_interrupted_on_context(void) {
  prepare(end_interrupted_loop);
  swapcontext(&back, &inside);
}
static void *thread_that_resumes(void *unused) {
  for (unsigned i = 0; i < 5; i++)
    swapcontext(&back, &inside);
  return unused;
}
OUT_OF_LINE static void coroutine_start(void) { coroutine(); }
void coroutines(void) {
  prepare(coroutine_start);
  for (unsigned i = 0; i < 4; i++) {
    swapcontext(&back, &inside);
    pthread_join(start(thread_that_resumes, NULL), NULL);
  }
}
#else
void ifunc(void) {}
void coroutines(void) {}
void end_interrupted_on_context(void) {}
#endif
