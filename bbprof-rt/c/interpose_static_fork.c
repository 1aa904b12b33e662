/* interpose_static_fork.c: fork of a statically linked program, by the linker's --wrap: not every libc tells us of it otherwise. */
#include "process.h"

extern int32_t __real_fork(void);
BBPROF_HIDDEN int32_t __wrap_fork(void);

BBPROF_HIDDEN int32_t __wrap_fork(void) {
    fork_prepare();
    int32_t child = __real_fork();
    if (child == 0)
        fork_in_child();
    else
        fork_in_parent();
    return child;
}
