/* thread_bank.h: threads with a TLS bank, for the interposed functions that create threads. */
#ifndef BBPROF_THREAD_BANK_H
#define BBPROF_THREAD_BANK_H

#include "private_names.h"

#include <pthread.h>
#include <stdbool.h>

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* Creates a thread by `create` whose TLS bank counts in a segment. */
int threads_create(create_function create, pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

/* The same for C11's thrd_create, and with its results. */
int threads_create_c11(create_function create, pthread_t *thread, int (*start)(void *), void *argument);

/* libc itself will make threads that call the program. True: they need segments, and are to call threads_adopt first. */
bool threads_expect_libcs(void);

/* The calling thread, which libc made, counts in a segment from now on. */
void threads_adopt(void);

/* Attributes for a stack by libc. */
struct thread_stack {
    pthread_attr_t attributes;
    bool is_chosen; /* otherwise the program's own attributes are to be used */
    bool owns;      /* the attributes are no copy of others, and to be destroyed */
};

/* One with as much room for the program as it asks for, besides what the bank takes. Returns an error number. */
int thread_stack_choose(struct thread_stack *stack, const pthread_attr_t *attributes);
void thread_stack_done(struct thread_stack *stack);

#endif
