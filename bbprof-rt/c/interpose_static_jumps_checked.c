/* interpose_static_jumps_checked.c: what _FORTIFY_SOURCE makes of longjmp in a statically
 * linked program, by the linker's --wrap. Not each libc has it. */
#include "leaving.h"

extern __attribute__((noreturn)) void __real___longjmp_chk(struct __jmp_buf_tag[1], int);
BBPROF_HIDDEN void __wrap___longjmp_chk(struct __jmp_buf_tag[1], int);

BBPROF_HIDDEN void __wrap___longjmp_chk(struct __jmp_buf_tag environment[1], int value) {
    leave_by_jump(environment);
    __real___longjmp_chk(environment, value);
}
