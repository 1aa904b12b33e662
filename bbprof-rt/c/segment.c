/* segment.c: stretches of counters: who counts where, and their sums.
 *
 * A thread counts in a segment alone. When it is dead, the next one takes the segment over and counts on top; so there are as many
 * as threads ran at once, and nothing is merged when a thread ends. */
#include "process.h"

#include <errno.h>

static struct segment *create(struct process *process, struct image *image, enum bank bank, enum raw_role role, uint64_t *view,
                              uint64_t offset) {
    struct segment *segment = process_allocate(process, sizeof *segment);
    if (segment == NULL) {
        platform_unmap(view, bank_bytes(image, bank));
        return NULL;
    }
    struct raw_told told = {process, true};
    if (offset != 0)
        entry_of_segment(image, bank, offset, role, raw_tell, &told);
    if (!told.is_there && role != ROLE_COUNTS) {
        platform_unmap(view, bank_bytes(image, bank));
        return NULL;
    }
    /* What no entry names is not in the file for its readers. */
    *segment = (struct segment){.view = view, .offset = told.is_there ? offset : 0, .role = (uint16_t)role};
    struct segment **end = &image->segments[bank];
    while (*end != NULL)
        end = &(*end)->next;
    *end = segment;
    return segment;
}

struct segment *segment_create(struct process *process, struct image *image, enum bank bank) {
    uint64_t offset;
    uint64_t *view = raw_reserve(process, bank_bytes(image, bank), &offset);
    return view == NULL ? NULL : create(process, image, bank, ROLE_COUNTS, view, offset);
}

struct segment *segment_create_baseline(struct process *process, struct image *image, enum bank bank, enum raw_role role, int *why) {
    uint64_t offset = 0;
    uint64_t *view = raw_reserve_beside_counts(process, bank_bytes(image, bank), &offset, why);
    struct segment *segment = view == NULL ? NULL : create(process, image, bank, role, view, offset);
    if (view != NULL && segment == NULL)
        *why = offset != 0 ? -ENOSPC : -ENOMEM;
    return segment;
}

int32_t owner_calling(const struct process *process) {
    int32_t number = platform_process_id();
    return process->pid == number ? platform_thread_id() : -number;
}

bool thread_goes_on(const struct process *process, int32_t thread) {
    return thread > 0 && platform_thread_exists(process->pid, thread) && !platform_thread_is_ending(thread);
}

bool owner_is_gone(const struct process *process, int32_t owner) {
    if (owner > 0)
        return !platform_thread_exists(process->pid, owner);
    return owner == THREAD_NONE || (owner != THREAD_STARTING && !platform_process_exists(-owner));
}

/* The owner's segment, or one that nobody counts in any more. */
static struct segment *find(const struct process *process, const struct image *image, enum bank bank, int32_t owner) {
    /* A new thread may have a dead one's number; vfork's child asks for the same each time. */
    for (struct segment *segment = image->segments[bank]; segment != NULL && bank == BANK_GLOBAL; segment = segment->next)
        if (segment->role == ROLE_COUNTS && segment->owner == owner)
            return segment;
    for (struct segment *segment = image->segments[bank]; segment != NULL; segment = segment->next) {
        /* Threads with a TLS bank hand their segment back; of those with a block one learns that they died from the kernel. */
        bool is_free = bank == BANK_GLOBAL ? owner_is_gone(process, segment->owner)
                                           : segment->owner == THREAD_NONE && !thread_goes_on(process, segment->left_by);
        if (segment->role == ROLE_COUNTS && is_free)
            return segment;
    }
    return NULL;
}

struct segment *segment_acquire(struct process *process, struct image *image, enum bank bank, int32_t owner) {
    struct segment *segment = find(process, image, bank, owner);
    if (segment == NULL)
        segment = segment_create(process, image, bank);
    if (segment == NULL)
        return NULL;
    segment->owner = owner;
    if (segment->offset == 0)
        raw_tell_in_memory(process, 0);
    return segment;
}

void counters_move(uint64_t *to, uint64_t *from, uint64_t num_counters) {
    for (uint64_t i = 0; i < num_counters; i++) {
        /* Most are zero, those of paths above all: step over them, and do not touch their pages. */
        while (num_counters - i >= 8 && (from[i] | from[i + 1] | from[i + 2] | from[i + 3] | from[i + 4] | from[i + 5] | from[i + 6] | from[i + 7]) == 0)
            i += 8;
        if (i == num_counters)
            return;
        if (from[i] != 0) {
            to[i] += from[i];
            from[i] = 0;
        }
    }
}

/* A guess: fewer pages are made as fast as they are moved. */
#define LEAST_PARKED_BYTES (UINT64_C(64) * BBPROF_PAGE_BYTES)
/* Memory that is kept for no other reason than speed. */
#define MOST_PARKED_BYTES (UINT64_C(64) << 20)

/* libc clears the pages of a thread's bank for the next one on the same stack, and each
 * fresh one would be made and thrown away for that. */
