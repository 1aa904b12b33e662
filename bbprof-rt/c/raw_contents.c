/* raw_contents.c: reads the raw profile of another process. Nothing is believed: what does not fit ends the reading. */
#include "raw_contents.h"

#include "text.h"

#include <errno.h>

bool entry_is(const struct raw_entry *entry, const char *kind) {
    return bytes_equal(entry->kind, kind, 4);
}

int raw_contents_walk(const struct raw_contents *contents, entry_visitor visit, void *context) {
    struct process *process = contents->process;
    uint64_t at = sizeof(struct raw_header);
    uint64_t end = contents->complete ? contents->header.length_bytes - sizeof(uint64_t) : RAW_PAGE_BYTES;
    while (end - at >= sizeof(struct raw_entry)) {
        uint64_t left = (end - at) / sizeof(struct raw_entry);
        size_t num = left < PIECE_BYTES / sizeof(struct raw_entry) ? (size_t)left : PIECE_BYTES / sizeof(struct raw_entry);
        const struct raw_entry *entries = (const struct raw_entry *)(const void *)process->piece;
        int why = platform_read_at(contents->file, at, process->piece, num * sizeof *entries);
        at += num * sizeof *entries;
        for (size_t i = 0; i < num && why == 0; i++) {
            const struct raw_entry *entry = &entries[i];
            uint32_t kind;
            bytes_copy(&kind, entry->kind, sizeof kind);
            if (kind == 0 && !contents->complete)
                return 0;
            if (!entry_is_whole(entry))
                return -EBADMSG;
            if (entry_is(entry, "END."))
                return contents->complete ? 0 : -EBADMSG;
            if (entry_is(entry, "MORE")) {
                uint64_t next = entry->more.offset;
                if (contents->complete || next < end || entry->more.entries != RAW_PAGE_BYTES / sizeof *entry)
                    return -EBADMSG;
                at = next;
                end = next + RAW_PAGE_BYTES;
                break;
            }
            why = visit(context, entry);
        }
        if (why != 0)
            return why;
    }
    return contents->complete ? -EBADMSG : 0;
}

static int tell_image(struct raw_contents *contents, const struct raw_entry *entry) {
    if (entry->image.image != contents->num_images)
        return -EBADMSG;
    struct told_image *image = process_allocate(contents->process, sizeof *image);
    if (image == NULL)
        return -ENOMEM;
    bytes_clear(image, sizeof *image);
    image->entry = *entry;
    image->presence = RAW_CHECKSUM_SEED;
    *(contents->last_image == NULL ? &contents->images : &contents->last_image->next) = image;
    contents->last_image = image;
    contents->num_images++;
    return 0;
}

static struct told_image *image_number(const struct raw_contents *contents, uint32_t index) {
    struct told_image *image = contents->images;
    for (; image != NULL && index > 0; index--)
        image = image->next;
    return image;
}

static int tell_segment(struct raw_contents *contents, const struct raw_entry *entry) {
    struct told_image *image = image_number(contents, entry->segment.image);
    if (image == NULL || entry->segment.bank >= NUM_BANKS || entry->segment.counters != told_counters(image, entry->segment.bank))
        return -EBADMSG;
    bool is_baseline = entry->segment.role != ROLE_COUNTS;
    if (is_baseline && entry->segment.role != (uint32_t)contents->header.baseline)
        return 0;
    image->has_counts[entry->segment.bank] = image->has_counts[entry->segment.bank] || !is_baseline;
    struct told_segment *segment = process_allocate(contents->process, sizeof *segment);
    if (segment == NULL)
        return -ENOMEM;
    *segment = (struct told_segment){contents->segments, image, entry->segment.bank, is_baseline, entry->segment.offset};
    contents->segments = segment;
    return 0;
}

