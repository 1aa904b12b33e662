/* interpose_static_timers.c: timer_create of a statically linked program, by the linker's --wrap. */
#include "endings.h"
#include "notified.h"

BBPROF_HIDDEN int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* Pulls in what threads need. */
__attribute__((used)) static int (*const needed)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = __wrap_pthread_create;

WRAPPED(int, timer_create, clockid_t clock, struct sigevent *event, timer_t *timer) {
    return notified_by_timer(__real_timer_create, clock, event, timer);
}
