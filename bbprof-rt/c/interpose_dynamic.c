/* interpose_dynamic.c: pthread_create, pthread_getattr_np, thrd_create, timer_create, mq_notify and _Fork of a dynamically linked
 * program. The program's definitions come before libc's for all its libraries, too. */
#include "notified.h"
#include "own_stack.h"
#include "process.h"
#include "thread_bank.h"

#include <dlfcn.h>
#include <errno.h>
#include <threads.h>

#define EXPORTED __attribute__((visibility("default")))
/* Sanitizers ask for the bounds of a stack before they are ready to look at anybody. */
#define BEFORE_SANITIZERS __attribute__((no_sanitize("thread")))

extern __typeof__(dlsym) dlsym __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));
/* A sanitizer's own interposer stands in the program as ours does; it must be told of all threads. */
extern EXPORTED int __interceptor_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) __attribute__((weak));

/* The runtime's start refers to it, so that every program has this file. */
BBPROF_HIDDEN const char bbprof_interposer[] = "dynamic";

typedef int (*create_c11_function)(thrd_t *thread, thrd_start_t start, void *argument);
typedef int (*attributes_function)(pthread_t thread, pthread_attr_t *attributes);

/* They are looked up at the start: dlsym waits for who opens a library, who may wait for the caller; it
 * forgets the last error of dlopen; and handlers must not call it. */
static struct {
    create_function create;
    create_c11_function create_c11; /* only what was brought along */
    attributes_function attributes;
    create_timer_function create_timer;
    notify_function notify;
    int32_t (*fork)(void);
    bool prepared;
} libc;

/* Programs and libraries bring a thrd_create along for old libcs, with numbers of its own
 * for what went wrong. It calls pthread_create. */
BEFORE_SANITIZERS static create_c11_function brought_along(create_function create) {
    if (create == NULL || create == __interceptor_pthread_create)
        return NULL;
    create_c11_function next = (create_c11_function)dlsym(RTLD_NEXT, "thrd_create");
    if (next == NULL)
        return NULL;
    const char *theirs = object_name((void *)next);
    return theirs == NULL || theirs == object_name((void *)create) ? NULL : next;
}

BEFORE_SANITIZERS void threading_prepare(void) {
    if (__atomic_load_n(&libc.prepared, __ATOMIC_ACQUIRE))
        return;
    libc.create = __interceptor_pthread_create;
    if (dlsym != NULL) {
        if (libc.create == NULL)
            libc.create = (create_function)dlsym(RTLD_NEXT, "pthread_create");
        libc.create_c11 = brought_along(libc.create);
        libc.attributes = (attributes_function)dlsym(RTLD_NEXT, "pthread_getattr_np");
        libc.create_timer = (create_timer_function)dlsym(RTLD_NEXT, "timer_create");
        libc.notify = (notify_function)dlsym(RTLD_NEXT, "mq_notify");
        libc.fork = (int32_t(*)(void))dlsym(RTLD_NEXT, "_Fork");
    }
    __atomic_store_n(&libc.prepared, true, __ATOMIC_RELEASE);
}

#define REAL(member) (threading_prepare(), libc.member)

EXPORTED __attribute__((weak)) int thrd_create(thrd_t *thread, thrd_start_t start, void *argument) {
    if (REAL(create_c11) != NULL)
        return libc.create_c11(thread, start, argument);
    return libc.create == NULL ? thrd_error : threads_create_c11(libc.create, thread, start, argument);
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    return REAL(create) == NULL ? EAGAIN : threads_create(libc.create, thread, attributes, start, argument);
}

BEFORE_SANITIZERS EXPORTED __attribute__((weak)) int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
    if (REAL(attributes) == NULL)
        return ENOSYS;
    return __interceptor_pthread_create != NULL ? libc.attributes(thread, attributes) : own_stack_tell(libc.attributes, thread, attributes);
}

static int missing(void) {
    if (__errno_location != NULL)
        *__errno_location() = ENOSYS;
    return -1;
}

EXPORTED __attribute__((weak)) int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer) {
    return REAL(create_timer) == NULL ? missing() : notified_by_timer(libc.create_timer, clock, event, timer);
}

EXPORTED __attribute__((weak)) int mq_notify(mqd_t queue, const struct sigevent *event) {
    return REAL(notify) == NULL ? missing() : notified_by_queue(libc.notify, queue, event);
}

/* fork without any handlers, which libc's fork would call; glibc 2.34 and later have it. */
EXPORTED __attribute__((weak)) int32_t _Fork(void) {
    if (REAL(fork) == NULL)
        return missing();
    return fork_between_handlers(libc.fork);
}
