/* raw_ending.c: what a raw profile says of the end of its process, or of those of many, for who adds it up. */
#include "raw_contents.h"

#include "text.h"

#include <errno.h>

int ending_begin(struct raw_contents *contents, const struct raw_entry *fate) {
    struct told_ending *ending = process_allocate(contents->process, sizeof *ending);
    if (ending == NULL)
        return -ENOMEM;
    bytes_clear(ending, sizeof *ending);
    ending->fate = *fate;
    *(contents->last_ending == NULL ? &contents->endings : &contents->last_ending->next) = ending;
    contents->last_ending = ending;
    return 0;
}

int ending_of_process(struct raw_contents *contents) {
    const struct raw_header *header = &contents->header;
    struct raw_entry entry;
    bytes_clear(&entry, sizeof entry);
    entry.fate.fate = (uint32_t)header->fate;
    entry.fate.waiting = (uint32_t)header->waiting;
    entry.fate.processes = 1;
    entry.fate.interrupted = (uint32_t)header->interrupted;
    entry.fate.resets = (uint32_t)header->resets;
    entry.fate.at_reset = (uint32_t)header->at_reset;
    entry.fate.lost_children = (uint32_t)header->lost_children;
    entry.fate.in_memory = (uint32_t)header->in_memory;
    return ending_begin(contents, &entry);
}

/* An entry behind the one that began the last ending. */
int ending_tell(struct raw_contents *contents, const struct raw_entry *entry) {
    struct told_ending *ending = contents->last_ending;
    if (ending == NULL)
        return -EBADMSG;
    if (entry_is(entry, "WAIT")) {
        ending->waits = *entry;
        return 0;
    }
    struct told_note *note = process_allocate(contents->process, sizeof *note), **end = &ending->notes;
    if (note == NULL)
        return -ENOMEM;
    *note = (struct told_note){NULL, *entry};
    while (*end != NULL)
        end = &(*end)->next;
    *end = note;
    return 0;
}

/* The sum of words of `num` records of this many bytes. */
static int add_words(const struct raw_contents *contents, uint64_t offset, uint64_t num, size_t record_bytes, size_t at, uint64_t *sum) {
    uint8_t *piece = contents->process->piece;
    const uint64_t at_once = PIECE_BYTES / record_bytes;
    for (uint64_t done = 0; done < num; done += at_once) {
        uint64_t now = num - done < at_once ? num - done : at_once;
        int why = platform_read_at(contents->file, offset + done * record_bytes, piece, now * record_bytes);
        if (why != 0)
            return why;
        for (uint64_t i = 0; i < now; i++)
            *sum += *(const raw_word *)(const void *)(piece + i * record_bytes + at);
    }
    return 0;
}

/* In ascending order of their numbers, those that are not used last: what is to be said alike is of the same bytes. */
static void put_in_order(struct raw_call calls[CALLS_TOLD]) {
    for (unsigned i = 0; i < CALLS_TOLD; i++) {
        for (unsigned k = i + 1; k < CALLS_TOLD; k++) {
            bool is_before = calls[k].threads != 0 && (calls[i].threads == 0 || calls[k].number < calls[i].number);
            struct raw_call moved = calls[i];
            calls[i] = is_before ? calls[k] : moved;
            calls[k] = is_before ? moved : calls[k];
        }
        if (calls[i].threads == 0)
            calls[i].number = 0;
    }
}

int ending_compare_sum(struct raw_contents *contents) {
    struct raw_entry *waits = &contents->endings->waits;
    uint64_t sum = 0;
    uint32_t waiting = 0;
    int why = 0;
    if (contents->endings->fate.fate.waiting == 0)
        return 0;
    for (unsigned i = 0; i < CALLS_TOLD; i++)
        waiting += waits->waits.calls[i].threads;
    if (waiting != contents->endings->fate.fate.waiting)
        return -EBADMSG;
    for (const struct told_segment *segment = contents->segments; segment != NULL && why == 0; segment = segment->next)
        if (!segment->is_baseline)
            why = add_words(contents, segment->offset, told_counters(segment->image, segment->bank), 8, 0, &sum);
    for (const struct told_paths *paths = contents->paths; paths != NULL && why == 0; paths = paths->next)
        why = add_words(contents, paths->offset, paths->records, told_record_bytes(contents), offsetof(struct raw_path, count), &sum);
    waits->waits.counted = sum != waits->waits.counted;
    put_in_order(waits->waits.calls);
    return why;
}

bool ending_is_exact(const struct told_ending *ending) {
    uint32_t fate = ending->fate.fate.fate, kind = fate & 0xff;
    return kind != FATE_NOT_SEEN && kind != FATE_SIGNAL && fate >> 16 == 0 && ending->fate.fate.interrupted == 0 &&
           ending->fate.fate.at_reset == 0 && ending->fate.fate.lost_children == 0 && ending->fate.fate.in_memory == 0 &&
           ending->notes == NULL && (ending->fate.fate.waiting == 0 || ending->waits.waits.counted == 0);
}

static bool words_equal(const struct raw_entry *a, const struct raw_entry *b) {
    return bytes_equal(a->words, b->words, sizeof a->words);
}

bool endings_alike(const struct told_ending *a, const struct told_ending *b) {
    struct raw_entry fate = b->fate;
    fate.fate.processes = a->fate.fate.processes;
    if (!words_equal(&a->fate, &fate) || (fate.fate.waiting != 0 && !words_equal(&a->waits, &b->waits)))
        return false;
    const struct told_note *note = a->notes, *other = b->notes;
    for (; note != NULL && other != NULL && words_equal(&note->entry, &other->entry); note = note->next)
        other = other->next;
    return note == NULL && other == NULL;
}

void ending_put(const struct told_ending *ending, uint64_t processes, entry_sink sink, void *context) {
    struct raw_entry entry = ending->fate;
    entry.fate.processes = processes;
    entry_seal(&entry, "FATE");
    sink(context, &entry);
    if (ending->fate.fate.waiting != 0) {
        entry = ending->waits;
        entry_seal(&entry, "WAIT");
        sink(context, &entry);
    }
    for (const struct told_note *note = ending->notes; note != NULL; note = note->next) {
        entry = note->entry;
        sink(context, &entry);
    }
}
