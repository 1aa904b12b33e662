/* thread_absorb.c: counts of the calling thread that are in no segment yet. */
#include "process.h"

/* A thread that was not started through the interposed pthread_create counts in plain memory, and so does one that is past its last
 * destructors and now runs the process's exit. */
void thread_absorb_own_bank(struct process *process) {
#ifdef BBPROF_RT_EXEC
    struct image *image = __bbprof_image.image;
    struct segment *first = image->segments[BANK_TLS];
    if (first == NULL)
        return;
    for (const struct segment *segment = first; segment != NULL; segment = segment->next)
        if (segment->place == __bbprof_tls_bank || segment->aside == __bbprof_tls_bank)
            return;
    counters_move(first->view, __bbprof_tls_bank, image->counters[BANK_TLS]);
#endif
    (void)process;
}
