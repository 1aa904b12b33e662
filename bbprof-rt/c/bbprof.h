/* bbprof.h: what a program may ask of the bbprof runtime it is linked with.
 *
 * Each call covers the whole process: the program and every profiled shared library. All are async-signal-safe. They return 0, or
 * a negated errno value: -ENOSYS when nothing is counted (BBPROF_OFF=1), -EPERM for files of a program with raised privileges. A
 * program that may be linked without bbprof declares them weak and checks their address. */
#ifndef BBPROF_H
#define BBPROF_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the counts so far, complete with length and checksum, to `path`; NULL: beside the raw profile, with a running number. The
 * raw profile itself has all counts at any moment, and is not replaced: -EEXIST. */
__attribute__((visibility("default"))) int bbprof_dump(const char *path);

/* From now on all dumps and the raw profile count from here. If the counts up to here find no place in the raw profile
 * (a full disk, a program that may not open its file any more), or other threads run while some are in memory alone
 * because they found none (-ENOSPC), it fails and changes nothing. */
__attribute__((visibility("default"))) int bbprof_reset(void);

/* As bbprof_dump, but hands the bytes to `write`, in order; it returns 0 to go on, or a negated errno value. It takes memory for
 * all of them first, so that `write` may do whatever it likes. */
__attribute__((visibility("default"))) int bbprof_write(int (*write)(void *context, const void *bytes, size_t num_bytes), void *context);

/* Only for programs without a libc that calls constructors and destructors: to be called before and behind all that counts. The
 * first may be called more than once; `environment` ends with NULL. */
__attribute__((visibility("hidden"))) void bbprof_begin(char **environment);
__attribute__((visibility("hidden"))) void bbprof_end(int status);

#ifdef __cplusplus
}
#endif

#endif
