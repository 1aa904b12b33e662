/* own_stack.h: threads whose stack the program made itself. */
#ifndef BBPROF_OWN_STACK_H
#define BBPROF_OWN_STACK_H

#include "private_names.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct own_stack;

/* Do these attributes name a stack? */
bool own_stack_is_named(const pthread_attr_t *attributes);

/* NULL = these attributes name no stack, or a sanitizer watches over stacks. Otherwise a thread that gets another stack, and begins
 * with own_stack_run of this, runs `start` on the stack that is named; this stands at its top. */
struct own_stack *own_stack_begin(const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

void *own_stack_run(void *own);

/* Where the stack by the program ends that the calling thread runs on, if this is a place on it; else 0. */
uintptr_t own_stack_end(uintptr_t at);

/* Attributes with all but the stack of others, to be destroyed. Returns an error number. */
int own_stack_leave_out(const pthread_attr_t *attributes, pthread_attr_t *ours);

/* pthread_getattr_np by `get`: of a thread on a stack by the program, that one. */
int own_stack_tell(int (*get)(pthread_t, pthread_attr_t *), pthread_t thread, pthread_attr_t *attributes);

#endif
