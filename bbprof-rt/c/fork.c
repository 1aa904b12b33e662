/* fork.c: a fork's child starts from zero, in a file of its own.
 *
 * The child inherits mappings of the parent's file; they must be replaced before it counts anything. So signals are blocked from
 * before the fork until that is done (the lock does it), and these handlers are registered before all others, so that they run
 * closest to the fork. vfork's children are left alone: what they execute, the parent's memory executes.
 *
 * A program that is not profiled may register handlers before it opens a profiled library: they run between ours, and may fork
 * themselves, or close and open libraries. So what leads the forking thread to its counters is withheld from it meanwhile, and
 * it asks each time. If it is the child that asks, it begins then. */
#include "process.h"

#include "text.h"

/* glibc's, which libc.so has, and everybody else's: glibc has pthread_atfork in a static
 * part, which a weak reference does not pull in. */
extern int __register_atfork(void (*)(void), void (*)(void), void (*)(void), void *) __attribute__((weak));
extern int pthread_atfork(void (*)(void), void (*)(void), void (*)(void)) __attribute__((weak));

BBPROF_HIDDEN struct path_table **(*fork_path_table_of_caller)(void);

/* Of this copy's image. */
static void withhold(struct image *image) {
    struct withheld *withheld = &image->withheld;
    withheld->path_table = fork_path_table_of_caller == NULL ? NULL : fork_path_table_of_caller();
    if (withheld->path_table != NULL) {
        withheld->path_table_value = *withheld->path_table;
        *withheld->path_table = NULL;
    }
    withheld->delta_value = __bbprof_delta;
    __bbprof_delta = BBPROF_DELTA_NONE;
    withheld->delta = &__bbprof_delta;
}

/* All libraries' at once, before others may go in beside the fork, and libraries with them. */
static void withhold_all(struct process *process) {
    for (struct image *image = process->images; image != NULL; image = image->next)
        if (image->loaded)
            image->forks.withhold(image);
}

static void give_back(struct process *process) {
    for (struct image *image = process->images; image != NULL; image = image->next) {
        struct withheld *withheld = &image->withheld;
        if (withheld->delta == NULL)
            continue;
        *withheld->delta = withheld->delta_value;
        withheld->delta = NULL;
        if (withheld->path_table != NULL)
            *withheld->path_table = withheld->path_table_value;
    }
}

/* Another thread is unloading the library, and waits for who is in here. */
static bool has_left(void) {
    return !__atomic_load_n(&__bbprof_image.image->loaded, __ATOMIC_ACQUIRE);
}

static bool prepare(struct process *process) {
    if (!process_lock_to_fork(process, has_left))
        return false;
    if (has_left()) {
        process_unlock(process);
        return false;
    }
    /* A handler of another fork may be who forks; wrappers call this twice. */
    if (process->forks_inside++ == 0 && !process->has_program)
        withhold_all(process);
    process->forks_to_go_on = process->forks_to_go_on << 1 | process->is_forking;
    process_lock_for_fork(process);
    return true;
}

/* Whether a fork goes on whose handler did this one, which is done. */
static bool end_fork(struct process *process) {
    bool goes_on = (process->forks_to_go_on & 1) != 0;
    process->forks_to_go_on >>= 1;
    process->forks_inside--;
    return goes_on;
}

static bool in_parent(struct process *process) {
    bool goes_on = end_fork(process);
    if (!goes_on)
        process_lock_behind_fork(process);
    if (process->forks_inside > 0) {
        process_lock_behind_inner_fork(process);
        return true;
    }
    give_back(process);
    process_unlock(process);
    return true;
}

