/* snapshot.c: the complete profile in one stream: header, log, summed counters, checksum. */
#include "process.h"

#include "text.h"

/* The stream: goes to the sink in pieces of up to BUFFER_BYTES, and is summed on the way. */
struct stream {
    byte_sink sink;
    void *context;
    uint8_t *buffer;
    size_t buffered_bytes;
    uint64_t checksum;
    int why;
};

static void flush(struct stream *stream) {
    if (stream->why == 0 && stream->buffered_bytes > 0)
        stream->why = stream->sink(stream->context, stream->buffer, stream->buffered_bytes);
    stream->buffered_bytes = 0;
}

/* Room for a multiple of eight bytes, to be filled and given to `put` before the next. */
static void *room_for(struct stream *stream, size_t num_bytes) {
    if (num_bytes > BUFFER_BYTES - stream->buffered_bytes)
        flush(stream);
    return stream->buffer + stream->buffered_bytes;
}

static void put(struct stream *stream, const void *bytes, size_t num_bytes) {
    void *room = room_for(stream, num_bytes);
    if (room != bytes)
        bytes_copy(room, bytes, num_bytes);
    stream->checksum = raw_checksum(stream->checksum, room, num_bytes);
    stream->buffered_bytes += num_bytes;
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
    const uint64_t at_once = BUFFER_BYTES / 8;
    for (uint64_t first = 0; first < image->counters[bank]; first += at_once) {
        uint64_t left = image->counters[bank] - first;
        uint64_t num = left < at_once ? left : at_once;
        uint64_t *sums = room_for(stream, num * sizeof *sums);
        segments_sum(process, image, bank, first, num, sums);
        put(stream, sums, num * sizeof *sums);
    }
}

static void put_path(void *context, const struct raw_path *path) {
    put(context, path, RAW_PATH_COMPLETE_BYTES);
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
    struct stream stream = {sink, context, process->buffer, 0, RAW_CHECKSUM_SEED, 0};
    struct extent extent = measure(process);
    struct raw_header header;
    raw_fill_header(&header, process, RAW_STATE_COMPLETE, extent.length);
    header.fate = raw_guarded(raw_fate_word(fate, status, live_threads));
    put(&stream, &header, sizeof header);
    describe(process, put_entry, &stream);
    uint64_t offset = extent.counters_at;
    for (const struct image *image = process->images; image != NULL; image = image->next) {
        for (int bank = 0; bank < NUM_BANKS; bank++) {
            if (image->counters[bank] == 0)
                continue;
            entry_of_segment(image, (enum bank)bank, offset, ROLE_COUNTS, put_entry, &stream);
            offset += image->counters[bank] * 8;
        }
    }
    for (struct image *image = process->images; image != NULL; image = image->next) {
        uint64_t paths = path_tables_frozen(image);
        if (paths != 0)
            entry_of_paths(image, offset, RAW_PATH_COMPLETE_BYTES, paths, put_entry, &stream);
        offset += paths * RAW_PATH_COMPLETE_BYTES;
    }
    struct raw_entry end;
    for (int i = 0; i < 7; i++)
        end.words[i] = 0;
    entry_seal(&end, "END.");
    put(&stream, &end, sizeof end);
    for (const struct image *image = process->images; image != NULL; image = image->next)
        for (int bank = 0; bank < NUM_BANKS; bank++)
            put_counters(process, image, (enum bank)bank, &stream);
    for (const struct image *image = process->images; image != NULL; image = image->next)
        path_tables_each(process, image, put_path, &stream);
    uint64_t checksum = stream.checksum;
    put(&stream, &checksum, sizeof checksum);
    flush(&stream);
    return stream.why;
}

static int put_in_file(void *context, const void *bytes, size_t num_bytes) {
    return platform_write_all(*(const int *)context, bytes, num_bytes);
}

int snapshot_save(struct process *process, enum raw_fate fate, int status, int live_threads, const char *path) {
    char *temporary = process->path_scratch[1];
    int file = replace_begin(process, path, temporary, PATH_BYTES);
    if (file < 0)
        return file;
    /* With its space reserved, a full disk shows now, and renaming need not wait until ext4 has chosen blocks. */
    int why = platform_extend(file, 0, measure(process).length);
    if (why == 0)
        why = snapshot_write(process, fate, status, live_threads, put_in_file, &file);
    platform_close(file);
    if (why == 0)
        return replace_finish(temporary, path);
    platform_remove(temporary);
    return why;
}
