/* pool.h: one profile for many processes: `%m` in BBPROF_OUT. */
#ifndef BBPROF_POOL_H
#define BBPROF_POOL_H

#include "raw_contents.h"
#include "stream.h"

/* pool_sum.c: writes the sum of the pool's profile (none if its file is < 0) and a process's to an empty file. */
int pool_sum_write(struct process *process, const struct raw_contents *pool, const struct raw_contents *added, int file);

/* A record of a complete file. */
struct path_sum {
    uint64_t place, number, count;
};
_Static_assert(sizeof(struct path_sum) == RAW_PATH_COMPLETE_BYTES, "COMPLETE_RECORD_BYTES");

/* In ascending order, each path once. */
struct path_sums {
    struct path_sum *paths;
    uint64_t num, num_bytes;
};

/* pool_paths.c: the paths that a process counted in the images whose target this is,
 * since its last reset. To be forgotten, also if that fails. */
int path_sums_of(const struct raw_contents *from, const struct told_image *target, struct path_sums *sums);
void path_sums_forget(struct path_sums *sums);
/* Puts the paths of a pool's image and those that are added into the stream, if there is one, and tells how many they are. */
int path_sums_merge(const struct raw_contents *pool, const struct told_image *image, const struct path_sums *added, struct stream *stream,
                    uint64_t *num);

#endif
