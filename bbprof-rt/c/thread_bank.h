/* thread_bank.h: threads with a TLS bank, for the interposed functions that create threads. */
#ifndef BBPROF_THREAD_BANK_H
#define BBPROF_THREAD_BANK_H

#include "private_names.h"

#include <pthread.h>

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* Creates a thread by `create` whose TLS bank counts in a segment. */
int threads_create(create_function create, pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

/* The same for C11's thrd_create, and with its results. */
int threads_create_c11(create_function create, pthread_t *thread, int (*start)(void *), void *argument);

#endif