static void park(struct process *process, const struct image *image, struct segment *segment, uint64_t *place) {
    uint64_t num_bytes = bank_bytes(image, BANK_TLS);
    if (num_bytes >= LEAST_PARKED_BYTES && process->parked_bytes + num_bytes <= MOST_PARKED_BYTES)
        segment->parked = platform_move_pages(place, num_bytes);
    if (segment->parked != NULL)
        process->parked_bytes += num_bytes;
}

void segment_forget_parked(struct process *process, const struct image *image, struct segment *segment) {
    if (segment->parked == NULL)
        return;
    platform_unmap(segment->parked, bank_bytes(image, BANK_TLS));
    process->parked_bytes -= bank_bytes(image, BANK_TLS);
    segment->parked = NULL;
}

static bool unpark(struct process *process, const struct image *image, struct segment *segment) {
    uint64_t num_bytes = bank_bytes(image, BANK_TLS);
    if (segment->parked == NULL || !platform_move_pages_back(segment->parked, segment->place, num_bytes))
        return false;
    process->parked_bytes -= num_bytes;
    segment->parked = NULL;
    return true;
}

void segment_attach(struct process *process, const struct image *image, enum bank bank, struct segment *segment, uint64_t *place) {
    bool can_map = ((uintptr_t)place & (BBPROF_PAGE_BYTES - 1)) == 0;
    counters_move(segment->view, place, image->counters[bank]);
    /* The first thread's stays as it is. */
    if (can_map && bank == BANK_TLS && segment != image->segments[bank])
        park(process, image, segment, place);
    if (can_map && raw_map_over(process, place, segment->view, segment->offset, bank_bytes(image, bank)) == 0) {
        segment->place = place;
        return;
    }
    segment->aside = place;
    raw_tell_in_memory(process, IN_MEMORY_NOT_MAPPED);
}

bool segment_detach(struct process *process, const struct image *image, enum bank bank, struct segment *segment) {
    if (segment->place != NULL && !unpark(process, image, segment) && platform_map_fresh(segment->place, bank_bytes(image, bank)) != 0)
        return false;
    segment_forget_parked(process, image, segment);
    if (segment->aside != NULL)
        counters_move(segment->view, segment->aside, image->counters[bank]);
    segment->place = NULL;
    segment->aside = NULL;
    return true;
}

bool segments_rescue(const struct image *image, enum bank bank, bool others_count, bool counts_on) {
    int32_t self = platform_thread_id();
    bool is_all = true;
    struct segment *first = image->segments[bank];
    for (struct segment *segment = first; segment != NULL; segment = segment->next) {
        if (segment->role != ROLE_COUNTS || (others_count && segment->owner != self && segment->owner != THREAD_NONE))
            continue;
        bool is_own = segment->owner == self || bank == BANK_GLOBAL;
        if (segment->aside != NULL && is_own)
            counters_move(segment->view, segment->aside, image->counters[bank]);
        if (segment->offset == 0 && first->offset != 0)
            counters_move(first->view, segment->view, image->counters[bank]);
        bool is_moved = first->offset != 0 && (segment->aside == NULL || is_own);
        bool is_in_use = counts_on && ((segment->offset == 0 && segment->owner == self) || segment->aside != NULL);
        is_all = is_all && is_moved && !is_in_use;
    }
    return is_all;
}

bool segments_are_in_file(const struct image *image, enum bank bank) {
    for (const struct segment *segment = image->segments[bank]; segment != NULL; segment = segment->next)
        if (segment->role == ROLE_COUNTS && (segment->offset == 0 || segment->aside != NULL))
            return false;
    return true;
}

static inline __attribute__((always_inline)) uint64_t load(const uint64_t *counter) {
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

uint64_t segments_total(const struct image *image, enum bank bank) {
    uint64_t total = 0;
    for (const struct segment *segment = image->segments[bank]; segment != NULL; segment = segment->next)
        if (segment->role == ROLE_COUNTS && segment->offset != 0)
            for (uint64_t i = 0; i < image->counters[bank]; i++)
                total += load(&segment->view[i]);
    return total;
}

/* Four in one turn: most that the runtime does at a process's end is this and the checksum. */
static void copy(uint64_t *to, const uint64_t *from, uint64_t num) {
    for (; num >= 4; num -= 4, to += 4, from += 4) {
        to[0] = load(&from[0]);
        to[1] = load(&from[1]);
        to[2] = load(&from[2]);
        to[3] = load(&from[3]);
    }
    for (; num != 0; num--)
        *to++ = load(from++);
}

void segments_sum(const struct process *process, const struct image *image, enum bank bank, uint64_t first, uint64_t num, uint64_t *sums) {
    /* There is a segment of role counts, the first, for each bank that has counters. */
    bool is_first = true;
    for (const struct segment *segment = image->segments[bank]; segment != NULL; segment = segment->next) {
        const uint64_t *view = segment->view + first;
        if (segment->role == ROLE_COUNTS) {
            if (is_first)
                copy(sums, view, num);
            else
                for (uint64_t i = 0; i < num; i++)
                    sums[i] += load(&view[i]);
            is_first = false;
            if (segment->aside != NULL)
                for (uint64_t i = 0; i < num; i++)
                    sums[i] += load(&segment->aside[first + i]);
        } else if (segment->role == process->baseline) {
            for (uint64_t i = 0; i < num; i++)
                sums[i] -= view[i];
        }
    }
}