static int tell_paths(struct raw_contents *contents, const struct raw_entry *entry) {
    struct told_image *image = image_number(contents, entry->hash.image);
    uint64_t last, num_bytes;
    if (image == NULL || entry->hash.record_bytes != told_record_bytes(contents) ||
        __builtin_mul_overflow(entry->hash.records, (uint64_t)entry->hash.record_bytes, &num_bytes) ||
        __builtin_add_overflow(entry->hash.offset, num_bytes, &last))
        return -EBADMSG;
    struct told_paths *paths = process_allocate(contents->process, sizeof *paths);
    if (paths == NULL)
        return -ENOMEM;
    *paths = (struct told_paths){contents->paths, image, entry->hash.offset, entry->hash.records};
    contents->paths = paths;
    return 0;
}

static int tell(void *context, const struct raw_entry *entry) {
    struct raw_contents *contents = context;
    if (entry_is(entry, "IMAG"))
        return tell_image(contents, entry);
    if (entry_is(entry, "SEGM"))
        return tell_segment(contents, entry);
    if (entry_is(entry, "HASH"))
        return tell_paths(contents, entry);
    if (entry_is(entry, "FATE"))
        return contents->complete ? ending_begin(contents, entry) : -EBADMSG;
    if (entry_is(entry, "WAIT") || entry_is(entry, "NOTE"))
        return ending_tell(contents, entry);
    if (entry_is(entry, "PRES")) {
        struct told_image *image = image_number(contents, entry->text.image);
        if (image == NULL)
            return -EBADMSG;
        image->presence = raw_checksum(image->presence, entry->text.bytes, sizeof entry->text.bytes);
        image->presence = raw_checksum_step(image->presence, entry->text.length);
    } else if (!entry_is(entry, "PATH") && !entry_is(entry, "EXEC")) {
        return -EBADMSG;
    }
    return 0;
}

static int check_sum(const struct raw_contents *contents) {
    uint8_t *piece = contents->process->piece;
    uint64_t length = contents->header.length_bytes - sizeof(uint64_t), sum = RAW_CHECKSUM_SEED, expected;
    for (uint64_t at = 0; at < length; at += PIECE_BYTES) {
        size_t num_bytes = length - at < PIECE_BYTES ? (size_t)(length - at) : PIECE_BYTES;
        int why = platform_read_at(contents->file, at, piece, num_bytes);
        if (why != 0)
            return why;
        sum = raw_checksum(sum, piece, num_bytes);
    }
    int why = platform_read_at(contents->file, length, &expected, sizeof expected);
    return why != 0 ? why : sum == expected ? 0 : -EBADMSG;
}

static int check_header(struct raw_contents *contents) {
    const struct raw_header *header = &contents->header;
    if (!bytes_equal(header->magic, RAW_MAGIC, sizeof header->magic) || header->version != RAW_VERSION ||
        header->check != raw_checksum(RAW_CHECKSUM_SEED, header, offsetof(struct raw_header, check)))
        return -EBADMSG;
    const uint64_t words[] = {header->waiting,     header->fate,   header->baseline, header->threads,
                              header->interrupted, header->resets, header->at_reset, header->lost_children, header->in_memory};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!raw_is_guarded(words[i]))
            return -EBADMSG;
    if ((uint32_t)header->baseline > ROLE_BASELINE_2)
        return -EBADMSG;
    contents->complete = bytes_equal(header->state, RAW_STATE_COMPLETE, sizeof header->state);
    if (!contents->complete)
        return bytes_equal(header->state, RAW_STATE_RUNNING, sizeof header->state) ? 0 : -EBADMSG;
    return header->length_bytes >= sizeof *header + sizeof(uint64_t) && header->length_bytes % 8 == 0 ? check_sum(contents) : -EBADMSG;
}

void raw_contents_none(struct process *process, struct raw_contents *contents) {
    bytes_clear(contents, sizeof *contents);
    contents->file = -1;
    contents->process = process;
}

int raw_contents_read(struct process *process, int file, struct raw_contents *contents) {
    raw_contents_none(process, contents);
    contents->file = file;
    int why = platform_read_at(file, 0, &contents->header, sizeof contents->header);
    if (why == 0)
        why = check_header(contents);
    if (why == 0 && !contents->complete)
        why = ending_of_process(contents);
    if (why == 0)
        why = raw_contents_walk(contents, tell, contents);
    return why != 0 || contents->complete ? why : ending_compare_sum(contents);
}
