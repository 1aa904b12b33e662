/* own_stack.c: runs a thread's function on the stack that the program made for it, which is the program's alone.
 *
 * libc puts TLS, and with it the counters, at the top of a thread's stack. One that libc makes is made larger for them; one that
 * the program made has a size that the program knows to be enough, and no guard page below. So libc makes a stack there, too, for
 * TLS, and what runs before and behind the thread's function: thread-specific data is destroyed there. */
#include "own_stack.h"

#include "bbprof_abi.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

extern __typeof__(pthread_self) pthread_self __attribute__((weak));
extern __typeof__(pthread_attr_init) pthread_attr_init __attribute__((weak));
extern __typeof__(pthread_attr_getstack) pthread_attr_getstack __attribute__((weak));
extern __typeof__(pthread_attr_setstack) pthread_attr_setstack __attribute__((weak));
extern __typeof__(pthread_attr_getstacksize) pthread_attr_getstacksize __attribute__((weak));
extern __typeof__(pthread_attr_setguardsize) pthread_attr_setguardsize __attribute__((weak));
extern __typeof__(pthread_attr_getdetachstate) pthread_attr_getdetachstate __attribute__((weak));
extern __typeof__(pthread_attr_setdetachstate) pthread_attr_setdetachstate __attribute__((weak));
extern __typeof__(pthread_attr_getinheritsched) pthread_attr_getinheritsched __attribute__((weak));
extern __typeof__(pthread_attr_setinheritsched) pthread_attr_setinheritsched __attribute__((weak));
extern __typeof__(pthread_attr_getschedpolicy) pthread_attr_getschedpolicy __attribute__((weak));
extern __typeof__(pthread_attr_setschedpolicy) pthread_attr_setschedpolicy __attribute__((weak));
extern __typeof__(pthread_attr_getschedparam) pthread_attr_getschedparam __attribute__((weak));
extern __typeof__(pthread_attr_setschedparam) pthread_attr_setschedparam __attribute__((weak));
/* Of glibc, not all of musl. */
extern int pthread_attr_getaffinity_np(const pthread_attr_t *, size_t, cpu_set_t *) __attribute__((weak));
extern int pthread_attr_setaffinity_np(pthread_attr_t *, size_t, const cpu_set_t *) __attribute__((weak));
extern int pthread_attr_getsigmask_np(const pthread_attr_t *, sigset_t *) __attribute__((weak));
extern int pthread_attr_setsigmask_np(pthread_attr_t *, const sigset_t *) __attribute__((weak));
/* Sanitizers take the bounds of a thread's stack from libc. */
extern __attribute__((visibility("default"), weak)) int __interceptor_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

struct own_stack {
    void *(*start)(void *);
    void *argument;
    void *address;
    size_t bytes;
};

/* Of the thread; NULL = it runs on a stack by libc. */
static __thread const struct own_stack *runs_on;

static bool find_stack(const pthread_attr_t *attributes, void **address, size_t *bytes) {
    if (attributes == NULL || pthread_attr_getstack == NULL || pthread_attr_getstack(attributes, address, bytes) != 0)
        return false;
    /* Without one, glibc's address is that far below 0. */
    uintptr_t end = (uintptr_t)*address + *bytes;
    /* Who says its end alone (pthread_attr_setstackaddr) has as much of it as others have. */
    if (end != 0 && *bytes == 0 && pthread_attr_getstacksize != NULL && pthread_attr_getstacksize(attributes, bytes) == 0)
        *address = (void *)(end - *bytes);
    return end != 0;
}

bool own_stack_is_named(const pthread_attr_t *attributes) {
    void *address;
    size_t bytes;
    return find_stack(attributes, &address, &bytes);
}

struct own_stack *own_stack_begin(const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
    void *address;
    size_t bytes;
    if (__interceptor_pthread_create != NULL || !find_stack(attributes, &address, &bytes))
        return NULL;
    uintptr_t top = ((uintptr_t)address + bytes - sizeof(struct own_stack)) & ~(uintptr_t)15;
    struct own_stack *own = (struct own_stack *)top;
    *own = (struct own_stack){start, argument, address, bytes};
    return own;
}

/* start(argument) with the stack below `top`. The frame's address is kept in %rbp, which tells unwinders, too, how the stacks are
 * joined: a thread that is cancelled, or calls pthread_exit, is unwound to where libc started it. */
