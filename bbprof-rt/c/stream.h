/* stream.h: a profile on its way out: goes to a sink in pieces of up to BUFFER_BYTES, and is summed on the way. */
#ifndef BBPROF_STREAM_H
#define BBPROF_STREAM_H

#include "process.h"

struct stream {
    byte_sink sink;
    void *context;
    uint8_t *buffer;
    size_t buffered_bytes;
    uint64_t checksum;
    int why;
};

/* A byte_sink: to the file whose number the context points to. */
int stream_put_in_file(void *file, const void *bytes, size_t num_bytes);

struct stream stream_to(struct process *process, byte_sink sink, void *context);
/* Room for a multiple of eight bytes, to be filled and given to `stream_put` before the next. */
void *stream_room(struct stream *stream, size_t num_bytes);
void stream_put(struct stream *stream, const void *bytes, size_t num_bytes);
/* An entry_sink. */
void stream_put_entry(void *stream, struct raw_entry *entry);
/* Ends the log. */
void stream_put_end(struct stream *stream);
/* Ends all: the checksum. 0, or why something is missing. */
int stream_finish(struct stream *stream);

#endif
