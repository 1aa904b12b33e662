/* api.c: what a program may ask for; see bbprof.h. */
#include "bbprof.h"

#include "process.h"

#include <errno.h>

/* Nobody who waits in a system call all the while disturbs a dump; who is found elsewhere may be in the middle of a block. */
#define DUMPS_TRIED 3

/* To a path, or else to memory. */
static int attempt(struct process *process, int live_threads, const char *path, struct snapshot_copy *copy, const struct threads_look *since) {
    return path != NULL ? snapshot_save(process, FATE_SNAPSHOT, 0, live_threads, path, since)
                        : snapshot_copy(process, live_threads, copy, since);
}

static int take(struct process *process, const char *path, struct snapshot_copy *copy) {
    uint32_t before = process->interrupted;
    several_threads_look(process);
    thread_absorb_own_bank(process);
    process->interrupted = handlers_running(process);
    int others = others_alive(process), why = -EAGAIN;
    for (int tried = 0; others != 0 && why == -EAGAIN && tried < DUMPS_TRIED; tried++) {
        struct threads_look look;
        others_look(process, &look);
        if (!look.told || !look.blocked)
            break;
        why = attempt(process, 0, path, copy, &look);
    }
    if (why == -EAGAIN)
        why = attempt(process, others, path, copy, NULL);
    process->interrupted = before;
    return why;
}

int process_dump(struct process *process, const char *path) {
    if (process->is_privileged)
        return -EPERM;
    process_lock(process);
    if (path == NULL) {
        path_of_dump(process, process->path_scratch[0], PATH_BYTES, ++process->num_dumps);
        path = process->path_scratch[0];
    }
    bool is_own = raw_is_at(process, path);
    if (is_own)
        process_complain(process, "cannot dump to ", path, "this is the process's raw profile, which has all counts at any moment",
                         "a dump needs another name");
    int why = is_own ? -EEXIST : take(process, path, NULL);
    process_unlock(process);
    return why;
}

int bbprof_dump(const char *path) {
    struct process *process = process_current();
    return process == NULL ? -ENOSYS : process_dump(process, path);
}

int bbprof_write(int (*write)(void *context, const void *bytes, size_t num_bytes), void *context) {
    struct process *process = process_current();
    if (process == NULL)
        return -ENOSYS;
    struct snapshot_copy copy;
    process_lock(process);
    int why = take(process, NULL, &copy);
    process_unlock(process);
    if (why != 0)
        return why;
    /* The callback may do whatever it likes: nothing is held meanwhile. */
    for (uint64_t at = 0; why == 0 && at < copy.length; at += BUFFER_BYTES)
        why = write(context, copy.bytes + at, copy.length - at < BUFFER_BYTES ? copy.length - at : BUFFER_BYTES);
    platform_unmap(copy.bytes, copy.length);
    return why;
}

/* Of a process that is killed, the file alone is left: a baseline in it must not have what it
 * lacks. Only where nobody else counts can that be brought to it. */
static bool bring_to_file(struct process *process) {
    bool is_alone = others_alive(process) == 0, is_all = true;
    for (struct image *image = process->images; image != NULL; image = image->next)
        for (int bank = 0; bank < NUM_BANKS; bank++)
            is_all = (is_alone ? segments_rescue(image, (enum bank)bank, false, false) : segments_are_in_file(image, (enum bank)bank)) && is_all;
    return is_all;
}

/* Other threads cannot be stopped and their counters not be cleared under them. So the counts of now are kept as a baseline, in
 * those of two sets of segments that is not in force, and one store puts them in force. */
int bbprof_reset(void) {
    struct process *process = process_current();
    if (process == NULL)
        return -ENOSYS;
    struct threads_look look;
    process_lock(process);
    thread_absorb_own_bank(process);
    others_look(process, &look);
    int why = process->raw.in_use && !bring_to_file(process) ? -ENOSPC : 0;
    enum raw_role role = process->baseline == ROLE_BASELINE_1 ? ROLE_BASELINE_2 : ROLE_BASELINE_1;
    uint32_t in_force = process->baseline;
    for (struct image *image = process->images; image != NULL && why == 0; image = image->next) {
        for (int bank = 0; bank < NUM_BANKS; bank++) {
            if (image->counters[bank] == 0)
                continue;
            struct segment *segment = image->segments[bank];
            while (segment != NULL && segment->role != role)
                segment = segment->next;
            if (segment == NULL)
                segment = segment_create_baseline(process, image, (enum bank)bank, role, &why);
            if (segment == NULL)
                break;
            process->baseline = 0;
            segments_sum(process, image, (enum bank)bank, 0, image->counters[bank], segment->view);
            process->baseline = in_force;
        }
        path_tables_reset(image, role);
    }
    if (why == 0)
        raw_set_baseline(process, role,
                         at_beginning(others_have_waited(process, &look) ? 0 : others_alive(process), handlers_running(process)));
    process_unlock(process);
    return why;
}