__attribute__((naked)) static void *call_on(void *argument __attribute__((unused)), void *(*start)(void *) __attribute__((unused)),
                                            void *top __attribute__((unused))) {
    __asm__("push %rbp\n\t"
            ".cfi_def_cfa_offset 16\n\t"
            ".cfi_offset %rbp, -16\n\t"
            "mov %rsp, %rbp\n\t"
            ".cfi_def_cfa_register %rbp\n\t"
            "mov %rdx, %rsp\n\t"
            "call *%rsi\n\t"
            "mov %rbp, %rsp\n\t"
            "pop %rbp\n\t"
            ".cfi_def_cfa %rsp, 8\n\t"
            "ret");
}

void *own_stack_run(void *own_stack) {
    struct own_stack *own = own_stack;
    runs_on = own;
    void *result = call_on(own->argument, own->start, own);
    runs_on = NULL;
    return result;
}

static bool is_on(const struct own_stack *own, uintptr_t at) {
    return at - (uintptr_t)own->address < own->bytes;
}

uintptr_t own_stack_end(uintptr_t at) {
    return runs_on != NULL && is_on(runs_on, at) ? (uintptr_t)runs_on->address + runs_on->bytes : 0;
}

static void copy_schedule(const pthread_attr_t *attributes, pthread_attr_t *ours) {
    int inherits, policy;
    struct sched_param parameters;
    if (pthread_attr_getinheritsched == NULL || pthread_attr_getinheritsched(attributes, &inherits) != 0)
        return;
    if (pthread_attr_getschedpolicy(attributes, &policy) != 0 || pthread_attr_getschedparam(attributes, &parameters) != 0)
        return;
    pthread_attr_setinheritsched(ours, inherits);
    pthread_attr_setschedpolicy(ours, policy);
    pthread_attr_setschedparam(ours, &parameters);
}

/* All processors stand for none in particular: glibc tells the same of attributes that name none. */
static void copy_processors(const pthread_attr_t *attributes, pthread_attr_t *ours) {
    cpu_set_t processors;
    if (pthread_attr_getaffinity_np == NULL || pthread_attr_getaffinity_np(attributes, sizeof processors, &processors) != 0)
        return;
    bool are_all = true;
    for (size_t word = 0; word < sizeof processors / sizeof processors.__bits[0]; word++)
        are_all = are_all && ~processors.__bits[word] == 0;
    if (!are_all)
        pthread_attr_setaffinity_np(ours, sizeof processors, &processors);
}

int own_stack_leave_out(const pthread_attr_t *attributes, pthread_attr_t *ours) {
    int why = pthread_attr_init(ours), detached;
    if (why != 0)
        return why;
    if (pthread_attr_getdetachstate != NULL && pthread_attr_getdetachstate(attributes, &detached) == 0)
        pthread_attr_setdetachstate(ours, detached);
    copy_schedule(attributes, ours);
    copy_processors(attributes, ours);
    sigset_t mask;
    if (pthread_attr_getsigmask_np != NULL && pthread_attr_getsigmask_np(attributes, &mask) == 0)
        pthread_attr_setsigmask_np(ours, &mask);
    return 0;
}

/* A thread's number is where its own block is, and program's thread-local variables are as far from it in each. */
static const struct own_stack *stack_of(pthread_t thread) {
    uintptr_t block;
    __asm__("mov %%fs:0, %0" : "=r"(block));
    if (pthread_self == NULL || (uintptr_t)pthread_self() != block)
        return NULL;
    return *(const struct own_stack **)((uintptr_t)thread + ((uintptr_t)&runs_on - block));
}

int own_stack_tell(int (*get)(pthread_t, pthread_attr_t *), pthread_t thread, pthread_attr_t *attributes) {
    int why = get(thread, attributes);
    const struct own_stack *own = why == 0 ? stack_of(thread) : NULL;
    void *address;
    size_t bytes;
    if (own == NULL || pthread_attr_setstack == NULL || pthread_attr_setguardsize == NULL)
        return why;
    /* What it leaves behind, libc destroys on its own. */
    bool is_left = own == runs_on && pthread_attr_getstack(attributes, &address, &bytes) == 0 &&
                   (uintptr_t)__builtin_frame_address(0) - (uintptr_t)address < bytes;
    if (is_left)
        return 0;
    pthread_attr_setguardsize(attributes, 0);
    return pthread_attr_setstack(attributes, own->address, own->bytes);
}
