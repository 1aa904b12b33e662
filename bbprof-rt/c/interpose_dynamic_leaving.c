/* interpose_dynamic_leaving.c: longjmp and the ends of threads of a dynamically linked
 * program, for the program and all its libraries.
 *
 * The definitions are weak, so that a program may have functions of its own by these names. */
#include "leaving.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#define EXPORTED __attribute__((visibility("default"), weak))

extern __typeof__(dlsym) dlsym __attribute__((weak));

typedef void jump_function(struct __jmp_buf_tag[1], int);
typedef void exit_function(void *);
typedef void exit_function_c11(int);
typedef int type_function(int, int *);
typedef int cancel_function(pthread_t);

/* Sanitizers that are linked into the program have some of them, too. */
#define INTERCEPTOR __attribute__((weak, visibility("default")))
extern INTERCEPTOR jump_function __interceptor_longjmp, __interceptor__longjmp, __interceptor_siglongjmp, __interceptor___longjmp_chk;
extern INTERCEPTOR exit_function __interceptor_pthread_exit;

static void *real(void *interceptor, const char *name) {
    return interceptor != NULL ? interceptor : dlsym != NULL ? dlsym(RTLD_NEXT, name) : NULL;
}

/* They are looked up at the start: jumps are made in handlers, where dlsym must not be called. */
static struct {
    jump_function *jump, *jump_alike, *jump_with_signals, *jump_checked;
    exit_function *exit;
    exit_function_c11 *exit_c11;
    type_function *set_type;
    cancel_function *cancel;
    bool prepared;
} libc;

void leaving_prepare(void) {
    if (__atomic_load_n(&libc.prepared, __ATOMIC_ACQUIRE))
        return;
    libc.jump = (jump_function *)real((void *)__interceptor_longjmp, "longjmp");
    libc.jump_alike = (jump_function *)real((void *)__interceptor__longjmp, "_longjmp");
    libc.jump_with_signals = (jump_function *)real((void *)__interceptor_siglongjmp, "siglongjmp");
    libc.jump_checked = (jump_function *)real((void *)__interceptor___longjmp_chk, "__longjmp_chk");
    libc.exit = (exit_function *)real((void *)__interceptor_pthread_exit, "pthread_exit");
    libc.exit_c11 = (exit_function_c11 *)real(NULL, "thrd_exit");
    libc.set_type = (type_function *)real(NULL, "pthread_setcanceltype");
    libc.cancel = (cancel_function *)real(NULL, "pthread_cancel");
    __atomic_store_n(&libc.prepared, true, __ATOMIC_RELEASE);
}

#define REAL(member) (leaving_prepare(), libc.member)

/* A macro, not a function: sanitizers look at the stack of who calls theirs. */
#define JUMP(member)                                                                                                               \
    do {                                                                                                                           \
        leave_by_jump(environment);                                                                                                \
        if (REAL(member) != NULL)                                                                                                  \
            libc.member(environment, value);                                                                                       \
        __builtin_trap();                                                                                                          \
    } while (0)

EXPORTED void longjmp(struct __jmp_buf_tag environment[1], int value) {
    JUMP(jump);
}

EXPORTED void _longjmp(struct __jmp_buf_tag environment[1], int value) {
    JUMP(jump_alike);
}

EXPORTED void siglongjmp(struct __jmp_buf_tag environment[1], int value) {
    JUMP(jump_with_signals);
}

/* What _FORTIFY_SOURCE makes of them. */
EXPORTED jump_function __longjmp_chk;
EXPORTED void __longjmp_chk(struct __jmp_buf_tag environment[1], int value) {
    JUMP(jump_checked);
}

EXPORTED void pthread_exit(void *result) {
    if (process_current() != NULL)
        handlers_leave(process_current(), 0);
    if (REAL(exit) != NULL)
        libc.exit(result);
    __builtin_trap();
}

/* libcs end the thread by a pthread_exit of their own. */
EXPORTED void thrd_exit(int result) {
    if (process_current() != NULL)
        handlers_leave(process_current(), 0);
    if (REAL(exit_c11) != NULL)
        libc.exit_c11(result);
    __builtin_trap();
}

/* A thread that may be cancelled at any time may be so in the middle of a block, and nobody sees where. */
static bool cancels_at_once;

EXPORTED int pthread_setcanceltype(int type, int *before) {
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
        __atomic_store_n(&cancels_at_once, true, __ATOMIC_RELAXED);
    return REAL(set_type) == NULL ? ENOSYS : libc.set_type(type, before);
}

EXPORTED int pthread_cancel(pthread_t thread) {
    int why = REAL(cancel) == NULL ? ENOSYS : libc.cancel(thread);
    if (why == 0 && process_current() != NULL && __atomic_load_n(&cancels_at_once, __ATOMIC_RELAXED))
        process_leave(process_current(), 1);
    return why;
}
