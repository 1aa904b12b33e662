/* interpose_dynamic.c: pthread_create, pthread_getattr_np, thrd_create and _Fork of a dynamically linked program. The program's definitions come before
 * libc's for all its libraries, too. */
#include "own_stack.h"
#include "process.h"
#include "thread_bank.h"

#include <dlfcn.h>
#include <errno.h>
#include <threads.h>

#define EXPORTED __attribute__((visibility("default")))

extern __typeof__(dlsym) dlsym __attribute__((weak));
extern __typeof__(dladdr) dladdr __attribute__((weak));
extern int *__errno_location(void) __attribute__((weak));
/* A sanitizer's own interposer stands in the program as ours does; it must be told of all threads. */
extern EXPORTED int __interceptor_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) __attribute__((weak));

/* The runtime's start refers to it, so that every program has this file. */
BBPROF_HIDDEN const char bbprof_interposer[] = "dynamic";

static create_function real_create(void) {
    static create_function found;
    create_function create = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (create == NULL) {
        create = __interceptor_pthread_create;
        if (create == NULL && dlsym != NULL)
            create = (create_function)dlsym(RTLD_NEXT, "pthread_create");
        __atomic_store_n(&found, create, __ATOMIC_RELAXED);
    }
    return create;
}

typedef int (*create_c11_function)(thrd_t *thread, thrd_start_t start, void *argument);

/* Programs and libraries bring a thrd_create along for old libcs, with numbers of its own for what went wrong. It calls pthread_create. */
static create_c11_function brought_along(create_function create) {
    Dl_info ours, theirs;
    if (dlsym == NULL || dladdr == NULL)
        return NULL;
    create_c11_function next = (create_c11_function)dlsym(RTLD_NEXT, "thrd_create");
    bool is_libcs = next == NULL || dladdr((void *)next, &theirs) == 0 || dladdr((void *)create, &ours) == 0 || theirs.dli_fbase == ours.dli_fbase;
    return is_libcs ? NULL : next;
}

EXPORTED __attribute__((weak)) int thrd_create(thrd_t *thread, thrd_start_t start, void *argument) {
    create_function create = real_create();
    create_c11_function other = create == NULL || create == __interceptor_pthread_create ? NULL : brought_along(create);
    if (other != NULL)
        return other(thread, start, argument);
    return create == NULL ? thrd_error : threads_create_c11(create, thread, start, argument);
}

EXPORTED int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    create_function create = real_create();
    return create == NULL ? EAGAIN : threads_create(create, thread, attributes, start, argument);
}

/* Sanitizers call it before they are ready to look at anybody. */
EXPORTED __attribute__((weak, no_sanitize("thread"))) int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
    typedef int (*get_function)(pthread_t, pthread_attr_t *);
    get_function get = dlsym == NULL ? NULL : (get_function)dlsym(RTLD_NEXT, "pthread_getattr_np");
    if (get == NULL)
        return ENOSYS;
    return __interceptor_pthread_create != NULL ? get(thread, attributes) : own_stack_tell(get, thread, attributes);
}

/* It is called in signal handlers, where dlsym must not be. */
static int32_t (*real_fork)(void);

void forking_prepare(void) {
    if (dlsym != NULL)
        real_fork = (int32_t(*)(void))dlsym(RTLD_NEXT, "_Fork");
}

/* fork without any handlers, which libc's fork would call; glibc 2.34 and later have it. */
EXPORTED __attribute__((weak)) int32_t _Fork(void) {
    interposer_prepare();
    if (real_fork == NULL) {
        if (__errno_location != NULL)
            *__errno_location() = ENOSYS;
        return -1;
    }
    fork_prepare();
    int32_t child = real_fork();
    if (child == 0)
        fork_in_child();
    else
        fork_in_parent();
    return child;
}
