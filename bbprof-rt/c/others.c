/* others.c: the other threads of the process: how many there are, and which of them may be in the middle of a
 * block. One that waits in a system call is not, unless in a handler that interrupted one: it is in a call from
 * which it may not come back, and counts are right as they are. */
#include "process.h"

/* Has it counters in this segment, or had it until a moment ago? */
static bool is_known_by(const struct process *process, const struct segment *segment) {
    int32_t thread = segment->owner == THREAD_NONE ? segment->left_by : segment->owner;
    return thread == THREAD_STARTING || (thread != platform_thread_id() && thread_goes_on(process, thread));
}

/* Other threads that are known to have counters in these banks, up to the last, or to have had them, and are not yet dead. */
int others_with_counters(const struct process *process, enum bank first, enum bank last) {
    int alive = 0;
    for (const struct image *image = process->images; image != NULL; image = image->next)
        for (unsigned bank = first; bank <= (unsigned)last; bank++)
            for (const struct segment *segment = image->segments[bank]; segment != NULL; segment = segment->next)
                alive += is_known_by(process, segment);
    return alive;
}

static bool has_common_counters(const struct process *process) {
    for (const struct image *image = process->images; image != NULL; image = image->next)
        if (image->counters[BANK_GLOBAL] != 0 && (image->flags & BBPROF_FLAG_DELTA) == 0)
            return true;
    return false;
}

/* Where they cannot be listed, threads are known by their counters; one is taken to be there where all count in the same. */
int others_alive(const struct process *process) {
    int others = platform_other_threads(process->helper);
    if (others >= 0)
        return others;
    others = others_with_counters(process, BANK_TLS, BANK_GLOBAL);
    return others == 0 && process->has_threads && has_common_counters(process) ? 1 : others;
}

static bool is_interrupted(void *process, uintptr_t stack) {
    return handlers_running_elsewhere(process, stack) != 0;
}

void others_look(struct process *process, struct threads_look *look) {
    platform_look_at_threads(process->helper, process, sizeof *process, is_interrupted, look);
}

bool others_have_waited(struct process *process, const struct threads_look *since) {
    struct threads_look now;
    if (!since->told || !since->blocked)
        return false;
    others_look(process, &now);
    return now.told && now.fingerprint == since->fingerprint;
}

/* What waits for another thread goes on waiting, as nobody is left to wake it. */
static int still_running(struct process *process, int others, struct threads_look *look) {
    others_look(process, look);
    return others != 0 && look->resting && others_have_waited(process, look) ? 0 : others;
}

static uint64_t counted(const struct process *process) {
    uint64_t sum = 0;
    for (const struct image *image = process->images; image != NULL; image = image->next)
        sum += segments_total(image, BANK_TLS) + segments_total(image, BANK_GLOBAL) + path_tables_total(image);
    return sum;
}

#define FIRST_PAUSE_NS 100000u

/* Who waits for time, or for the world, may come back before the process ends. Readers
 * see that by the sum of all counts, which only grows. */
static bool tell_of_waits(struct process *process, const struct threads_look *look, uint64_t sum) {
    uint32_t waiting = 0;
    for (unsigned i = 0; i < CALLS_TOLD; i++)
        waiting += look->calls[i].threads;
    struct raw_told told = {process, true};
    entry_of_waits(sum, look->calls, raw_tell, &told);
    if (told.is_there)
        raw_set_waiting(process, waiting);
    return told.is_there;
}

/* Where one came back or ended between two looks, others may do nothing but wait. */
#define MOST_LOOKS 8

int others_running_at_end(struct process *process, int running, bool may_pause) {
    raw_set_waiting(process, 0);
    for (int looks = 1; running != 0; looks++) {
        struct threads_look look;
        if (still_running(process, running, &look) == 0)
            return 0;
        bool may_wait = look.told && look.blocked;
        uint64_t sum = may_wait ? counted(process) : 0;
        if (others_have_waited(process, &look))
            return tell_of_waits(process, &look, sum) ? 0 : running;
        if (!may_wait || !may_pause || looks == MOST_LOOKS)
            return running;
        process_lock_pause(process, FIRST_PAUSE_NS); /* threads end by it */
        running = others_alive(process);
    }
    return 0;
}

/* Threads of a pool look for work for a moment before they wait: they get that moment, of processor time, and what the kernel may
 * be late in reckoning it. Threads that begin or end come to their beginning or end. The longest wait is for busy machines, where
 * who yields the processor before it waits, as threads of rayon and crossbeam do, gets some microseconds of it at a time: with 4
 * busy processes on 2 processors rayon's rest after 0.15 s (0.2 s at the most, in 60 runs), with 6 after 0.2 s (0.3 s). */
#define MOMENT_NS 1000000
#define LATENESS_NS 10000000 /* the longest tick of Linux */
#define LONGEST_PAUSE_NS 5000000u
#define LONGEST_WAIT_NS 1000000000u
/* With what the looks take, which may be a tenth of a second each where there are a thousand threads. */
#define LONGEST_IN_ALL_NS 4000000000u

int others_running_soon(struct process *process, int others) {
    struct threads_look look;
    int running = others == 0 ? 0 : still_running(process, others, &look);
    if (running == 0)
        return 0;
    const int64_t at_first = platform_time_of_others_ns(), allowed = LATENESS_NS + (int64_t)others * MOMENT_NS;
    const uint64_t begun = platform_wall_clock_ns();
    bool are_ending = false;
    uint64_t pause = FIRST_PAUSE_NS;
    for (uint64_t waited = 0; running != 0 && waited < LONGEST_WAIT_NS; waited += pause) {
        /* A clock that is set meanwhile may end it. */
        if (platform_wall_clock_ns() - begun > LONGEST_IN_ALL_NS)
            break;
        /* Who waits for time, or for the world, does so for longer, unless to end; what cannot be looked at does not get better. */
        if (!look.told || platform_time_of_others_ns() - at_first > allowed || (look.settled && waited > MOMENT_NS && !are_ending))
            break;
        process_lock_pause(process, pause); /* threads begin and end by it */
        pause = pause * 5 / 4 < LONGEST_PAUSE_NS ? pause * 5 / 4 : LONGEST_PAUSE_NS;
        others_look(process, &look);
        int alive = others_alive(process);
        are_ending = alive < others;
        others = alive;
        running = look.told && !look.settled ? others : still_running(process, others, &look);
    }
    return running;
}
