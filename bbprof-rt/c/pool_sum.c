/* pool_sum.c: a pool of profiles and one more process's: their sum, as a complete profile in one stream. */
#include "pool.h"
#include "stream.h"

#include "text.h"

#include <errno.h>

/* What is added up. The images of the sum are those of the pool, then the new ones of the added process. */
struct sum {
    const struct raw_contents *pool, *added;
    struct raw_header header;
    struct told_image **images;
    struct path_sums *paths; /* that are added to those of each image */
    uint64_t *num_paths;     /* of each image, when that is done */
    uint32_t num_images;
    uint64_t num_entries, num_counters, num_records; /* as far as counted */
};

static bool is_of_one_build(const struct told_image *a, const struct told_image *b) {
    return bytes_equal(a->entry.image.build_id, b->entry.image.build_id, sizeof a->entry.image.build_id);
}

static bool counts_alike(const struct told_image *a, const struct told_image *b) {
    return a->presence == b->presence && a->entry.image.tls_counters == b->entry.image.tls_counters &&
           a->entry.image.global_counters == b->entry.image.global_counters &&
           bytes_equal(a->entry.image.layout, b->entry.image.layout, sizeof a->entry.image.layout);
}

/* Finds out where the counts of each image go. One build whose counters differ cannot be added up. */
static int match_images(struct process *process, struct sum *sum) {
    size_t most = (size_t)sum->pool->num_images + sum->added->num_images + 1;
    sum->images = process_allocate(process, most * sizeof *sum->images);
    sum->paths = process_allocate(process, most * sizeof *sum->paths);
    sum->num_paths = process_allocate(process, most * sizeof *sum->num_paths);
    if (sum->images == NULL || sum->paths == NULL || sum->num_paths == NULL)
        return -ENOMEM;
    for (struct told_image *image = sum->pool->images; image != NULL; image = image->next) {
        image->target_index = sum->num_images;
        sum->images[sum->num_images++] = image;
    }
    for (struct told_image *image = sum->added->images; image != NULL; image = image->next) {
        if (!told_wholly(image))
            continue;
        for (uint32_t i = 0; i < sum->num_images && image->target == NULL; i++)
            if (is_of_one_build(sum->images[i], image))
                image->target = sum->images[i];
        if (image->target != NULL && !counts_alike(image->target, image))
            return -EBADMSG;
        if (image->target == NULL) {
            image->target = image;
            image->is_new = true;
            image->target_index = sum->num_images;
            sum->images[sum->num_images++] = image;
        }
    }
    return 0;
}

/* Where entries go, and which. */
struct selection {
    const struct sum *sum;
    const struct raw_contents *from;
    entry_sink sink;
    void *context;
};

static int select_executable(void *context, const struct raw_entry *entry) {
    const struct selection *selection = context;
    struct raw_entry copy = *entry;
    if (entry_is(entry, "PATH") && entry->text.image == RAW_PROCESS)
        selection->sink(selection->context, &copy);
    return 0;
}

static int select_images(void *context, const struct raw_entry *entry) {
    const struct selection *selection = context;
    bool is_image = entry_is(entry, "IMAG");
    if (!is_image && !entry_is(entry, "PRES") && (!entry_is(entry, "PATH") || entry->text.image == RAW_PROCESS))
        return 0;
    const struct told_image *image = selection->from->images;
    for (uint32_t i = is_image ? entry->image.image : entry->text.image; i > 0 && image != NULL; i--)
        image = image->next;
    if (image == NULL)
        return -EBADMSG;
    if (selection->from == selection->sum->added && !image->is_new)
        return 0;
    struct raw_entry copy = *entry;
    char kind[4];
    bytes_copy(kind, entry->kind, sizeof kind);
    if (is_image)
        copy.image.image = image->target_index;
    else
        copy.text.image = image->target_index;
    entry_seal(&copy, kind);
    selection->sink(selection->context, &copy);
    return 0;
}

