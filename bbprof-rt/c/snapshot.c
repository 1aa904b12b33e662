/* snapshot.c: the complete profile in one stream: header, log, summed counters, checksum. */
#include "process.h"

#include "text.h"

#include <errno.h>

#define COMPLETE_SUFFIX ".new"

/* The stream: goes to the sink in pieces, and is summed on the way. */
struct stream {
    byte_sink sink;
    void *context;
    uint64_t checksum;
    int why;
};

static void put(struct stream *stream, const void *bytes, size_t num_bytes) {
    stream->checksum = raw_checksum(stream->checksum, bytes, num_bytes);
    if (stream->why == 0)
        stream->why = stream->sink(stream->context, bytes, num_bytes);
}

static void put_entry(void *context, struct raw_entry *entry) {
    put(context, entry, sizeof *entry);
}

static void count_entry(void *context, struct raw_entry *entry) {
    uint64_t *num_entries = context;
    (void)entry;
    ++*num_entries;
}

/* Everything before the segments' entries. */
static void describe(const struct process *process, entry_sink sink, void *context) {
    entries_of_process(process, sink, context);
    for (const struct image *image = process->images; image != NULL; image = image->next)
        entries_of_image(image, sink, context);
}

static void put_counters(struct process *process, const struct image *image, enum bank bank, struct stream *stream) {
    uint64_t *sums = (uint64_t *)(void *)process->scratch;
    const uint64_t at_once = SCRATCH_BYTES / sizeof *sums;
    for (uint64_t first = 0; first < image->counters[bank]; first += at_once) {
        uint64_t left = image->counters[bank] - first;
        uint64_t num = left < at_once ? left : at_once;
        segments_sum(process, image, bank, first, num, sums);
        put(stream, sums, num * sizeof *sums);
    }
}

int snapshot_write(struct process *process, enum raw_fate fate, int status, int live_threads, byte_sink sink, void *context) {
    struct stream stream = {sink, context, RAW_CHECKSUM_SEED, 0};
    uint64_t num_entries = 1, num_counters = 0;
    describe(process, count_entry, &num_entries);
    for (const struct image *image = process->images; image != NULL; image = image->next) {
        for (int bank = 0; bank < NUM_BANKS; bank++) {
            num_entries += image->counters[bank] != 0;
            num_counters += image->counters[bank];
        }
    }
    uint64_t offset = sizeof(struct raw_header) + num_entries * sizeof(struct raw_entry);
    struct raw_header header;
    raw_fill_header(&header, process, RAW_STATE_COMPLETE, offset + num_counters * 8 + 8);
    header.fate = raw_guarded(raw_fate_word(fate, status, live_threads));
    put(&stream, &header, sizeof header);
    describe(process, put_entry, &stream);
    for (const struct image *image = process->images; image != NULL; image = image->next) {
        for (int bank = 0; bank < NUM_BANKS; bank++) {
            if (image->counters[bank] == 0)
                continue;
            entry_of_segment(image, (enum bank)bank, offset, ROLE_COUNTS, put_entry, &stream);
            offset += image->counters[bank] * 8;
        }
    }
    struct raw_entry end;
    for (int i = 0; i < 7; i++)
        end.words[i] = 0;
    entry_seal(&end, "END.");
    put(&stream, &end, sizeof end);
    for (const struct image *image = process->images; image != NULL; image = image->next)
        for (int bank = 0; bank < NUM_BANKS; bank++)
            put_counters(process, image, (enum bank)bank, &stream);
    uint64_t checksum = stream.checksum;
    put(&stream, &checksum, sizeof checksum);
    return stream.why;
}

struct file_target {
    int file;
    uint64_t length_bytes;
};

static int put_in_file(void *context, const void *bytes, size_t num_bytes) {
    struct file_target *target = context;
    target->length_bytes += num_bytes;
    int why = platform_length_allowed(target->length_bytes);
    return why != 0 ? why : platform_write_all(target->file, bytes, num_bytes);
}

int snapshot_save(struct process *process, enum raw_fate fate, int status, int live_threads, const char *path) {
    char *temporary = process->path_scratch[1];
    struct text text = text_in(temporary, sizeof process->path_scratch[1]);
    text_add(&text, path);
    text_add(&text, COMPLETE_SUFFIX);
    text_add_number(&text, (uint64_t)process->pid);
    if (text.cut)
        return -ENAMETOOLONG;
    struct file_identity there;
    if (platform_identify_path(path, &there) == 0 && !there.regular && !there.link)
        return -EEXIST;
    struct file_target target = {platform_open(temporary, OPEN_CREATE), 0};
    if (target.file < 0)
        return target.file;
    int why = snapshot_write(process, fate, status, live_threads, put_in_file, &target);
    platform_close(target.file);
    if (why == 0)
        why = platform_rename(temporary, path);
    if (why != 0)
        platform_remove(temporary);
    return why;
}
