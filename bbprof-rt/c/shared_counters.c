/* shared_counters.c: several threads, and modules of storage `Shared`: all count in the same plain counters. Where two add to one of them at once, an
 * increment is lost, and no other count need contradict it: so it is said. */
#include "process.h"

/* glibc's: false from the first thread on that its pthread_create makes, for ever, also in a fork's child. */
extern char __libc_single_threaded __attribute__((weak));

static bool libc_made_threads(void) {
    return &__libc_single_threaded != NULL && __atomic_load_n(&__libc_single_threaded, __ATOMIC_RELAXED) == 0;
}

static bool has_shared_counters(const struct process *process) {
    for (const struct image *image = process->images; image != NULL; image = image->next)
        if ((image->flags & BBPROF_FLAG_SHARED) != 0)
            return true;
    return false;
}

void shared_counters_look(struct process *process) {
    /* What libc knows may be of the process that forked this one; a program's runtime knows better. */
    bool is_told = process->is_fork_child && process->has_program;
    if ((process->has_threads || (!is_told && libc_made_threads())) && has_shared_counters(process))
        note_for_good(process, NOTE_SHARED_COUNTERS);
}
