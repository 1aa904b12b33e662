/* interpose_static_bare_fork.c: _Fork of a statically linked program, by the linker's --wrap, which calls no handlers. */
#include "process.h"

extern int32_t __real__Fork(void);
BBPROF_HIDDEN int32_t __wrap__Fork(void);

BBPROF_HIDDEN int32_t __wrap__Fork(void) {
    return fork_between_handlers(__real__Fork);
}
