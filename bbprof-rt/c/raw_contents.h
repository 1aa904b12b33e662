/* raw_contents.h: what is in the raw profile of another process, or in a pool of such. */
#ifndef BBPROF_RAW_CONTENTS_H
#define BBPROF_RAW_CONTENTS_H

#include "process.h"

/* An image, as its log tells it. */
struct told_image {
    struct told_image *next;
    struct raw_entry entry;
    uint64_t presence;         /* checksum of its table */
    struct told_image *target; /* where its counts are added */
    uint32_t target_index;
    bool is_new; /* `target` is itself */
};

struct told_segment {
    struct told_segment *next;
    struct told_image *image;
    uint32_t bank;
    uint64_t offset;
};

struct told_fate {
    struct told_fate *next;
    uint32_t fate;
    uint64_t processes;
};

struct raw_contents {
    int file; /* < 0: there is none, and all is empty */
    bool complete, has_notes;
    struct raw_header header;
    uint32_t num_images;
    struct told_image *images;
    struct told_segment *segments;
    struct told_fate *fates;
    struct process *process; /* lends the memory */
};

/* Nothing at all. */
void raw_contents_none(struct process *process, struct raw_contents *contents);
/* Reads all but the counters; of a complete file, also the checksum over them. */
int raw_contents_read(struct process *process, int file, struct raw_contents *contents);
typedef int (*entry_visitor)(void *context, const struct raw_entry *entry);
/* Hands on the entries of the log, in order, until the visitor does not return 0. */
int raw_contents_walk(const struct raw_contents *contents, entry_visitor visit, void *context);
bool entry_is(const struct raw_entry *entry, const char *kind);

static inline uint64_t told_counters(const struct told_image *image, uint32_t bank) {
    return bank == BANK_TLS ? image->entry.image.tls_counters : image->entry.image.global_counters;
}

#endif