/* Moves a segment of the forking thread, or an image's first one, into the child's file: zeroed, mapped where the old one was. */
static void rehouse(struct process *process, struct image *image, enum bank bank, struct segment *segment, bool own) {
    uint64_t num_bytes = bank_bytes(image, bank), offset;
    uint64_t *view = raw_reserve(process, num_bytes, &offset);
    bool is_block = own && bank == BANK_GLOBAL && segment != image->segments[bank];
    if (view == NULL) {
        /* No memory is left but that of the parent's pages, which the child must not keep. */
        if (platform_map_fresh(segment->view, num_bytes) != 0)
            note_for_good(process, NOTE_THREAD_WITHOUT_COUNTERS);
    } else if (is_block && raw_map_over(process, segment->view, view, offset, num_bytes) == 0) {
        /* The thread knows its block by address. */
        platform_unmap(view, num_bytes);
    } else {
        platform_unmap(segment->view, num_bytes);
        segment->view = view;
    }
    segment->offset = offset;
    if (segment->aside != NULL) {
        for (uint64_t i = 0; i < image->counters[bank]; i++)
            segment->aside[i] = 0;
        raw_tell_in_memory(process, IN_MEMORY_NOT_MAPPED);
    }
    if (segment->place != NULL && (own || bank == BANK_GLOBAL)) {
        if (raw_map_over(process, segment->place, segment->view, offset, num_bytes) != 0) {
            segment->aside = segment->place;
            segment->place = NULL;
            raw_tell_in_memory(process, IN_MEMORY_NOT_MAPPED);
        }
    } else if (segment->place != NULL) {
        /* The TLS of a thread that is not in the child; libc will use its stack again. */
        platform_map_fresh(segment->place, num_bytes);
        segment->place = NULL;
    }
    segment->owner = own ? platform_thread_id() : THREAD_NONE;
    segment->left_by = 0;
}

/* The counters of a thread that ended by a bare system call stay where they were, until libc
 * unmaps its stack: the program may have other memory there. */
static bool is_in_place(const struct segment *segment) {
    return segment->place != NULL && (platform_thread_exists(platform_parent_id(), segment->owner) || platform_is_shared_memory(segment->place, BBPROF_PAGE_BYTES));
}

static void restart_bank(struct process *process, struct image *image, enum bank bank) {
    struct segment *first = image->segments[bank];
    struct segment **link = &image->segments[bank];
    while (*link != NULL) {
        struct segment *segment = *link;
        bool own = segment->role == ROLE_COUNTS && segment->owner == process->forking_thread;
        if (own || segment == first) {
            rehouse(process, image, bank, segment, own);
            if (segment->offset != 0)
                entry_of_segment(image, bank, segment->offset, ROLE_COUNTS, raw_log, process);
            link = &segment->next;
            continue;
        }
        if (is_in_place(segment))
            platform_map_fresh(segment->place, bank_bytes(image, bank));
        segment_forget_parked(process, image, segment);
        platform_unmap(segment->view, bank_bytes(image, bank));
        *link = segment->next;
    }
}

/* What a child counts without a file is lost; its stderr may be closed, as daemons do, so the profile that it came from says it. */
static void tell_forebear(struct process *process, struct raw_header *forebears) {
    process->raw.forebears = process->raw.in_use ? NULL : forebears;
    if (forebears == NULL)
        return;
    if (process->raw.in_use)
        platform_unmap(forebears, RAW_PAGE_BYTES);
    else
        raw_note_lost_child(forebears);
}

void fork_begin_child(struct process *process) {
    bool was_changing = process_lock_inherit(process);
    give_back(process);
    /* Not who the kernel says: a daemon's parents end at once, and the child is another's by then. */
    process->parent_pid = process->pid;
    process->pid = platform_process_id();
    process->pid_namespace = platform_pid_namespace();
    process->start_ticks = platform_start_ticks();
    process->begun_ns = platform_wall_clock_ns();
    process->is_fork_child = true;
    process->has_threads = false;
    process->libc_waits = 0;
    process->noted_for_good = 0;
    process->has_complained = process->has_noted_strangers = false;
    process->finished = false;
    process->announced = FATE_NOT_SEEN;
    process->expected.fate = FATE_NOT_SEEN;
    process->interrupted = process->left = process->in_memory = 0;
    process->baseline = process->resets = 0;
    uint32_t interrupted = handlers_running(process);
    process->at_reset = at_beginning(0, interrupted);
    process->threads = 0;
    process->num_dumps = 0;
    struct raw_header *forebears = process->raw.in_use ? process->raw.header : process->raw.forebears;
    raw_begin(process);
    process->num_images = 0;
    if (process->gate != NULL)
        process->gate->entering = 0;
    for (struct image *image = process->images; image != NULL; image = image->next) {
        image->forks.inside = 0; /* nobody else is in the child */
        image->index = process->num_images++;
        entries_of_image(image, raw_log, process);
        restart_bank(process, image, BANK_TLS);
        restart_bank(process, image, BANK_GLOBAL);
        path_tables_restart(process, image, interrupted != 0);
    }
    if (was_changing)
        note_for_good(process, NOTE_CHANGE_IN_FORK);
    raw_publish(process);
    tell_forebear(process, forebears);
    if (process->helper != 0)
        schedule_restart(process);
}

