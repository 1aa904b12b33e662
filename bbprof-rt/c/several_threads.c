/* several_threads.c: what is to be said where a process had several threads. In modules of storage `Shared` all count in the same
 * plain counters: where two add to one of them at once, an increment is lost. In those of storage `Tls` each thread needs a
 * segment, so the runtime must be told of it. No other count need contradict what is lost. */
#include "process.h"

/* glibc's: false from the first thread on that its pthread_create makes, for ever, also in a fork's child. */
extern char __libc_single_threaded __attribute__((weak));

static bool libc_made_threads(void) {
    return &__libc_single_threaded != NULL && __atomic_load_n(&__libc_single_threaded, __ATOMIC_RELAXED) == 0 && __tsan_init == NULL;
}

void several_threads_look(struct process *process) {
    bool has_shared = false, has_tls = false;
    for (const struct image *image = process->images; image != NULL; image = image->next) {
        has_shared = has_shared || (image->flags & BBPROF_FLAG_SHARED) != 0;
        has_tls = has_tls || image->counters[BANK_TLS] != 0;
    }
    /* In the child of a fork, what libc knows may be of its parent. */
    bool are_known = process->has_threads || (process->is_fork_child && process->has_program);
    bool are_untold = !are_known && libc_made_threads();
    if (has_shared && (process->has_threads || are_untold))
        note_for_good(process, NOTE_SHARED_COUNTERS);
    if (has_tls && are_untold)
        note_for_good(process, NOTE_UNTOLD_THREADS);
}
