/* interpose_static_fork.c: fork of a statically linked program, by the linker's --wrap: not every libc tells us of it otherwise. */
#include "process.h"

extern int32_t __real_fork(void);
BBPROF_HIDDEN int32_t __wrap_fork(void);

BBPROF_HIDDEN int32_t __wrap_fork(void) {
    return fork_between_handlers(__real_fork);
}
