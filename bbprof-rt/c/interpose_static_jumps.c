/* interpose_static_jumps.c: longjmp of a statically linked program, by the linker's --wrap. */
#include "leaving.h"

/* Always linked into static programs by glibc, and by no other libc. */
extern void *__libc_stack_end __attribute__((weak));

#define WRAPPED_JUMP(name, tells)                                                                                                  \
    extern __attribute__((noreturn)) void __real_##name(struct __jmp_buf_tag[1], int);                                              \
    BBPROF_HIDDEN void __wrap_##name(struct __jmp_buf_tag[1], int);                                                                 \
    BBPROF_HIDDEN void __wrap_##name(struct __jmp_buf_tag environment[1], int value) {                                               \
        if (tells)                                                                                                                  \
            leave_by_jump(environment);                                                                                            \
        __real_##name(environment, value);                                                                                         \
    }

WRAPPED_JUMP(longjmp, true)
WRAPPED_JUMP(_longjmp, true)
/* musl's calls longjmp, which tells. */
WRAPPED_JUMP(siglongjmp, &__libc_stack_end != NULL)
