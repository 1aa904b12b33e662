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
    struct told_image **end = &contents->images;
    while (*end != NULL)
        end = &(*end)->next;
    *end = image;
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
    /* Baselines are of windows, which nobody adds. */
    if (entry->segment.role != ROLE_COUNTS)
        return 0;
    struct told_segment *segment = process_allocate(contents->process, sizeof *segment);
    if (segment == NULL)
        return -ENOMEM;
    *segment = (struct told_segment){contents->segments, image, entry->segment.bank, entry->segment.offset};
    contents->segments = segment;
    return 0;
}

static int tell(void *context, const struct raw_entry *entry) {
    struct raw_contents *contents = context;
    if (entry_is(entry, "IMAG"))
        return tell_image(contents, entry);
    if (entry_is(entry, "SEGM"))
        return tell_segment(contents, entry);
    if (entry_is(entry, "PRES")) {
        struct told_image *image = image_number(contents, entry->text.image);
        if (image == NULL)
            return -EBADMSG;
        image->presence = raw_checksum(image->presence, entry->text.bytes, sizeof entry->text.bytes);
        image->presence = raw_checksum_step(image->presence, entry->text.length);
    } else if (entry_is(entry, "FATE")) {
        struct told_fate *fate = process_allocate(contents->process, sizeof *fate);
        if (fate == NULL)
            return -ENOMEM;
        *fate = (struct told_fate){contents->fates, entry->fate.fate, entry->fate.processes};
        contents->fates = fate;
    } else if (entry_is(entry, "NOTE")) {
        contents->has_notes = true;
    } else if (!entry_is(entry, "PATH") && !entry_is(entry, "EXEC") && !entry_is(entry, "WAIT")) {
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
    return why != 0 ? why : raw_contents_walk(contents, tell, contents);
}
