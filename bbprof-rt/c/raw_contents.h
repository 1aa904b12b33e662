/* raw_contents.h: what is in the raw profile of another process, or in a pool of such. */
#ifndef BBPROF_RAW_CONTENTS_H
#define BBPROF_RAW_CONTENTS_H

#include "process.h"

/* An image, as its log tells it. */
struct told_image {
    struct told_image *next;
    struct raw_entry entry;
    uint64_t presence;         /* checksum of its table */
    bool has_counts[NUM_BANKS]; /* the log tells where they are; in that of a running process a kill may have come before */
    struct told_image *target; /* where its counts are added */
    uint32_t target_index;
    bool is_new; /* `target` is itself */
};

struct told_segment {
    struct told_segment *next;
    struct told_image *image;
    uint32_t bank;
    bool is_baseline; /* what was counted before the last reset, in this image and bank */
    uint64_t offset;
};

/* Records of paths. */
struct told_paths {
    struct told_paths *next;
    struct told_image *image;
    uint64_t offset, records;
};

struct told_note {
    struct told_note *next;
    struct raw_entry entry;
};

/* How processes ended, and all else that is to be said of their counts. One process has
 * one; in a pool those of which the same is to be said. */
struct told_ending {
    struct told_ending *next;
    struct raw_entry fate, waits; /* the second only if the first says that threads waited */
    struct told_note *notes;
};

struct raw_contents {
    int file; /* < 0: there is none, and all is empty */
    bool complete;
    struct raw_header header;
    uint32_t num_images;
    struct told_image *images, *last_image;
    struct told_segment *segments;
    struct told_paths *paths;
    struct told_ending *endings, *last_ending;
    struct process *process; /* lends the memory */
};

/* Nothing at all. */
void raw_contents_none(struct process *process, struct raw_contents *contents);
/* Reads all but the counters; of a complete file, also the checksum over them, of a running one the counters, too, where threads
 * waited at its end: if they still have the sum of that moment, the ending's entry says 0, else 1. */
int raw_contents_read(struct process *process, int file, struct raw_contents *contents);
typedef int (*entry_visitor)(void *context, const struct raw_entry *entry);
/* Hands on the entries of the log, in order, until the visitor does not return 0. */
int raw_contents_walk(const struct raw_contents *contents, entry_visitor visit, void *context);
bool entry_is(const struct raw_entry *entry, const char *kind);
/* Records have this many bytes. */
static inline uint64_t told_record_bytes(const struct raw_contents *contents) {
    return contents->complete ? RAW_PATH_COMPLETE_BYTES : sizeof(struct raw_path);
}

/* raw_ending.c */
/* The first entry of one more ending. */
int ending_begin(struct raw_contents *contents, const struct raw_entry *fate);
/* The ending of one process, as its header tells it. */
int ending_of_process(struct raw_contents *contents);
/* What else is said of the last ending. */
int ending_tell(struct raw_contents *contents, const struct raw_entry *entry);
/* Puts the comparison of the sums in the place of the process's own. */
int ending_compare_sum(struct raw_contents *contents);
/* Is nothing to be said of the counts but how the process ended? */
bool ending_is_exact(const struct told_ending *ending);
/* Is the same said by both, but for the number of processes? */
bool endings_alike(const struct told_ending *a, const struct told_ending *b);
void ending_put(const struct told_ending *ending, uint64_t processes, entry_sink sink, void *context);

static inline uint64_t told_counters(const struct told_image *image, uint32_t bank) {
    return bank == BANK_TLS ? image->entry.image.tls_counters : image->entry.image.global_counters;
}

/* Did the process come to counting in it? */
static inline bool told_wholly(const struct told_image *image) {
    bool is_whole = true;
    for (uint32_t bank = 0; bank < NUM_BANKS; bank++)
        is_whole = is_whole && (image->has_counts[bank] || told_counters(image, bank) == 0);
    return is_whole;
}

#endif
