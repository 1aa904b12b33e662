/* interpose_static.c: pthread_create of a statically linked program, by the linker's --wrap (thrd_create: see
 * interpose_static_c11.c). Only programs that create threads pull this file in, and with it what thread_bank.c needs of libc. */
#include "bbprof_abi.h"
#include "thread_bank.h"

#include <signal.h>
#include <stddef.h>

extern int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
BBPROF_HIDDEN int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern int pthread_getattr_default_np(pthread_attr_t *attributes) __attribute__((weak));
extern int pthread_attr_getaffinity_np(const pthread_attr_t *, size_t, cpu_set_t *) __attribute__((weak));
extern int pthread_attr_setaffinity_np(pthread_attr_t *, size_t, const cpu_set_t *) __attribute__((weak));
extern int pthread_attr_getsigmask_np(const pthread_attr_t *, sigset_t *) __attribute__((weak));
extern int pthread_attr_setsigmask_np(pthread_attr_t *, const sigset_t *) __attribute__((weak));

__attribute__((used)) static const void *const needed_of_libc[] = {
    (const void *)pthread_key_create,    (const void *)pthread_key_delete,        (const void *)pthread_setspecific, (const void *)pthread_getspecific,
    (const void *)pthread_attr_getstack, (const void *)pthread_attr_getstacksize, (const void *)pthread_attr_setstacksize,
    (const void *)pthread_attr_init,     (const void *)pthread_attr_destroy,       (const void *)pthread_attr_setstack,
    (const void *)pthread_attr_getdetachstate, (const void *)pthread_attr_setdetachstate, (const void *)pthread_attr_getinheritsched,
    (const void *)pthread_attr_setinheritsched, (const void *)pthread_attr_getschedpolicy, (const void *)pthread_attr_setschedpolicy,
    (const void *)pthread_attr_getschedparam, (const void *)pthread_attr_setschedparam,
#ifdef __GLIBC__
    (const void *)pthread_getattr_default_np, (const void *)pthread_attr_getaffinity_np, (const void *)pthread_attr_setaffinity_np,
    (const void *)pthread_attr_getsigmask_np, (const void *)pthread_attr_setsigmask_np,
#endif
};

BBPROF_HIDDEN int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    return threads_create(__real_pthread_create, thread, attributes, start, argument);
}