/* Everything before the segments' entries. */
static int describe(const struct sum *sum, entry_sink sink, void *context) {
    struct selection pool = {sum, sum->pool, sink, context}, added = {sum, sum->added, sink, context};
    bool has_pool = sum->pool->file >= 0;
    int why = raw_contents_walk(has_pool ? sum->pool : sum->added, select_executable, has_pool ? &pool : &added);
    const struct told_ending *own = sum->added->endings;
    bool is_told = false;
    for (const struct told_ending *ending = sum->pool->endings; ending != NULL; ending = ending->next) {
        bool is_alike = endings_alike(ending, own);
        ending_put(ending, ending->fate.fate.processes + is_alike, sink, context);
        is_told = is_told || is_alike;
    }
    if (!is_told)
        ending_put(own, 1, sink, context);
    if (why == 0 && has_pool)
        why = raw_contents_walk(sum->pool, select_images, &pool);
    return why != 0 ? why : raw_contents_walk(sum->added, select_images, &added);
}

static void count_entry(void *context, struct raw_entry *entry) {
    struct sum *sum = context;
    (void)entry;
    sum->num_entries++;
}

static uint64_t length_of_log(const struct sum *sum) {
    return sizeof sum->header + sum->num_entries * sizeof(struct raw_entry);
}

static int measure(struct sum *sum) {
    int why = describe(sum, count_entry, sum);
    for (uint32_t i = 0; i < sum->num_images && why == 0; i++) {
        why = path_sums_of(sum->added, sum->images[i], &sum->paths[i]);
        if (why == 0)
            why = path_sums_merge(sum->pool, sum->images[i], &sum->paths[i], NULL, &sum->num_paths[i]);
        sum->num_entries += sum->num_paths[i] != 0;
        sum->num_records += sum->num_paths[i];
        for (uint32_t bank = 0; bank < NUM_BANKS; bank++) {
            sum->num_entries += told_counters(sum->images[i], bank) != 0;
            sum->num_counters += told_counters(sum->images[i], bank);
        }
    }
    sum->num_entries++;
    return why;
}

/* The header tells the process that was added last. */
static int fill_header(struct sum *sum) {
    struct raw_header *header = &sum->header;
    uint64_t threads = (uint64_t)(uint32_t)sum->pool->header.threads + (uint32_t)sum->added->header.threads;
    bytes_copy(header, &sum->added->header, sizeof *header);
    bytes_copy(header->state, RAW_STATE_COMPLETE, sizeof header->state);
    header->length_bytes = length_of_log(sum) + sum->num_counters * 8 + sum->num_records * RAW_PATH_COMPLETE_BYTES + sizeof(uint64_t);
    header->check = raw_checksum(RAW_CHECKSUM_SEED, header, offsetof(struct raw_header, check));
    header->waiting = raw_guarded(0);
    header->fate = raw_guarded(FATE_POOL);
    header->baseline = raw_guarded(0);
    header->threads = raw_guarded((uint32_t)threads);
    header->interrupted = raw_guarded(0);
    header->resets = raw_guarded(0);
    header->at_reset = raw_guarded(0);
    header->lost_children = raw_guarded(0);
    header->in_memory = raw_guarded(0);
    return threads > UINT32_MAX ? -EOVERFLOW : 0;
}

/* Adds a segment's counters `first..first + num` to the sums, or takes them away. */
static int add_segment(const struct raw_contents *from, const struct told_segment *segment, uint64_t first, uint64_t num, uint64_t *sums) {
    const raw_word *counters = (const raw_word *)from->process->piece;
    const uint64_t at_once = PIECE_BYTES / 8;
    for (uint64_t done = 0; done < num; done += at_once) {
        uint64_t now = num - done < at_once ? num - done : at_once;
        int why = platform_read_at(from->file, segment->offset + (first + done) * 8, from->process->piece, now * 8);
        if (why != 0)
            return why;
        for (uint64_t i = 0; i < now; i++) {
            uint64_t *sum = &sums[done + i];
            if (segment->is_baseline ? __builtin_sub_overflow(*sum, counters[i], sum) : __builtin_add_overflow(*sum, counters[i], sum))
                return segment->is_baseline ? -EBADMSG : -EOVERFLOW;
        }
    }
    return 0;
}

