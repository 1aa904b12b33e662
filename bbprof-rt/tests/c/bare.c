/* bare.c: a program without libc, storage shared. */
#define NUM_TLS 0
#define NUM_GLOBAL 100
#define FLAGS BBPROF_FLAG_STATIC
#define BUILD_ID 0xba
#include "record.h"

#include "bbprof.h"

__attribute__((noreturn)) static void leave(int status) {
    __asm__ volatile("syscall" : : "a"(231), "D"(status) : "memory");
    __builtin_unreachable();
}

static int write_out(void *context, const void *bytes, size_t num_bytes) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(1), "D"(*(int *)context), "S"(bytes), "d"(num_bytes) : "rcx", "r11", "memory");
    return result == (long)num_bytes ? 0 : -5;
}

__attribute__((used)) static void begin(char **stack) {
    char **arguments = stack + 1, **environment = arguments + (long)stack[0] + 1;
    HIT_SHARED(0);
    bbprof_begin(environment);
    for (int i = 0; i < 10; i++)
        HIT_SHARED(1);
    int standard_output = 1, failed = bbprof_write(write_out, &standard_output);
    HIT_SHARED(2);
    if (stack[0] == (char *)1)
        bbprof_end(failed);
    leave(failed != 0 ? 1 : 7);
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call begin\n");
