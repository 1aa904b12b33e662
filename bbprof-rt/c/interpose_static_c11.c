/* interpose_static_c11.c: thrd_create of a statically linked program, by the linker's --wrap. */
#include "bbprof_abi.h"
#include "thread_bank.h"

#include <threads.h>

extern int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
BBPROF_HIDDEN int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
BBPROF_HIDDEN int __wrap_thrd_create(thrd_t *, thrd_start_t, void *);

/* Pulls in what threads need. */
__attribute__((used)) static int (*const needed)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = __wrap_pthread_create;

BBPROF_HIDDEN int __wrap_thrd_create(thrd_t *thread, thrd_start_t start, void *argument) {
    return threads_create_c11(__real_pthread_create, thread, start, argument);
}
