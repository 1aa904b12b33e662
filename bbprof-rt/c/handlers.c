/* handlers.c: does a signal handler run on a thread's stack, and what did it interrupt?
 *
 * A process that ends within a handler leaves the interrupted activation in the middle of a block, unless it was in a system call. The
 * kernel's frame on the stack tells: user code and stack segments, a plausible instruction pointer and flags, and as return
 * address two instructions that no other function begins with (`mov $15, %rax; syscall`). */
#include "process.h"

#include "text.h"

#define SEGMENTS 0x002b000000000033u /* ss, fs, gs, cs as the kernel saves them for 64-bit user code */
/* Words of the frame, counted from its return address; see `struct rt_sigframe` of the kernel and `ucontext_t`. */
enum { RETURN = 0, INSTRUCTION = 22, FLAGS = 23, SEGMENT_WORD = 24 };
#define FLAGS_POSSIBLE 0x3fffffu
#define FLAG_ALWAYS_SET 2u
#define SCANNED_WORDS (BUFFER_BYTES / 8)

/* Of another thread's stack, whose end is not known: a guess. What cannot be read ends the search; most stacks end far before this. */
#define SEARCHED_BYTES (UINT64_C(1) << 20)

static const uint8_t return_code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
static const uint8_t system_call[] = {0x0f, 0x05};
static const uint8_t in_block[] = {PLATFORM_IN_BLOCK};

static bool code_is(uint64_t address, const uint8_t *expected, size_t num_bytes) {
    uint8_t found[sizeof return_code];
    return platform_read_memory((const void *)address, found, num_bytes) == (long)num_bytes && bytes_equal(found, expected, num_bytes);
}

/* The runtime's own in the middle of a block is none of the program's. */
static bool is_system_call(uint64_t instruction) {
    return code_is(instruction, system_call, sizeof system_call) && !code_is(instruction + sizeof system_call, in_block, sizeof in_block);
}

/* The kernel restarts some system calls: then the instruction is still to come. */
static bool is_in_system_call(uint64_t instruction) {
    return is_system_call(instruction - sizeof system_call) || is_system_call(instruction);
}

static bool interrupts_a_block(const uint64_t *frame) {
    uint64_t flags = frame[FLAGS];
    return (flags & ~(uint64_t)FLAGS_POSSIBLE) == 0 && (flags & FLAG_ALWAYS_SET) != 0 &&
           code_is(frame[RETURN], return_code, sizeof return_code) && !is_in_system_call(frame[INSTRUCTION]);
}

static uint32_t frames_between(struct process *process, uintptr_t at, uintptr_t end) {
    uint64_t *words = (uint64_t *)(void *)process->buffer;
    uint32_t interrupted = 0;
    /* Pieces overlap by a frame, so that each is whole in one of them. */
    while (at < end) {
        size_t num_bytes = end - at < BUFFER_BYTES ? end - at : BUFFER_BYTES;
        long read = platform_read_memory((const void *)at, words, num_bytes);
        long num_words = read / 8;
        for (long i = SEGMENT_WORD; i < num_words; i++)
            if (words[i] == SEGMENTS && interrupts_a_block(&words[i - SEGMENT_WORD]))
                interrupted++;
        if (num_words < (long)SCANNED_WORDS)
            break;
        at += (SCANNED_WORDS - SEGMENT_WORD) * 8;
    }
    return interrupted;
}

uint32_t handlers_running(struct process *process) {
    uintptr_t at = ((uintptr_t)__builtin_frame_address(0) + 7) & ~(uintptr_t)7;
    return frames_between(process, at, platform_stack_end(at));
}

uint32_t handlers_running_elsewhere(struct process *process, uintptr_t stack) {
    uintptr_t at = (stack + 7) & ~(uintptr_t)7;
    return frames_between(process, at, at + SEARCHED_BYTES);
}
