/* finish.c: the process ends: by exit, when no more instrumented code of this thread is to come; or at once, when all counts are in
 * the file already and only the fate is to be told. */
#include "process.h"

/* Has another process taken our file's name? Then its file stays, and ours is lost, unless this is another root or mount. */
static bool name_is_taken(struct process *process) {
    struct file_identity there;
    const char *path = process->raw.path;
    if (!process->raw.in_use || platform_identify_path(path, &there) != 0 || raw_is_at(process, path))
        return false;
    raw_complain_of_taken_name(process);
    return true;
}

/* Counts that are only in memory go to the file. Those of threads that go on counting do at the very end only: the
 * memory goes with the process. The file says no more that some may be missing if all are there and none will be in
 * memory: of others, or of handlers that the caller may still run. */
static void rescue(struct process *process, bool others_count, bool is_end, bool counts_on) {
    bool is_all = !others_count;
    others_count = others_count && !is_end;
    for (struct image *image = process->images; image != NULL; image = image->next) {
        is_all = path_tables_rescue(process, image, others_count) && is_all;
        for (int bank = 0; bank < NUM_BANKS; bank++)
            is_all = segments_rescue(image, (enum bank)bank, others_count, counts_on) && is_all;
    }
    if (is_all)
        raw_tell_none_in_memory(process);
}

/* Threads that nobody told us of count in plain memory, which goes with them. Where all are such ones it has been said. */
static void note_strangers(struct process *process, int others) {
    bool has_tls = false;
    for (const struct image *image = process->images; image != NULL; image = image->next)
        has_tls = has_tls || image->counters[BANK_TLS] != 0;
    int known = others_with_counters(process, BANK_TLS, BANK_TLS) + (__tsan_init != NULL);
    for (unsigned waits = 0; waits < NUM_LIBC_WAITS; waits++)
        known += process->libc_waits >> waits & 1;
    bool is_said = process->has_noted_strangers || (process->noted_for_good & 1u << NOTE_UNTOLD_THREADS) != 0;
    if (has_tls && others > known && !is_said && platform_living_threads(process->helper) > known) {
        process->has_noted_strangers = true;
        entries_of_note("A thread was running that neither pthread_create nor thrd_create made (libc makes some for aio and "
                        "look-ups; jemalloc goes around both): what such threads counted is lost; --storage=atomic counts it.",
                        raw_log, process);
    }
}

#define SLACK_BYTES 65536u /* a guess: some threads with few counters */

/* Several threads at once make the file larger than a complete one. */
static bool is_small(const struct process *process) {
    uint64_t num_counters = 0;
    for (const struct image *image = process->images; image != NULL; image = image->next)
        for (int bank = 0; bank < NUM_BANKS; bank++)
            num_counters += image->counters[bank];
    return process->raw.length_bytes <= 2 * num_counters * sizeof(uint64_t) + SLACK_BYTES;
}

void process_finish(struct process *process, enum raw_fate fate, int status) {
    /* A child of vfork or of a bare clone that calls exit is not ours to end. */
    if (process->finished || !process_is_caller(process))
        return;
    process_lock_at_end(process);
    several_threads_look(process);
    thread_absorb_own_bank(process);
    int others = others_alive(process), running = 0;
    raw_set_interrupted(process, handlers_running(process));
    if (process->raw.in_use && others != 0) {
        /* One of them may end the process meanwhile, and say so. */
        raw_set_fate(process, fate, status, others);
        pool_help(process);
        running = others_running_soon(process, others);
        others = others_alive(process);
    }
    process->finished = true;
    /* Signals may come until the kernel stops the process. */
    bool handlers_count = process->raw.in_use && others == 0 && process->num_loaded != 0 && platform_handlers_may_run();
    /* While others run, the file goes on receiving their counts until the kernel stops them: it is right as it is. So it is for
     * what handlers count, if it is not much larger than a second one, and when there is no room for that. */
    bool saved = process->raw.in_use && others == 0 && !name_is_taken(process) && process->pool_at == 0 &&
                 !(handlers_count && is_small(process)) && snapshot_save(process, fate, status, 0, process->raw.path, NULL) == 0;
    if (process->raw.in_use && !saved) {
        rescue(process, others != 0, true, handlers_count);
        note_strangers(process, others);
        raw_set_fate(process, fate, status, others_running_at_end(process, running, true));
        if (handlers_count)
            pool_help(process); /* the next one adds this one */
        else if (others == 0)
            pool_take(process);
    }
    /* The first file may be there still, out of reach by its name (chroot, another mount). */
    if (saved)
        raw_set_fate(process, fate, status, 0);
    process_unlock(process);
}

void process_expect(struct process *process, enum raw_fate fate, int status, uintptr_t stack) {
    if (process->finished || !process_is_caller(process))
        return;
    process_lock(process);
    process->expected = (struct expected_end){fate, status, platform_thread_id(), stack};
    process_unlock(process);
}

void process_expect_no_more(struct process *process, uintptr_t target) {
    struct expected_end *expected = &process->expected;
    bool leaves = expected->fate != FATE_NOT_SEEN && (target == 0 || target > expected->stack) && expected->thread == platform_thread_id();
    if (!leaves)
        return;
    process_revoke(process, expected->fate);
    expected->fate = FATE_NOT_SEEN;
}

/* libc ends a quick_exit by _exit, and an abort by raise. */
static bool is_expected(const struct expected_end *expected, enum raw_fate fate, int status) {
    return (expected->fate == FATE_QUICK_EXIT && fate == FATE_EXIT_AT_ONCE && status == expected->status) ||
           (expected->fate == FATE_ABORT && fate == FATE_OWN_SIGNAL && status == SIGNAL_OF_ABORT);
}

void process_announce(struct process *process, enum raw_fate fate, int status, const char *exec_path, bool for_good) {
    if (process->finished || !process_is_caller(process))
        return;
    process_lock(process);
    if (is_expected(&process->expected, fate, status)) {
        fate = process->expected.fate;
        status = process->expected.status;
    }
    if (fate != process->announced)
        name_is_taken(process);
    several_threads_look(process);
    thread_absorb_own_bank(process);
    int others = others_alive(process);
    if (process->raw.in_use)
        rescue(process, others != 0, for_good, true);
    note_strangers(process, others);
    if (for_good && others != 0)
        pool_help(process);
    if (exec_path != NULL)
        entries_of_exec(exec_path, raw_log, process);
    process->announced = fate;
    raw_set_interrupted(process, handlers_running(process));
    raw_set_fate(process, fate, status, others_running_at_end(process, others, false));
    /* Nothing comes behind _exit, not even a signal's handler, but what a preloaded library has in its place. */
    if (for_good && others == 0 && pool_take(process)) {
        process->finished = true;
        process_unlock_for_good(process);
        return;
    }
    process_unlock(process);
}

void process_leave(struct process *process, uint32_t activations) {
    if (process->finished || process->pid != platform_process_id())
        return;
    process_lock(process);
    process->left = process->left > UINT32_MAX - activations ? UINT32_MAX : process->left + activations;
    raw_set_interrupted(process, process->interrupted);
    process_unlock(process);
}

void process_revoke(struct process *process, enum raw_fate fate) {
    if (process->finished || !process_is_caller(process))
        return;
    process_lock(process);
    if (process->announced == fate) {
        process->announced = FATE_NOT_SEEN;
        raw_tell_in_memory(process, 0);
        raw_set_fate(process, FATE_NOT_SEEN, 0, 0);
        raw_set_waiting(process, 0);
    }
    process_unlock(process);
}
