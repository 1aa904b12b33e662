/* snapshot.c: the complete profile in one stream: header, log, summed counters, checksum. */
#include "process.h"
#include "stream.h"
#include "text.h"

#include <errno.h>

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
    const uint64_t at_once = BUFFER_BYTES / 8;
    for (uint64_t first = 0; first < image->counters[bank]; first += at_once) {
        uint64_t left = image->counters[bank] - first;
        uint64_t num = left < at_once ? left : at_once;
        uint64_t *sums = stream_room(stream, num * sizeof *sums);
        segments_sum(process, image, bank, first, num, sums);
        stream_put(stream, sums, num * sizeof *sums);
    }
}

static void put_path(void *context, const struct raw_path *path) {
    stream_put(context, path, RAW_PATH_COMPLETE_BYTES);
}

/* What will be written, in bytes. */
struct extent {
    uint64_t counters_at, length;
};

/* Paths that are counted for the first time from now on are not in the snapshot. */
static struct extent measure(struct process *process) {
    uint64_t num_entries = 1, num_counters = 0, num_paths = 0;
    describe(process, count_entry, &num_entries);
    for (struct image *image = process->images; image != NULL; image = image->next) {
        for (int bank = 0; bank < NUM_BANKS; bank++) {
            num_entries += image->counters[bank] != 0;
            num_counters += image->counters[bank];
        }
        uint64_t paths = path_tables_freeze(image);
        num_entries += paths != 0;
        num_paths += paths;
    }
    uint64_t counters_at = sizeof(struct raw_header) + num_entries * sizeof(struct raw_entry);
    uint64_t bytes = num_counters * 8 + num_paths * RAW_PATH_COMPLETE_BYTES;
    return (struct extent){counters_at, counters_at + bytes + sizeof(uint64_t)};
}

int snapshot_write(struct process *process, enum raw_fate fate, int status, int live_threads, byte_sink sink, void *context) {
    struct stream stream = stream_to(process, sink, context);
    struct extent extent = measure(process);
    struct raw_header header;
    raw_fill_header(&header, process, RAW_STATE_COMPLETE, extent.length);
    header.fate = raw_guarded(raw_fate_word(fate, status, live_threads));
    stream_put(&stream, &header, sizeof header);
    describe(process, stream_put_entry, &stream);
    uint64_t offset = extent.counters_at;
    for (const struct image *image = process->images; image != NULL; image = image->next) {
        for (int bank = 0; bank < NUM_BANKS; bank++) {
            if (image->counters[bank] == 0)
                continue;
            entry_of_segment(image, (enum bank)bank, offset, ROLE_COUNTS, stream_put_entry, &stream);
            offset += image->counters[bank] * 8;
        }
    }
    for (struct image *image = process->images; image != NULL; image = image->next) {
        uint64_t paths = path_tables_frozen(image);
        if (paths != 0)
            entry_of_paths(image->index, offset, RAW_PATH_COMPLETE_BYTES, paths, stream_put_entry, &stream);
        offset += paths * RAW_PATH_COMPLETE_BYTES;
    }
    stream_put_end(&stream);
    for (const struct image *image = process->images; image != NULL; image = image->next)
        for (int bank = 0; bank < NUM_BANKS; bank++)
            put_counters(process, image, (enum bank)bank, &stream);
    for (const struct image *image = process->images; image != NULL; image = image->next)
        path_tables_each(process, image, put_path, &stream);
    return stream_finish(&stream);
}

static int put_in_memory(void *context, const void *bytes, size_t num_bytes) {
    struct snapshot_copy *copy = context;
    if (num_bytes > copy->length - copy->filled)
        return -EAGAIN;
    bytes_copy(copy->bytes + copy->filled, bytes, num_bytes);
    copy->filled += num_bytes;
    return 0;
}

int snapshot_copy(struct process *process, int live_threads, struct snapshot_copy *copy, const struct threads_look *since) {
    *copy = (struct snapshot_copy){.length = measure(process).length};
    copy->bytes = platform_map_private(copy->length);
    if (copy->bytes == NULL)
        return -ENOMEM;
    int why = snapshot_write(process, FATE_SNAPSHOT, 0, live_threads, put_in_memory, copy);
    if (why == 0 && since != NULL && !others_have_waited(process, since))
        why = -EAGAIN;
    if (why != 0)
        platform_unmap(copy->bytes, copy->length);
    return why;
}

int snapshot_save(struct process *process, enum raw_fate fate, int status, int live_threads, const char *path,
                  const struct threads_look *since) {
    char *temporary = process->path_scratch[1];
    int file = replace_begin(process, path, temporary, PATH_BYTES);
    if (file < 0)
        return file;
    /* With its space reserved, a full disk shows now, and renaming need not wait until ext4 has chosen blocks. */
    int why = platform_extend(file, 0, measure(process).length);
    if (why == 0)
        why = snapshot_write(process, fate, status, live_threads, stream_put_in_file, &file);
    platform_close(file);
    if (why == 0 && since != NULL && !others_have_waited(process, since))
        why = -EAGAIN;
    if (why == 0)
        return replace_finish(temporary, path);
    platform_remove(temporary);
    return why;
}
