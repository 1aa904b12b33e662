/* path_count.c: counts a path of a function that has more of them than an array holds, in the thread's own table.
 *
 * Called from the middle of instrumented functions, maybe in a signal handler: like thread_block.c it preserves every
 * register, here all but r11. In: the address of the thread's own counter that stands for the function, and the path's
 * number. That counter counts what finds no memory, and what is counted before the runtime has begun or after it was
 * told to do nothing: the reader refuses the function then. */
#include "process.h"

#include "text.h"

BBPROF_HIDDEN void bbprof_path_unknown(uint64_t *counter, uint64_t number, enum bank bank);

BBPROF_HIDDEN const uint64_t bbprof_path_multiplier = PATH_MULTIPLIER;

/* Null before the thread's first path. */
BBPROF_HIDDEN __thread struct path_table *bbprof_path_table;

static void set_base(struct path_table *table, const struct image *image, enum bank bank) {
#ifdef BBPROF_RT_EXEC
    if (bank == BANK_TLS) {
        table->bases[BANK_TLS] = (uint64_t)__bbprof_tls_bank - 8;
        return;
    }
#endif
    uint64_t delta = __bbprof_delta == BBPROF_DELTA_NONE ? bbprof_thread_block() : __bbprof_delta;
    table->bases[bank] = (uint64_t)image->global_bank + delta - 8 * image->counters[BANK_TLS] - 8;
}

static struct path_table **table_of_caller(void) {
    return &bbprof_path_table;
}

/* The calling thread's table, for paths with counters in this bank. */
static struct path_table *own_table(struct process *process, struct image *image, enum bank bank) {
    struct path_table *table = bbprof_path_table;
    if (table == NULL && (table = path_table_acquire(process, image)) != NULL) {
        /* No counter is so far from these. */
        table->bases[BANK_TLS] = table->bases[BANK_GLOBAL] = 0;
        fork_path_table_of_caller = table_of_caller;
        /* The thread in whose place vfork's child runs is another: the child asks each time;
         * and so does a thread between the handlers of a fork. */
        if (process->pid == platform_process_id() && !fork_is_callers(process))
            bbprof_path_table = table;
    }
    if (table != NULL)
        set_base(table, image, bank);
    return table;
}