static bool in_child(struct process *process) {
    if (process->is_forking)
        fork_begin_child(process);
    bool goes_on = end_fork(process);
    if (process->forks_inside > 0) {
        process_lock_behind_inner_fork(process);
        if (goes_on && !process->has_program) {
            withhold_all(process);
            process_lock_for_fork(process);
        }
        return true;
    }
    process_unlock(process);
    return true;
}

void fork_join(struct process *process, struct image *image) {
    image->forks = (struct fork_handlers){.prepare = prepare, .in_parent = in_parent, .in_child = in_child, .withhold = withhold};
    if (process->gate != NULL && process->gate->image == NULL)
        __atomic_store_n(&process->gate->image, image, __ATOMIC_RELEASE);
}

/* As libc calls them where nothing is unloaded: in programs, and with a libc that keeps libraries. Wrappers of fork call
 * them again. The lock counts. */
static void fork_prepare(void) {
    struct process *process = process_current();
    if (process != NULL)
        prepare(process);
}

static void fork_in_parent(void) {
    struct process *process = process_current();
    if (process != NULL)
        in_parent(process);
}

static void fork_in_child(void) {
    struct process *process = process_current();
    if (process != NULL)
        in_child(process);
}

int32_t fork_between_handlers(int32_t (*real_fork)(void)) {
    fork_prepare();
    int32_t child = real_fork();
    if (child == 0)
        fork_in_child();
    else
        fork_in_parent();
    return child;
}

/* For good, and so nobody's: glibc drops those of an image (its `__dso_handle`'s) before the last destructors of the image, and
 * those of the libraries behind a program, have run, which may fork, too. */
static void register_for_good(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
    if (__register_atfork != NULL)
        __register_atfork(before, in_parent, in_child, NULL);
    else if (pthread_atfork != NULL)
        pthread_atfork(before, in_parent, in_child);
}

#ifdef BBPROF_RT_EXEC

void fork_register(const struct process *process) {
    (void)process;
    register_for_good(fork_prepare, fork_in_parent, fork_in_child);
}

#else

bool fork_prepare_gate(struct process *process) {
    if (__register_atfork != NULL)
        process->gate = fork_gate_make(process);
    return __register_atfork == NULL || process->gate != NULL;
}

void fork_register(const struct process *process) {
    if (process->gate != NULL)
        fork_gate_entries(process->gate, register_for_good);
    else
        register_for_good(fork_prepare, fork_in_parent, fork_in_child);
}

/* The gate leads to another library from now on, if there is one. */
void fork_leave(struct process *process, struct image *image) {
    image->withheld.delta = NULL;
    if (process->gate == NULL || process->gate->image != image)
        return;
    struct image *other = process->images;
    while (other != NULL && (other == image || !other->loaded))
        other = other->next;
    __atomic_store_n(&process->gate->image, other, __ATOMIC_SEQ_CST);
    if (other == NULL)
        process_lock_leave_fork(process);
}

#define PAUSE_NS 20000u
#define PAUSES 50000u /* a second: a child made by a bare system call has it from a thread that it does not have */

void fork_wait_for_others(const struct process *process, const struct image *image) {
    if (process->gate == NULL)
        return;
    for (unsigned pauses = 0; fork_gate_is_in_use(process->gate, image) && pauses < PAUSES; pauses++)
        platform_sleep(PAUSE_NS);
}
#endif
