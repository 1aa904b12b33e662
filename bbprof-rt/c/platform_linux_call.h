/* platform_linux_call.h: bare system calls, so that the platform works in signal handlers, before libc is ready and without
 * libc. */
#ifndef BBPROF_PLATFORM_LINUX_CALL_H
#define BBPROF_PLATFORM_LINUX_CALL_H

#include <asm/unistd.h>
#include <stdbool.h>
#include <stdint.h>

#if !defined(__x86_64__)
#error "the bbprof runtime has system calls for x86-64 only so far"
#endif

static inline long call(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#define CALL3(number, a, b, c) call(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL6(number, a, b, c, d, e, f) call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline bool failed(long result) {
    return result < 0 && result > -4096;
}

#define KERNEL_SIGNAL_SET_BYTES 8
#define SIGNAL_BIT(number) (UINT64_C(1) << ((number) - 1))

/* Field `number` (from 3) of a `stat` file of /proc; the second field is a name in parentheses that may hold anything. */
bool platform_stat_field(const char *path, int number, uint64_t *value);
/* The number at the end of what a link of /proc leads to; 0 = none. */
uint64_t platform_number_behind(const char *path);

#endif
