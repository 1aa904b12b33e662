/* thread_block.c: gives a thread its own block of an image's global counters.
 *
 * Called from the middle of instrumented functions, maybe in a signal handler: it preserves every register but the result and %r11,
 * so the C part is compiled for general registers only, and it calls nothing but the kernel. */
#include "process.h"

#include "text.h"

/* The first segment is where the image's own storage is, and stays there in a fork's child; others are where they are mapped. */
static uint64_t own_block(struct process *process, struct image *image, bool is_childs) {
    if (image->segments[BANK_GLOBAL] == NULL)
        return 0;
    struct segment *segment = segment_acquire(process, image, BANK_GLOBAL, owner_calling(process));
    if (segment == NULL) {
        note_for_good(process, NOTE_THREAD_WITHOUT_COUNTERS);
        process_complain(process, "", "", "out of memory for the counters of a thread", "counts may be lost");
        return 0;
    }
    if (!is_childs)
        raw_set_threads(process, process->threads + 1);
    return segment == image->segments[BANK_GLOBAL] ? 0 : (uint64_t)segment->view - (uint64_t)image->global_bank;
}

BBPROF_HIDDEN uint64_t bbprof_thread_block(void) {
    struct process *process = __atomic_load_n(&__bbprof_image.process, __ATOMIC_ACQUIRE);
    /* Nothing is counted, or this is the thread that loads the image, before its first constructor. */
    if (process == NULL)
        return __bbprof_delta = 0;
    uint64_t signals = process_lock_in_block(process);
    struct image *image = __bbprof_image.image;
    bool is_withheld = fork_withholds(image);
    uint64_t *known = is_withheld ? &image->withheld.delta_value : &__bbprof_delta, delta = *known;
    /* A signal handler may have been faster. */
    if (delta == BBPROF_DELTA_NONE) {
        /* The thread in whose place vfork's child runs is another: the child asks each time. */
        bool is_childs = process->pid != platform_process_id();
        delta = own_block(process, image, is_childs);
        /* A library that was opened beside the fork withholds nothing: who forks asks each time. */
        if (!is_childs && (is_withheld || !fork_is_callers(process)))
            *known = delta;
    }
    process_unlock_in_block(process, signals);
    return delta;
}

/* Comes by a jump, with %r11 saying where to go on, so that the stack is the caller's
 * throughout: below its end is what the caller keeps in its red zone. */
__asm__(".text\n"
        ".globl __bbprof_thread_block\n"
        ".hidden __bbprof_thread_block\n"
        ".type __bbprof_thread_block, @function\n"
        "__bbprof_thread_block:\n"
        "    .cfi_startproc\n"
        "    .cfi_def_cfa %rsp, 0\n"
        "    .cfi_register %rip, %r11\n"
        "    lea -128(%rsp), %rsp\n"
        "    .cfi_def_cfa_offset 128\n"
        "    push %r11\n"
        "    .cfi_def_cfa_offset 136\n"
        "    .cfi_offset %rip, -136\n"
        "    push %rbp\n"
        "    .cfi_def_cfa_offset 144\n"
        "    .cfi_offset %rbp, -144\n"
        "    mov %rsp, %rbp\n"
        "    .cfi_def_cfa_register %rbp\n"
        "    push %rcx\n"
        "    push %rdx\n"
        "    push %rsi\n"
        "    push %rdi\n"
        "    push %r8\n"
        "    push %r9\n"
        "    push %r10\n"
        "    and $-16, %rsp\n"
        "    call bbprof_thread_block\n"
        /* What BBPROF_DELTA_NONE is in the caller's sum goes again. */
        "    btc $63, %rax\n"
        "    lea -56(%rbp), %rsp\n"
        "    pop %r10\n"
        "    pop %r9\n"
        "    pop %r8\n"
        "    pop %rdi\n"
        "    pop %rsi\n"
        "    pop %rdx\n"
        "    pop %rcx\n"
        "    pop %rbp\n"
        "    .cfi_def_cfa %rsp, 136\n"
        "    .cfi_restore %rbp\n"
        "    pop %r11\n"
        "    .cfi_def_cfa_offset 128\n"
        "    .cfi_register %rip, %r11\n"
        "    lea 128(%rsp), %rsp\n"
        "    .cfi_def_cfa_offset 0\n"
        "    jmp *%r11\n"
        "    .cfi_endproc\n"
        ".size __bbprof_thread_block, .-__bbprof_thread_block\n");
