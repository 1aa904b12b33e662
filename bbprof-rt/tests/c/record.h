/* record.h: what the shim's generated object defines, written by hand: NUM_TLS thread-local and NUM_GLOBAL global counters, and a
 * build id that begins with the byte BUILD_ID. */
#include "bbprof_abi.h"

#ifndef FLAGS
#define FLAGS 0
#endif
#define PADDED(n) (((n) + 511) / 512 * 512)
#define ALIGNED __attribute__((aligned(4096)))

BBPROF_HIDDEN __thread uint64_t __bbprof_delta __asm__("__bbprof_delta.tls") = BBPROF_DELTA_NONE;
#ifdef BBPROF_RT_EXEC
BBPROF_HIDDEN ALIGNED __thread uint64_t __bbprof_tls_bank[PADDED(NUM_TLS)];
#endif
BBPROF_HIDDEN ALIGNED uint64_t __bbprof_global_bank[PADDED(NUM_GLOBAL)];

static const void *const presence[] = {"linked", 0, "linked"};

BBPROF_HIDDEN struct bbprof_image __bbprof_image = {
    .magic = "BBPROFIM",
    .version = BBPROF_IMAGE_VERSION,
    .size_bytes = sizeof(struct bbprof_image),
    .build_id = {BUILD_ID},
    .layout = {1, 2, 3},
    .tls_counters = NUM_TLS,
    .global_counters = NUM_GLOBAL,
    .global_bank = NUM_GLOBAL != 0 ? __bbprof_global_bank : 0,
    .presence = presence,
    .optional_modules = 3,
    .flags = FLAGS,
};

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
__asm__(".pushsection .note.bbprof, \"a\", @note\n"
        ".balign 4\n"
        ".long 7, 24, 1\n"
        ".asciz \"bbprof\"\n"
        ".balign 4\n"
        ".byte " TEXT(BUILD_ID) "\n"
        ".zero 15\n"
        ".quad __bbprof_image - .\n"
        ".popsection\n");

BBPROF_HIDDEN void __bbprof_runtime(void);
__attribute__((used)) static void (*const runtime)(void) = __bbprof_runtime;

/* What an instrumented function does. */
#define HIT(k) (*(volatile uint64_t *)&__bbprof_tls_bank[k] += 1)
#define HIT_SHARED(k) (*(volatile uint64_t *)&__bbprof_global_bank[k] += 1)
BBPROF_HIDDEN void __bbprof_thread_block(void);
static inline void hit_delta(unsigned k) {
    uint64_t address = (uint64_t)&__bbprof_global_bank[k] + __bbprof_delta;
    if ((int64_t)address < 0)
        __asm__ volatile("lea 1f(%%rip), %%r11; jmp %P1; 1: add %%rax, %0" : "+r"(address) : "i"(__bbprof_thread_block) : "rax", "r11", "cc", "memory");
    *(volatile uint64_t *)address += 1;
}