/* All of one kind that are of one image and bank. */
static int add_segments(const struct raw_contents *from, const struct told_image *target, uint32_t bank, bool baselines, uint64_t first,
                        uint64_t num, uint64_t *sums) {
    int why = 0;
    for (const struct told_segment *segment = from->segments; segment != NULL && why == 0; segment = segment->next)
        if (segment->bank == bank && segment->is_baseline == baselines && (segment->image == target || segment->image->target == target))
            why = add_segment(from, segment, first, num, sums);
    return why;
}

static int put_counters(const struct sum *sum, const struct told_image *image, uint32_t bank, struct stream *stream) {
    const uint64_t at_once = BUFFER_BYTES / 16;
    int why = 0;
    for (uint64_t first = 0; first < told_counters(image, bank) && why == 0; first += at_once) {
        uint64_t left = told_counters(image, bank) - first;
        uint64_t num = left < at_once ? left : at_once;
        /* The process's own are summed apart, so that none can be less than it was at a reset. */
        uint64_t *sums = stream_room(stream, 2 * num * sizeof *sums), *own = sums + num;
        for (uint64_t i = 0; i < 2 * num; i++)
            sums[i] = 0;
        why = add_segments(sum->pool, image, bank, false, first, num, sums);
        for (int baselines = 0; baselines < 2 && why == 0; baselines++)
            why = add_segments(sum->added, image, bank, baselines != 0, first, num, own);
        for (uint64_t i = 0; i < num && why == 0; i++)
            if (__builtin_add_overflow(sums[i], own[i], &sums[i]))
                why = -EOVERFLOW;
        stream_put(stream, sums, num * sizeof *sums);
    }
    return why;
}

/* The entries behind those of the processes and images: where the counts are. */
static void put_places(const struct sum *sum, struct stream *stream) {
    uint64_t offset = length_of_log(sum);
    for (uint32_t i = 0; i < sum->num_images; i++) {
        for (uint32_t bank = 0; bank < NUM_BANKS; bank++) {
            uint64_t counters = told_counters(sum->images[i], bank);
            if (counters != 0)
                entry_of_counters(i, (enum bank)bank, offset, counters, ROLE_COUNTS, stream_put_entry, stream);
            offset += counters * 8;
        }
    }
    for (uint32_t i = 0; i < sum->num_images; i++) {
        if (sum->num_paths[i] != 0)
            entry_of_paths(i, offset, RAW_PATH_COMPLETE_BYTES, sum->num_paths[i], stream_put_entry, stream);
        offset += sum->num_paths[i] * RAW_PATH_COMPLETE_BYTES;
    }
    stream_put_end(stream);
}

static int put_counts(const struct sum *sum, struct stream *stream) {
    uint64_t num;
    int why = 0;
    for (uint32_t i = 0; i < sum->num_images && why == 0; i++)
        for (uint32_t bank = 0; bank < NUM_BANKS && why == 0; bank++)
            why = put_counters(sum, sum->images[i], bank, stream);
    for (uint32_t i = 0; i < sum->num_images && why == 0; i++)
        why = path_sums_merge(sum->pool, sum->images[i], &sum->paths[i], stream, &num);
    return why;
}

static int write_sum(struct process *process, struct sum *sum, int file) {
    int why = measure(sum);
    if (why == 0)
        why = fill_header(sum);
    if (why == 0)
        why = platform_extend(file, 0, sum->header.length_bytes);
    if (why != 0)
        return why;
    struct stream stream = stream_to(process, stream_put_in_file, &file);
    stream_put(&stream, &sum->header, sizeof sum->header);
    why = describe(sum, stream_put_entry, &stream);
    put_places(sum, &stream);
    if (why == 0)
        why = put_counts(sum, &stream);
    int finished = stream_finish(&stream);
    return why != 0 ? why : finished;
}

int pool_sum_write(struct process *process, const struct raw_contents *pool, const struct raw_contents *added, int file) {
    struct sum sum;
    bytes_clear(&sum, sizeof sum);
    sum.pool = pool;
    sum.added = added;
    int why = match_images(process, &sum);
    for (uint32_t i = 0; i < sum.num_images; i++)
        sum.paths[i] = (struct path_sums){0};
    if (why == 0)
        why = write_sum(process, &sum, file);
    for (uint32_t i = 0; i < sum.num_images; i++)
        path_sums_forget(&sum.paths[i]);
    return why;
}
