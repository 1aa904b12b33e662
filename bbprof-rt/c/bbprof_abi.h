/* bbprof_abi.h: the image record, mirror of bbprof-format/src/image.rs, and the symbols that the shim's generated object
 * defines. */
#ifndef BBPROF_ABI_H
#define BBPROF_ABI_H

#include "private_names.h"

#include <stddef.h>
#include <stdint.h>

#define BBPROF_IMAGE_MAGIC "BBPROFIM"
#define BBPROF_IMAGE_VERSION 2u
#define BBPROF_PAGE_BYTES 4096u

enum { BBPROF_FLAG_LIBRARY = 1, BBPROF_FLAG_DELTA = 2, BBPROF_FLAG_STATIC = 4, BBPROF_FLAG_SHARED = 8 };

struct process;
struct image;

/* What a profiled executable or shared library tells the runtime of itself. */
struct bbprof_image {
    char magic[8];
    uint32_t version;
    uint32_t size_bytes;
    uint8_t build_id[16];
    uint8_t layout[16];
    uint64_t tls_counters;
    uint64_t global_counters;
    uint64_t *global_bank;
    const void *const *presence;
    uint64_t optional_modules;
    uint32_t flags;
    uint32_t zero;
    /* The runtime's own: how the copies of the runtime in several images of a process find each other. */
    struct process *process;
    struct image *image;
    uint64_t reserved[10];
};

_Static_assert(sizeof(struct bbprof_image) == 192, "SIZE_BYTES");
_Static_assert(offsetof(struct bbprof_image, build_id) == 16, "BUILD_ID_AT");
_Static_assert(offsetof(struct bbprof_image, layout) == 32, "LAYOUT_AT");
_Static_assert(offsetof(struct bbprof_image, tls_counters) == 48, "TLS_COUNTERS_AT");
_Static_assert(offsetof(struct bbprof_image, global_counters) == 56, "GLOBAL_COUNTERS_AT");
_Static_assert(offsetof(struct bbprof_image, global_bank) == 64, "GLOBAL_BANK_AT");
_Static_assert(offsetof(struct bbprof_image, presence) == 72, "PRESENCE_AT");
_Static_assert(offsetof(struct bbprof_image, optional_modules) == 80, "OPTIONAL_MODULES_AT");
_Static_assert(offsetof(struct bbprof_image, flags) == 88, "FLAGS_AT");
_Static_assert(offsetof(struct bbprof_image, process) == 96, "the runtime's own state");

#define BBPROF_NOTE_TYPE 1u
#define BBPROF_NOTE_NAME "bbprof"

#define BBPROF_HIDDEN __attribute__((visibility("hidden")))

extern BBPROF_HIDDEN struct bbprof_image __bbprof_image;

/* Added to the address of a counter in the global bank to get this thread's own; 0 for the thread that owns the global bank. */
extern BBPROF_HIDDEN __thread uint64_t __bbprof_delta __asm__("__bbprof_delta.tls");
/* Its initial value: this thread has no block yet. The sum with an address is negative, which no address of a program is. */
#define BBPROF_DELTA_NONE (1ull << 63)

#ifdef BBPROF_RT_EXEC
extern BBPROF_HIDDEN __thread uint64_t __bbprof_tls_bank[];
#endif

#endif