/* A path that is not in the thread's table. */
BBPROF_HIDDEN void bbprof_path_unknown(uint64_t *counter, uint64_t number, enum bank bank) {
    /* An edge that only a phi can count, and that was not taken. */
    if (counter == NULL)
        return;
    struct process *process = __atomic_load_n(&__bbprof_image.process, __ATOMIC_ACQUIRE);
    bool counted = false;
    if (process != NULL) {
        struct image *image = __bbprof_image.image;
        uint64_t signals = process_lock_in_block(process);
        struct path_table *table = own_table(process, image, bank);
        bool own = true;
        if (table != NULL) {
            uint64_t place = (uint64_t)counter - table->bases[bank];
            /* A coroutine of a shared library that goes on in another thread has the address of the first one's counter. */
            own = place - 8 < 8 * (image->counters[BANK_TLS] + image->counters[BANK_GLOBAL]);
            counted = own && path_table_count(process, image, table, place, number);
        }
        if (!own)
            process_complain(process, "", "", "a function went on in another thread", "some counts are lost; 'bbprof verify' says which");
        else if (!counted)
            process_complain(process, "", "", "out of memory for the counts of paths", "some counts are lost; 'bbprof verify' says which");
        process_unlock_in_block(process, signals);
    }
    if (!counted)
        __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

_Static_assert(offsetof(struct path_table, buckets) == 0 && offsetof(struct path_table, mask) == 8 &&
                   offsetof(struct path_table, bases) == 16 && BANK_TLS == 0 && BANK_GLOBAL == 1,
               "as below");
_Static_assert(offsetof(struct raw_path, place) == 0 && offsetof(struct raw_path, number) == 8 && offsetof(struct raw_path, count) == 16 &&
                   offsetof(struct raw_path, next) == 40,
               "as below");

#ifdef BBPROF_RT_EXEC
#define LOAD_TABLE "    mov %fs:bbprof_path_table@tpoff, %rax\n"
#else
#define LOAD_TABLE                                                                                                                 \
    "    mov bbprof_path_table@gottpoff(%rip), %rax\n"                                                                             \
    "    mov %fs:(%rax), %rax\n"
#endif

/* The increment is one instruction: a handler counts before it or behind it. */
#define COUNT_PATH(name, base, bank)                                                                                               \
    __asm__(".text\n"                                                                                                              \
            ".globl " name "\n"                                                                                                    \
            ".hidden " name "\n"                                                                                                   \
            ".type " name ", @function\n"                                                                                          \
            ".p2align 4\n" name ":\n"                                                                                              \
            "    .cfi_startproc\n"                                                                                                 \
            "    push %rax\n"                                                                                                      \
            "    .cfi_adjust_cfa_offset 8\n"                                                                                       \
            "    push %rdi\n"                                                                                                      \
            "    .cfi_adjust_cfa_offset 8\n" LOAD_TABLE                                                                            \
            "    test %rax, %rax\n"                                                                                                \
            "    jz 2f\n"                                                                                                          \
            "    sub " base "(%rax), %rdi\n"                                                                                       \
            "    lea (%rdi,%rsi), %r11\n"                                                                                          \
            "    imul bbprof_path_multiplier(%rip), %r11\n"                                                                        \
            "    bswap %r11\n"                                                                                                     \
            "    and 8(%rax), %r11\n"                                                                                              \
            "    mov (%rax), %rax\n"                                                                                               \
            "    mov (%rax,%r11,8), %r11\n"                                                                                        \
            "    test %r11, %r11\n"                                                                                                \
            "    jz 2f\n"                                                                                                          \
            "1:  cmp %rsi, 8(%r11)\n"                                                                                              \
            "    jne 3f\n"                                                                                                         \
            "    cmp %rdi, (%r11)\n"                                                                                               \
            "    jne 3f\n"                                                                                                         \
            "    incq 16(%r11)\n"                                                                                                  \
            "    pop %rdi\n"                                                                                                       \
            "    .cfi_adjust_cfa_offset -8\n"                                                                                      \
            "    pop %rax\n"                                                                                                       \
            "    .cfi_adjust_cfa_offset -8\n"                                                                                      \
            "    ret\n"                                                                                                            \
            "    .cfi_adjust_cfa_offset 16\n"                                                                                      \
            "3:  mov 40(%r11), %r11\n"                                                                                             \
            "    test %r11, %r11\n"                                                                                                \
            "    jnz 1b\n"                                                                                                         \
            "2:  pop %rdi\n"                                                                                                       \
            "    .cfi_adjust_cfa_offset -8\n"                                                                                      \
            "    pop %rax\n"                                                                                                       \
            "    .cfi_adjust_cfa_offset -8\n"                                                                                      \
            "    push %rbp\n"                                                                                                      \
            "    .cfi_def_cfa_offset 16\n"                                                                                         \
            "    .cfi_offset %rbp, -16\n"                                                                                          \
            "    mov %rsp, %rbp\n"                                                                                                 \
            "    .cfi_def_cfa_register %rbp\n"                                                                                     \
            "    push %rax\n"                                                                                                      \
            "    push %rcx\n"                                                                                                      \
            "    push %rdx\n"                                                                                                      \
            "    push %rsi\n"                                                                                                      \
            "    push %rdi\n"                                                                                                      \
            "    push %r8\n"                                                                                                       \
            "    push %r9\n"                                                                                                       \
            "    push %r10\n"                                                                                                      \
            "    and $-16, %rsp\n"                                                                                                 \
            "    mov $" bank ", %edx\n"                                                                                            \
            "    call bbprof_path_unknown\n"                                                                                       \
            "    lea -64(%rbp), %rsp\n"                                                                                            \
            "    pop %r10\n"                                                                                                       \
            "    pop %r9\n"                                                                                                        \
            "    pop %r8\n"                                                                                                        \
            "    pop %rdi\n"                                                                                                       \
            "    pop %rsi\n"                                                                                                       \
            "    pop %rdx\n"                                                                                                       \
            "    pop %rcx\n"                                                                                                       \
            "    pop %rax\n"                                                                                                       \
            "    pop %rbp\n"                                                                                                       \
            "    .cfi_def_cfa %rsp, 8\n"                                                                                           \
            "    ret\n"                                                                                                            \
            "    .cfi_endproc\n"                                                                                                   \
            ".size " name ", .-" name "\n")

#ifdef BBPROF_RT_EXEC
COUNT_PATH("__bbprof_count_path_tls", "16", "0");
#endif
COUNT_PATH("__bbprof_count_path_delta", "24", "1");

/* The generated object refers to it: modules have empty functions of the names above, which do not pull these in. */
BBPROF_HIDDEN const char __bbprof_count_paths[] = "";
