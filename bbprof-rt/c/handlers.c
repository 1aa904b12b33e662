/* handlers.c: does a signal handler run on a thread's stack, and what did it interrupt?
 *
 * A process that ends within a handler leaves the interrupted activation in the middle of a block, unless it was in a system
 * call that is not an allocator's; so does a handler that jumps to where it never comes back from. The kernel's frame on the
 * stack tells: user code and stack segments, plausible flags and number of a fault, and as return address two instructions that no
 * other function begins with (`mov $15, %rax; syscall`). */
#include "own_stack.h"
#include "process.h"
#include "text.h"

#include <sys/mman.h>

#define SEGMENTS 0x002b000000000033u /* ss, fs, gs, cs as the kernel saves them for 64-bit user code */
/* Words of the frame, counted from its return address; see `struct rt_sigframe` of the kernel and `ucontext_t`. */
enum { RETURN = 0, FILE_ARGUMENT = 6, FLAGS_ARGUMENT = 8, STACK = 21, INSTRUCTION = 22, FLAGS = 23, SEGMENT_WORD = 24, FAULT = 26, MASK = 38, FRAME_WORDS = 39 };
#define FLAGS_POSSIBLE 0x3fffffu
#define FLAG_ALWAYS_SET 2u
#define LAST_FAULT 32u /* the kernel's number for a fault at the return from the kernel; 0 = there was none */
/* What a frame takes at least: 440 bytes, the 512 of the floating-point registers, and
 * the 128 below the stack pointer that are the code's. */
#define LEAST_FRAME_BYTES 1080u
#define PIECE_WORDS 256u

/* Of a stack whose end is not known: a guess. What cannot be read ends the search; most stacks end far before this. */
#define SEARCHED_BYTES (UINT64_C(1) << 20)

static const uint8_t return_code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
static const uint8_t system_call[] = {0x0f, 0x05};
#define LOAD_EAX 0xb8
#define LOADED_BYTES 32
#define NUMBERS_OF_CALLS 1024
static const uint8_t in_block[] = {PLATFORM_IN_BLOCK};

/* What was found on a stack. */
struct frames {
    bool (*counts)(const uint64_t *frame); /* NULL = each does */
    uint32_t interrupted;
    uintptr_t beyond; /* where the last frame says that the interrupted code has its stack; 0 = there was no frame */
};

static bool code_is(uint64_t address, const uint8_t *expected, size_t num_bytes) {
    uint8_t found[sizeof return_code];
    return platform_read_memory((const void *)address, found, num_bytes) == (long)num_bytes && bytes_equal(found, expected, num_bytes);
}

/* The runtime's own in the middle of a block is none of the program's. */
static bool is_system_call(uint64_t instruction) {
    return code_is(instruction, system_call, sizeof system_call) && !code_is(instruction + sizeof system_call, in_block, sizeof in_block);
}

/* Behind the function `syscall`, by which tcmalloc makes it, a call's number is gone, and its arguments are all there is. */
static bool maps_fresh_memory(const uint64_t *frame) {
    return (uint32_t)frame[FILE_ARGUMENT] == UINT32_MAX && (frame[FLAGS_ARGUMENT] & MAP_ANONYMOUS) != 0;
}

/* Calls of allocators end no block, as LLVM trusts them to come back. By the code, `mov $number, %eax` shortly before the call. */
static bool is_of_allocator(const uint64_t *frame, uint64_t system_call_at) {
    uint8_t code[LOADED_BYTES];
    if (platform_read_memory((const void *)(system_call_at - sizeof code), code, sizeof code) != sizeof code)
        return false;
    for (size_t at = sizeof code - 5; at != 0; at--) {
        uint32_t number = code[at + 1] | (uint32_t)code[at + 2] << 8 | (uint32_t)code[at + 3] << 16 | (uint32_t)code[at + 4] << 24;
        if (code[at] == LOAD_EAX && number < NUMBERS_OF_CALLS)
            return platform_call_is_of_allocators(number);
    }
    return maps_fresh_memory(frame);
}

/* In a call that may not come back. The kernel restarts some system calls: then the instruction is still to come. */
static bool ends_block(const uint64_t *frame) {
    uint64_t instruction = frame[INSTRUCTION], before = instruction - sizeof system_call;
    return is_system_call(before) ? !is_of_allocator(frame, before) : is_system_call(instruction) && !is_of_allocator(frame, instruction);
}

static bool is_frame(const uint64_t *frame) {
    uint64_t flags = frame[FLAGS];
    return frame[SEGMENT_WORD] == SEGMENTS && (flags & ~(uint64_t)FLAGS_POSSIBLE) == 0 && (flags & FLAG_ALWAYS_SET) != 0 &&
           frame[FAULT] <= LAST_FAULT && code_is(frame[RETURN], return_code, sizeof return_code);
}

static void look_at(const uint64_t *frame, struct frames *found) {
    if (!is_frame(frame) || (found->counts != NULL && !found->counts(frame)))
        return;
    found->beyond = frame[STACK];
    if (!ends_block(frame))
        found->interrupted++;
}

/* Reads the stack from `at` to `end` in pieces of `num_words` into `words`; each overlaps the next by a
 * frame, so that all are whole in one. False: not to its end. */
