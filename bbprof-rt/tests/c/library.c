/* library.c: a profiled shared library: 600 counters reached through delta; also linked with a program that is not profiled. */
#define NUM_GLOBAL 600
#define NUM_TLS 0
#define FLAGS (BBPROF_FLAG_LIBRARY | BBPROF_FLAG_DELTA)
#ifndef BUILD_ID
#define BUILD_ID 0x1b
#endif
#include "record.h"

__attribute__((visibility("default"))) void *library_count(void *times);
__attribute__((visibility("default"))) void *library_count(void *times) {
    for (unsigned long i = 0; i < (unsigned long)times; i++)
        hit_delta(599);
    return 0;
}
__attribute__((constructor)) static void loaded(void) {
    hit_delta(0);
}
__attribute__((destructor)) static void unloaded(void) {
    hit_delta(1);
}
