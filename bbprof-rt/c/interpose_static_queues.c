/* interpose_static_queues.c: mq_notify of a statically linked program, by the linker's --wrap. */
#include "endings.h"
#include "notified.h"

BBPROF_HIDDEN int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* Pulls in what threads need. */
__attribute__((used)) static int (*const needed)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = __wrap_pthread_create;

WRAPPED(int, mq_notify, mqd_t queue, const struct sigevent *event) {
    return notified_by_queue(__real_mq_notify, queue, event);
}