static bool find_frames(uint64_t *words, size_t num_words, uintptr_t at, uintptr_t end, struct frames *found) {
    while (at < end) {
        size_t num_bytes = end - at < num_words * 8 ? end - at : num_words * 8;
        size_t num_read = (size_t)platform_read_memory((const void *)at, words, num_bytes) / 8;
        for (size_t i = 0; i + FRAME_WORDS <= num_read; i++)
            look_at(&words[i], found);
        if (num_read < num_bytes / 8)
            return false;
        if (num_bytes < num_words * 8)
            break;
        at += (num_words - FRAME_WORDS + 1) * 8;
    }
    return true;
}

/* Of the first thread's stack, what was read whole once: it is read where it is from then
 * on, as programs may jump often, and not deep. */
static uintptr_t readable_from, readable_to;

static void look_in_place(uintptr_t at, uintptr_t end, struct frames *found) {
    for (; at + FRAME_WORDS * 8 <= end; at += 8)
        if (((const uint64_t *)at)[SEGMENT_WORD] == SEGMENTS)
            look_at((const uint64_t *)at, found);
}

static void keep_readable(const struct process *process, uintptr_t at, uintptr_t end) {
    if (process->is_watched || !platform_is_first_stack(at, end))
        return;
    bool touches = at <= readable_to && end >= readable_from;
    readable_to = touches && readable_to > end ? readable_to : end;
    readable_from = touches && readable_from < at ? readable_from : at;
}

static uintptr_t own_stack(void) {
    return ((uintptr_t)__builtin_frame_address(0) + 7) & ~(uintptr_t)7;
}

/* Programs without threads lack it. */
extern __typeof__(own_stack_end) own_stack_end __attribute__((weak));

/* Of the calling thread's stack that this is a place on; the place itself where nobody knows, on a context's of the program. */
static uintptr_t stack_end(uintptr_t at) {
    uintptr_t end = own_stack_end == NULL ? 0 : own_stack_end(at);
    return end == 0 ? platform_stack_end(at) : end;
}

/* A frame may also be what an earlier handler left behind, in an array that nothing was stored in since, or on another
 * context's stack. While a handler runs, its signal is blocked, which it was not before; or need not be. After a fault of the
 * code itself each is believed, as handlers of crashes unblock theirs. */
static bool handler_runs_still(const uint64_t *frame) {
    return (platform_blocked_signals() & ~frame[MASK]) != 0 || frame[FAULT] != 0 || platform_signals_may_nest();
}

uint32_t handlers_running(struct process *process) {
    if (platform_thread_id() == process->helper) /* it has no handlers, and no stack that libc knows */
        return 0;
    struct frames found = {NULL, 0, 0};
    uintptr_t at = own_stack();
    /* From the handlers' own stack, if they have one, to that of what they interrupted, which may be another handler. */
    for (unsigned stacks = 0; stacks < 2 && at != 0; stacks++) {
        uintptr_t known_end = stack_end(at), end = known_end == at ? at + SEARCHED_BYTES : known_end;
        found.counts = known_end == at ? handler_runs_still : NULL;
        found.beyond = 0;
        find_frames((uint64_t *)(void *)process->buffer, BUFFER_BYTES / 8, at, end, &found);
        bool is_elsewhere = found.beyond < at || found.beyond >= end;
        at = is_elsewhere ? (found.beyond + 7) & ~(uintptr_t)7 : 0;
    }
    return found.interrupted;
}

uint32_t handlers_running_elsewhere(struct process *process, uintptr_t stack) {
    struct frames found = {NULL, 0, 0};
    uintptr_t at = (stack + 7) & ~(uintptr_t)7;
    find_frames((uint64_t *)(void *)process->buffer, BUFFER_BYTES / 8, at, at + SEARCHED_BYTES, &found);
    return found.interrupted;
}

void handlers_leave(struct process *process, uintptr_t target) {
    uint64_t words[PIECE_WORDS]; /* a handler's stack may be small */
    struct frames found = {handler_runs_still, 0, 0};
    uintptr_t at = own_stack();
    process_expect_no_more(process, target);
    if (target - at < LEAST_FRAME_BYTES)
        return;
    if (at >= readable_from && target <= readable_to && target > at) {
        look_in_place(at, target, &found);
        at = 0;
    }
    /* From the handlers' own stack, if they have one, to that of what they interrupted. */
    for (bool is_first = true; at != 0; is_first = false) {
        bool arrives = target > at && target - at < SEARCHED_BYTES;
        uintptr_t end = arrives ? target : stack_end(at);
        /* Jumps between contexts are frequent, and seldom made by handlers; threads end once. */
        if (end == at && target == 0)
            end += SEARCHED_BYTES;
        found.beyond = 0;
        if (find_frames(words, sizeof words / 8, at, end - at < SEARCHED_BYTES ? end : at + SEARCHED_BYTES, &found) && arrives)
            keep_readable(process, at, end);
        at = arrives || !is_first ? 0 : (found.beyond + 7) & ~(uintptr_t)7;
    }
    if (found.interrupted != 0)
        process_leave(process, found.interrupted);
}
