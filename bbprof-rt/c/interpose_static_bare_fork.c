/* interpose_static_bare_fork.c: _Fork of a statically linked program, by the linker's --wrap, which calls no handlers. */
#include "process.h"

extern int32_t __real__Fork(void);
BBPROF_HIDDEN int32_t __wrap__Fork(void);

BBPROF_HIDDEN int32_t __wrap__Fork(void) {
    fork_prepare();
    int32_t child = __real__Fork();
    if (child == 0)
        fork_in_child();
    else
        fork_in_parent();
    return child;
}
