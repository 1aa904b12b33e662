/* leaving.h: the functions by which a thread leaves what it runs for ever, as they are interposed: a handler that
 * calls one of them does not return to what it interrupted. */
#ifndef BBPROF_LEAVING_H
#define BBPROF_LEAVING_H

#include "process.h"

#include <setjmp.h>

/* For what comes from this place of `environment`, of setjmp. */
static inline __attribute__((always_inline)) void leave_by_jump(const void *environment) {
    struct process *process = process_current();
    if (process != NULL)
        handlers_leave(process, platform_jump_target(environment, (uintptr_t)__builtin_frame_address(0)));
}

#endif
