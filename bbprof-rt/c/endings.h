/* endings.h: the functions that end a process at once, or replace its program, as they are interposed: each tells the fate, then does
 * what libc's own one does. */
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

/* A handler of SIGABRT may count, and come back: libc raises the signal again then, with nobody to handle it, in ways that are not seen. So the first
 * of both is raised here. */
static inline void handle_abort(int (*raise_signal)(int)) {
    if (!platform_signal_is_handled(SIGNAL_OF_ABORT))
        return;
    platform_unblock_signal(SIGNAL_OF_ABORT);
    raise_signal(SIGNAL_OF_ABORT);
    platform_reset_signal(SIGNAL_OF_ABORT);
    announce(FATE_ABORT, 0, NULL);
}

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

/* The arguments of execl, execlp and execle, up to NULL, as the array `words`, on the stack: these functions are async-signal-safe and
 * have as many arguments as the stack holds. `rest` is left behind them. */
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
