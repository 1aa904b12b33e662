/* endings.h: the functions that end a process at once, or replace its program, as they are
 * interposed: each tells the fate, then does what libc's own one does. */
#ifndef BBPROF_ENDINGS_H
#define BBPROF_ENDINGS_H

#include "process.h"

#include <stdarg.h>
#include <stddef.h>

static inline void announce(enum raw_fate fate, int status, const char *exec_path) {
    struct process *process = process_current();
    if (process != NULL)
        process_announce(process, fate, status, exec_path, false);
}

static inline void announce_exit(int status) {
    struct process *process = process_current();
    if (process != NULL)
        process_announce(process, FATE_EXIT_AT_ONCE, status, NULL, true);
}

/* The same where handlers run before, with this frame's address. */
static inline void expect(enum raw_fate fate, int status, const void *frame) {
    struct process *process = process_current();
    if (process != NULL)
        process_expect(process, fate, status, (uintptr_t)frame);
}

static inline void take_back(enum raw_fate fate) {
    struct process *process = process_current();
    if (process != NULL)
        process_revoke(process, fate);
}

/* Is our process among those that `kill` takes this for? */
static inline bool comes_to_us(int32_t process) {
    return process == 0 || process == platform_process_id() || (process < -1 && -process == platform_process_group());
}

/* A signal that the process sends itself is its end if nobody handles it; who survives it takes that back. */
#define SEND(is_ours, number, call)                                                                                            \
    do {                                                                                                                           \
        bool is_fatal = (is_ours) && platform_signal_is_fatal(number);                                                             \
        if (is_fatal)                                                                                                              \
            announce(FATE_OWN_SIGNAL, number, NULL);                                                                               \
        int result = call;                                                                                                         \
        if (is_fatal)                                                                                                              \
            take_back(FATE_OWN_SIGNAL);                                                                                            \
        return result;                                                                                                             \
    } while (0)

/* libc's abort raises SIGABRT, and, where a handler came back, raises it again, with nobody to handle it, in ways that are not
 * seen. So the first of both is raised here. NULL = it cannot be: who handles the signal may do anything, and the end is not
 * told. */
static inline void announce_abort(int (*raise_signal)(int), const void *frame) {
    expect(FATE_ABORT, 0, frame);
    bool is_handled = platform_signal_is_handled(SIGNAL_OF_ABORT);
    if (is_handled && raise_signal != NULL) {
        platform_unblock_signal(SIGNAL_OF_ABORT);
        raise_signal(SIGNAL_OF_ABORT);
        platform_reset_signal(SIGNAL_OF_ABORT);
    }
    if (!is_handled || raise_signal != NULL)
        announce(FATE_ABORT, 0, NULL);
}
#define FRAME __builtin_frame_address(0)

/* Calls a function of the exec family, whose return is its failure. */
#define EXEC(path, call)                                                                                                           \
    do {                                                                                                                           \
        announce(FATE_EXEC, 0, path);                                                                                              \
        int failed = call;                                                                                                         \
        take_back(FATE_EXEC);                                                                                                         \
        return failed;                                                                                                             \
    } while (0)

/* In static programs, by the linker's --wrap. */
#define WRAPPED(type, name, ...)                                                                                                   \
    extern type __real_##name(__VA_ARGS__);                                                                                        \
    BBPROF_HIDDEN type __wrap_##name(__VA_ARGS__);                                                                                 \
    BBPROF_HIDDEN type __wrap_##name(__VA_ARGS__)

/* The arguments of execl, execlp and execle, up to NULL, as the array `words`, on the stack: these functions are async-signal-safe
 * and have as many arguments as the stack holds. `rest` is left behind them. */
#define GATHER(words, rest, first)                                                                                                 \
    size_t num_words = 1;                                                                                                          \
    va_list counted;                                                                                                               \
    va_start(counted, first);                                                                                                      \
    while (va_arg(counted, char *) != NULL)                                                                                        \
        num_words++;                                                                                                               \
    va_end(counted);                                                                                                               \
    char *words[num_words + 1];                                                                                                    \
    words[0] = (char *)(uintptr_t)first;                                                                                           \
    va_start(rest, first);                                                                                                         \
    for (size_t i = 1; i <= num_words; i++)                                                                                        \
        words[i] = va_arg(rest, char *);                                                                                           \
    words[num_words] = NULL

#endif
