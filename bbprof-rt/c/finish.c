/* finish.c: the process ends, and no more instrumented code of this thread is to come. */
#include "process.h"

/* Other threads that are known to have counters and are not yet dead. Only used where /proc is missing. */
static int owners_alive(const struct process *process) {
    int32_t self = platform_thread_id();
    int alive = 0;
    for (const struct image *image = process->images; image != NULL; image = image->next)
        for (int bank = 0; bank < NUM_BANKS; bank++)
            for (const struct segment *segment = image->segments[bank]; segment != NULL; segment = segment->next)
                if (segment->owner == THREAD_STARTING ||
                    (segment->owner > 0 && segment->owner != self && platform_thread_exists(process->pid, segment->owner)))
                    alive++;
    return alive;
}

/* Has another process taken our file's name? */
static bool name_is_taken(const struct raw_file *raw) {
    struct file_identity there;
    return platform_identify_path(raw->path, &there) == 0 && (there.device != raw->device || there.inode != raw->inode);
}

/* Counts that are only in memory go to the file, as far as nobody goes on counting there. */
static void rescue(struct process *process, bool others_count) {
    int32_t self = platform_thread_id();
    for (struct image *image = process->images; image != NULL; image = image->next) {
        for (int bank = 0; bank < NUM_BANKS; bank++) {
            struct segment *first = image->segments[bank];
            for (struct segment *segment = first; segment != NULL; segment = segment->next) {
                if (segment->role != ROLE_COUNTS || (others_count && segment->owner != self && segment->owner != THREAD_NONE))
                    continue;
                if (segment->aside != NULL && (segment->owner == self || bank == BANK_GLOBAL))
                    counters_move(segment->view, segment->aside, image->counters[bank]);
                if (segment->offset == 0 && first->offset != 0)
                    counters_move(first->view, segment->view, image->counters[bank]);
            }
        }
    }
}

void process_finish(struct process *process, enum raw_fate fate, int status) {
    /* A child of vfork or of a bare clone that calls exit: not ours to end. */
    if (process->finished || process->pid != platform_process_id())
        return;
    process_lock(process);
    process->finished = true;
    thread_absorb_own_bank(process);
    int others = platform_other_threads(process->helper);
    if (others < 0)
        others = owners_alive(process);
    /* While others run, the file goes on receiving their counts until the kernel stops them: it is right as it is. So it is when
     * there is no room for a second one. */
    bool saved = process->raw.in_use && others == 0 && !name_is_taken(&process->raw) &&
                 snapshot_save(process, fate, status, 0, process->raw.path) == 0;
    if (process->raw.in_use && !saved) {
        rescue(process, others != 0);
        raw_set_fate(process, fate, status, others);
    }
    process_unlock(process);
}
