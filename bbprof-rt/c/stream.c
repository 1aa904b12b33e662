/* stream.c: see stream.h. */
#include "stream.h"

#include "text.h"

int stream_put_in_file(void *file, const void *bytes, size_t num_bytes) {
    return platform_write_all(*(const int *)file, bytes, num_bytes);
}

struct stream stream_to(struct process *process, byte_sink sink, void *context) {
    return (struct stream){sink, context, process->buffer, 0, RAW_CHECKSUM_SEED, 0};
}

static void flush(struct stream *stream) {
    if (stream->why == 0 && stream->buffered_bytes > 0)
        stream->why = stream->sink(stream->context, stream->buffer, stream->buffered_bytes);
    stream->buffered_bytes = 0;
}

void *stream_room(struct stream *stream, size_t num_bytes) {
    if (num_bytes > BUFFER_BYTES - stream->buffered_bytes)
        flush(stream);
    return stream->buffer + stream->buffered_bytes;
}

void stream_put(struct stream *stream, const void *bytes, size_t num_bytes) {
    void *room = stream_room(stream, num_bytes);
    if (room != bytes)
        bytes_copy(room, bytes, num_bytes);
    stream->checksum = raw_checksum(stream->checksum, room, num_bytes);
    stream->buffered_bytes += num_bytes;
}

void stream_put_entry(void *stream, struct raw_entry *entry) {
    stream_put(stream, entry, sizeof *entry);
}

void stream_put_end(struct stream *stream) {
    struct raw_entry end;
    for (int i = 0; i < 7; i++)
        end.words[i] = 0;
    entry_seal(&end, "END.");
    stream_put(stream, &end, sizeof end);
}

int stream_finish(struct stream *stream) {
    uint64_t checksum = stream->checksum;
    stream_put(stream, &checksum, sizeof checksum);
    flush(stream);
    return stream->why;
}
