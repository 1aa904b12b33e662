/* pool.h: one profile for many processes: `%m` in BBPROF_OUT. */
#ifndef BBPROF_POOL_H
#define BBPROF_POOL_H

#include "raw_contents.h"

/* pool_sum.c: writes the sum of the pool's profile (none if its file is < 0) and a process's to an empty file. */
int pool_sum_write(struct process *process, const struct raw_contents *pool, const struct raw_contents *added, int file);

#endif
