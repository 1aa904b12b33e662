/* interpose_static_jumps.c: longjmp of a statically linked program, by the linker's --wrap. */
#include "leaving.h"

#define WRAPPED_JUMP(name)                                                                                                         \
    extern __attribute__((noreturn)) void __real_##name(struct __jmp_buf_tag[1], int);                                              \
    BBPROF_HIDDEN void __wrap_##name(struct __jmp_buf_tag[1], int);                                                                 \
    BBPROF_HIDDEN void __wrap_##name(struct __jmp_buf_tag environment[1], int value) {                                               \
        leave_by_jump(environment);                                                                                                \
        __real_##name(environment, value);                                                                                         \
    }

WRAPPED_JUMP(longjmp)
WRAPPED_JUMP(_longjmp)
WRAPPED_JUMP(siglongjmp)
